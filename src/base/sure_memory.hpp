#pragma once
// Memory for bookkeeping that must not fail: the order of operations in flight, ready queues, failures. Without it the
// operations of other threads would be lost, so a request is granted or the process ends with a message. A reserve of
// 1 MiB serves requests when the heap has nothing left. It is part of the program's image, and no page of it is touched
// before. Requests for a program's data do not use it: there the program meets the shortage, and can end in order.
//
// Threads: any. Cost: the heap's; a lock where the heap has nothing.

#include <cstddef>
#include <new>

namespace refrain {

/// Never null. `alignment`: a power of two, at most 64.
[[nodiscard]] void* allocate_surely(std::size_t bytes, std::size_t alignment) noexcept;
/// What allocate_surely gave, with the same size and alignment.
void free_surely(void* memory, std::size_t bytes, std::size_t alignment) noexcept;

/// The same for containers.
template <class T>
struct SureAllocator {
  using value_type = T;
  SureAllocator() = default;
  template <class U>
  SureAllocator(const SureAllocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] T* allocate(std::size_t count) noexcept {
    return static_cast<T*>(allocate_surely(count * sizeof(T), alignof(T)));
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    free_surely(memory, count * sizeof(T), alignof(T));
  }
  template <class U>
  bool operator==(const SureAllocator<U>&) const noexcept {
    return true;
  }
};

}  // namespace refrain
