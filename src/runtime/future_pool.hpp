#pragma once
// Memory for future states: blocks in size classes that one owner hands out and any thread gives back.
//
// The owner (the thread of one context) takes blocks from lists of its own; threads that drop the last
// reference to a state push the block onto one return list, which the owner empties as a whole when a
// list of its own has run out. So the steady state allocates nothing and takes no lock. A pool holds as
// much as was ever in use at one time; blocks above `largest` are not kept.
//
// States may outlive the context that made them. The pool lives until it is closed and all blocks are
// back: `balance_` counts returns above a bias, and closing takes the bias and the number of blocks
// made away, so whoever brings it to zero is the last.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace refrain::detail {

class FuturePool {
 public:
  struct Close {
    void operator()(FuturePool* pool) const noexcept { pool->close(); }
  };
  using Owner = std::unique_ptr<FuturePool, Close>;
  static Owner make() { return Owner(new FuturePool); }

  /// Owner. At least `bytes` bytes with that alignment.
  void* take(std::size_t bytes, std::size_t alignment, std::uint8_t& size_class);
  /// Any thread. What take gave, with the size class that it told.
  void give_back(void* block, std::uint8_t size_class, std::size_t alignment) noexcept;

  /// Any thread: blocks handed out and not back, in all pools of the process. Exact when nothing runs.
  static std::size_t live_in_process();

 private:
  static constexpr std::size_t smallest = 128;  ///< bytes; class k is smallest << k
  static constexpr std::size_t classes = 14;
  static constexpr std::size_t largest = smallest << (classes - 1);
  static constexpr std::size_t block_alignment = 64;
  static constexpr std::uint8_t unpooled = 0xff;
  static constexpr std::int64_t bias = std::int64_t{1} << 62;

  struct Block {
    Block* next;
    std::uint8_t size_class;
  };

  FuturePool();
  ~FuturePool();
  void close() noexcept;
  void collect();
  void came_back(std::int64_t count) noexcept;

  // --- the owner's (made_ is read by others) ---
  std::array<Block*, classes> free_{};
  std::atomic<std::int64_t> made_{0};
  FuturePool* next_ = nullptr;  ///< list of all pools, under its lock
  FuturePool* previous_ = nullptr;

  // --- written by every thread ---
  alignas(64) std::atomic<Block*> returned_{nullptr};
  std::atomic<std::int64_t> balance_{bias};
};

}  // namespace refrain::detail
