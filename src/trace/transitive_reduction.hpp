#pragma once
// Transitive reduction of a graph whose nodes are numbered so that every edge leads upwards: which edges
// can be left out because another path joins their ends?
//
// The nodes are divided into *chains*, greedily: a node is appended to a chain whose newest node reaches
// it, else it begins a chain. On a chain each node reaches all later ones, so what reaches a node is
// said by one number per chain: the latest node there that does. This is the node's *row*. Going through
// the nodes upwards, and through the predecessors of each downwards, a predecessor is redundant exactly if
// the rows of those before it reach it; otherwise its row is merged (Goralcikova and Koubek, 1979, with
// chains in the place of bit sets).
//
// What no later edge can ask for is forgotten: rows of nodes without further successors, and entries of a row
// when nothing on the chain, up to the entry, has further successors. A graph whose edges
// are short has short rows, however many chains stand side by side.
//
// Cost: O(edges + kept edges * w) steps for w chains in use at a time; memory O(nodes + edges + rows in use * w).
// Bounded by a budget: when it is spent the remaining nodes are not looked at, and their edges stay.
// Pure; any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace refrain::trace {

struct Arc {
  std::uint32_t from;
  std::uint32_t to;  ///< greater than `from`
};

struct ReductionBudget {
  std::uint64_t steps;  ///< entries of rows that are read
  std::size_t entries;  ///< entries of rows, of 8 bytes, that memory is taken for
};

struct Reduction {
  std::vector<bool> redundant;  ///< of each arc
  std::uint32_t examined = 0;   ///< arcs to this node and later ones have not been looked at
  std::uint64_t steps = 0;
};

/// Of arcs with the same ends all but the first are redundant.
[[nodiscard]] Reduction reduce(std::uint32_t nodes, std::span<const Arc> arcs,
                               const ReductionBudget& budget);

}  // namespace refrain::trace
