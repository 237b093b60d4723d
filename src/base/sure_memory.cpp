#include "base/sure_memory.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace refrain {

namespace {

constexpr std::size_t kReserve = std::size_t{1} << 20, kAlign = 64;

constexpr bool is_ordinary(std::size_t alignment) {
  return alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
}

/// Zero pages until they are used. A flag per unit says which are.
struct Reserve {
  alignas(kAlign) std::byte bytes[kReserve];
  std::mutex mutex;
  std::array<bool, kReserve / kAlign> used;  ///< under the mutex

  static std::size_t units(std::size_t size) { return (size + kAlign - 1) / kAlign; }

  /// First fit.
  void* take(std::size_t size) noexcept {
    const std::lock_guard lock(mutex);
    const auto place = std::search_n(used.begin(), used.end(), units(size), false);
    if (place == used.end()) return nullptr;
    std::fill_n(place, units(size), true);
    return bytes + static_cast<std::size_t>(place - used.begin()) * kAlign;
  }
  [[nodiscard]] std::size_t offset(const void* part) const noexcept {
    return reinterpret_cast<std::uintptr_t>(part) - reinterpret_cast<std::uintptr_t>(bytes);
  }
  void give_back(const void* part, std::size_t size) noexcept {
    const std::lock_guard lock(mutex);
    std::fill_n(used.data() + offset(part) / kAlign, units(size), false);
  }
};

constinit Reserve reserve{};

}  // namespace

void* allocate_surely(std::size_t bytes, std::size_t alignment) noexcept {
  void* memory = is_ordinary(alignment)
                     ? ::operator new(bytes, std::nothrow)
                     : ::operator new(bytes, std::align_val_t(alignment), std::nothrow);
  if (memory == nullptr) [[unlikely]]
    memory = reserve.take(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) [[unlikely]] {
    std::fputs("refrain: out of memory, and what was kept for such a case is used up\n", stderr);
    std::_Exit(EXIT_FAILURE);
  }
  return memory;
}

void free_surely(void* memory, std::size_t bytes, std::size_t alignment) noexcept {
  if (reserve.offset(memory) < kReserve) [[unlikely]]
    return reserve.give_back(memory, bytes == 0 ? 1 : bytes);
  if (is_ordinary(alignment)) ::operator delete(memory);
  else ::operator delete(memory, std::align_val_t(alignment));
}

}  // namespace refrain
