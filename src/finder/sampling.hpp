#pragma once
// How much of the history is mined when: small pieces often, so that short loops are found soon, large ones
// seldom, so that long loops are found at all. Yadav et al., section 4.4: in multiples of a constant, as the ruler
// function has it. A size that has brought nothing a few times is tried half as often from then on, so what mining
// costs per launch tends to a small constant where nothing repeats. And each call pays for a part of a token that is
// mined, so that it is never much, after a beginning that is for free.
//
// All times are counted in tokens, so decisions are the same in every run.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace refrain::autotrace {

class Sampling {
 public:
  /// Pieces of `multiple`, twice, four times as much ..., up to the whole history.
  Sampling(std::size_t multiple, std::size_t history);

  /// When next() is to be called next: a count of tokens.
  [[nodiscard]] std::uint64_t next_at() const { return next_at_; }
  /// `now`: not before next_at(). How many of the last tokens are to be mined, at most `most`; 0: none.
  std::size_t next(std::uint64_t now, std::size_t most);
  /// What was mined was of use, or the stream is no longer what it was: starts again.
  void restart(std::uint64_t now);

 private:
  /// Small pieces and large ones are paid for apart, or the small ones of a stream that changes often would leave
  /// nothing for the others.
  static constexpr std::size_t kSmall = 1024;
  /// So that a long loop is found as soon as it can be, two histories of large pieces are for free, too.
  static constexpr std::uint64_t kForFree = 8192, kCallsPerToken = 4;
  /// Waits grow to this many times the size: then all sizes together cost 1/kMostWait token per launch and size.
  static constexpr std::uint64_t kMostWait = 256;
  static constexpr std::uint32_t kTries = 2;  ///< before the wait doubles
  struct Size {
    std::size_t tokens;
    std::uint64_t wait, due;
    std::uint32_t tries;
  };
  std::size_t multiple_;
  [[nodiscard]] std::uint64_t& credit(const Size& size) {
    return size.tokens <= kSmall ? for_small_ : for_large_;
  }
  [[nodiscard]] static std::uint64_t price(const Size& size) {
    return kCallsPerToken * size.tokens;
  }

  std::vector<Size> sizes_;                     ///< ascending
  std::uint64_t for_small_, for_large_, most_;  ///< what may be mined, in calls that pay for it
  std::uint64_t paid_at_ = 0;
  std::uint64_t next_at_ = ~std::uint64_t{0};
};

}  // namespace refrain::autotrace
