#pragma once
// The clock of all measurements: monotonic, nanoseconds.

#include <chrono>
#include <cstdint>

namespace refrain::bench {

inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace refrain::bench
