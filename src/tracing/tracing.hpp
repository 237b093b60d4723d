#pragma once
// The traces of one context: which recording a call begins, and what is recorded next. docs/tracing.md says why it is
// right.
//
// A call is offered before it is analysed. It is *replayed* when it is the next call of the recording that is followed,
// or when a branch begins with it whose precondition holds. Otherwise it is analysed, and a new branch is recorded while
// that is so. Of several branches the one used last is taken.
//
// A trace is marked by the program, or found: where the program has set no marks, a trace begins where a branch of a
// found trace begins, and ends where that ends; the finder (finder/trace_finder.hpp) says what is worth recording.
// docs/automatic-tracing.md.
//
// Four owners do the work: the tree of recordings (trace_tree.hpp), the replay cursor (replay/replay_cursor.hpp), the
// recording session (recording_session.hpp), and this selector.
//
// Owner: the context's thread.

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <source_location>
#include <string>

#include "launch/context_core.hpp"
#include "profile/timeline.hpp"
#include "refrain/dynamic.hpp"
#include "refrain/trace.hpp"
#include "replay/replay_cursor.hpp"
#include "tracing/found_traces.hpp"
#include "tracing/open_traces.hpp"
#include "tracing/recording_session.hpp"
#include "tracing/repetition.hpp"
#include "tracing/required_replays.hpp"
#include "tracing/trace_tree.hpp"

namespace refrain::runtime {

class Tracing final : public DeferredState {
 public:
  explicit Tracing(ContextCore& context);
  Tracing(const Tracing&) = delete;

  // --- marks ---------------------------------------------------------------------------------------------

  /// Throw UsageError when a trace is open, or this one is not; end() also when it had to be replayed.
  void begin(const Trace& trace, Where where);
  void end(const Trace& trace, Where where);
  /// The same on the way of an exception: silent.
  void leave_trace(const Trace& trace);
  /// The error of a context that ends now, while a trace is open. Empty: none is.
  [[nodiscard]] std::string left_open() const;
  /// Context::require_replay.
  void require_replay(const Trace& trace, Where where);
  /// The context ends, or its body has thrown: no trace is open any more, and the state is up to date.
  void close();
  /// The context is abandoned: no replay goes on, nothing is recorded, and the state is left as it is.
  void abandon() noexcept;

  // --- calls ---------------------------------------------------------------------------------------------

  /// Offers a call. True: it is the next one of the cursor's replay, which is to be given what only this call has.
  bool offer(const TracedCall& call);
  [[nodiscard]] ReplayCursor& cursor() { return cursor_; }
  /// Before a call with this token is analysed, which was offered; a launch with its plan.
  void analysing(const LaunchPlan& plan) {
    if (found_ != nullptr && !is_marked()) analysing_unmarked(plan.token, work_of(plan));
  }
  void analysing(autotrace::Token token) {
    if (found_ != nullptr && !is_marked()) analysing_unmarked(token, 1);
  }
  /// Before a launch is analysed: brings the state up to date, unless the launch leaves the chain as it is. The chain may
  /// then go on after it.
  void make_way(const LaunchPlan& plan);
  /// Before another call is.
  void make_way() { catch_up(); }
  /// A launch was analysed; or another call, which names these fields and regions.
  void analysed(LaunchPlan& plan, const LaunchRequest& request);
  void analysed(const TracedCall& call, std::uint64_t token,
                std::initializer_list<analysis::FieldState*> fields,
                std::span<const AnyRegion* const> regions);
  /// Before a call of the program that cannot be traced: a sequence with it is not the one without.
  void untraceable_call(const char* what);

  // --- DeferredState -------------------------------------------------------------------------------------

  void settle() override;
  void untraceable(const char* what) override;
  exec::NodeRef resolve(const exec::NodeRef& producer) override {
    return cursor_.resolve(producer);
  }
  [[nodiscard]] std::string why_analysed() override;
  [[nodiscard]] bool is_marked() const override { return open_.mark != 0; }

  void print(std::ostream& out) const { tree_.print(out); }
  [[nodiscard]] const TraceCounters& counters() const { return cursor_.counters(); }
  [[nodiscard]] AutotraceCounters autotrace_counters() const {
    return found_ != nullptr ? found_->finder().counters() : AutotraceCounters{};
  }

 private:
  void close_trace();
  /// Of the trace that is open, for listeners.
  [[nodiscard]] std::uint64_t open_id() const {
    return is_marked() || open_.root == nullptr ? open_.mark : open_.root->id;
  }
  void catch_up();
  void show_begin();
  void show_end(profile::Category what, std::size_t calls);

  // Selecting.
  bool step_to(const TracedCall& call);
  bool make_instances();
  bool select(const TracedCall& call);
  bool replay_best(BranchPoint& point, const TracedCall& call, bool& same_call);
  bool goes_on(const BranchPoint* here, const TracedCall& call);
  [[nodiscard]] bool begins_with(const Branch& branch, const TracedCall& call) const {
    return cursor_.is_step(*branch.trace, 0, 0, call);
  }
  [[nodiscard]] Reason why_not(const TracedCall& call);

