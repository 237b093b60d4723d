// What the runtime costs per trace, by the method of the dynamic tracing paper's appendix: programs
// launch everything and compute nothing, and their time counts as overhead.
//   trace_overhead_stencil, trace_overhead_circuit   the paper's Table IV: an iteration with 1, 4 and 16
//     tiles per core (size); ns_per_trace untraced, replayed with all edges (unoptimised) and traced; the
//     improvement; and what an occurrence takes to be analysed (analysis_ns) and to be recorded and
//     optimised besides (recording_ns), nothing running: one_time is what the latter adds as a multiple of
//     the former, and is to be at most 2
//   trace_overhead_chains   the paper's Figure 11: the program of Figure 9 against its S x N (size)
//   trace_overhead_interrupted, trace_overhead_varying   replays that are entered and left all the time: so many
//     launches (size) and one outside of the trace on the same data; one launch to `size` of them in turn

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/options.hpp"
#include "support/records.hpp"
#include "support/rounds.hpp"
#include "trace_overhead/measure.hpp"

namespace {

using namespace refrain::bench;
using refrain::Context;
using refrain::Runtime;

constexpr double one_time_goal = 2;

struct Workload {
  std::string benchmark;
  int size;
  int tasks;  ///< of an occurrence
  MakeProgram make;
};

/// A runtime for each variant, all with the same number of threads.
struct Variant {
  std::string name;
  std::unique_ptr<Runtime> runtime;
  bool traced;
};

std::vector<Variant> variants_on(int threads) {
  std::vector<Variant> variants;
  for (const char* name : {"untraced", "unoptimised", "traced"}) {
    refrain::Options options;
    options.workers = threads - 1;
    options.autotrace = false;
    options.trace_optimize = std::string(name) != "unoptimised";
    variants.push_back({name, std::make_unique<Runtime>(options), std::string(name) != "untraced"});
  }
  return variants;
}

class TraceOverhead {
 public:
  TraceOverhead(const Options& options, int threads, Records& records)
      : options_(options), threads_(threads), variants_(variants_on(threads)), records_(records) {}

  /// `one_time`: also what recording costs; with two threads.
  void measure(const Workload& workload, bool one_time) {
    const int occurrences = std::max(8, (options_.quick ? 20'000 : 200'000) / workload.tasks);
    std::vector<Contestant> contestants;
    contestants.reserve(variants_.size());
    for (const Variant& variant : variants_) {
      contestants.push_back({"refrain", variant.name, [&variant, &workload, occurrences] {
                               return ns_per_occurrence(*variant.runtime, workload.make,
                                                        variant.traced, occurrences);
                             }});
    }
    for (const bool recorded : {false, true}) {
      if (!one_time) break;
      Runtime& runtime = *variants_.back().runtime;
      contestants.push_back(
          {"refrain", recorded ? "recording" : "analysis", [&runtime, &workload, recorded] {
             return ns_to_launch(runtime, workload.make, recorded);
           }});
    }
    run_rounds(contestants, options_.reps);
    report(workload, contestants);
    if (one_time) report_one_time(workload, contestants);
    std::printf("\n");
    std::fflush(stdout);
  }

 private:
  void add(const Workload& workload, const std::string& variant, const char* metric,
           const char* unit, const Spread& value) {
    records_.add(
        {workload.benchmark, "refrain", variant, threads_, workload.size, metric, unit, value});
  }

  void report(const Workload& workload, const std::vector<Contestant>& contestants) {
    std::printf("%9d %7d %8d", threads_, workload.size, workload.tasks);
    const auto tasks = static_cast<double>(workload.tasks);
    add(workload, "", "tasks_per_trace", "", {tasks, tasks, tasks});
    const std::vector<double>& untraced = contestants.front().samples;
    for (std::size_t i = 0; i < variants_.size(); ++i) {
      const Contestant& c = contestants[i];
      const Spread ns = spread(c.samples);
      std::printf(" %11.2f", ns.median * 1e-3);
      add(workload, c.variant, "ns_per_trace", "ns", ns);
      if (i == 0) continue;
      const PairedRatio better = paired_ratio(untraced, c.samples);
      std::printf(" (%4.1fx)", better.median);
      add(workload, c.variant, "improvement", "x", {better.median, better.low, better.high});
    }
  }

