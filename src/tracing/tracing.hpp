#pragma once
// The traces of one context: what is recorded, what is being replayed, and how far. docs/tracing.md says why
// it is right.
//
// **Segments.** What is recorded under a name is a tree of segments. A segment is a recording from the
// beginning of the trace, or from where the program once did something else than an earlier segment, to the
// end of the trace, or to something that cannot be traced. At each such place (a Fork) the next call selects
// among the segments that begin there: the one used last whose first call it is, and whose precondition
// holds. If there is none, the analysis takes over, and a recorder writes a new segment.
//
// **Chains.** Replays are issued without the analysis. While the same segment follows itself and leaves its
// precondition behind, they form a chain, and the analysis' state stays as it was before the first of them.
// The chain outlives its trace, since the same trace may follow. Whatever looks at the state calls settle.
//
// **Rounds.** Segments that follow each other in the same order again and again, with nothing in between, are
// joined into one recording (trace/join.hpp), which is then replayed in their place and forms chains as they
// do. It is selected where its first part would be, and goes on while the calls are those of its parts, and
// each is made where its part begins.
//
// **Found traces.** Where the program has set no marks, a trace begins where a segment begins that was found, and ends
// where that ends; what is recorded is what the finder has as a candidate (finder/trace_finder.hpp).
// docs/automatic-tracing.md.
//
// tracing.cpp selects segments, tracing_rounds.cpp joins them, tracing_replay.cpp issues them,
// tracing_recording.cpp makes them, tracing_found.cpp does without marks.
//
// Owner: the context's thread.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iosfwd>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "profile/timeline.hpp"
#include "refrain/dynamic.hpp"
#include "refrain/trace.hpp"
#include "trace/outcome.hpp"
#include "replay/occurrence.hpp"
#include "trace/recorder.hpp"
#include "tracing/found_traces.hpp"
#include "tracing/open_traces.hpp"
#include "tracing/repetition.hpp"
#include "tracing/required_replays.hpp"
#include "tracing/segment.hpp"
#include "tracing/trace_counters.hpp"

namespace refrain::runtime {

class ContextImpl;

class Tracing {
 public:
  explicit Tracing(ContextImpl& context);
  ~Tracing();  ///< after close()
  Tracing(const Tracing&) = delete;

  /// Throw UsageError when a trace is open, or this one is not; end() also when it had to be replayed.
  void begin(const Trace& trace, std::source_location where);
  void end(const Trace& trace, std::source_location where);
  /// The same on the way of an exception: silent.
  void leave_trace(const Trace& trace);
  /// What the program is told when its context ends now: a trace is open. Empty: none is.
  [[nodiscard]] std::string left_open() const;
  /// Context::require_replay.
  void require_replay(const Trace& trace, std::source_location where);
  /// The context ends, or its body has thrown: no trace is open any more, and the state is up to date.
  void close();
  /// The context is abandoned: no replay goes on, nothing is recorded, and the state is left as it is.
  void abandon() noexcept;

  // --- calls ---------------------------------------------------------------------------------------

  /// The quick way: in the middle of a segment, where the launch is the next one and has nothing of its own.
  /// The executor is given its turn by Replays::issue.
  bool replay_next(const LaunchRequest& request);
  /// Before a launch with this key is analysed. True: it was replayed, `result` is its future.
  bool replay_launch(const LaunchRequest& request, std::span<const std::uint64_t> key,
                     AnyFuture& result);
  bool replay_fill(const TracedCall& call, const ReplayValues::Fill& value);
  /// A call with nothing of its own: a copy, or the end of a partition.
  bool replay_call(const TracedCall& call);
  /// The end of a region: of its fields, not of its names.
  bool replay_end(const TracedCall& call, data::RegionTree& tree);
  bool replay_reduction(const TracedCall& call, FutureReduction reduction);
  /// Before a call with this token is analysed, which was not replayed.
  void analysing(autotrace::Token token) {
    if (found_ != nullptr && !is_marked()) analysing_unmarked(token);
  }
  /// Before a launch is analysed that was not replayed: brings the state up to date, unless the launch passes
  /// by the chain, which may then go on after it.
  void make_way(const LaunchPlan& plan);
  /// After it was analysed.
  void launched(LaunchPlan& plan, const LaunchRequest& request);
  void called(const TracedCall& call, std::uint64_t token,
              std::initializer_list<analysis::FieldState*> fields,
              std::initializer_list<const AnyRegion*> regions);
  void reduced(const TracedCall& call, std::uint64_t token);
  /// Before a call that cannot be traced: the segment ends here. `what`: a sentence's end.
  void untraceable(const char* what);
  /// The same for a call that the program makes: a sequence with it is not the one without.
  void untraceable_call(const char* what);
  /// Brings the analysis' state up to date. A trace in the middle of a replay goes on with another segment.
  void settle();

  /// The operation that was replayed with this sequence number, or a reference that is complete.
  exec::NodeRef resolve(const exec::NodeRef& producer);

  /// Writes all recordings that are of use now, in graph calculus.
  void print(std::ostream& out) const;
  /// Why calls are analysed now. With --refrain:explain.
  [[nodiscard]] std::string why_analysed() const;

