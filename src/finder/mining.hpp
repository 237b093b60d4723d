#pragma once
// The candidates in a sample of the stream: its repeats (Algorithm 2), with loops reduced to one period.
//
// A repeat of a loop is usually many iterations, from anywhere to anywhere. So a repeat that is periodic, or that
// follows itself, is reduced to one **period**, or to a few if it is short. A period may begin with any of its tokens.
// The best place is an analysed call after replayed ones: a trace that begins there cuts no other. The next best place
// is the rarest token, with which nothing else begins. Calls that were replayed the last time are left out. Yadav et
// al. keep repeats as they are.
//
// Threads: mine() is a pure function. A MiningJob is shared by the finder and one other thread.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "exec/background.hpp"
#include "finder/history.hpp"
#include "repeats/repeats.hpp"

namespace refrain::oracle {
class Grammar;
}

namespace refrain::autotrace {

struct MiningLimits {
  std::size_t least = 1;               ///< operations of a candidate
  std::size_t most = ~std::size_t{0};  ///< tokens; longer ones are cut into pieces
};

struct MinedRepeat {
  std::vector<Token> tokens;
  /// It follows itself: tokens with this period, which divides their number. 0: it does not, as far as is known.
  std::uint32_t period = 0;
  std::uint32_t count = 0;     ///< how often it was found
  std::uint64_t work = 0;      ///< of its calls
  std::uint64_t analysed = 0;  ///< of its work, the last time; the rest was replayed already
  std::uint64_t identity = 0;  ///< the same for the same repeat, for a loop's wherever it begins
  std::uint64_t context = 0;   ///< context_of what came before it, the last time
};

/// Longest first, each once. O(n log n).
std::vector<MinedRepeat> mine(const Sample& sample, const MiningLimits& limits);

/// Some tokens in a row that come again, and follow nothing known; of calls with one operation each.
MinedRepeat repeat_of_stretch(std::span<const Token> tokens, std::uint32_t count);

/// Of a loop whose body is so many tokens of the sample from there on, at most `limits.most`: turned, and unrolled so that
/// entering its replay costs little.
MinedRepeat repeat_of_loop(const Sample& sample, std::size_t begin, std::uint32_t period,
                           std::uint32_t count, const MiningLimits& limits);

/// The shortest p such that all tokens are equal to those p before them; the length, if there is none.
std::uint32_t period_of(std::span<const Token> tokens);

struct ProposalLimits {
  MiningLimits mining;
  std::size_t longest = ~std::size_t{0};  ///< calls of one rule
  std::size_t most = 64;                  ///< proposals: those with the most calls in the whole run
};

/// `tokens`: of the grammar's events; none: what cannot be replayed. O(symbols and what is proposed), but for a sort of
/// the rules.
std::vector<MinedRepeat> proposals(const oracle::Grammar& grammar,
                                   std::span<const std::optional<Token>> tokens,
                                   const ProposalLimits& limits);

/// A sample that is mined beside the program. The finder makes a job, shares it with one thread, which runs it, and
/// takes the repeats.
class MiningJob final : public exec::BackgroundJob {
 public:
  MiningJob(Sample sample, const MiningLimits& limits)
      : sample_(std::move(sample)), limits_(limits) {}

  [[nodiscard]] std::size_t tokens() const { return sample_.tokens.size(); }

  /// On any thread; whoever comes first does it.
  void run() noexcept override {
    // relaxed: the sample was there before the job was shared.
    if (begun_.exchange(true, std::memory_order_relaxed)) return;
    try {
      repeats_ = mine(sample_, limits_);
    } catch (const std::bad_alloc&) {}  // then nothing was found
    // release: partner of the load in is_done; the repeats are there.
    done_.store(true, std::memory_order_release);
  }
  [[nodiscard]] bool is_done() const { return done_.load(std::memory_order_acquire); }
  [[nodiscard]] std::vector<MinedRepeat> take() { return std::move(repeats_); }

 private:
  Sample sample_;
  MiningLimits limits_;
  std::vector<MinedRepeat> repeats_;
  std::atomic<bool> begun_{false}, done_{false};
};

/// Who mines.
struct Miners {
  /// Some thread runs the job when it has nothing else to do. False: there is none.
  std::function<bool(const std::shared_ptr<MiningJob>&)> post;
  /// A job is late.
  std::function<void()> hurry;
};

}  // namespace refrain::autotrace
