#pragma once
// A recording in graph calculus, the notation of the dynamic tracing paper for task graphs (IV.B, Figure 3):
//
//   e1 := fence;              e1 triggers when all that was launched before has ended
//   e2 := op(T(R^a), e1);     T begins when e1 has triggered; e2 triggers when T has ended
//   e3 := merge(e1, e2);      e3 triggers when e1 and e2 have
//   e4 := e3;                 an event gets another name
//
// Events of the later of two replays have a prime. The stages are the paper's: as recorded (Figure 4); after transitive
// reduction and after copy propagation (Figure 5); an idempotent recording unrolled once, where each operation waits
// for operations of the replay before in place of the fence (Figure 7e); and the commands that can be repeated (Figure
// 7g).
//
// This is for reading only: the edges are executed. Two things are notation. The fence: an operation with entry edges
// waits for the users of its own data only. The summary operation, which stands for all that comes after the trace:
// each later operation waits only for the operations of the trace that it depends on.
//
// An event keeps its number in all stages. Merges that the unrolled stages add are numbered after the summary. Pure;
// any thread. Cost: that of the text.

#include <iosfwd>
#include <string>
#include <vector>

#include "trace/optimiser.hpp"

namespace refrain::trace {

struct RecordedOperation {
  std::string text;      ///< "T1(R^a, S^a)", "copy(R^b, R^a)"
  bool entered = false;  ///< has predecessors from before the trace
};

/// The task graph of a recording as plain data: operations in launch order, and edges.
struct RecordingGraph {
  std::vector<RecordedOperation> operations;
  RecordedEdges edges;
  bool idempotent = false;  ///< the postcondition implies the precondition
};

/// The commands of each stage, a line each: "e2' := op(T1(R^a), e1);".
struct RecordingStages {
  std::string recorded, reduced;
  /// Copy propagation (IV.C): merges of a single event are left out, and that event put where they were used.
  std::string propagated;
  /// Of idempotent recordings: the next replay before edges between replays are reduced, and all replays.
  std::string unrolled, repeatable;
};

/// `reduced` are the graph's edges as the optimiser has left them; `summary` is the operation that stands for what
/// follows: "T_summary(R^a, S^a)".
[[nodiscard]] RecordingStages stages_of(const RecordingGraph& graph, const RecordedEdges& reduced,
                                        const std::string& summary);

/// The text around the commands.
struct RecordingText {
  std::string trace;                        ///< its name
  std::string where;                        ///< file:line where it begins
  std::string precondition, postcondition;  ///< indented lines
  std::string summary;
};

/// All stages, for --refrain:graph-calculus.
void print(std::ostream& out, const RecordingText& text, const RecordingGraph& graph,
           const RecordedEdges& reduced);

}  // namespace refrain::trace