  [[nodiscard]] const TraceCounters& counters() const { return counters_; }
  [[nodiscard]] AutotraceCounters autotrace_counters() const {
    return found_ != nullptr ? found_->finder().counters() : AutotraceCounters{};
  }
  /// Whether the program has marked what it does now.
  [[nodiscard]] bool is_marked() const { return open_ != 0; }
  /// Of all that is recorded.
  [[nodiscard]] std::size_t bytes() const { return replayed_.bytes; }

 private:
  static constexpr std::size_t kMostRounds = 16;
  using Key = std::span<const std::uint64_t>;

  void close_trace();
  void forget_names();
  void catch_up();
  bool leave();
  void note_uses(const ReplayedTrace::Uses& uses);
  void show_begin();
  void show_end(profile::Category what, std::size_t calls);

  // Which segment.
  bool step_to(const TracedCall& call);
  bool next_is(const Unit& unit, trace::Index step, trace::Index part_begin,
               const TracedCall& call);
  bool select(const TracedCall& call);
  bool replay_best(Fork& fork, const TracedCall& call, bool& same_call);
  void leave_part();
  [[nodiscard]] Reason why_not(const TracedCall& call);
  void leave_segment();
  [[nodiscard]] bool passes_by(const LaunchPlan& plan) const;
  void note_replayed_calls();
  void note_whole();
  void drop_stale(Fork& fork);
  void drop(Segment& segment);
  void give_up(Segment& segment, Reason why);
  void retire(std::unique_ptr<ReplayedTrace> trace);
  void free_retired();
  static std::vector<Segment*> with_descendants(Segment& segment);
  [[nodiscard]] bool is_on_chain(const Segment& segment) const;
  void drop_stale_found();
  void drop_surplus();
  void drop_leaves(std::size_t bytes, std::size_t found);

  void unfollow() {
    following_ = false;
    quick_ = {};
  }

  // Without marks.
  /// What is recorded without marks: a candidate, or a branch.
  struct FoundRecording {
    autotrace::Candidates::Position at;  ///< of a candidate: how far
    bool expected = false;      ///< of a candidate, which came in the context in which it was mined
    std::uint64_t context = 0;  ///< in which it comes
    std::uint64_t candidate = 0;  ///< that has come to its end
    bool is_branch = false;
    std::size_t calls_left = 0;  ///< of a branch: so many at most
    Segment* tail = nullptr;     ///< what has begun in it, which it is to end with, ...
    std::size_t tail_calls = 0;  ///< ... and how many of whose calls have come
  };
  bool select_found(const TracedCall& call);
  [[nodiscard]] Segment* begins(const Fork& fork, const TracedCall& call);
  [[nodiscard]] bool may_enter(const Segment& segment);
  bool replay_found(Fork& fork, const TracedCall& call);
  [[nodiscard]] std::string why_not_found() const;
  void open_found(const FoundTraces::Root& root);
  void leave_unmarked();
  void analysing_unmarked(autotrace::Token token);
  FoundTraces::Root& root_of(autotrace::Token token);
  [[nodiscard]] bool may_record(autotrace::Candidates::Position at) const;
  void judge_guess(const FoundRecording& guess, bool of_use);
  void record_found(Fork& fork, const FoundRecording& what);
  bool record_from_here(autotrace::Token token);
  [[nodiscard]] bool is_hopeful(autotrace::Candidates::Position at) const;
  [[nodiscard]] autotrace::Candidates::Position position() const;
  bool goes_on_recording(autotrace::Token token);
  void note_recorded_call();
  void abandon_recording();
  [[nodiscard]] bool is_long_enough() const;
  void judge_found();
  /// For --refrain:explain.
  [[nodiscard]] std::uint64_t open_id() const {
    return root_found_ != nullptr ? root_found_->id : open_;
  }

  // Which round.
  [[nodiscard]] const Part& part() const { return chain_->parts[part_]; }
  bool goes_on(const Fork* here, const TracedCall& call);
  void leave_for_next();
  Round* round_from(const Segment& first);
  Round* round_of(std::span<const Part> parts);
  std::unique_ptr<Round> join(std::span<const Part> parts);
  void note_round();
  bool drop_oldest_round();

  // Replaying one.
  void start(Unit& unit, bool carried);
  void enter_part(std::size_t number);
  bool make_instances();
  void take_launch(const LaunchRequest& request, AnyFuture& result);
  void take_futures(std::span<detail::FutureState* const> futures, trace::Index operation);
  void prepare_fills();
  ReplayValues::Fill value_of(const trace::FillSource& source);
  void await(std::span<const trace::Entry> entries);
  void await(trace::Index operation, const exec::NodeRef& producer);
  void issue_step();
  [[gnu::noinline]] bool matches(const LaunchRequest& request, ReplayedTrace::Quick& next);
  void log_step();
  trace::Replayed names_of(std::uint64_t base);

