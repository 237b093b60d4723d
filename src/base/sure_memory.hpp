#pragma once
// Memory for the books of what is in flight: who comes after whom, what is ready, what has failed. Without them
// the operations of other threads would be lost. A request is granted, or the process ends with a message. Where
// the heap has nothing left, a reserve of 1 MiB grants it, which is part of the program's image; no page of it is
// touched before. All requests share the reserve: the largest that it covers is 1 MiB, while it is unused. The
// program meets the shortage where it asks for memory itself, and can end in an orderly way.
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
