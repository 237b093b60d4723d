#pragma once
// The hash of signatures, tokens and contents: 64 bits, the same in every process and on every machine of
// one byte order (xxHash, compiled in, so that programs need not link a library for it).

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstdint>

namespace refrain {

inline std::uint64_t hash_bytes(const void* bytes, std::size_t size, std::uint64_t seed = 0) {
  return XXH3_64bits_withSeed(bytes, size, seed);
}

}  // namespace refrain
