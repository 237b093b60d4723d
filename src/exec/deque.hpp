#pragma once
// A work-stealing deque of words (0: none): the owner pushes and takes at the bottom, last in first out,
// other threads steal at the top (D. Chase, Y. Lev, "Dynamic circular work-stealing deque", SPAA 2005).
//
// Who calls what: push, take: the owner. steal: any thread. Everything that the owner
// wrote before push is visible to the thread that gets the word. Destroy it when no thread calls it.
//
// Orders. `top_` and `bottom_` are sequentially consistent throughout: take must announce the lower
// bottom before it looks at top, steal must look at top before bottom, and a push must be visible
// before the pusher looks for sleepers (partner: Notifier::prepare). The element is published by the
// store to `bottom_` and needs no order of its own.
//
// Cost: take and push have one locked instruction each. Replaced arrays are kept until the end,
// because a thief may still be reading them; together they are no larger than the last one.

#include <atomic>
#include <cstdint>
#include <list>
#include <vector>

#include "base/sure_memory.hpp"

namespace refrain::exec {

class Deque {
 public:
  explicit Deque(std::int64_t capacity = 1024) {
    arrays_.emplace_back(capacity);
    publish();
  }

  void push(std::uintptr_t word) {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    // acquire: partner of the exchange in steal; a slot is reused only after its thief has read it.
    const std::int64_t top = top_.load(std::memory_order_acquire);
    if (bottom - top >= array_.load(std::memory_order_relaxed)->size) grow(top, bottom);
    array_.load(std::memory_order_relaxed)->slot(bottom).store(word, std::memory_order_relaxed);
    bottom_.store(bottom + 1, std::memory_order_seq_cst);
  }

  std::uintptr_t take() {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;
    // Nobody but the owner raises bottom, so an empty deque is known without announcing anything.
    if (top_.load(std::memory_order_relaxed) > bottom) return 0;
    bottom_.store(bottom, std::memory_order_seq_cst);
    std::int64_t top = top_.load(std::memory_order_seq_cst);
    if (top > bottom) {
      bottom_.store(bottom + 1, std::memory_order_relaxed);
      return 0;
    }
    std::uintptr_t word =
        array_.load(std::memory_order_relaxed)->slot(bottom).load(std::memory_order_relaxed);
    if (top == bottom) {
      // The last one: a thief may be after it as well.
      if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst,
                                        std::memory_order_relaxed)) {
        word = 0;
      }
      bottom_.store(bottom + 1, std::memory_order_relaxed);
    }
    return word;
  }

  /// The oldest one; 0 when empty.
  std::uintptr_t steal() {
    while (true) {
      std::int64_t top = top_.load(std::memory_order_seq_cst);
      // seq_cst (acquire half): partner of the store in push, the element and the node are visible.
      if (top >= bottom_.load(std::memory_order_seq_cst)) return 0;
      // acquire: partner of the release in publish, the array's contents are visible.
      Array* array = array_.load(std::memory_order_acquire);
      const std::uintptr_t word = array->slot(top).load(std::memory_order_relaxed);
      if (top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst,
                                       std::memory_order_relaxed))
        return word;
    }
  }

 private:
  /// Of sure memory: what is ready must not be lost.
  struct Array {
    explicit Array(std::int64_t capacity)
        : size(capacity), slots(static_cast<std::size_t>(capacity)) {}
    const std::int64_t size;  ///< a power of two
    std::vector<std::atomic<std::uintptr_t>, SureAllocator<std::atomic<std::uintptr_t>>> slots;
    [[nodiscard]] std::atomic<std::uintptr_t>& slot(std::int64_t i) {
      return slots[static_cast<std::size_t>(i & (size - 1))];
    }
  };

  void publish() {
    // release: partner of the acquire in steal.
    array_.store(&arrays_.back(), std::memory_order_release);
  }
  void grow(std::int64_t top, std::int64_t bottom) {
    Array& full = arrays_.back();
    Array& larger = arrays_.emplace_back(2 * full.size);
    for (std::int64_t i = top; i < bottom; ++i)
      larger.slot(i).store(full.slot(i).load(std::memory_order_relaxed), std::memory_order_relaxed);
    publish();
  }

  alignas(64) std::atomic<std::int64_t> bottom_{0};  // written by the owner
  std::list<Array, SureAllocator<Array>> arrays_;    // owner only
  alignas(64) std::atomic<std::int64_t> top_{0};     // written by thieves and the owner
  alignas(64) std::atomic<Array*> array_{nullptr};   // read by thieves
};

}  // namespace refrain::exec
