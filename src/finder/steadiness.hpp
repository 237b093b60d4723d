#pragma once
// From when on a stream is replayed: the first call after which of any 1,000 calls in a row 95% are.
//
// Owner: one thread.

#include <array>
#include <cstdint>

namespace refrain::autotrace {

class Steadiness {
 public:
  static constexpr std::uint64_t kWindow = 1000, kMostAnalysed = 50;

  /// The call with this number, from 0, is analysed.
  void analysed(std::uint64_t call) {
    std::uint64_t& oldest = last_[next_];
    // With the others and this one, too many for a window that has them all.
    if (seen_ < last_.size()) ++seen_;
    else if (call - oldest < kWindow) since_ = oldest + 1;
    oldest = call;
    next_ = (next_ + 1) % last_.size();
  }
  /// Calls before the steady state; of `calls` in all. The same as `calls` or close to it: there is none.
  [[nodiscard]] std::uint64_t since() const { return since_; }

 private:
  std::array<std::uint64_t, kMostAnalysed> last_{};  ///< analysed, the oldest at next_
  std::size_t next_ = 0, seen_ = 0;
  std::uint64_t since_ = 0;
};

}  // namespace refrain::autotrace
