#pragma once
// What the analysis of a trace has decided, as plain data: the operations in launch order and which must
// come after which. The recorder writes it, the optimiser (trace/optimiser.hpp) thins out its edges, the
// graph calculus (trace/graph_calculus.hpp) prints it, templates are compiled from it.
//
// Edges are of two sorts. An *inner* edge leads from an operation to a later one of the same replay. A
// *carried* edge leads from an operation of one replay to an operation of the next replay of the same
// recording, earlier or later in the trace, or to itself; only idempotent recordings have them. Every
// edge thus leads from an earlier launch to a later one.

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "graph/node.hpp"

namespace refrain::trace {

/// Operation `to` must come after operation `from`; both are places in RecordingGraph::operations.
struct RecordedEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  exec::EdgeKind kind = exec::EdgeKind::order;
  friend auto operator<=>(const RecordedEdge&, const RecordedEdge&) = default;
};

struct RecordedEdges {
  std::vector<RecordedEdge> inner;    ///< from < to
  std::vector<RecordedEdge> carried;  ///< `to` is an operation of the next replay
  friend bool operator==(const RecordedEdges&, const RecordedEdges&) = default;
};

struct RecordedOperation {
  std::string text;          ///< "T1(R^a, S^a)", "copy(R^b, R^a)"; read by printing alone
  std::uint32_t launch = 0;  ///< which launch of the trace it belongs to; ascending
  bool entered = false;      ///< has predecessors from before the trace
};

struct RecordingGraph {
  std::vector<RecordedOperation> operations;
  RecordedEdges edges;
  bool idempotent = false;  ///< the postcondition implies the precondition
};

}  // namespace refrain::trace
