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

#include <compare>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "trace/optimiser.hpp"

namespace refrain::trace {

/// The task graph of a recording as plain data: operations in launch order, and edges.
struct RecordedOperation {
  std::string text;          ///< "T1(R^a, S^a)", "copy(R^b, R^a)"; read by printing alone
  std::uint32_t launch = 0;  ///< which launch of the trace it belongs to; ascending
  bool entered = false;      ///< has predecessors from before the trace
};

/// The task graph of a recording as plain data: operations in launch order, and edges.
struct RecordingGraph {
  std::vector<RecordedOperation> operations;
  RecordedEdges edges;
  bool idempotent = false;  ///< the postcondition implies the precondition
};

struct Event {
  std::uint32_t number = 0;
  bool primed = false;
  friend auto operator<=>(const Event&, const Event&) = default;
};

struct Command {
  enum class Kind : std::uint8_t {
    fence,   ///< target := fence
    op,      ///< target := op(text, sources[0])
    merge,   ///< target := merge(sources...)
    copy,    ///< target := sources[0]
    remark,  ///< text, on a line of its own
  };
  Kind kind = Kind::fence;
  Event target{};
  std::vector<Event> sources{};
  std::string text{};
};
using Commands = std::vector<Command>;

/// Copy propagation (IV.C): merges of a single event are left out, and that event put where they were used.
[[nodiscard]] Commands propagate_copies(const Commands& commands);

/// A command a line: "e2' := op(T1(R^a), e1);".
void print(std::ostream& out, const Commands& commands);

class RecordingCommands {
 public:
  /// `reduced` are the graph's edges as the optimiser has left them; `summary` is the operation that stands
  /// for what follows: "T_summary(R^a, S^a)". Graph and edges must outlive this.
  RecordingCommands(const RecordingGraph& graph, const RecordedEdges& reduced, std::string summary);

  [[nodiscard]] Commands recorded() const;
  [[nodiscard]] Commands reduced() const;
  [[nodiscard]] Commands propagated() const;
  /// Of idempotent recordings: the next replay, before edges between replays are reduced.
  [[nodiscard]] Commands unrolled() const;
  /// Of idempotent recordings.
  [[nodiscard]] Commands repeatable() const;

 private:
  struct Waits;
  using Numbers = std::vector<std::uint32_t>;

  [[nodiscard]] std::vector<Waits> waits_of(const std::vector<RecordedEdge>& inner,
                                            const std::vector<RecordedEdge>& carried) const;
  [[nodiscard]] std::vector<Waits> recorded_waits() const;
  void append(Commands& commands, const std::vector<Waits>& waits, const Numbers& merges,
              bool primed, std::size_t first, std::size_t last) const;

  const RecordingGraph& graph_;
  const RecordedEdges& reduced_;
  const std::string summary_;
  Numbers ends_;    ///< the end of each operation, and of the summary
  Numbers merges_;  ///< the merge of the events that each waits for; 0 where there is none
  Numbers unrolled_merges_;
};

/// The text around the commands.
struct RecordingText {
  std::string trace;                       ///< its name
  std::string where;                       ///< file:line where it begins
  std::vector<std::string> precondition;   ///< a line each
  std::vector<std::string> postcondition;  ///< a line each
  std::string summary;
};

/// All stages, for --refrain:graph-calculus.
void print(std::ostream& out, const RecordingText& text, const RecordingGraph& graph,
           const RecordedEdges& reduced);

}  // namespace refrain::trace
