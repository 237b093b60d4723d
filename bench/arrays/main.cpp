// The library of arrays: what a statement costs, how much memory a loop takes, and the applications beside their twins in
// NumPy, from 10^2 to 10^7 elements per array (--all; otherwise what the bars need). Everything runs in processes of
// their own, in turn.

#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "applications.hpp"
#include "statement.hpp"
#include "support/options.hpp"
#include "support/peer_process.hpp"
#include "support/records.hpp"
#include "support/rounds.hpp"

namespace {

using namespace refrain::bench;

constexpr int kThreads = 2;
constexpr double kSmall = 1 / 1.5;  // of NumPy's speed, at 10^3 elements
constexpr double kLarge = 2.0;      // at 10^6 and more, of those that say so
constexpr int kLoopWarmUp = 30;     // iterations until the steady state, by the goal

std::vector<System> systems() {
  const std::vector<std::string> two = {"--refrain:workers", "1"};
  std::vector<std::string> untraced = two;
  untraced.insert(untraced.end(), {"--refrain:autotrace", "off"});
  return {{"numpy", "", {}, true}, {"refrain", "", two}, {"refrain", "untraced", untraced}};
}

/// So many iterations take about so long: doubled until a run is long enough to tell.
std::int64_t iterations_for(const Application& application, const System& system,
                            std::int64_t elements, double seconds, const std::string& programs) {
  std::int64_t iterations = 2;
  for (;;) {
    const std::int64_t warm_up = std::min<std::int64_t>(iterations, kLoopWarmUp);
    const double speed =
        run(application, system, elements, iterations, warm_up, programs).iterations_per_second;
    if (static_cast<double>(iterations) / speed > seconds / 10 || iterations > 100'000'000)
      return std::max<std::int64_t>(1, std::llround(seconds * speed));
    iterations = std::max<std::int64_t>(iterations * 4, std::llround(seconds * speed / 4));
  }
}

bool judged_when_large(const std::string& name) {
  return name == "cfd" || name == "shallow_water" || name == "black_scholes";
}

void measure(const Application& application, std::int64_t elements, const Options& options,
             Records& records) {
  const double seconds = options.quick ? 0.1 : 0.5;
  std::vector<System> all = systems();
  std::vector<Contestant> contestants;
  for (const System& system : all) {
    const std::int64_t iterations =
        iterations_for(application, system, elements, seconds, options.peers);
    // A long run of large arrays need not warm up for long.
    const std::int64_t warm_up = std::min<std::int64_t>(iterations, kLoopWarmUp);
    contestants.push_back({system.name, system.variant, [&, iterations, warm_up] {
                             return run(application, system, elements, iterations, warm_up,
                                        options.peers)
                                 .iterations_per_second;
                           }});
  }
  run_rounds(contestants, options.reps);
  const Contestant* numpy = find_finished(contestants, "numpy");
  std::printf("%-20s %9lld", application.name, static_cast<long long>(elements));
  for (const Contestant& c : contestants) {
    if (!c.finished()) continue;
    const Spread s = spread(c.samples);
    std::printf("  %10.1f (%.1f - %.1f)", s.median, s.min, s.max);
    records.add({"arrays", c.system, c.variant, kThreads, elements,
                 std::string(application.name) + "_iterations_per_second", "1/s", s});
    if (&c == numpy || numpy == nullptr) continue;
    const PairedRatio ratio = paired_ratio(c.samples, numpy->samples);
    std::printf(" = %.2f", ratio.median);
    records.add({"arrays",
                 c.system,
                 c.variant,
                 kThreads,
                 elements,
                 std::string(application.name) + "_speed_to_numpy",
                 "x",
                 {ratio.median, ratio.low, ratio.high}});
    if (!c.variant.empty()) continue;
    const double bar = elements == 1000                                               ? kSmall
                       : elements >= 1'000'000 && judged_when_large(application.name) ? kLarge
                                                                                      : 0;
    if (bar > 0) std::printf(" [bar %.2f: %s]", bar, verdict(ratio.high >= bar));
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options =
      parse_options(argc, argv, "Arrays: statements, memory, and applications beside NumPy.", 3, 2);
  Records records;
  try {
    if (options.wants("statement")) measure_statement(options, records);
    if (options.wants("memory")) measure_memory(options, records);
    std::printf("\niterations per second: numpy, refrain, refrain untraced; and times numpy's\n");
    for (const Application& application : applications()) {
      if (!options.wants(application.name)) continue;
      if (!options.all && !judged_when_large(application.name)) continue;
      for (std::int64_t elements = 100; elements <= 10'000'000; elements *= 10)
        if (options.all || elements == 1000 || elements == 1'000'000)
          measure(application, elements, options, records);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_arrays: %s\n", error.what());
    return 1;
  }
  records.write(options.out);
  return 0;
}
