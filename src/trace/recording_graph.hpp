#pragma once
// The task graph of a recording as plain data: operations in launch order, and edges. The recorder writes the edges,
// the optimiser (trace/optimiser.hpp) thins them out, templates are compiled from them, and the graph calculus
// (trace/graph_calculus.hpp) prints them.
//
// An *inner* edge leads from an operation to a later one of the same replay. A *carried* edge leads from an operation
// of one replay to any operation of the next replay of the same recording; only idempotent recordings have them. So
// every edge leads from an earlier launch to a later one.

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
