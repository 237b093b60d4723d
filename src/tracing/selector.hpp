#pragma once
// The selector of a context: which recording a call begins, and when the next one is recorded. docs/tracing.md says why
// it is right.
//
// A call is offered with a ticket before it is analysed. It is *replayed* when it is the next call of the recording that
// is followed, or when a branch begins with it whose precondition holds. Otherwise the ticket is for its analysis, and a
// new branch is recorded while that is so. Of several branches the one used last is taken.
//
// The selector knows one open trace at a time. Marks open and close it (marked_traces.hpp); where there are none, the
// traces that are found do (found_traces.hpp). Dynamic tracing paper, section III; Yadav et al., section 4.
//
// Owner: the context's thread. Cost of a call that is replayed: one comparison of keys.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launch/context_core.hpp"
#include "profile/timeline.hpp"
#include "replay/replay_cursor.hpp"
#include "tracing/recording_session.hpp"
#include "tracing/trace_tree.hpp"

namespace refrain::runtime {

/// A call that the program makes now: what is known of it until it has been replayed or analysed.
struct Ticket {
  TracedCall call;
  bool replayed = false;   ///< it is the next call of the cursor's replay
  bool same_call = false;  ///< a branch begins with it, and cannot be entered
  bool may_record = true;  ///< a recording may begin with it
  // Outside of marks.
  std::uint64_t hash = 0;      ///< of its key: names the root of what begins with it
  bool doubtful = false;       ///< a branch begins with it that is left alone
  bool doubtful_here = false;  ///< such a branch begins where the trace that is open was left
  std::optional<std::uint64_t> context{};  ///< in which it comes, if somebody has asked
};

/// Notices when values begin to repeat themselves: the last n equal the n before them, for some small n. Cost: one
/// comparison for each n.
template <class T>
class Repetition {
 public:
  static constexpr std::size_t kLongest = 16;

  void add(const T& value) {
    if (values_.size() == 2 * kKept) values_.erase(values_.begin(), values_.begin() + kKept);
    values_.push_back(value);
  }
  void clear() { values_.clear(); }

  /// The shortest sequence that came twice, one after the other, at the end; empty if there is none.
  [[nodiscard]] std::span<const T> twice() const {
    const std::size_t size = values_.size();
    for (std::size_t length = 1; length <= std::min(kLongest, size / 2); ++length) {
      const std::span<const T> last(values_.data() + size - length, length);
      if (std::equal(last.begin(), last.end(), last.data() - length)) return last;
    }
    return {};
  }

 private:
  static constexpr std::size_t kKept = 2 * kLongest;
  std::vector<T> values_;  ///< the last ones, at least kKept of them
};

class FoundTraces;

/// The trace that is open.
struct OpenTrace {
  bool marked = false;        ///< by the program
  TraceRoot* root = nullptr;  ///< null: none is open, or tracing is off
  std::uint64_t id = 0;       ///< Trace::id, or TraceRoot::id
  std::string name;
  Where where;
  bool required = false;  ///< to be replayed (Context::require_replay)
};

class Selector {
 public:
  /// `found` decides outside of marks, and hears what becomes of the traces that were found. It is made after this.
  Selector(ContextCore& context, FoundTraces& found);
  Selector(const Selector&) = delete;
  [[nodiscard]] ContextCore& context() const { return context_; }
  [[nodiscard]] const Options& options() const { return context_.runtime.options(); }

  // --- the trace that is open ----------------------------------------------------------------------------

