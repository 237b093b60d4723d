#pragma once
// The traces of a context that nobody has marked: a trace begins where a branch of a found trace begins, and ends where
// that ends. The finder says what is worth recording (finder/trace_finder.hpp). docs/automatic-tracing.md.
//
// What was recorded is replayed from its first call on, without waiting to see whether the rest comes: Yadav et al.,
// section 4.3, whose trace replayer waits for it. What was often left early is compared first, while it is analysed.
//
// Owner: the context's thread. Memory: bounded.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "finder/trace_finder.hpp"
#include "tracing/autotrace_log.hpp"
#include "tracing/selector.hpp"

namespace refrain::runtime {

/// How a finder looks for traces.
[[nodiscard]] autotrace::FinderOptions finder_options(const Options& options);

class FoundTraces final : public Unmarked {
 public:
  /// Null where traces are not looked for. `selector` outlives this.
  static std::unique_ptr<FoundTraces> make(ContextCore& context, Selector& selector);

  [[nodiscard]] AutotraceCounters counters() const { return finder_.counters(); }

  /// Before a call is analysed that was offered: it may go on with what is recorded, or begin to be.
  void analysing(autotrace::Token token, autotrace::Work work);
  /// Something comes that is no call of a trace that was found, and that cannot be traced: a mark, or `what`.
  void interrupt();
  void untraceable_call(const char* what);
  /// The context ends.
  void leave();
  /// Why the present call is analysed.
  [[nodiscard]] std::string why_analysed();

  // --- Unmarked ------------------------------------------------------------------------------------------

  bool select(const TracedCall& call) override;
  bool may_enter(const Branch& branch) override;
  void replayed(const Branch& branch, std::size_t calls) override;
  void left(bool early) override {
    if (early) finder_.was_wrong();
  }
  void recorded_call() override;
  void recorded(Branch& branch) override;
  void not_recorded() override { recording_ = {}; }
  void forbid_recording() override { asked_.may_record = false; }
  void dropped(const Branch& branch) override;

 private:
  using Position = autotrace::Candidates::Position;
  /// What is recorded: a candidate, or a branch.
  struct FoundRecording {
    Position at;                ///< of a candidate: how far
    bool expected = false;      ///< of a candidate, which came in the context in which it was mined
    std::uint64_t context = 0;  ///< in which it comes
    std::uint64_t candidate = 0;  ///< that has come to its end
    bool is_branch = false;
    std::size_t calls_left = 0;  ///< of a branch: so many at most
    Branch* tail = nullptr;      ///< what has begun in it, which it is to end with, ...
    std::size_t tail_calls = 0;  ///< ... and how many of whose calls have come
  };

  FoundTraces(ContextCore& context, Selector& selector);
  [[nodiscard]] const autotrace::Candidates& candidates() const { return finder_.candidates(); }
  // Before the call's token is known.
  [[nodiscard]] Branch* begins(const BranchPoint& point, const TracedCall& call);
  bool replay_at(BranchPoint& point, const TracedCall& call);
  void open(TraceRoot& root);
  /// Where traces begin that begin with the present call; null: nowhere.
  [[nodiscard]] TraceRoot* root() {
    return selector_.tree().find_root(TraceTree::Kind::found, asked_.hash);
  }
  [[nodiscard]] bool is_open() const { return selector_.trace().root != nullptr; }
  // When it is.
  void note_analysed(autotrace::Token token, autotrace::Work work);
  void take_turn();
  [[nodiscard]] bool is_hopeful(Position at) const;
  [[nodiscard]] bool may_record(Position at) const;
  [[nodiscard]] Position position() const;
  TraceRoot& make_root(autotrace::Token token);
  bool record_from_here(autotrace::Token token);
  bool left_again(autotrace::Token token);
  void record(BranchPoint& point, const FoundRecording& what);
  bool goes_on_recording(autotrace::Token token);
  [[nodiscard]] bool is_long_enough() const;
  void judge_guess(const FoundRecording& guess, bool of_use) {
    (guess.expected ? guessing_in_context_ : guessing_).enter(of_use ? 1 : -1);
  }
  void abandon_recording();

  static constexpr std::size_t kMostExits = 4096;
  ContextCore& context_;
  Selector& selector_;
  autotrace::TraceFinder finder_;
  std::unique_ptr<AutotraceLog> log_;  ///< null: nobody wants it
  /// Candidates are recorded before it is known whether they come in full: wherever their first call comes, or where it
  /// comes in the same context as when they were mined. In tries.
  Ledger guessing_, guessing_in_context_;
  FoundRecording recording_;
  /// What is known of the present call.
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
  std::uint64_t roots_ = 0;     ///< that have a name, which tells them apart
  std::uint64_t branches_ = 0;  ///< that were recorded
  /// By branch, place and call: how often the program has left what was found there.
  std::unordered_map<std::uint64_t, std::uint32_t> exits_;
  /// A branch that is left alone, whose calls are compared while they are analysed.
  Branch* watched_ = nullptr;
  std::size_t watched_calls_ = 0;  ///< that have come
  bool watched_in_context_ = false;
};

}  // namespace refrain::runtime
