#pragma once
// Memory for future states: blocks in size classes that one owner hands out and any thread gives back.
//
// The owner (the thread of one context) takes blocks from lists of its own; threads that drop the last
// reference to a state push the block onto one return list, which the owner empties as a whole when a
// list of its own has run out. So the steady state allocates nothing and takes no lock. A pool holds as
// much as was ever in use at one time; blocks above `largest` are not kept.
//
// States may outlive the context that made them. The blocks live until they are closed and all blocks are
// back: `balance_` counts returns above a bias, and closing takes the bias and the number of blocks
// made away, so whoever brings it to zero is the last.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace refrain::detail {

class FutureBlocks {
 public:
  static FutureBlocks* make() { return new FutureBlocks; }
  /// Owner: takes no more blocks. The object ends when all are back.
  void close() noexcept { came_back(-bias - made_.load(std::memory_order_relaxed)); }

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

  FutureBlocks();
  ~FutureBlocks();
  void collect();
  void came_back(std::int64_t count) noexcept;

  // --- the owner's (made_ is read by others) ---
  std::array<Block*, classes> free_{};
  std::atomic<std::int64_t> made_{0};
  FutureBlocks* next_ = nullptr;  ///< list of all that are alive, under its lock
  FutureBlocks* previous_ = nullptr;

  // --- written by every thread ---
  alignas(64) std::atomic<Block*> returned_{nullptr};
  std::atomic<std::int64_t> balance_{bias};
};

/// A context's own blocks, made when it needs the first; closed when it ends.
class FuturePool {
 public:
  FuturePool() = default;
  ~FuturePool() {
    if (blocks_ != nullptr) blocks_->close();
  }
  FuturePool(const FuturePool&) = delete;
  FutureBlocks& blocks() {
    if (blocks_ == nullptr) blocks_ = FutureBlocks::make();
    return *blocks_;
  }

 private:
  FutureBlocks* blocks_ = nullptr;
};

}  // namespace refrain::detail
