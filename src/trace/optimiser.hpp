#pragma once
// The edges of a recording, and their optimiser: leaves out edges that other edges imply (transitive reduction, dynamic
// tracing paper, IV.C), across replays too (fence elision by unrolling once, IV.F).
//
// An *inner* edge leads from an operation to a later one of the same replay. A *carried* edge leads from an operation
// of one replay to any operation of the next replay of the same recording; only idempotent recordings have them. So
// every edge leads from an earlier launch to a later one.
//
// Implied edges. An edge is implied by a path of other edges between its ends. Carried edges are examined in the graph
// unrolled once, one replay and the next: a path that implies one crosses between the replays exactly once, by another
// carried edge. Inner edges are implied by inner edges alone, since edges never lead backwards.
//
// Guarantees. The edges that stay are among the given ones, and order the same operations, in one replay and in any
// number of successive ones. The path that implies an edge lies before the edge's target, in launch order. So of a trace
// that is left early, the issued part is reduced as if the trace ended there.
//
// Cost: sorting, then steps per operation. In a short recording a step is a word of 64 operations, and each edge that stays
// takes the words before its source. In a long one the steps are the edges among the operations that reach it, back to its
// earliest predecessor, and the words on the way. A budget in proportion to the operations bounds the sum: when it is
// spent, the remaining edges stay, which does no harm, and are counted. Pure; any thread.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/template.hpp"

namespace refrain::trace {

using RecordedEdge = exec::Template::Edge;
/// Mostly they are sorted already. Those to one operation keep their order.
void sort_by_target(std::vector<RecordedEdge>& edges);

struct RecordedEdges {
  std::vector<RecordedEdge> inner;    ///< from < to
  std::vector<RecordedEdge> carried;  ///< `to` is an operation of the next replay
  friend bool operator==(const RecordedEdges&, const RecordedEdges&) = default;
};

struct OptimisedEdges {
  RecordedEdges edges;         ///< sorted by target
  std::size_t unexamined = 0;  ///< how many stay because the budget was spent
  std::uint64_t steps = 0;     ///< edges, and words of 64 operations, that were read
};

/// The edges are between that many operations, in any order. The budget is in steps, which take some nanoseconds each.
[[nodiscard]] OptimisedEdges optimise(std::uint32_t operations, RecordedEdges edges,
                                      std::uint64_t steps_per_operation = 1024);

}  // namespace refrain::trace
