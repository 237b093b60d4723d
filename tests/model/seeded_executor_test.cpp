// The seeded executor on random graphs: every seed keeps the order, equal seeds give equal runs.

#include <gtest/gtest.h>

#include <set>

#include "exec/seeded_executor.hpp"
#include "graph/failure.hpp"
#include "refrain/error.hpp"
#include "support/random_graph.hpp"
#include "support/test_budget.hpp"

namespace refrain::exec::seeded_executor_test {
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

/// Waits for a child that does the same.
void nest(Node& node, Execution& execution) {
  if (execution.failure != nullptr) return;
  Scope inner(execution.executor, node.scope, 10);
  Node& child = inner.allocate(0);
  child.info = node.info;
  child.run = nest;
  execution.executor.publish(child, {});
  inner.drain(node.info);
  if (const FailureRef failure = inner.failures().take()) failure->rethrow();
}

TEST(SeededExecutor, ABodyForWhichNoStackIsLeftFails) {
  ProcessorPlan plan;
  plan.cpus = {{0, {}}};
  ExecutorOptions options;
  options.stacks = 7;  // the program's and six tasks'
  const NodeInfo info{"nest", std::source_location::current()};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SeededExecutor executor(plan, options, seed);
    executor.run_root([&] {
      Scope scope(executor, nullptr, 10);
      for (int again = 0; again < 2; ++again) {
        Node& node = scope.allocate(0);
        node.info = &info;
        node.run = nest;
        executor.publish(node, {});
        scope.drain(&info);
        const FailureRef failure = scope.failures().take();
        ASSERT_NE(failure, nullptr);
        try {
          failure->rethrow();
        } catch (const TaskFailed& error) {
          const std::string text = error.what();
          EXPECT_NE(text.find("task 'nest' launched at " + to_string(info.where) +
                              " failed: no stack for its body, 7 tasks deep"),
                    std::string::npos)
              << text;
          EXPECT_EQ(error.levels(), 7);
        }
      }
    });
  }
}

constexpr int kChildren = 20;

/// Waits for children that do nothing.
void wait_for_children(Node& node, Execution& execution) {
  Scope inner(execution.executor, node.scope, 100);
  for (int i = 0; i < kChildren; ++i) {
    Node& child = inner.allocate(0);
    child.info = node.info;
    child.run = [](Node&, Execution&) {};
    execution.executor.publish(child, {});
  }
  inner.drain(node.info);
}

/// How often a waiter looks, for each operation, with so many tasks that wait for children of their own.
double looks_per_operation(int tasks, std::uint64_t seed) {
  ProcessorPlan plan;
  plan.cpus = {{0, {}}};
  const NodeInfo info{"wait", std::source_location::current()};
  SeededExecutor executor(plan, {}, seed);
  executor.run_root([&] {
    Scope scope(executor, nullptr, 10'000);
    for (int i = 0; i < tasks; ++i) {
      Node& node = scope.allocate(0);
      node.info = &info;
      node.run = wait_for_children;
      executor.publish(node, {});
    }
    scope.drain(&info);
  });
  return static_cast<double>(executor.looks()) / (tasks * (kChildren + 1));
}

// Nobody looks for what happens in another's scope: an operation costs the same however many wait.
TEST(SeededExecutor, OneWaiterAtMostLooksForEachOperation) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    EXPECT_LE(looks_per_operation(10, seed), 1);
    EXPECT_LE(looks_per_operation(300, seed), 1);
  }
}

}  // namespace
}  // namespace refrain::exec::seeded_executor_test
