#pragma once
// A growing array whose elements never move: other threads may read elements while the owner appends.
//
// Elements live in chunks of doubling size, so an index is turned into a chunk and a place by one bit
// scan. Most arrays have one chunk, of one element; the list of further chunks is made with the second element. A chunk's
// elements are value-initialised when the chunk is made and stay at their addresses until clear() or the end.
//
// Threads: one owner calls ensure and clear. Any thread may read elements that existed when
// it learned their index (however it did: a launch, a message); a chunk's pointer is published with
// release and read with acquire, so the elements as they were made are visible. What the owner writes
// into an element later is ordered by whatever tells the reader of it. At clear() nobody may read.
//
// Cost: 24 bytes empty, 256 more from two elements on; at most half of the elements allocated are unused.

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <span>

#include "base/assert.hpp"

namespace refrain {

template <class T>
class StableVector {
 public:
  StableVector() = default;
  ~StableVector() { clear(); }
  StableVector(const StableVector&) = delete;
  StableVector& operator=(const StableVector&) = delete;

  /// The element must have been made (ensure).
  T& operator[](std::size_t index) { return *locate(index); }
  const T& operator[](std::size_t index) const { return *locate(index); }

  /// Owner: makes all elements below `count`.
  void ensure(std::size_t count) {
    while ((std::size_t{1} << chunks_made_) - 1 < count) {
      REFRAIN_ASSERT(chunks_made_ < chunk_count, "a stable vector holds less than 2^32 elements");
      // release, both: partners of the acquires in locate.
      if (chunks_made_ == 1 && rest_.load(std::memory_order_relaxed) == nullptr)
        rest_.store(new Chunks(), std::memory_order_release);
      T* chunk = new T[std::size_t{1} << chunks_made_]();
      chunk_pointer(chunks_made_).store(chunk, std::memory_order_release);
      ++chunks_made_;
    }
  }
  /// Owner: makes all elements up to this one, and some behind it: those returned, from this one on, lie side by side.
  std::span<T> ensure_from(std::size_t index) {
    ensure(index + 1);
    return {locate(index), 2 * std::bit_floor(index + 1) - 1 - index};
  }
  /// Owner: ends all elements. Nobody else may be reading.
  void clear() {
    while (chunks_made_ > 0) {
      --chunks_made_;
      delete[] chunk_pointer(chunks_made_).exchange(nullptr, std::memory_order_relaxed);
    }
    delete rest_.exchange(nullptr, std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t chunk_count = 32;
  using Chunks = std::array<std::atomic<T*>, chunk_count - 1>;

  /// Owner.
  std::atomic<T*>& chunk_pointer(std::size_t chunk) {
    return chunk == 0 ? first_ : (*rest_.load(std::memory_order_relaxed))[chunk - 1];
  }
  // Chunk k holds the indices [2^k - 1, 2^(k+1) - 1). acquire: partner of the releases in ensure.
  T* locate(std::size_t index) const {
    if (index == 0) return first_.load(std::memory_order_acquire);
    const auto chunk = static_cast<std::size_t>(std::bit_width(index + 1) - 1);
    const Chunks& rest = *rest_.load(std::memory_order_acquire);
    return rest[chunk - 1].load(std::memory_order_acquire) +
           (index + 1 - std::bit_floor(index + 1));
  }

  std::atomic<T*> first_{nullptr};
  std::atomic<Chunks*> rest_{nullptr};
  std::size_t chunks_made_ = 0;
};

}  // namespace refrain
