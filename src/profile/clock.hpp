#pragma once
// The clock of all measurements: nanoseconds that never go backwards, from an arbitrary start, the same
// for all threads. A system call that the kernel answers in user space: some twenty nanoseconds.

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace refrain::profile {

inline std::uint64_t now_ns() noexcept {
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(now.count());
}

/// What a look at the clock takes, as the difference of two looks shows it.
inline std::uint64_t clock_ns() noexcept {
  static const std::uint64_t least = [] {
    std::uint64_t found = ~std::uint64_t{0};
    for (int i = 0; i < 32; ++i) {
      const std::uint64_t begin = now_ns();
      found = std::min(found, now_ns() - begin);
    }
    return found;
  }();
  return least;
}

}  // namespace refrain::profile
