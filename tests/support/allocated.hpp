#pragma once
// How much memory this process takes, of what it has asked for: that of others who have ended may be in its place.

#include <malloc.h>

#include <cstddef>

namespace refrain::test {

/// Bytes. Where a sanitizer has its own memory: 0.
inline std::size_t allocated() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace refrain::test
