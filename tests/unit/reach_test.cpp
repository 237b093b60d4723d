// Transitive reduction by chains against its definition, on graphs large enough that chains come and go.

#include "trace/reach.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <functional>
#include <string>
#include <vector>

#include "support/random.hpp"
#include "support/test_budget.hpp"

namespace refrain::trace {
namespace {

using test::Random;

constexpr int most_nodes = 300;

struct Arc {
  std::uint32_t from, to;
};

/// Long thin ones, wide ones, and with edges of any length.
std::vector<Arc> random_arcs(Random& random, int nodes) {
  std::vector<Arc> arcs;
  const int length = random.pick<int>({2, 10, 40, most_nodes});
  for (int i = random.below(4 * nodes); i > 0; --i) {
    const int to = random.between(1, nodes - 1);
    const int from = std::max(0, to - random.between(1, length));
    arcs.push_back({std::uint32_t(from), std::uint32_t(to)});
  }
  return arcs;
}

std::vector<bool> redundant_by_definition(int nodes, const std::vector<Arc>& arcs) {
  std::vector<std::bitset<most_nodes>> reached(static_cast<std::size_t>(nodes));
  for (int from = nodes; from-- > 0;) {
    for (const Arc& arc : arcs) {
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

struct Reduction {
  std::vector<bool> redundant;
  std::uint64_t steps = 0;
};

/// Arcs to each node from the latest source down; of arcs with the same ends the first stays.
Reduction reduce(std::uint32_t nodes, const std::vector<Arc>& arcs) {
  Chains chains(nodes);
  std::vector<std::vector<std::size_t>> to(nodes);
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    chains.expect(arcs[i].from, arcs[i].to);
    to[arcs[i].to].push_back(i);
  }
  chains.prepare();
  Reduction result{std::vector<bool>(arcs.size()), 0};
  for (std::uint32_t node = 0; node < nodes; ++node) {
    std::ranges::stable_sort(to[node], std::greater<>(),
                             [&](std::size_t i) { return arcs[i].from; });
    for (const std::size_t i : to[node]) {
      if (chains.reached_from(arcs[i].from)) result.redundant[i] = true;
      else chains.join(arcs[i].from);
    }
    chains.end(node);
  }
  result.steps = chains.steps();
  return result;
}

TEST(TransitiveReduction, EqualsItsDefinition) {
  for (test::TestBudget budget{1500, 20}; budget.more(); budget.next()) {
    SCOPED_TRACE("seed " + std::to_string(budget.seed()));
    Random random(budget.seed());
    const int nodes = random.between(2, most_nodes);
    const std::vector<Arc> arcs = random_arcs(random, nodes);
    ASSERT_TRUE(reduce(std::uint32_t(nodes), arcs).redundant ==
                redundant_by_definition(nodes, arcs));
  }
}

TEST(TransitiveReduction, WhatIsNeededNoMoreCostsNothing) {
  // Step after step of 1000 nodes side by side, each after the one at its place and its neighbour.
  constexpr std::uint32_t width = 1000, steps = 20;
  std::vector<Arc> arcs;
  for (std::uint32_t to = width; to < width * steps; ++to) {
    for (const std::uint32_t from : {to - width, to - width + (to % width == 0 ? width - 1 : -1u)})
      arcs.push_back({from, to});
  }
  const Reduction result = reduce(width * steps, arcs);
  EXPECT_EQ(std::count(result.redundant.begin(), result.redundant.end(), true), 0);
  EXPECT_LE(result.steps, 10 * arcs.size());
}

}  // namespace
}  // namespace refrain::trace
