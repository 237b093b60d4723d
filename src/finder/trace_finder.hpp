#pragma once
// Finds in the stream of a context's calls what may be worth a trace: keeps the history, has pieces of it mined,
// and keeps what was found as candidates. Yadav et al., Algorithm 1 (TraceFinder) and section 5.1.
//
// **Decisions are the same in every run.** What is mined when, and when a result is taken in, is counted in tokens.
// Small samples are mined at once. Others by whoever has time; a result that is not there by then is taken in when it is,
// and the next ones are given more tokens' time; nobody waits for one.
//
// Owner: the context's thread.

#include <cstdint>
#include <memory>
#include <span>

#include "finder/candidates.hpp"
#include "finder/history.hpp"
#include "finder/mining.hpp"
#include "finder/mining_job.hpp"
#include "finder/sampling.hpp"
#include "finder/steadiness.hpp"
#include "refrain/runtime.hpp"

namespace refrain::autotrace {

struct FinderOptions {
  MiningLimits limits;
  std::size_t history = 1;  ///< tokens
  std::size_t sample = 1;   ///< what is mined is a multiple of it
  /// So many tokens are mined in the time that it takes to wake a thread: that is done at once.
  std::size_t at_once = 256;
  /// What nobody has begun when it is due has found the other threads busy, or asleep: so many tokens are then mined
  /// without them, in a fifth of a millisecond. So only what is larger can be late.
  std::size_t alone = 2048;
};

class TraceFinder {
 public:
  TraceFinder(const FinderOptions& options, Miners& miners);

  /// What an earlier run says that repeats; before all calls.
  void propose(const std::vector<MinedRepeat>& repeats) { add(repeats); }
  /// A call that is analysed.
  void add(Token token) {
    ++counters_.analysed;
    steadiness_.analysed(now());
    history_.add(token);
    candidates_.observe(token, now());
    // After what was replayed, so much that was not: the stream has changed.
    if (++analysed_in_a_row_ == kUnsettling && settled_) next_ = now();
  }
  /// One that cannot be traced, whatever it is.
  void add_unique();
  /// Calls that were replayed.
  void add_replayed(std::span<const Token> tokens);
  /// A recording of this candidate was made; or only of its beginning, which is one for nothing until it is replayed;
  /// or the candidate was replayed to its end.
  void recorded(std::uint64_t identity);
  void recorded_beginning(std::uint64_t identity);
  void replayed(std::uint64_t identity);
  /// A replay was left before its end.
  void was_wrong() { ++counters_.wrong; }

  /// Whether there is something for turn() to do.
  [[nodiscard]] bool is_due() const { return now() >= next_; }
  /// Takes in what was mined, and has more mined. No Position is good after this.
  void turn();

  [[nodiscard]] const Candidates& candidates() const { return candidates_; }
  /// context_of all calls so far but the last `skipped`.
  [[nodiscard]] std::uint64_t context(std::size_t skipped) const {
    return history_.context(skipped);
  }
  /// Calls so far.
  [[nodiscard]] std::uint64_t now() const { return history_.count(); }
  [[nodiscard]] AutotraceCounters counters() const {
    AutotraceCounters counters = counters_;
    counters.before_steady = steadiness_.since();
    return counters;
  }

 private:
  /// Candidates that are kept, and their tokens in histories.
  static constexpr std::size_t kMostCandidates = 64, kMostHistories = 2;
  /// So many calls that are analysed after others were replayed: the stream has changed.
  static constexpr std::uint64_t kUnsettling = 16;
  /// A result is due after a quarter as many tokens as are mined; late ones raise that to so many quarters, and so many
  /// in a row that are there in time lower it again.
  static constexpr std::uint64_t kMostDistance = 8, kOnTime = 8;

  void add(std::vector<MinedRepeat> repeats);
  void take_in();
  void send_for();
  /// One sample at a time is out; small ones need nobody.
  [[nodiscard]] std::size_t largest_now() const {
    return job_ == nullptr ? options_.history : options_.at_once;
  }
  [[nodiscard]] bool may_mine() const { return largest_now() >= options_.sample; }

  FinderOptions options_;
  Miners& miners_;
  History history_;
  Sampling sampling_;
  Candidates candidates_;
  Steadiness steadiness_;
  std::shared_ptr<MiningJob> job_;
  bool alone_ = false;          ///< nobody else runs the job
  bool late_ = false;           ///< it should have been taken in
  std::uint64_t due_ = 0;       ///< when it is taken in, or asked for again
  std::uint64_t distance_ = 1;  ///< in quarters of samples
  std::uint64_t on_time_ = 0;   ///< in a row
  std::uint64_t next_;          ///< when turn() has something to do
  std::uint64_t unique_ = 0;
  std::uint64_t analysed_in_a_row_ = 0;
  bool settled_ = false;  ///< something was replayed since the sampling began anew
  AutotraceCounters counters_;
};

}  // namespace refrain::autotrace
