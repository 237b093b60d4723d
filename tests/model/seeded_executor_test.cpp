// The seeded executor on random graphs: every seed keeps the order, equal seeds give equal runs.

#include <gtest/gtest.h>

#include <set>

#include "exec/seeded_executor.hpp"
#include "support/random_graph.hpp"
#include "support/test_budget.hpp"

namespace refrain::exec {
namespace {

std::vector<int> run(const test::Graph& graph, std::uint64_t seed, std::uint64_t* steps = nullptr) {
  ProcessorPlan plan;
  plan.cpus = {{0, {}}, {1, {}}};
  plan.dedicated = {2, 3};
  ExecutorOptions options;
  options.accumulators = 2;
  SeededExecutor executor(plan, options, seed);
  std::vector<int> order;
  executor.run_root([&] { order = test::run_graph(executor, graph, nullptr); });
  if (steps) *steps = executor.steps();
  return order;
}

TEST(SeededExecutor, RandomGraphsKeepTheOrderUnderManySeeds) {
  for (test::TestBudget budget{1000, 20}; budget.more(); budget.next()) {
    SCOPED_TRACE("seed " + std::to_string(budget.seed()));
    test::GraphOptions options;
    options.nodes = 60;
    options.gpus = 1;
    run(*test::make_graph(budget.seed() / 4, options), budget.seed());
    if (HasFailure()) return;
  }
}

TEST(SeededExecutor, RunsRepeatExactlyAndDifferBetweenSeeds) {
  test::GraphOptions options;
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto graph = test::make_graph(99, options);
    const auto again = test::make_graph(99, options);
    std::uint64_t steps = 0;
    std::uint64_t steps_again = 0;
    const auto order = run(*graph, seed, &steps);
    EXPECT_EQ(order, run(*again, seed, &steps_again));
    EXPECT_EQ(steps, steps_again);
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 15U);
}

}  // namespace
}  // namespace refrain::exec
