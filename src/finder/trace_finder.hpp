#pragma once
// The finder of a context: keeps the history of its calls, has samples of it mined, and keeps the repeats as candidates
// for traces. Yadav et al., Algorithm 1 (TraceFinder) and section 5.1.
//
// **Decisions are the same in every run.** The times of samples and of their results are counted in operations. Small
// samples are mined at once, others by an idle thread. A late result is taken in when it is there, and the next ones are
// given more time. Nobody waits for a result.
//
// Owner: the thread of the context. Cost of a call: a token is kept.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "finder/candidates.hpp"
#include "finder/history.hpp"
#include "finder/mining.hpp"
#include "refrain/counters.hpp"

namespace refrain::autotrace {

/// From when on a stream is replayed: the first call after which of any 1,000 calls in a row 95% are.
class Steadiness {
 public:
  static constexpr std::uint64_t kWindow = 1000, kMostAnalysed = 50;

  /// The call with this number, from 0, is analysed.
  void analysed(std::uint64_t call) {
    std::uint64_t& after_oldest = last_[next_];
    // With the others and this one, too many for a window that has them all.
    if (after_oldest != 0 && call + 1 - after_oldest < kWindow) since_ = after_oldest;
    after_oldest = call + 1;
    next_ = (next_ + 1) % last_.size();
  }
  /// Calls before the steady state; of `calls` in all. The same as `calls` or close to it: there is none.
  [[nodiscard]] std::uint64_t since() const { return since_; }

 private:
  /// Calls up to and with each of the last that were analysed, the oldest at next_; 0: there was none.
  std::array<std::uint64_t, kMostAnalysed> last_{};
  std::size_t next_ = 0;
  std::uint64_t since_ = 0;
};

struct FinderOptions {
  MiningLimits limits;
  std::size_t history = 1;  ///< tokens
  std::size_t sample = 1;   ///< what is mined is a multiple of it
  /// Samples of up to so many tokens are mined at once: waking a thread takes as long.
  std::size_t at_once = 256;
  /// A sample that nobody has begun when it is due has found the other threads busy, or asleep. Up to so many tokens
  /// are then mined by the owner, in a fifth of a millisecond. So only larger samples can be late.
  std::size_t alone = 2048;
};

class TraceFinder {
 public:
  TraceFinder(const FinderOptions& options, Miners miners);

  /// Repeats of an earlier run; before all calls.
  void propose(const std::vector<MinedRepeat>& repeats) { add(repeats); }
  /// A call that is analysed.
  void add(Token token, Work work = 1) {
    ++counters_.analysed;
    steadiness_.analysed(now());
    history_.add(token, work);
    work_ += work;
    if (has_changed()) next_ = work_;
  }
  /// A call that cannot be traced.
  void add_unique() { add(unique_token(now())); }
  /// Calls that were replayed, and their work.
  void add_replayed(std::span<const Token> tokens, std::span<const Work> work);
  /// A recording was made of this candidate, of the whole or of its beginning; or it was replayed to its end.
  void recorded(std::uint64_t identity, bool whole);
  void replayed(std::uint64_t identity);
  /// A replay was left before its end.
  void was_wrong() { ++counters_.wrong; }

  /// Whether there is something for turn() to do.
  [[nodiscard]] bool is_due() const { return work_ >= next_; }
  /// Takes in what was mined, and has more mined. No Position is good after this.
  void turn();

  [[nodiscard]] const Candidates& candidates() const { return candidates_; }
  /// Where in the candidates so many of the last calls, the first of which begins one, have got to.
  [[nodiscard]] Candidates::Position position(std::size_t calls) const;
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
  /// So many analysed operations in a row, after replayed ones: the stream has changed.
  static constexpr std::uint64_t kUnsettling = 16;
  /// A result is due after a quarter as many operations as tokens are mined. A late one doubles that, to so many quarters
  /// at most; one that is there in time takes a quarter back.
  static constexpr std::uint64_t kMostDistance = 8;

  void add(std::vector<MinedRepeat> repeats) {
    counters_.candidates += candidates_.add(std::move(repeats), now());
  }
  void take_in();
  [[nodiscard]] bool has_changed() const { return work_ >= changes_at_; }
  void send_for();
  /// One sample at a time is out; small ones need nobody.
  [[nodiscard]] std::size_t largest_now() const {
    return job_ == nullptr ? options_.history : options_.at_once;
  }
  [[nodiscard]] bool may_mine() const { return largest_now() >= options_.sample; }

  FinderOptions options_;
  Miners miners_;
  History history_;
  Sampling sampling_;
  Candidates candidates_;
  Steadiness steadiness_;
  std::shared_ptr<MiningJob> job_;
  bool late_ = false;           ///< it should have been taken in
  std::uint64_t work_ = 0;      ///< so far: the time of what follows
  std::uint64_t due_ = 0;       ///< when it is taken in, or asked for again
  std::uint64_t distance_ = 1;  ///< in quarters of samples
  std::uint64_t next_;          ///< when turn() has something to do
  /// The work after which the stream counts as changed: calls are analysed again after a replay. Infinite: nothing was
  /// replayed since the sampling began.
  std::uint64_t changes_at_ = ~std::uint64_t{0};
  AutotraceCounters counters_;
};

}  // namespace refrain::autotrace
