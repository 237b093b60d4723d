// The threaded executor as shipped, on random graphs with small windows and few accumulators.

#include <gtest/gtest.h>

#include "exec/threads.hpp"
#include "support/random_graph.hpp"
#include "support/test_budget.hpp"

namespace refrain::exec::threaded_executor_test {
namespace {

using test::Graph;
using test::GraphOptions;

ProcessorPlan plan(int gpus) {
  ProcessorPlan plan;
  plan.cpus.push_back({0, {}});
  for (int i = 0; i < gpus; ++i) plan.dedicated.push_back(1 + i);
  return plan;
}

void run(const Graph& graph, int workers, int gpus) {
  ExecutorOptions options;
  options.workers = workers;
  options.accumulators = 2;
  options.bind = false;
  const auto executor = make_threaded_executor(plan(gpus), options);
  executor->run_root([&] { test::run_graph(*executor, graph, nullptr); });
}

TEST(ThreadedExecutor, RandomGraphsKeepTheOrder) {
  for (test::TestBudget budget{400, 20}; budget.more(); budget.next()) {
    SCOPED_TRACE("seed " + std::to_string(budget.seed()));
    const auto graph = test::make_graph(budget.seed(), GraphOptions{});
    run(*graph, static_cast<int>(budget.seed() % 5), 0);
    if (HasFailure()) return;
  }
}

TEST(ThreadedExecutor, RandomGraphsWithDedicatedProcessors) {
  for (test::TestBudget budget{200, 20}; budget.more(); budget.next()) {
    SCOPED_TRACE("seed " + std::to_string(budget.seed()));
    GraphOptions options;
    options.gpus = 2;
    const auto graph = test::make_graph(budget.seed(), options);
    run(*graph, static_cast<int>(budget.seed() % 3), 2);
    if (HasFailure()) return;
  }
}

TEST(ThreadedExecutor, LongRunsReuseNodes) {
  for (int workers = 0; workers < 3; ++workers) {
    GraphOptions options;
    options.nodes = 20000;
    options.depth = 1;
    run(*test::make_graph(7 + workers, options), workers, 0);
  }
}

TEST(ThreadedExecutor, RunsManyRootProgramsInARow) {
  ExecutorOptions options;
  options.workers = 2;
  const auto executor = make_threaded_executor(plan(1), options);
  for (int i = 0; i < 50; ++i) {
    GraphOptions graph;
    graph.nodes = 20;
    graph.gpus = 1;
    executor->run_root([&] { test::run_graph(*executor, *test::make_graph(i, graph), nullptr); });
  }
  EXPECT_THROW(executor->run_root([] { throw std::runtime_error("out"); }), std::runtime_error);
}

}  // namespace
}  // namespace refrain::exec::threaded_executor_test
