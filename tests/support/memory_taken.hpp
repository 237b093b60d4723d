#pragma once
// How much memory this process takes.

#include <malloc.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>

namespace refrain::test {

/// Bytes asked of the heap and not given back: what the heap keeps for later is not among them, nor what is mapped
/// without it. Where a sanitizer has its own memory: 0.
inline std::size_t allocated() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// KiB in memory, with what the heap keeps for later.
inline long resident() {
  long pages = 0, ignored = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &ignored, &pages) != 2) pages = 0;
    std::fclose(file);
  }
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

}  // namespace refrain::test
