// Transitive reduction against its definition: on graphs with edges of any length.

#include "trace/optimiser.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <string>
#include <utility>
#include <vector>

#include "support/random.hpp"
#include "support/test_budget.hpp"

namespace refrain::trace::transitive_reduction_test {
namespace {

using test::Random;

constexpr int most_nodes = 300;

/// Edges within a replay, all of one kind.
using Arcs = std::vector<RecordedEdge>;

/// Long thin ones, wide ones, and with edges of any length.
Arcs random_arcs(Random& random, int nodes) {
  Arcs arcs;
  const int length = random.pick<int>({2, 10, 40, most_nodes});
  for (int i = random.below(4 * nodes); i > 0; --i) {
    const int to = random.between(1, nodes - 1);
    const int from = std::max(0, to - random.between(1, length));
    arcs.push_back({std::uint32_t(from), std::uint32_t(to)});
  }
  return arcs;
}

std::vector<bool> redundant_by_definition(int nodes, const Arcs& arcs) {
  std::vector<std::bitset<most_nodes>> reached(static_cast<std::size_t>(nodes));
  for (int from = nodes; from-- > 0;) {
    for (const RecordedEdge& arc : arcs) {
      if (int(arc.from) != from) continue;
      reached[arc.from] |= reached[arc.to];
      reached[arc.from].set(arc.to);
    }
  }
  std::vector<bool> redundant;
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    redundant.push_back(false);
    for (std::size_t k = 0; k < arcs.size() && !redundant[i]; ++k) {
      if (arcs[k].from != arcs[i].from) continue;
      redundant[i] = arcs[k].to == arcs[i].to ? k < i : reached[arcs[k].to].test(arcs[i].to);
    }
  }
  return redundant;
}

Arcs needed_by_definition(int nodes, const Arcs& arcs) {
  const std::vector<bool> redundant = redundant_by_definition(nodes, arcs);
  Arcs needed;
  for (std::size_t i = 0; i < arcs.size(); ++i)
    if (!redundant[i]) needed.push_back(arcs[i]);
  std::ranges::sort(needed, {}, [](const RecordedEdge& e) { return std::pair(e.to, e.from); });
  return needed;
}

TEST(TransitiveReduction, EqualsItsDefinition) {
  for (test::TestBudget budget{1500, 20}; budget.more(); budget.next()) {
    SCOPED_TRACE("seed " + std::to_string(budget.seed()));
    Random random(budget.seed());
    const int nodes = random.between(2, most_nodes);
    const Arcs arcs = random_arcs(random, nodes);
    const Arcs needed = needed_by_definition(nodes, arcs);
    const OptimisedEdges result = optimise(std::uint32_t(nodes), {arcs, {}});
    ASSERT_EQ(result.edges.inner, needed);
    ASSERT_EQ(result.unexamined, 0u);
  }
}

TEST(TransitiveReduction, WhatIsNeededNoMoreCostsNothing) {
  // Step after step of 1000 nodes side by side, each after the one at its place and its neighbour.
  constexpr std::uint32_t width = 1000, steps = 20;
  Arcs arcs;
  for (std::uint32_t to = width; to < width * steps; ++to) {
    for (const std::uint32_t from : {to - width, to - width + (to % width == 0 ? width - 1 : -1u)})
      arcs.push_back({from, to});
  }
  const OptimisedEdges result = optimise(width * steps, {arcs, {}});
  EXPECT_EQ(result.edges.inner.size(), arcs.size());
  EXPECT_EQ(result.unexamined, 0u);
  EXPECT_LE(result.steps, 10 * arcs.size());
}

}  // namespace
}  // namespace refrain::trace::transitive_reduction_test
