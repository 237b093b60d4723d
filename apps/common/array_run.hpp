#pragma once
// What the programs on arrays have in common: how long they run, flags, and the lines that say how
// fast and which bits.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>

#include "program.hpp"
#include "refrain/arrays.hpp"

namespace apps {

struct ArrayRun {
  std::int64_t iterations = 100;
  std::int64_t warm_up = 20;
  bool fusion = true;
  bool no_check = false;
  std::string picture = {};  ///< the file; empty: none

  void add_flags(CLI::App& app) {
    add_count(app, "--iterations", iterations, "timed iterations");
    app.add_option("--warm-up", warm_up, "iterations before them")
        ->check(at_least(0))
        ->capture_default_str();
    app.add_option("--fusion", fusion, "on or off: chains of operations become one task per tile")
        ->check(CLI::IsMember({"on", "off"}))
        ->default_str("on");
    app.add_flag("--no-check", no_check, "do not look at the result");
    app.add_option("--picture", picture, "draw the result as this PNG")->check(can_be_written);
  }

  /// What is wrong with a file's name, before hours are spent: empty, if nothing is.
  static std::string can_be_written(const std::string& file) {
    const auto folder = std::filesystem::absolute(file).parent_path();
    return std::filesystem::is_directory(folder) ? "" : "there is no folder " + folder.string();
  }

  [[nodiscard]] refrain::arrays::Settings settings() const { return {.fusion = fusion}; }
};

/// Seconds of `run.iterations` calls of step(), after `run.warm_up` others.
template <class Step>
double time_steps(refrain::arrays::Session& np, const ArrayRun& run, Step step) {
  for (std::int64_t i = 0; i < run.warm_up; ++i) step();
  np.wait();
  const Timer timer;
  for (std::int64_t i = 0; i < run.iterations; ++i) step();
  np.wait();
  return timer.seconds();
}

/// `elements`: of each array.
inline void print_speed(double seconds, std::int64_t iterations, std::int64_t elements,
                        const refrain::Options& options) {
  std::printf("  %-12s %8.3f s  %10.1f iterations/s  %lld elements  (%s)\n", "refrain", seconds,
              static_cast<double>(iterations) / seconds, static_cast<long long>(elements),
              threads_of(options).c_str());
  std::fflush(stdout);
}

/// The bits of results, as one number: where two runs print the same, all values have the same bits.
inline void print_bits(std::initializer_list<std::span<const double>> results) {
  std::uint64_t hash = 0;
  for (const std::span<const double> result : results)
    for (const double value : result) {
      hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
  std::printf("  bits %016llx\n", static_cast<unsigned long long>(hash));
}

}  // namespace apps