  /// Opens a trace, while none is open. The arguments are the members of OpenTrace.
  void open(bool marked, TraceRoot* root, std::uint64_t id, const std::string& name,
            const Where& where, bool required = false);
  /// Ends what is recorded, and leaves off following; a chain may go on with the next trace. None may be open.
  void close();
  /// Nothing begins before the next execution of the trace.
  void skip(Reason (*why)());
  [[nodiscard]] const OpenTrace& trace() const { return open_; }
  [[nodiscard]] bool is_marked() const { return open_.marked; }
  [[nodiscard]] const TraceExecution& execution() const { return execution_; }
  /// The branch in which the trace was left, and after how many of its calls; none at the beginning of a trace.
  struct Place {
    Branch* branch = nullptr;
    trace::Index calls = 0;
    const char* by = nullptr;  ///< what cannot be traced, if it was that
  };
  [[nodiscard]] const Place& left() const { return left_; }
  /// The context is abandoned: no replay goes on, nothing is recorded, and the state is left as it is.
  void abandon() noexcept;

  // --- calls ---------------------------------------------------------------------------------------------

  /// Whether the call is the next one of the cursor's replay. Otherwise it is to be analysed.
  bool offer(Ticket& ticket);
  /// Before a launch is analysed: brings the state up to date. A launch that has nothing in common with the chain leaves
  /// it open: it may go on afterwards.
  void make_way(const LaunchPlan& plan);
  /// A call was analysed. `add(session)` adds it to the recording, if there is one.
  template <class Add>
  void analysed(std::uint64_t mapped_token, Add add) {
    execution_.note_analysed(mapped_token);
    if (!session_.is_open()) return;
    add(session_);
    added_call();
  }
  /// The state is brought up to date: no chain goes on.
  void settle();
  void catch_up();
  /// What is recorded ends before something that cannot be traced.
  void untraceable(const char* what);
  /// The same for a call of the program: a sequence with it is not the one without.
  void note_untraceable_call(const char* what);
  /// A call outside of the chain is analysed: branches before it and after it are not joined.
  void interrupt();

  // --- outside of marks ----------------------------------------------------------------------------------

  /// Replays what begins with the call at the point, or goes on there.
  bool replay_at(BranchPoint& point, Ticket& ticket);
  [[nodiscard]] bool begins_with(const Branch& branch, const TracedCall& call) const {
    return cursor_.is_step(*branch.trace, 0, 0, call);
  }
  void record_at(BranchPoint& point, bool beside_others);
  /// False: nothing is kept.
  bool finish_recording(const char* ended_by);
  /// What is recorded is given up; returns where it began.
  BranchPoint* abandon_recording(const char* why);

  [[nodiscard]] ReplayCursor& cursor() { return cursor_; }
  [[nodiscard]] TraceTree& tree() { return tree_; }
  [[nodiscard]] const RecordingSession& session() const { return session_; }

 private:
  void show_begin();
  void show_end(profile::Category what, std::size_t calls);
  // Selecting.
  bool step_to(Ticket& ticket);
  bool make_instances(Ticket& ticket);
  bool select(Ticket& ticket);
  bool replay_best(BranchPoint& point, Ticket& ticket);
  bool goes_on(const BranchPoint* here, const TracedCall& call);
  [[nodiscard]] Reason why_not(const BranchPoint& point, Ticket& ticket);
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
  void keep_recording(RecordingSession::Result recorded, const char* ended_by);

  ContextCore& context_;
  ReplayCursor cursor_;
  TraceTree tree_;
  RecordingSession session_;
  FoundTraces& found_;

  OpenTrace open_;
  TraceExecution execution_;
  Place left_;
  /// Where the next branch begins, or the present recording began. Null: no trace is open, a branch is followed, or the
  /// rest of the trace is not recorded.
  BranchPoint* point_ = nullptr;
  bool beside_others_ = false;  ///< what is recorded begins with the same call as others there

  Replayable* chain_ = nullptr;      ///< what is replayed
  std::size_t prefix_ = 0;           ///< which of its prefixes is followed
  Repetition<BranchPrefix> recent_;  ///< replayed without a look at the state in between
  std::uint64_t shown_from_ns_ = 0;  ///< when recording or replaying began, with a timeline
};

}  // namespace refrain::runtime
