#pragma once
// A recording written in graph calculus (trace/graph_calculus.hpp), in the stages of the dynamic tracing
// paper: as recorded (Figure 4); after transitive reduction and after copy propagation (Figure 5); and of an
// idempotent recording unrolled once, where each operation waits for what it needs of the replay before
// in place of the fence (Figure 7e), and the commands that can be repeated (Figure 7g).
//
// Two things are notation. The fence: an operation that the trace enters with waits for the users of its own
// data only. The summary operation, which stands for what comes after the trace: that waits for the
// operations of the trace which it depends on.
//
// Events are numbered once; each keeps its name in all stages. What merges are added for the unrolled
// stages is numbered after the summary. Pure; any thread. Cost: that of the text.

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "trace/graph_calculus.hpp"
#include "trace/recording_graph.hpp"

namespace refrain::trace {

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

  [[nodiscard]] std::vector<Waits> recorded_waits() const;
  [[nodiscard]] std::vector<Waits> reduced_waits(const std::vector<RecordedEdge>& carried) const;
  [[nodiscard]] Commands body(const std::vector<Waits>& waits, const Numbers& merges,
                              bool primed) const;
  [[nodiscard]] Commands summary(const std::vector<std::uint32_t>& operations, bool primed) const;
  [[nodiscard]] std::vector<std::uint32_t> last_operations() const;

  const RecordingGraph& graph_;
  const RecordedEdges& reduced_;
  const std::string summary_;
  Numbers ends_;    ///< the end of each operation
  Numbers merges_;  ///< the merge of what each waits for; 0 where there is none
  Numbers unrolled_merges_;
  std::uint32_t summary_merge_ = 0, summary_end_ = 0;
};

/// What is said of a recording beside its commands.
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