  void report_one_time(const Workload& workload, const std::vector<Contestant>& contestants) {
    const Contestant& analysis = *find_finished(contestants, "refrain", "analysis");
    const Contestant& recording = *find_finished(contestants, "refrain", "recording");
    std::vector<double> added;
    for (std::size_t i = 0; i < recording.samples.size(); ++i)
      added.push_back(recording.samples[i] - analysis.samples[i]);
    const PairedRatio ratio = paired_ratio(added, analysis.samples);
    std::printf(" %10.2f %10.2f %8.2f %s", spread(analysis.samples).median * 1e-3,
                spread(added).median * 1e-3, ratio.median, verdict(ratio.median <= one_time_goal));
    add(workload, "untraced", "analysis_ns", "ns", spread(analysis.samples));
    add(workload, "traced", "recording_ns", "ns", spread(added));
    add(workload, "traced", "one_time", "x", {ratio.median, ratio.low, ratio.high});
  }

  const Options& options_;
  const int threads_;
  const std::vector<Variant> variants_;
  Records& records_;
};

void print_head(const char* what, const char* size) {
  std::printf("\n%s: us per trace\n%9s %7s %8s %11s %19s %19s", what, "threads", size, "tasks",
              "untraced", "unoptimised", "traced");
}

void measure_applications(const Options& options, Records& records) {
  constexpr int threads = 2;
  TraceOverhead overhead(options, threads, records);
  for (const char* name : {"stencil", "circuit"}) {
    const bool stencil = std::string(name) == "stencil";
    print_head(name, "/core");
    std::printf(" %10s %10s %8s\n", "analysis", "recording", "one time");
    for (const int per_core : {1, 4, 16}) {
      const int tiles = threads * per_core;
      overhead.measure(
          {"trace_overhead_" + std::string(name), per_core, stencil ? 2 * tiles : 3 * tiles + 1,
           [=](Context& context) {
             return stencil ? make_stencil(context, tiles) : make_circuit(context, tiles);
           }},
          true);
    }
  }
}

void measure_chains(const Options& options, Records& records) {
  print_head("chains", "S x N");
  std::printf("\n");
  for (const int threads : {1, 2}) {
    TraceOverhead overhead(options, threads, records);
    for (const int steps : {1, 4, 16, 64, 256, 1024}) {
      const int tasks = steps * chains;
      overhead.measure({"trace_overhead_chains", tasks, tasks,
                        [=](Context& context) { return make_chains(context, steps); }},
                       false);
    }
  }
}

/// Replays that end after a few operations.
void measure_short(const Options& options, Records& records) {
  for (const char* name : {"interrupted", "varying"}) {
    const bool interrupted = std::string(name) == "interrupted";
    print_head(name, interrupted ? "launches" : "most");
    std::printf("\n");
    for (const int threads : {1, 2}) {
      TraceOverhead overhead(options, threads, records);
      for (const int size : {1, 4, 16, 64, 256}) {
        overhead.measure(
            {"trace_overhead_" + std::string(name), size, interrupted ? size + 1 : (size + 1) / 2,
             [=](Context& context) {
               return interrupted ? make_interrupted(context, size) : make_varying(context, size);
             }},
            false);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Options options =
      parse_options(argc, argv, "The runtime's cost of a trace whose tasks do nothing.", 7, 2);
  Records records;
  measure_applications(options, records);
  measure_chains(options, records);
  measure_short(options, records);
  records.write(options.out);
  return 0;
}
