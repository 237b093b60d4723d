#pragma once
// A growing array whose elements never move: other threads may read elements while the owner appends.
//
// Elements live in chunks of doubling size, so an index is turned into a chunk and a place by one bit
// scan. A chunk's elements are value-initialised when the chunk is made and stay at their addresses
// until clear() or the end.
//
// Threads: one owner calls ensure, emplace and clear. Any thread may read elements that existed when
// it learned their index (however it did: a launch, a message); a chunk's pointer is published with
// release and read with acquire, so the elements as they were made are visible. What the owner writes
// into an element later is ordered by whatever tells the reader of it. At clear() nobody may read.
//
// Cost: 256 bytes empty; at most half of the elements allocated are unused.

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>

#include "base/assert.hpp"

namespace refrain {

template <class T>
class StableVector {
 public:
  StableVector() = default;
  ~StableVector() { clear(); }
  StableVector(const StableVector&) = delete;
  StableVector& operator=(const StableVector&) = delete;

  /// The element must have been made (ensure, emplace).
  T& operator[](std::size_t index) { return *locate(index); }
  const T& operator[](std::size_t index) const { return *locate(index); }

  /// Owner: makes all elements below `count`.
  void ensure(std::size_t count) {
    while (capacity_ < count) {
      REFRAIN_ASSERT(chunks_made_ < chunk_count, "a stable vector holds at most 2^34 elements");
      T* chunk = new T[first_chunk << chunks_made_]();
      // release: partner of the acquire in locate.
      chunks_[chunks_made_].store(chunk, std::memory_order_release);
      capacity_ += first_chunk << chunks_made_;
      ++chunks_made_;
    }
  }
  /// Owner: the element, made if it was not there.
  T& emplace(std::size_t index) {
    ensure(index + 1);
    return (*this)[index];
  }
  /// Owner: ends all elements. Nobody else may be reading.
  void clear() {
    while (chunks_made_ > 0) {
      --chunks_made_;
      delete[] chunks_[chunks_made_].exchange(nullptr, std::memory_order_relaxed);
    }
    capacity_ = 0;
  }
  /// Owner: how many elements there are.
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

 private:
  static constexpr std::size_t chunk_count = 32;
  static constexpr std::size_t first_chunk = 4;

  // Chunk k holds the indices [first_chunk * (2^k - 1), first_chunk * (2^(k+1) - 1)).
  T* locate(std::size_t index) const {
    const std::size_t shifted = index + first_chunk;
    const auto chunk = static_cast<std::size_t>(std::bit_width(shifted / first_chunk) - 1);
    // acquire: partner of the release in ensure.
    return chunks_[chunk].load(std::memory_order_acquire) + (shifted - (first_chunk << chunk));
  }

  std::array<std::atomic<T*>, chunk_count> chunks_{};
  std::size_t chunks_made_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace refrain
