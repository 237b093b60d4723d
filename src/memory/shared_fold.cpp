#include "memory/shared_fold.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>

namespace refrain::data {

namespace {

constexpr std::size_t block_bytes = 16384, lock_count = 256;

struct alignas(64) BlockLock {
  std::mutex mutex;
};
constinit BlockLock locks[lock_count];

/// How many of `count` values begin in the block in which the first one begins.
std::size_t values_in_block(std::uintptr_t first, std::ptrdiff_t stride, std::size_t count) {
  const std::size_t into = first % block_bytes;
  if (stride == 0) return count;
  const std::size_t values = stride > 0
                                 ? (block_bytes - 1 - into) / static_cast<std::size_t>(stride) + 1
                                 : into / static_cast<std::size_t>(-stride) + 1;
  return std::min(values, count);
}

}  // namespace

void fold_shared(decltype(ReductionOp::fold) fold, std::byte* values, std::ptrdiff_t value_stride,
                 const std::byte* contributions, std::ptrdiff_t contribution_stride,
                 std::size_t count) {
  while (count > 0) {
    const auto address = reinterpret_cast<std::uintptr_t>(values);
    const std::size_t n = values_in_block(address, value_stride, count);
    {
      const std::lock_guard lock(locks[address / block_bytes % lock_count].mutex);
      fold(values, value_stride, contributions, contribution_stride, n);
    }
    values += static_cast<std::ptrdiff_t>(n) * value_stride;
    contributions += static_cast<std::ptrdiff_t>(n) * contribution_stride;
    count -= n;
  }
}

}  // namespace refrain::data
