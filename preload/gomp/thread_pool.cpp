#include "gomp/thread_pool.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace refrain::gomp {

void make_room_for_pool() {
  constexpr std::size_t pool = 192;  // of GCC 5 to 14, on machines with pointers of 64 bits
  constexpr std::uintptr_t line = 64;
  std::array<void*, 6> others{};
  void* room = nullptr;
  for (void*& other : others) {
    void* const found = std::malloc(pool);
    if (reinterpret_cast<std::uintptr_t>(found) % line != 0) {
      other = found;
      continue;
    }
    room = found;
    break;
  }
  for (void* const other : others) std::free(other);
  std::free(room);
}

}  // namespace refrain::gomp
