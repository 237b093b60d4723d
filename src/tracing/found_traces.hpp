#pragma once
// The traces of a context that the program has not marked. A found trace begins with a branch, and ends with it. The
// finder says what is worth recording (finder/trace_finder.hpp). docs/automatic-tracing.md.
//
// What was recorded is replayed from its first call on, without waiting to see whether the rest comes: Yadav et al.,
// section 4.3, whose trace replayer waits for it. A branch that was often left early is compared first, while its calls
// are analysed.
//
// Owner: the context's thread. Memory: bounded.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "finder/trace_finder.hpp"
#include "launch/listener.hpp"
#include "tracing/selector.hpp"

namespace refrain::runtime {

/// How a finder looks for traces.
[[nodiscard]] autotrace::FinderOptions finder_options(const Options& options);

/// What programs do again and again, as the file of --refrain:warm-start has it (report/call_record.cpp): the first
/// candidates. They are compared launch by launch, as all are, so the file may be of any program. A file that cannot be
/// used is told of on standard error, and nothing comes of it; nor does anything where traces are not looked for.
[[nodiscard]] std::vector<autotrace::MinedRepeat> read_warm_start(const Options& options);

/// --refrain:autotrace-log: what became of the calls of one context outside of marks, as JSON lines.
/// docs/automatic-tracing.md describes them; `refrain report` draws them.
class AutotraceLog {
 public:
  /// `told` outlives it.
  AutotraceLog(Listener& told, std::uint64_t context) : told_(told), context_(context) {}
  ~AutotraceLog() { flush(); }
  AutotraceLog(const AutotraceLog&) = delete;

  // `at`: the number of a call, from 0.

  void analysed(std::uint64_t at) { extend(at, 1, false); }
  /// A replay of so many calls; `whole`: to its end.
  void replayed(std::uint64_t at, std::uint64_t calls, bool whole) {
    extend(at, calls, true);
    ++(whole ? stretch_.whole : stretch_.left);
  }
  void mined(std::uint64_t at, std::uint64_t calls, std::uint64_t new_candidates);
  /// A recording of so many calls was kept ("recorded"), or given up ("abandoned").
  void write(const char* event, std::uint64_t at, std::uint64_t calls);

 private:
  void extend(std::uint64_t at, std::uint64_t calls, bool are_replayed);
  void write(const std::string& fields);
  void flush();

  Listener& told_;
  std::uint64_t context_;
  /// Of calls that became the same: one line.
  struct Stretch {
    std::uint64_t begin = 0, end = 0;
    bool is_replayed = false;
    std::uint64_t whole = 0, left = 0;  ///< replays
  } stretch_;
};

class FoundTraces {
 public:
  /// `selector` outlives this.
  explicit FoundTraces(Selector& selector);

  // Told by the context's traces. With automatic tracing off nothing is looked for, and nothing found.
  /// A call is analysed that was offered: it may go on with what is recorded, or begin to be.
  void analysing(Ticket& ticket, autotrace::Token token, autotrace::Work work);
  /// Something comes that is no call of a trace that was found: a mark, or `what`, which cannot be traced.
  void interrupt();
  void untraceable_call(const char* what);
  /// The context ends.
  void leave();
  /// Why the present call is analysed.
  [[nodiscard]] std::string why_analysed() const;
  [[nodiscard]] AutotraceCounters counters() const { return finder_.counters(); }

  // Asked and told by the selector.
  /// Whether a recording was found that begins with the call, and is replayed from it on.
  bool select(Ticket& ticket);
  /// Whether the branch may be entered at the call: it is not left alone, or not in its context.
  bool may_enter(const Branch& branch, Ticket& ticket);
  /// The first calls of a branch were replayed; whether a chain that was left had come to its end.
  void replayed(const Branch& branch, std::size_t calls);
  void left(bool early) {
    if (early) finder_.was_wrong();
  }
  /// A call was added to the recording.
  void recorded_call();
  /// The recording has ended as a branch, or as none.
  void recorded(Branch& branch);
  void not_recorded() { recording_ = {}; }
  void dropped(const Branch& branch);

 private:
  using Position = autotrace::Candidates::Position;
  /// A branch that analysed calls are compared with.
  struct Compared {
    Branch* branch = nullptr;  ///< null: nothing is compared
    std::size_t calls = 0;     ///< that have come

    [[nodiscard]] bool goes_on(autotrace::Token token) { return branch->tokens[calls++] == token; }
    [[nodiscard]] bool is_whole() const { return calls == branch->tokens.size(); }
  };
  /// What is recorded: a candidate, or a branch.
  struct FoundRecording {
    Position at;                 ///< of a candidate: how far
    Ledger* guesses = nullptr;   ///< of a candidate: account of its recordings; null: a branch
    std::uint64_t context = 0;   ///< in which it comes
    std::size_t calls_left = 0;  ///< of a branch: so many at most
    Compared tail{};             ///< of a branch: what has begun in it, which it is to end with

    [[nodiscard]] bool is_branch() const { return guesses == nullptr; }
  };

  [[nodiscard]] const autotrace::Candidates& candidates() const { return finder_.candidates(); }
  [[nodiscard]] const Options& options() const { return selector_.options(); }
  // Before the call's token is known.
  bool replay_at(BranchPoint& point, Ticket& ticket);
  [[nodiscard]] Branch* begins(const BranchPoint& point, Ticket& ticket);
  void open(TraceRoot& root);
  /// Where traces begin that begin with the call; null: nowhere.
  [[nodiscard]] TraceRoot* root(const Ticket& ticket) {
    return selector_.tree().find_root({true, ticket.hash});
  }
  [[nodiscard]] bool is_open() const { return selector_.trace().root != nullptr; }
  [[nodiscard]] bool is_recording() const { return selector_.session().is_open(); }
  // When it is.
  void note_analysed(autotrace::Token token, autotrace::Work work);
  void take_turn();
  bool record_candidate(Ticket& ticket, autotrace::Token token);
  bool record_from_here(Ticket& ticket, autotrace::Token token);
  bool pause_candidate(Position at);
  [[nodiscard]] bool may_record(const Ticket& ticket, Position at) const;
  TraceRoot& make_root(const Ticket& ticket, autotrace::Token token);
  bool left_again(autotrace::Token token);
  bool goes_on_recording(Ticket& ticket, autotrace::Token token);
  [[nodiscard]] bool is_long_enough() const;
  void abandon_recording();
  [[nodiscard]] std::string why(const Ticket& ticket);

  Selector& selector_;
  const bool is_on_;
  autotrace::TraceFinder finder_;
  std::unique_ptr<AutotraceLog> log_;  ///< null: nobody wants it
  /// Candidates are recorded before it is known whether they come in full: wherever their first call comes, or where it
  /// comes in the same context as when they were mined. In tries.
  Ledger guesses_, guesses_in_context_;
  FoundRecording recording_;
  std::uint64_t roots_ = 0;  ///< that have a name, which tells them apart
  /// A branch that is left alone: would it have come in full?
  Compared doubtful_;
  bool doubtful_in_context_ = false;
  std::string why_;  ///< the present call is analysed; for listeners
};

}  // namespace refrain::runtime
