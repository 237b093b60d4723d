#include "base/sure_memory.hpp"

#include <bitset>
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

/// Zero pages until they are used. A bit per unit says which are.
struct Reserve {
  alignas(kAlign) std::byte bytes[kReserve];
  std::mutex mutex;
  std::bitset<kReserve / kAlign> used;  ///< under the mutex

  static std::size_t units(std::size_t size) { return (size + kAlign - 1) / kAlign; }

  /// First fit.
  void* take(std::size_t size) noexcept {
    const std::lock_guard lock(mutex);
    std::size_t begin = 0;
    for (std::size_t end = 0; end < used.size();) {
      if (used[end++]) begin = end;
      else if (end - begin == units(size)) {
        for (std::size_t unit = begin; unit < end; ++unit) used.set(unit);
        return bytes + begin * kAlign;
      }
    }
    return nullptr;
  }
  [[nodiscard]] std::size_t offset(const void* part) const noexcept {
    return reinterpret_cast<std::uintptr_t>(part) - reinterpret_cast<std::uintptr_t>(bytes);
  }
  void give_back(const void* part, std::size_t size) noexcept {
    const std::lock_guard lock(mutex);
    const std::size_t first = offset(part) / kAlign;
    for (std::size_t unit = first; unit < first + units(size); ++unit) used.reset(unit);
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
