#pragma once
// Where one who goes over many things puts down what it knows of each, on the thing itself: found again without
// a search, and forgotten without a sweep, since marks of others count for nothing.
//
// Owner: the thread of the context that the thing belongs to.

#include <atomic>
#include <cstdint>

namespace refrain::analysis {

struct Mark {
  std::uint64_t by = 0;
  std::uint32_t at = 0;  ///< whatever they know

  [[nodiscard]] bool is(std::uint64_t one) const { return by == one; }
  /// Who marks is told apart by a number. Any thread.
  static std::uint64_t next() {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
  }
};

}  // namespace refrain::analysis
