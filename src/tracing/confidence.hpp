#pragma once
// Whether what was found is replayed from its first call on, or its calls are compared first while they are analysed:
// after bad guesses it has to come in full several times in a row. Yadav et al., section 5.2, speculate never.

#include <algorithm>
#include <cstdint>

namespace refrain::runtime {

class Confidence {
 public:
  /// It was replayed, and has gained as TraceExecution::gain says.
  void judge(std::int64_t gain) {
    balance_ = std::min(balance_ + gain, kMostBalance);
    if (gain > 0) level_ /= 2;
    if (balance_ >= 0) return;
    balance_ = 0;
    missing_ = level_ = std::min(2 * level_ + 1, kMost);
  }
  [[nodiscard]] bool is_given() const { return missing_ == 0; }
  /// It has come in full while it was watched, or only its beginning.
  void came(bool in_full) { missing_ = in_full ? missing_ - std::min(missing_, 1U) : level_; }

 private:
  static constexpr std::uint32_t kMost = 15;
  static constexpr std::int64_t kMostBalance = 64;
  std::uint32_t level_ = 0, missing_ = 0;
  std::int64_t balance_ = 0;
};

}  // namespace refrain::runtime
