#include "metg/patterns.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "patterns/pattern.hpp"
#include "support/peer_process.hpp"
#include "support/statistics.hpp"

namespace refrain::bench {

namespace {

using patterns::Kind;

struct Case {
  Kind kind;
  int width;
};

// 8,000 tasks where that is neither so few steps that learning is all, nor so many that it does not show: 2,000 of width 2,
// 16,000 of width 64.
int steps_of(int width) { return std::clamp(8000 / width, 250, 1000); }

const std::vector<Case> cases{
    {Kind::stencil_1d, 8},  {Kind::nearest, 8},    {Kind::fft, 8},  {Kind::tree, 8},
    {Kind::stencil_1d, 64}, {Kind::nearest, 64},   {Kind::fft, 64}, {Kind::tree, 64},
    {Kind::stencil_1d, 2},  {Kind::nearest, 2},    {Kind::fft, 2},  {Kind::tree, 2},
    {Kind::trivial, 8},     {Kind::all_to_all, 8},
};

struct System {
  std::string name;
  std::string mode;  // the end of the record's variant
  std::string program;
  std::string variant;  // of the program
  std::unique_ptr<Peer> peer{};
  std::string lost{};
};

// What is measured: the records' benchmark, the program that is Refrain, and the modes that only it has.
struct Subject {
  std::string benchmark, program;
  std::vector<std::pair<const char*, const char*>> modes;
};
const Subject on_threads{"metg", "peer_patterns_refrain", {}};
const Subject on_ranks{"metg_ranks", "peer_patterns_ranks", {{"-unchecked", "unchecked"}}};

std::vector<System> systems(const Options& options, const Subject& subject) {
  std::vector<System> all;
  all.push_back({"mpi", "", "peer_patterns_mpi", ""});
  std::vector<std::pair<const char*, const char*>> modes{
      {"-untraced", ""}, {"-auto", "auto"}, {"-marked", "traced"}};
  modes.insert(modes.end(), subject.modes.begin(), subject.modes.end());
  for (const auto& [mode, variant] : modes)
    all.push_back({"refrain", mode, subject.program, variant});
  std::erase_if(all, [&](const System& system) { return !options.wants(system.name); });
  return all;
}

// The nanoseconds that a system takes; infinite when it cannot be asked.
double ask(System& system, const Options& options, int threads, const std::string& request) {
  try {
    if (!system.peer)
      system.peer = std::make_unique<Peer>(options.peers + "/" + system.program,
                                           std::vector{std::to_string(threads), system.variant});
    return system.peer->ask(request);
  } catch (const Peer::Lost& lost) {
    system.peer.reset();
    system.lost = lost.what();
    std::printf("left out: %s%s: %s\n", system.name.c_str(), system.mode.c_str(), lost.what());
    return std::numeric_limits<double>::infinity();
  }
}

std::string request_of(const Case& what, int steps, std::int64_t rounds) {
  return "kind=" + std::to_string(static_cast<int>(what.kind)) +
         " width=" + std::to_string(what.width) + " steps=" + std::to_string(steps) +
         " iterations=" + std::to_string(rounds);
}

struct Sample {
  double rounds;  // of a task
  double wall;    // of all
};
// By repetition and system: of each size.
using Samples = std::vector<std::vector<std::vector<Sample>>>;

void measure_case(const Case& what, const Options& options, const Subject& subject, int threads,
                  Records& records) {
  std::vector<System> all = systems(options, subject);
  const int steps = steps_of(what.width);
  patterns::Pattern pattern;
  pattern.kind = what.kind, pattern.width = what.width, pattern.steps = steps;
  double tasks = 0;
  for (int step = 0; step < steps; ++step) tasks += pattern.tasks(step).count();

  Samples samples(static_cast<std::size_t>(options.reps),
                  std::vector<std::vector<Sample>>(all.size()));
  double ns_per_round = std::numeric_limits<double>::infinity();
  for (System& system : all) ask(system, options, threads, request_of(what, steps, 64));  // warm
  for (std::size_t rep = 0; rep < samples.size(); ++rep) {
    for (std::int64_t rounds = 4096; rounds >= 8; rounds /= 2) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        const std::size_t turn = rep % 2 == 0 ? i : all.size() - 1 - i;
        if (!all[turn].lost.empty()) continue;
        const double wall = ask(all[turn], options, threads, request_of(what, steps, rounds));
        if (!all[turn].lost.empty()) continue;
        samples[rep][turn].push_back({static_cast<double>(rounds), wall});
        ns_per_round =
            std::min(ns_per_round, wall * threads / (tasks * static_cast<double>(rounds)));
      }
    }
  }

  const std::string& name = patterns::kind_names()[static_cast<std::size_t>(what.kind)];
  std::vector<double> mpi;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].lost.empty()) continue;
    std::vector<double> found;
    for (const auto& repetition : samples) {
      std::vector<EfficiencyPoint> curve;
      for (const Sample& sample : repetition[i])
        curve.push_back({threads * sample.wall / tasks,
                         ns_per_round * sample.rounds * tasks / (threads * sample.wall)});
      found.push_back(metg(curve, 0.5) * 1e-3);
    }
    if (all[i].name == "mpi") mpi = found;
    const Spread spread_of = spread(found);
    const std::string variant = name + all[i].mode;
    records.add(
        {subject.benchmark, all[i].name, variant, threads, what.width, "metg_us", "us", spread_of});
    std::printf("  %-8s %-22s width %-3d %7.3f us  (%.3f - %.3f)", all[i].name.c_str(),
                variant.c_str(), what.width, spread_of.median, spread_of.min, spread_of.max);
    if (!mpi.empty() && all[i].name != "mpi") {
      const PairedRatio ratio = paired_ratio(found, mpi);
      std::printf("  %.2f of MPI's (%.2f - %.2f)", ratio.median, ratio.low, ratio.high);
    }
    std::printf("\n");
  }
  std::fflush(stdout);
}

}  // namespace

void measure_patterns(const Options& options, int threads, Records& records) {
  std::printf("METG(50%%) of Task Bench's patterns, %d threads or ranks\n", threads);
  for (const Case& what : cases) measure_case(what, options, on_threads, threads, records);
}

void measure_patterns_on_ranks(const Options& options, int ranks, Records& records) {
  std::printf("METG(50%%) of Task Bench's patterns, %d ranks of one thread\n", ranks);
  for (const Case& what : cases)
    if (what.width == 8) measure_case(what, options, on_ranks, ranks, records);
}

}  // namespace refrain::bench
