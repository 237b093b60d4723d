#pragma once
// What a reducing task has contributed to a chunk of an accumulator of which it has touched few points:
// these points and their values, in place of a whole chunk of identities. A task whose contributions are
// scattered over a large region so pays for what it touches.
//
// Threads: one at a time. Cost: a search among at most `most` entries.

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace refrain::data {

class alignas(64) FewValues {
 public:
  static constexpr std::size_t most = 12;

  /// What one takes, a multiple of 64; its storage is aligned to 64.
  static constexpr std::size_t bytes(std::size_t value_size) {
    return sizeof(FewValues) + (most * value_size + 63) / 64 * 64;
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  /// The position in the chunk of entry i, and its value.
  [[nodiscard]] std::size_t position(std::size_t i) const { return positions_[i]; }
  [[nodiscard]] std::byte* value(std::size_t i, std::size_t value_size) {
    return reinterpret_cast<std::byte*>(this + 1) + i * value_size;
  }

  /// The entry of a position; size() if it has none.
  [[nodiscard]] std::size_t find(std::size_t position) const {
    return static_cast<std::size_t>(std::find(positions_, positions_ + size_, position) -
                                    positions_);
  }
  /// Whether this would be no place for another entry: it is full, or the task goes through the chunk point
  /// by point.
  [[nodiscard]] bool refuses(std::size_t position) const {
    if (size_ == 0) return false;
    const std::size_t last = positions_[size_ - 1];
    return size_ == most || position == last + 1 || position + 1 == last;
  }
  /// A new entry, its value not initialised. Requires: it is not refused.
  std::size_t add(std::size_t position) {
    positions_[size_] = static_cast<std::uint16_t>(position);
    return size_++;
  }

 private:
  std::uint16_t size_ = 0;
  std::uint16_t positions_[most] = {};
};

}  // namespace refrain::data
