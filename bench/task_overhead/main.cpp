// What a task costs when it does nothing: the program of Figure 9 of the dynamic tracing paper.
// S steps of N = 16 independent chains of empty tasks, each task reading and writing region A[i];
// graphs of 64 to 32768 tasks, each repeated until a repetition has at least 10^6 tasks (of what takes a microsecond
// per task, 2 x 10^5), one wait at the end. All systems in one run, repetition by repetition in turn; `threads` counts
// all threads that issue or execute. The bars judge medians; docs/performance.md discusses them.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/options.hpp"
#include "support/peer_process.hpp"
#include "support/records.hpp"
#include "support/rounds.hpp"

namespace {

using namespace refrain::bench;

constexpr int chains = 16;

struct System {
  const char* system;
  const char* variant;
  const char* program;
  const char* remedy;  ///< what to do when the program is not there
  /// On several threads it takes a microsecond per task, so a fifth of the tasks will do.
  bool slow_on_many = false;
};

constexpr System systems[] = {
    {"refrain", "single", "peer_chains_refrain", ""},
    {"refrain", "group", "peer_chains_refrain", ""},
    {"refrain", "traced-single", "peer_chains_refrain", ""},
    {"refrain", "traced-group", "peer_chains_refrain", ""},
    {"refrain", "auto-single", "peer_chains_refrain", ""},
    {"refrain", "auto-group", "peer_chains_refrain", ""},
    {"libgomp", "", "peer_chains_libgomp", "needs a compiler with OpenMP", true},
    {"libomp", "", "peer_chains_libomp", "needs libomp-dev", true},
    {"starpu", "", "peer_chains_starpu", "needs libstarpu-dev", true},
    {"onetbb", "", "peer_chains_onetbb", "needs libtbb-dev"},
    {"onetbb", "lightweight", "peer_chains_onetbb", "needs libtbb-dev"},
    {"static", "", "peer_chains_static", ""},
};

/// One system's process for one number of threads, started at its first repetition.
class ChainPeer {
 public:
  ChainPeer(const System& system, const Options& options, int threads)
      : system_(system), path_(options.peers + "/" + system.program), threads_(threads) {}

  double ns_per_task(int tasks, long repetition_tasks) {
    if (gone_) throw Peer::Lost("left out at a smaller size");
    const long graphs = (repetition_tasks + tasks - 1) / tasks;
    try {
      return started().ask("chains=" + std::to_string(chains) + " steps=" +
                           std::to_string(tasks / chains) + " graphs=" + std::to_string(graphs));
    } catch (const Peer::Lost&) {
      gone_ = true;
      throw;
    }
  }

 private:
  Peer& started() {
    if (peer_) return *peer_;
    try {
      return peer_.emplace(path_,
                           std::vector<std::string>{std::to_string(threads_), system_.variant});
    } catch (const Peer::Lost& lost) {
      const std::string remedy = system_.remedy;
      const bool absent = std::string(lost.what()) == "not built";
      throw Peer::Lost(absent && !remedy.empty() ? "not built (" + remedy + ")" : lost.what());
    }
  }

  const System& system_;
  std::string path_;
  int threads_;
  bool gone_ = false;
  std::optional<Peer> peer_;
};

/// A ratio that a bar asks for, collected over the sizes.
struct Bar {
  std::string system;
  std::string variant;
  int threads;
  std::string metric;
  double goal;
  std::vector<double> ratios{};