  // Recording one.
  void start_recording(bool beside_others);
  [[nodiscard]] std::size_t calls_before_fork() const;
  void print(std::ostream& out, const Segment& segment) const;
  bool finish_recording(const char* ended_by);
  void keep_recording(std::unique_ptr<trace::Recording> recording, const FoundRecording& found,
                      const char* ended_by);
  void note_uses(const LaunchPlan& plan);
  [[nodiscard]] std::shared_ptr<RecordedCall> describe(const TracedCall& made,
                                                       std::uint64_t token) const;
  void add(std::shared_ptr<RecordedCall> call);
  std::vector<trace::Index> makers_of(std::span<detail::FutureState* const> futures,
                                      std::uint64_t base, trace::Index count) const;

  ContextImpl& context_;
  ReplayedTraces replayed_;  ///< all that is recorded
  /// Dropped, the oldest first, and some of it may be in flight. So when one is dropped does not depend on time.
  std::deque<std::unique_ptr<ReplayedTrace>> retired_;
  std::unordered_map<std::uint64_t, Fork> names_;  ///< by Trace::id
  static constexpr std::size_t kNames = 64;
  std::size_t names_limit_ = kNames;            ///< at which those of no use are looked for
  std::list<Segment*> all_;                     ///< alive
  std::vector<std::unique_ptr<Round>> rounds_;  ///< of them; the one found last is last
  Repetition<Part> recent_;                     ///< replayed without a look at the state in between

  const bool enabled_;
  std::uint64_t open_ = 0;  ///< Trace::id, 0: none
  std::string open_name_;
  std::source_location opened_at_;
  OpenTrace mark_;  ///< the same, for other contexts
  Occurrence occurrence_;
  RequiredReplays required_;
  Fork* root_ = nullptr;             ///< where the trace that is open begins
  Segment* parted_ = nullptr;        ///< whose fork `fork_` is, null at the beginning of a trace
  trace::Index parted_at_ = 0;       ///< after so many of its calls
  const char* parted_by_ = nullptr;  ///< what cannot be traced made the program leave it there
  /// Where what is recorded now began, or else the next segment begins. Null: no trace is open, one is being
  /// replayed, or the rest of it is analysed and not recorded.
  Fork* fork_ = nullptr;

  // The chain: what is replayed and the present replay. With `following_` the trace is in the middle of it.
  Unit* chain_ = nullptr;
  Round* round_ = nullptr;  ///< the same, if it is one
  exec::Replay* replay_ = nullptr;
  exec::Replays* replays_ = nullptr;  ///< of the chain
  bool following_ = false;
  trace::Index step_ = 0;                       ///< calls of the present replay
  std::size_t part_ = 0;                        ///< in which part it is, which ...
  trace::Index part_begin_ = 0, part_end_ = 0;  ///< ... are these calls
  std::span<ReplayedTrace::Quick> quick_;  ///< up to its end, while it is followed and no log told
  std::deque<std::uint64_t>
      bases_;                      ///< first sequence numbers of the chain's replays, oldest first
  bool carried_ = false;           ///< the present one directly follows another, which had ...
  std::uint64_t before_base_ = 0;  ///< ... this sequence number first, and ...
  ReplayValues* before_values_ = nullptr;      ///< ... these values
  bool noted_ = false, before_noted_ = false;  ///< their instances' uses are known (make_way)
  std::vector<trace::Entry> awaited_;          ///< that a log will be told of
  std::vector<trace::Entry> standing_;         ///< what every replay of the chain comes after
  std::vector<exec::Edge> after_;              ///< for `await`

  std::unique_ptr<trace::Recorder> recorder_;
  ReplayedTrace::Calls calls_;  ///< that the recorder was told of
  std::uint64_t first_seq_ = 0;
  bool beside_others_ = false;  ///< with the same first call, and the data elsewhere

  std::unique_ptr<FoundTraces> found_;             ///< null: only marks count
  const FoundTraces::Root* root_found_ = nullptr;  ///< of the trace that is open, if it was found
  std::uint64_t found_roots_ = 0;                  ///< that have a name, which tells them apart
  FoundRecording found_recording_;
  /// What is known of the present call, outside of marks.
  struct Asked {
    std::uint64_t hash = 0;
    const LaunchRequest* request = nullptr;  ///< of a launch
    const char* name = nullptr;              ///< of another call
    std::source_location where;
    bool same_call = false;         ///< a segment begins with it
    Segment* untrusted = nullptr;   ///< one that is not trusted
    bool untrusted_branch = false;  ///< one where the trace that is open was left
    bool may_record = true;
    std::optional<std::uint64_t> context;  ///< in which it comes, if somebody has asked
  } asked_;
  bool in_context_ = false;          ///< the chain was entered because of its context
  std::uint64_t whole_replays_ = 0;  ///< of the chain, before the present one

  std::uint64_t shown_from_ns_ = 0;  ///< when recording or replaying began, with a timeline
  std::uint64_t clock_ = 0;
  static constexpr std::size_t kSegments = 16;
  std::size_t segments_limit_ =
      kSegments;             ///< of what was found, at which the stale are looked for
  std::size_t surplus_ = 0;  ///< bytes of recordings up to which none can be dropped now
  TraceCounters counters_;
};

}  // namespace refrain::runtime
