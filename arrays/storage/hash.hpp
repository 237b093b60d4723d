#pragma once
// A hash of a few words. Whatever is looked up by it is compared in full.

#include <cstdint>

namespace refrain::arrays::detail {

class WordHash {
 public:
  constexpr void add(std::uint64_t word) {
    state_ = (state_ ^ word) * 0x9E3779B97F4A7C15ull;
    state_ ^= state_ >> 29;
  }
  [[nodiscard]] constexpr std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x243F6A8885A308D3ull;
};

}  // namespace refrain::arrays::detail