  void add(double ours, double theirs) { ratios.push_back(ours / theirs); }
};

double median_of(const Contestant& c) { return spread(c.samples).median; }

/// Adds this size's ratios to the bars of this number of threads.
void add_ratios(const std::vector<Contestant>& contestants, int threads, std::vector<Bar>& bars) {
  const Contestant* single = find_finished(contestants, "refrain", "single");
  const Contestant* group = find_finished(contestants, "refrain", "group");
  const Contestant* traced = find_finished(contestants, "refrain", "traced-single");
  const Contestant* traced_group = find_finished(contestants, "refrain", "traced-group");
  const Contestant* prebuilt = find_finished(contestants, "static");
  const Contestant* floor = find_finished(contestants, "onetbb");
  const Contestant* best = nullptr;
  for (const char* rival : {"libgomp", "libomp", "starpu"}) {
    const Contestant* c = find_finished(contestants, rival);
    if (c && (!best || median_of(*c) < median_of(*best))) best = c;
  }
  for (Bar& bar : bars) {
    if (bar.threads != threads || !single) continue;
    if (bar.variant == "traced-single") {
      if (traced && floor) bar.add(median_of(*traced), median_of(*floor));
      continue;
    }
    if (bar.variant == "traced-group") {
      if (traced_group && prebuilt) bar.add(median_of(*traced_group), median_of(*prebuilt));
      continue;
    }
    if (bar.metric == "ratio_to_best_rival" && best) bar.add(median_of(*single), median_of(*best));
    if (bar.metric == "ratio_to_onetbb" && floor) bar.add(median_of(*single), median_of(*floor));
    if (bar.metric == "ratio_to_single" && group) bar.add(median_of(*group), median_of(*single));
  }
}

void print_and_record(const std::vector<Contestant>& contestants, int threads, int tasks,
                      Records& records) {
  std::printf("\n%d thread%s, graphs of %d tasks: ns per task, median (min - max)\n", threads,
              threads == 1 ? "" : "s", tasks);
  for (const Contestant& c : contestants) {
    if (!c.finished()) continue;
    const Spread s = spread(c.samples);
    std::printf("  %-22s %9.1f  (%.1f - %.1f)\n", c.name().c_str(), s.median, s.min, s.max);
    records.add({"task_overhead", c.system, c.variant, threads, tasks, "ns_per_task", "ns", s});
  }
  std::fflush(stdout);
}

void report_bars(const std::vector<Bar>& bars, Records& records) {
  std::printf("\nratios over all sizes: geometric mean, worst size, bar (no size above 1.25x)\n");
  for (const Bar& bar : bars) {
    if (bar.ratios.empty()) continue;
    const double mean = geometric_mean(bar.ratios);
    const auto [low, high] = std::minmax_element(bar.ratios.begin(), bar.ratios.end());
    const bool met = mean <= bar.goal && *high <= 1.25 * bar.goal;
    std::printf("  %-8s %-13s %d thread(s) %-20s %6.3f %6.3f  bar %.2f  %s\n", bar.system.c_str(),
                bar.variant.c_str(), bar.threads, bar.metric.c_str(), mean, *high, bar.goal,
                verdict(met));
    records.add({"task_overhead", bar.system, bar.variant, bar.threads, 0, bar.metric, "x",
                 Spread{mean, *low, *high}});
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(
      argc, argv, "Cost of an empty task: Refrain beside its rivals and floors.", 7, 3);
  const long repetition_tasks = options.quick ? 100'000 : 1'000'000;
  std::vector<Bar> bars{{"refrain", "single", 1, "ratio_to_onetbb", 4.0},
                        {"refrain", "single", 2, "ratio_to_best_rival", 0.4},
                        {"refrain", "group", 1, "ratio_to_single", 0.5},
                        {"refrain", "group", 2, "ratio_to_single", 0.5},
                        {"refrain", "traced-single", 1, "ratio_to_onetbb", 0.75},
                        {"refrain", "traced-single", 2, "ratio_to_onetbb", 0.75},
                        {"refrain", "traced-group", 1, "ratio_to_static", 1.2},
                        {"refrain", "traced-group", 2, "ratio_to_static", 1.2}};
  Records records;
  for (int threads : {1, 2}) {
    std::vector<std::unique_ptr<ChainPeer>> peers;
    for (const System& s : systems) {
      peers.push_back(std::make_unique<ChainPeer>(s, options, threads));
    }
    std::vector<std::string> lost(std::size(systems));
    for (int tasks : {64, 512, 4096, 32768}) {
      std::vector<Contestant> contestants;
      for (std::size_t i = 0; i < peers.size(); ++i) {
        if (!options.wants(systems[i].system) || !lost[i].empty()) continue;
        ChainPeer& peer = *peers[i];
        const long at_least =
            threads > 1 && systems[i].slow_on_many ? repetition_tasks / 5 : repetition_tasks;
        contestants.push_back({systems[i].system, systems[i].variant, [&peer, tasks, at_least] {
                                 return peer.ns_per_task(tasks, at_least);
                               }});
      }
      run_rounds(contestants, options.reps);
      for (const Contestant& c : contestants) {
        for (std::size_t i = 0; i < peers.size(); ++i) {
          if (c.system == systems[i].system && c.variant == systems[i].variant) lost[i] = c.lost;
        }
      }
      print_and_record(contestants, threads, tasks, records);
      add_ratios(contestants, threads, bars);
    }
  }
  report_bars(bars, records);
  records.write(options.out);
  return 0;
}
