#pragma once
// The clock of all measurements: nanoseconds that never go backwards, from an arbitrary start, the same
// for all threads. A system call that the kernel answers in user space: some twenty nanoseconds.

#include <chrono>
#include <cstdint>

namespace refrain::profile {

inline std::uint64_t now_ns() noexcept {
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(now.count());
}

}  // namespace refrain::profile
