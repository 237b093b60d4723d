// Task Bench's graphs with OpenMP. Variants: "forall", a loop over the tasks of each step, and "depend", a task for each with
// its inputs as dependences. With 0 threads it is the plain sequential program. Requests: see patterns.hpp.

#include "peers/patterns.hpp"

namespace {

using namespace patterns;

/// A graph with its rows and what its tasks need.
struct Graph {
  Graph(const Pattern& p, const Work& work) : pattern(p), rows(p, work), inputs(all_inputs(p)) {}

  const std::vector<Tasks>& inputs_of(int step, int task) const {
    return inputs[static_cast<std::size_t>(pattern.set_of(step))][static_cast<std::size_t>(task)];
  }
  void run(int step, int task) { rows.run(step, task, inputs_of(step, task)); }

  Pattern pattern;
  Rows rows;
  std::vector<std::vector<std::vector<Tasks>>> inputs;
};

void run_forall(std::vector<Graph>& graphs, int steps, int threads) {
#pragma omp parallel num_threads(threads)
  for (int step = 0; step < steps; ++step) {
    for (Graph& graph : graphs) {
      const Tasks tasks = graph.pattern.tasks(step);
#pragma omp for nowait
      for (int task = tasks.first; task <= tasks.last; ++task) graph.run(step, task);
    }
#pragma omp barrier
  }
}

/// The tasks of the step before that this one reads.
void find_inputs(const Graph& graph, int step, int task, std::vector<int>& found) {
  const Tasks before = graph.pattern.tasks(step - 1);
  found.clear();
  if (step == 0) return;
  for (const Tasks& wanted : graph.inputs_of(step, task)) {
    const Tasks there = intersection(wanted, before);
    for (int i = there.first; i <= there.last; ++i) found.push_back(i);
  }
}

void run_depend(std::vector<Graph>& graphs, int steps, int threads) {
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    std::vector<int> needed;
    for (int step = 0; step < steps; ++step) {
      for (Graph& g : graphs) {
        Graph* const graph = &g;
        const Tasks tasks = graph->pattern.tasks(step);
        for (int task = tasks.first; task <= tasks.last; ++task) {
          find_inputs(g, step, task, needed);
          const int* const inputs = needed.data();
          const auto count = static_cast<int>(needed.size());
#pragma omp task depend(iterator(int i = 0                          \
                                 : count),                          \
                        in                                          \
                        : *graph->rows.output(step + 1, inputs[i])) \
    depend(out                                                      \
           : *graph->rows.output(step, task)) firstprivate(graph, step, task)
          graph->run(step, task);
        }
      }
    }
#pragma omp taskwait
  }
}

Outcome run(const Setup& setup, int threads, bool depend) {
  if (threads == 0) return run_sequential(setup);
  std::vector<Graph> graphs;
  graphs.reserve(setup.graphs.size());
  for (const Pattern& pattern : setup.graphs) graphs.emplace_back(pattern, setup.work);
  const peer::Timer timer;
  depend ? run_depend(graphs, setup.steps(), threads) : run_forall(graphs, setup.steps(), threads);
  Outcome outcome;
  outcome.seconds = timer.ns() * 1e-9;
  for (Graph& graph : graphs) graph.rows.append_digests(outcome.digests);
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = peer::threads_of(argc, argv);
  const bool depend = peer::variant_of(argc, argv) == "depend";
  return peer::serve([&](const peer::Request& request) {
    const Setup setup = peer::patterns_setup(request);
    run(peer::short_of(setup), threads, depend);
    const Outcome outcome = run(setup, threads, depend);
    peer::check_patterns(setup, outcome.digests);
    return outcome.seconds * 1e9;
  });
}
