#pragma once
// How long something that was tried for nothing is left alone: longer each time that it was for nothing again.
// Counted in tries, so decisions are the same in every run.

#include <algorithm>
#include <cstdint>

namespace refrain::runtime {

class Backoff {
 public:
  /// It was tried; whether that was of use.
  void judge(bool of_use) {
    length_ = of_use ? 0 : std::min(2 * length_ + 1, kMost);
    left_ = length_;
  }
  [[nodiscard]] bool is_pausing() const { return left_ > 0; }
  /// It might be tried. True: not now.
  bool pause() {
    if (left_ == 0) return false;
    --left_;
    return true;
  }

 private:
  static constexpr std::uint32_t kMost = 64;
  std::uint32_t length_ = 0, left_ = 0;
};

}  // namespace refrain::runtime
