// The optimiser against brute force on the unrolled graph.

#include "trace/optimiser.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <string>
#include <vector>

#include "support/random.hpp"
#include "support/test_budget.hpp"

namespace refrain::trace::optimiser_test {
namespace {

using test::Random;

constexpr std::uint32_t replays = 4;
constexpr std::uint32_t most_operations = 24;
using Reached = std::bitset<replays * most_operations>;

/// Edges between operations of several replays: operation i of replay r is r * operations + i.
std::vector<RecordedEdge> unroll(std::uint32_t operations, const RecordedEdges& edges) {
  std::vector<RecordedEdge> all;
  for (std::uint32_t base = 0; base < replays * operations; base += operations) {
    for (const auto& e : edges.inner) all.push_back({base + e.from, base + e.to});
    if (base + operations == replays * operations) break;
    for (const auto& e : edges.carried) all.push_back({base + e.from, base + operations + e.to});
  }
  return all;
}

/// Whom each operation reaches, itself excluded.
std::vector<Reached> closure(std::uint32_t nodes, const std::vector<RecordedEdge>& edges) {
  std::vector<Reached> reached(nodes);
  for (std::uint32_t from = nodes; from-- > 0;) {
    for (const auto& e : edges) {
      if (e.from != from) continue;
      reached[from] |= reached[e.to];
      reached[from].set(e.to);
    }
  }
  return reached;
}

/// Whether the other edges of the unrolled graph imply the edge at that place.
bool implied_by_others(std::uint32_t nodes, std::vector<RecordedEdge> unrolled, std::size_t place) {
  const RecordedEdge edge = unrolled[place];
  unrolled.erase(unrolled.begin() + std::ptrdiff_t(place));
  return closure(nodes, unrolled)[edge.from].test(edge.to);
}

void expect_same_closure(std::uint32_t operations, const RecordedEdges& a, const RecordedEdges& b) {
  const auto of_a = closure(replays * operations, unroll(operations, a));
  const auto of_b = closure(replays * operations, unroll(operations, b));
  for (std::size_t i = 0; i < of_a.size(); ++i) ASSERT_EQ(of_a[i], of_b[i]) << "from " << i;
}

void expect_nothing_redundant(std::uint32_t operations, const RecordedEdges& edges) {
  const std::vector<RecordedEdge> unrolled = unroll(operations, edges);
  for (std::size_t i = 0; i < edges.inner.size() + edges.carried.size(); ++i) {
    ASSERT_FALSE(implied_by_others(replays * operations, unrolled, i))
        << unrolled[i].from << " -> " << unrolled[i].to;
  }
}

void expect_part_of(std::vector<RecordedEdge> part, std::vector<RecordedEdge> whole) {
  std::sort(part.begin(), part.end());
  std::sort(whole.begin(), whole.end());
  ASSERT_TRUE(std::includes(whole.begin(), whole.end(), part.begin(), part.end()));
}

std::size_t count(const RecordedEdges& edges) { return edges.inner.size() + edges.carried.size(); }

struct Example {
  std::uint32_t operations;
  RecordedEdges edges;
};

/// Sparse and dense, some edges twice, half with edges between replays.
Example random_example(std::uint64_t seed) {
  Random random(seed);
  Example example{std::uint32_t(random.between(1, int(most_operations))), {}};
  const int n = int(example.operations);
  for (int i = random.below(3 * n); i > 0 && n > 1; --i) {
    const int to = random.between(1, n - 1);
    const int from = random.percent(50) ? random.below(to) : std::max(0, to - random.between(1, 4));
    example.edges.inner.push_back({std::uint32_t(from), std::uint32_t(to)});
  }
  if (random.percent(50)) return example;
  for (int i = random.below(2 * n); i > 0; --i) {
    example.edges.carried.push_back(
        {std::uint32_t(random.below(n)), std::uint32_t(random.below(n))});
  }
  return example;
}

RecordedEdges prefix(const RecordedEdges& edges, std::uint32_t inner, std::uint32_t carried) {
  RecordedEdges result;
  for (const auto& e : edges.inner)
    if (e.to < inner) result.inner.push_back(e);
  for (const auto& e : edges.carried)
    if (e.to < carried) result.carried.push_back(e);
  return result;
}

TEST(Optimiser, EqualsBruteForce) {
  for (test::TestBudget budget{4000, 20}; budget.more(); budget.next()) {
    SCOPED_TRACE("seed " + std::to_string(budget.seed()));
    const auto [operations, edges] = random_example(budget.seed());
    const OptimisedEdges result = optimise(operations, edges);
    ASSERT_EQ(result.unexamined, 0u);
    expect_part_of(result.edges.inner, edges.inner);
    expect_part_of(result.edges.carried, edges.carried);
    expect_same_closure(operations, result.edges, edges);
    expect_nothing_redundant(operations, result.edges);
    if (HasFatalFailure()) return;
  }
}

TEST(Optimiser, APrefixIsTheReductionOfThePrefix) {
  for (test::TestBudget budget{2000, 20}; budget.more(); budget.next()) {
    SCOPED_TRACE("seed " + std::to_string(budget.seed()));
    const auto [n, edges] = random_example(budget.seed());
    const RecordedEdges whole = optimise(n, edges).edges;
    for (std::uint32_t issued = 0; issued < n; ++issued) {
      // Left in the first replay, and in one that follows a complete one.
      ASSERT_EQ(optimise(issued, prefix(edges, issued, 0)).edges, prefix(whole, issued, 0));
      ASSERT_EQ(optimise(n, prefix(edges, n, issued)).edges, prefix(whole, n, issued));
    }
  }
}

TEST(Optimiser, ASpentBudgetLeavesEdges) {
  std::size_t cut_short = 0;
  for (test::TestBudget budget{1000, 20}; budget.more(); budget.next()) {
    SCOPED_TRACE("seed " + std::to_string(budget.seed()));
    const auto [operations, edges] = random_example(budget.seed());
    const OptimisedEdges best = optimise(operations, edges);
    for (const std::uint64_t little : {0ull, 1ull, 2ull}) {
      const OptimisedEdges result = optimise(operations, edges, little);
      ASSERT_LE(count(best.edges), count(result.edges));
      ASSERT_LE(count(result.edges), count(best.edges) + result.unexamined);
      expect_same_closure(operations, result.edges, edges);
      if (HasFatalFailure()) return;
      cut_short += result.unexamined > 0;
    }
  }
  EXPECT_GT(cut_short, 0u);
}

/// The same with so many operations for each that nobody follows but the last of them.
RecordedEdges spread_out(RecordedEdges edges, std::uint32_t times) {
  for (auto* all : {&edges.inner, &edges.carried}) {
    for (RecordedEdge& e : *all) {
      e.from = e.from * times + times - 1;
      e.to = e.to * times + times - 1;
    }
  }
  return edges;
}

TEST(Optimiser, HowFarAnEdgeReachesChangesNothing) {
  for (test::TestBudget budget{300, 20}; budget.more(); budget.next()) {
    SCOPED_TRACE("seed " + std::to_string(budget.seed()));
    const auto [operations, edges] = random_example(budget.seed());
    const OptimisedEdges near = optimise(operations, edges);
    for (const std::uint32_t times : {3u, 70u, 5000u}) {
      const OptimisedEdges far = optimise(operations * times, spread_out(edges, times));
      ASSERT_EQ(far.edges, spread_out(near.edges, times)) << times << " times as far";
      ASSERT_EQ(far.unexamined, 0u);
    }
  }
}

TEST(Optimiser, OfEqualEdgesOneStays) {
  const RecordedEdges edges{{{0, 1}, {0, 1}, {0, 1}}, {{1, 0}, {1, 0}}};
  const OptimisedEdges result = optimise(2, edges);
  EXPECT_EQ(result.edges, (RecordedEdges{{{0, 1}}, {{1, 0}}}));
}

TEST(Optimiser, NothingAtAll) {
  EXPECT_EQ(optimise(0, {}).edges, RecordedEdges{});
  EXPECT_EQ(optimise(3, {}).edges, RecordedEdges{});
}

/// Each operation follows the last one in its lane and in a few others, of this replay or of the one before.
RecordedEdges lanes(std::uint32_t operations, std::uint32_t width, std::uint32_t others) {
  std::vector<std::uint32_t> last(width, 2 * operations);  // none yet
  RecordedEdges edges;
  for (std::uint32_t i = 0; i < 2 * operations; ++i) {
    const std::uint32_t to = i % operations;
    for (std::uint32_t k = 0; k <= others; ++k) {
      const std::uint32_t from = last[k == 0 ? to % width : test::mix(to, k) % width];
      if (i < operations && from < operations) edges.inner.push_back({from, to});
      if (i >= operations && from < operations) edges.carried.push_back({from, to});
    }
    last[to % width] = i;
  }
  return edges;
}

TEST(Optimiser, TheCostOfAnOperationDoesNotGrowWithTheTrace) {
  for (const auto& [width, others] : {std::pair{16u, 0u}, {16u, 1u}, {64u, 3u}}) {
    std::vector<double> steps;
    for (const std::uint32_t operations : {2000u, 10000u, 100000u}) {
      const OptimisedEdges result = optimise(operations, lanes(operations, width, others));
      EXPECT_EQ(result.unexamined, 0u);
      steps.push_back(double(result.steps) / operations);
    }
    EXPECT_LE(steps.back(), 1.1 * steps.front()) << width << " lanes";
    // The lanes between an operation and its earliest predecessor, with the edges of each.
    EXPECT_LE(steps.back(), 1.1 * width * (1 + others)) << width << " lanes";
  }
}

}  // namespace
}  // namespace refrain::trace::optimiser_test
