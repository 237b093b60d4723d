// Efficiency against the granularity of tasks, and METG(50%), as Task Bench defines them
// (Slaughter et al., SC 2020): how small may a task be before half of the machine is lost?
//   efficiency  = best sequential time per point over all sizes x points / (cores x wall)
//   granularity = cores x wall / tasks
//   METG(50%)   = the granularity where efficiency crosses 50%, by interpolation of its logarithm
// Records, per size: `granularity` and `efficiency`; per system, with size 0: `metg50`.

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "metg/patterns.hpp"
#include "metg/workload.hpp"
#include "support/options.hpp"
#include "support/peer_process.hpp"
#include "support/records.hpp"
#include "support/rounds.hpp"

namespace {

using namespace refrain::bench;

/// A system that takes longer than this for one repetition is left out at finer sizes: some need
/// time that grows with the square of the number of tasks.
constexpr double patience_ns = 5e9;

/// A system of a workload, with its process and what was measured of it, one spread per size. Sizes
/// go from coarse to fine, so a system that gives up on fine tasks has its coarse ones measured; the
/// sizes from where it was lost are missing at the end.
struct Runner {
  Runner(WorkloadSystem system, const std::string& folder)
      : what(std::move(system)), path(folder + "/" + what.program) {}

  WorkloadSystem what;
  std::string path;
  std::optional<Peer> peer{};
  std::string lost{};
  std::vector<Spread> walls{};

  int cores() const { return std::max(what.threads, 1); }

  double ask(const std::string& request) {
    if (!peer) {
      std::vector<std::string> arguments{std::to_string(what.threads), what.variant};
      peer.emplace(path, arguments);
    }
    return peer->ask(request);
  }
};

/// Measures all systems at one size, in turn.
void measure(const WorkloadSize& size, int rounds, std::vector<std::unique_ptr<Runner>>& runners) {
  std::vector<Contestant> contestants;
  std::vector<Runner*> running;
  for (auto& runner : runners) {
    if (!runner->lost.empty()) continue;
    running.push_back(runner.get());
    contestants.push_back({runner->what.system, runner->what.variant,
                           [r = runner.get(), &size] { return r->ask(size.request); }});
  }
  run_rounds(contestants, rounds);
  for (std::size_t i = 0; i < running.size(); ++i) {
    running[i]->lost = contestants[i].lost;
    if (!contestants[i].finished()) continue;
    running[i]->walls.push_back(spread(contestants[i].samples));
    const double wall = running[i]->walls.back().median;
    if (wall <= patience_ns) continue;
    running[i]->lost = "too slow";
    std::printf("left out below size %ld: %s: a repetition takes %.0f s\n",
                static_cast<long>(size.size), contestants[i].name().c_str(), wall * 1e-9);
  }
}

double best_ns_per_point(const Workload& workload, const Runner& sequential) {
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < sequential.walls.size(); ++i) {
    best = std::min(best, sequential.walls[i].median / workload.sizes[i].points);
  }
  return best;
}

void report(const Workload& workload, const Runner& runner, double ns_per_point, Records& records) {
  std::vector<EfficiencyPoint> curve;
  const WorkloadSystem& s = runner.what;
  const std::string benchmark = "metg_" + workload.name;
  for (std::size_t i = 0; i < runner.walls.size(); ++i) {
    const WorkloadSize& size = workload.sizes[i];
    const Spread& wall = runner.walls[i];
    const double work = ns_per_point * size.points;
    const double per_task = runner.cores() / size.tasks;
    const Spread granularity{per_task * wall.median, per_task * wall.min, per_task * wall.max};
    const Spread efficiency{work / (runner.cores() * wall.median),
                            work / (runner.cores() * wall.max), work / (runner.cores() * wall.min)};
    curve.push_back({granularity.median, efficiency.median});
    records.add({benchmark, s.system, s.variant, runner.cores(), size.size, "granularity", "ns",
                 granularity});
    records.add(
        {benchmark, s.system, s.variant, runner.cores(), size.size, "efficiency", "", efficiency});
    std::printf("  %-12s %-11s %9ld %12.1f ns %8.3f\n", s.system.c_str(), s.variant.c_str(),
                static_cast<long>(size.size), granularity.median, efficiency.median);
  }
  if (curve.empty() || s.system == "sequential") return;
  const double crossing = metg(curve, 0.5);
  std::printf("  %-12s %-11s METG(50%%) = %.0f ns\n", s.system.c_str(), s.variant.c_str(),
              crossing);
  records.add({benchmark, s.system, s.variant, runner.cores(), 0, "metg50", "ns",
               Spread{crossing, crossing, crossing}});
}

void run(const Workload& workload, const Options& options, Records& records) {
  std::vector<std::unique_ptr<Runner>> runners;
  for (const WorkloadSystem& s : workload.systems) {
    if (s.system != "sequential" && !options.wants(s.system)) continue;
    runners.push_back(std::make_unique<Runner>(s, options.peers));
  }
  for (const WorkloadSize& size : workload.sizes) measure(size, std::min(options.reps, 3), runners);
  if (runners.front()->walls.empty()) {
    std::printf("left out: %s: the sequential program did not run\n", workload.name.c_str());
    return;
  }
  const double ns_per_point = best_ns_per_point(workload, *runners.front());
  std::printf("\n%s: size, granularity, efficiency (best sequential: %.3f ns per point)\n",
              workload.name.c_str(), ns_per_point);
  for (const auto& runner : runners) report(workload, *runner, ns_per_point, records);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options =
      parse_options(argc, argv, "METG(50%), and with --all efficiency against granularity.", 15, 1);
  Records records;
  measure_patterns(options, 2, records);
  if (options.all)
    for (const Workload& workload : workloads(2, options.quick)) run(workload, options, records);
  records.write(options.out);
  return 0;
}