  // Replaying.
  void start(Replayable& replayed, bool carried);
  void enter_prefix(std::size_t number);
  [[nodiscard]] const BranchPrefix& prefix() const { return chain_->prefixes[prefix_]; }
  void leave_prefix();
  void leave_branch();
  void leave_for_next();
  void note_replayed_calls();
  void judge_chain();
  [[nodiscard]] bool passes_by(const LaunchPlan& plan) const;

  // Recording.
  void start_recording(bool beside_others);
  void added_call();
  bool finish_recording(const char* ended_by);
  void keep_recording(RecordingSession::Result recorded, const char* ended_by);

  // Without marks.
  /// What is recorded without marks: a candidate, or a branch.
  struct FoundRecording {
    autotrace::Candidates::Position at;  ///< of a candidate: how far
    bool expected = false;      ///< of a candidate, which came in the context in which it was mined
    std::uint64_t context = 0;  ///< in which it comes
    std::uint64_t candidate = 0;  ///< that has come to its end
    bool is_branch = false;
    std::size_t calls_left = 0;  ///< of a branch: so many at most
    Branch* tail = nullptr;      ///< what has begun in it, which it is to end with, ...
    std::size_t tail_calls = 0;  ///< ... and how many of whose calls have come
  };
  bool select_found(const TracedCall& call);
  [[nodiscard]] Branch* begins(const BranchPoint& point, const TracedCall& call);
  [[nodiscard]] bool may_enter(const Branch& branch);
  bool replay_found(BranchPoint& point, const TracedCall& call);
  [[nodiscard]] std::string why_not_found();
  void open_found(TraceRoot& root);
  void leave_unmarked();
  void analysing_unmarked(autotrace::Token token, autotrace::Work work);
  [[nodiscard]] TraceRoot* found_root();
  TraceRoot& make_found_root(autotrace::Token token);
  [[nodiscard]] bool may_record(autotrace::Candidates::Position at) const;
  void judge_guess(const FoundRecording& guess, bool of_use);
  void record_found(BranchPoint& point, const FoundRecording& what);
  bool record_from_here(autotrace::Token token);
  [[nodiscard]] bool is_hopeful(autotrace::Candidates::Position at) const;
  [[nodiscard]] autotrace::Candidates::Position position() const;
  bool goes_on_recording(autotrace::Token token);
  void note_recorded_call();
  void abandon_recording();
  [[nodiscard]] bool is_long_enough() const;

  ContextCore& context_;
  ReplayCursor cursor_;
  TraceTree tree_;
  RecordingSession session_;
  std::unique_ptr<FoundTraces> found_;  ///< null: only marks count
  const bool enabled_;

  /// The trace that is open.
  struct Open {
    std::uint64_t mark = 0;     ///< Trace::id; 0: the program has marked none
    TraceRoot* root = nullptr;  ///< null: none is open, or tracing is off
    std::string name;
    Where where;
  } open_;
  OpenTrace mark_;  ///< the same, for other contexts
  TraceExecution execution_;
  RequiredReplays required_;
  /// Where the program left the branch that it followed or recorded last; none at the beginning of a trace.
  struct Left {
    Branch* branch = nullptr;
    trace::Index calls = 0;
    const char* by = nullptr;  ///< what cannot be traced, if it was that
  } left_;
  /// Where the next branch begins, or the present recording began. Null: no trace is open, a branch is followed, or the
  /// rest of the trace is not recorded.
  BranchPoint* point_ = nullptr;
  bool beside_others_ = false;  ///< what is recorded begins with the same call as others there

  Replayable* chain_ = nullptr;        ///< what is replayed
  JoinedRecording* joined_ = nullptr;  ///< the same, if it is one
  std::size_t prefix_ = 0;             ///< which of its prefixes is followed
  bool in_context_ = false;  ///< the chain was entered because of the context of its first call
  Repetition<BranchPrefix> recent_;  ///< replayed without a look at the state in between

  FoundRecording found_recording_;
  /// What is known of the present call, outside of marks.
  struct Asked {
    std::uint64_t hash = 0;
    const LaunchRequest* request = nullptr;  ///< of a launch
    const char* name = nullptr;              ///< of another call
    Where where;
    bool same_call = false;      ///< a branch begins with it
    Branch* doubtful = nullptr;  ///< one that is left alone
    bool doubtful_here = false;  ///< ... and begins where the trace that is open was left
    bool may_record = true;
    std::optional<std::uint64_t> context;  ///< in which it comes, if somebody has asked
  } asked_;
  std::uint64_t found_roots_ = 0;    ///< that have a name, which tells them apart
  std::uint64_t shown_from_ns_ = 0;  ///< when recording or replaying began, with a timeline
};

}  // namespace refrain::runtime
