#pragma once
// The optimiser of recordings: leaves out the edges that others imply (transitive reduction, IV.C of the
// dynamic tracing paper), across replays too (fence elision by unrolling once, IV.F).
//
// What implies what. An edge of either kind orders its ends; a data edge also carries failures. So a data
// edge is left out only when a path of data edges alone joins its ends, an order edge when any path does.
// A carried edge is looked at in the graph unrolled once, one replay and the next: a path that implies it
// crosses from the one to the other exactly once, by another carried edge. Since edges never lead backwards,
// inner edges are implied by inner edges alone.
//
// Guarantees: the edges that stay are among those given, and order the same operations and pass failures
// to the same operations as all of them do, in one replay and in any number that follow each other. Whatever
// path makes an edge redundant lies, in launch order, before the edge's target; so of a trace that is left
// early, the part that was issued is reduced as if the trace ended there, and nothing is missing.
//
// Cost: where no edge spans more than some thousand operations, a word per 64 operations spanned and edge that
// stays (trace/reach_window.hpp). Else O(n w) for n operations in w concurrent chains
// (trace/transitive_reduction.hpp), bounded by a budget in proportion to n: when it is spent, the remaining edges
// stay, which does no harm, and are counted. Pure; any thread.

#include <cstddef>
#include <cstdint>

#include "trace/recording_graph.hpp"

namespace refrain::trace {

struct OptimiserBudget {
  std::uint64_t steps_per_operation = 1024;    ///< one to some nanoseconds each
  std::size_t entries = std::size_t{1} << 23;  ///< 64 MiB: rows are kept in memory meanwhile
};

struct OptimisedEdges {
  RecordedEdges edges;         ///< sorted by target
  std::size_t removed = 0;     ///< how many of the given ones were left out
  std::size_t unexamined = 0;  ///< how many stay because the budget was spent
  std::uint64_t steps = 0;     ///< what it cost
};

/// The edges are between that many operations, in any order.
[[nodiscard]] OptimisedEdges optimise(std::uint32_t operations, RecordedEdges edges,
                                      const OptimiserBudget& budget = {});

}  // namespace refrain::trace
