#pragma once
// The one policy for work that may be in vain: an account of what it has gained and lost. While the balance is negative
// the work is left alone, for longer each time. So a loss that goes on costs less and less, and a change is noticed.
//
// The unit is the analysis of one operation, or a try where the gain is not known. Nothing is measured in time, so
// decisions are the same in every run. The accounts, and what each constant decides: docs/automatic-tracing.md,
// "Accounts". Yadav et al., section 5.2, never speculate.

#include <algorithm>
#include <cstdint>

namespace refrain::autotrace {

class Ledger {
 public:
  /// The credit of work that is of use only after a while.
  static constexpr std::int64_t kLearning = 1024;
  static constexpr std::int64_t kMemory = 128;        ///< so much of what was gained counts later
  static constexpr std::uint32_t kLongestPause = 63;  ///< tries

  /// `credit`: so much may be lost at first. `most`: so much of what is gained counts later. `longest`: pause.
  explicit Ledger(std::int64_t credit = 0, std::int64_t most = 0,
                  std::uint32_t longest = kLongestPause)
      : balance_(credit), most_(most), longest_(longest) {}

  /// It was tried, and has gained so much; or lost.
  void enter(std::int64_t gain) {
    balance_ = std::min(balance_ + gain, std::max(balance_, most_));
    if (gain > 0) left_ = std::min(left_, pause_ /= 2);
    if (balance_ >= 0) return;
    balance_ = most_ / 8;  // for what is tried after the pause
    left_ = pause_ = std::min(2 * pause_ + 1, longest_);
  }
  [[nodiscard]] bool is_open() const { return left_ == 0; }
  /// Tries for which it is left alone from now on.
  [[nodiscard]] std::uint32_t left() const { return left_; }
  /// It might be tried now. True: it is left alone.
  bool pause() {
    if (is_open()) return false;
    --left_;
    return true;
  }
  /// A try that was left out would have gained, or not. A gain shortens the pause by one try, a loss begins it anew.
  void watched(bool gained) { left_ = gained ? left_ - std::min(left_, 1U) : pause_; }

 private:
  std::int64_t balance_, most_;
  std::uint32_t longest_;
  std::uint32_t pause_ = 0;  ///< the last one
  std::uint32_t left_ = 0;   ///< of it
};

}  // namespace refrain::autotrace
