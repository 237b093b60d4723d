#pragma once
// Memory that begins a line of the cache, for what is looked at at random. glibc's aligned allocation takes about 550
// instructions, since it cuts a larger piece and gives the ends back; this takes a piece that is a line larger and leaves
// the ends unused, in about 100.
//
// Threads and errors: as operator new.

#include <cstddef>
#include <cstdint>
#include <new>

namespace refrain {

constexpr std::size_t kLine = 64;  ///< bytes

[[nodiscard]] inline void* allocate_lines(std::size_t bytes) {
  void* const piece = ::operator new(bytes + kLine);
  // A piece is aligned to 16 bytes, so the word before the next line is within it.
  const auto line = (reinterpret_cast<std::uintptr_t>(piece) + kLine) & ~(kLine - 1);
  reinterpret_cast<void**>(line)[-1] = piece;
  return reinterpret_cast<void*>(line);
}
inline void free_lines(void* lines) noexcept {
  if (lines != nullptr) ::operator delete(static_cast<void**>(lines)[-1]);
}

/// A base: what `new` makes of such a class begins a line.
struct alignas(kLine) OnLines {
  static void* operator new(std::size_t bytes) { return allocate_lines(bytes); }
  static void* operator new(std::size_t bytes, std::align_val_t) { return allocate_lines(bytes); }
  static void* operator new(std::size_t, void* at) noexcept { return at; }
  static void operator delete(void* lines) noexcept { free_lines(lines); }
  static void operator delete(void* lines, std::align_val_t) noexcept { free_lines(lines); }
};

/// The same for containers.
template <class T>
struct LineAllocator {
  using value_type = T;
  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] T* allocate(std::size_t count) {
    return static_cast<T*>(allocate_lines(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t) noexcept { free_lines(memory); }
  template <class U>
  bool operator==(const LineAllocator<U>&) const noexcept {
    return true;
  }
};

}  // namespace refrain
