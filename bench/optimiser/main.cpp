// Does the cost of optimising a recording grow faster than the recording? For shapes of recordings
// (shapes.hpp) of 10^3 to 10^5 tasks:
//   ns_per_task            one thread; the bar is 2 s for a whole recording of 10^5
//   instructions_per_task  callgrind's count; not under --quick
//   unexamined             edges that stay because the budget was spent

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "optimiser/shapes.hpp"
#include "support/callgrind.hpp"
#include "support/clock.hpp"
#include "support/options.hpp"
#include "support/records.hpp"
#include "trace/optimiser.hpp"

namespace {

using namespace refrain::bench;
using refrain::trace::OptimisedEdges;
using refrain::trace::RecordedEdges;

constexpr double goal_s = 2;

std::size_t number_of(const RecordedEdges& edges) {
  return edges.inner.size() + edges.carried.size();
}

/// What runs under callgrind: bench_optimiser count SHAPE TASKS.
int count(const std::string& shape, std::uint32_t tasks) {
  const RecordedEdges edges = recorded_edges(shape, tasks);
  const Collect collect;
  return number_of(refrain::trace::optimise(tasks, edges).edges) > 0 ? 0 : 1;
}

class Optimiser {
 public:
  Optimiser(const Options& options, Records& records, std::string self)
      : options_(options), records_(records), self_(std::move(self)) {}

  void measure(const std::string& shape, std::uint32_t tasks) {
    const RecordedEdges edges = recorded_edges(shape, tasks);
    std::vector<double> samples;
    OptimisedEdges result;
    for (int i = 0; i < options_.reps; ++i) {
      const std::int64_t start = now_ns();
      result = refrain::trace::optimise(tasks, edges);
      samples.push_back(double(now_ns() - start) / tasks);
    }
    const Spread ns = spread(samples);
    add(shape, tasks, "ns_per_task", "ns", ns);
    std::printf("  %-8s %7u tasks  %7.0f ns each  %6.3f s %s  %zu of %zu edges removed",
                shape.c_str(), tasks, ns.median, ns.median * tasks * 1e-9,
                verdict(ns.median * tasks * 1e-9 <= goal_s),
                number_of(edges) - number_of(result.edges), number_of(edges));
    if (result.unexamined > 0) std::printf(", %zu unexamined", result.unexamined);
    const auto unexamined = double(result.unexamined);
    add(shape, tasks, "unexamined", "", {unexamined, unexamined, unexamined});
    count_instructions_of(shape, tasks);
    std::printf("\n");
  }

 private:
  void count_instructions_of(const std::string& shape, std::uint32_t tasks) {
    if (options_.quick || !can_count_instructions()) return;
    const auto total = count_instructions(self_, {"count", shape, std::to_string(tasks)});
    if (!total) return;
    const double each = double(*total) / tasks;
    add(shape, tasks, "instructions_per_task", "", {each, each, each});
    std::printf(", %.0f instructions each", each);
  }
  void add(const std::string& shape, std::uint32_t tasks, const char* metric, const char* unit,
           const Spread& value) {
    records_.add({"optimiser", "refrain", shape, 1, tasks, metric, unit, value});
  }

  const Options& options_;
  Records& records_;
  const std::string self_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string(argv[1]) == "count")
    return count(argv[2], std::uint32_t(std::atoi(argv[3])));
  const Options options =
      parse_options(argc, argv, "Cost of optimising a recording against its size.", 5, 1);
  Records records;
  Optimiser optimiser(options, records, argv[0]);
  for (const std::string& shape : recording_shapes) {
    for (const std::uint32_t tasks : {1000u, 10000u, 100000u}) optimiser.measure(shape, tasks);
  }
  records.write(options.out);
  return 0;
}
