#pragma once
// The storage of one memory of the machine: blocks up to its capacity.
//
// Main memory (system, pinned): a large block is mapped from the operating system without reserving
// swap, so pages that nobody touches cost nothing; a small one comes from the heap. Large blocks that
// are released are kept for the next request of the same size, up to a sixteenth of the capacity and, with those in use,
// a quarter more than was ever in use at once, so that a program which makes and destroys its temporaries does not
// fault its pages in anew, and one whose sizes change keeps no others.
//
// A framebuffer (emulated) is an arena of exactly `capacity` bytes, reserved as addresses
// only. So it fragments as a real one does, and the same requests give the same places in every run.
//
// Operations may still use a block that its owner retires: the owner counts it as free from then on, all others when it
// is settled. So an owner's blocks follow from the order of calls alone. An owner that gets bytes
// before they are free is told which retirements to wait for.
//
// Guarantees: the sizes of the blocks handed out, and of those of other owners that are retired and not
// settled, add up to no more than the capacity; such blocks do not overlap. A block's bytes are not
// initialised. Threads: any, one lock. Cost: a table look-up, and for a framebuffer a walk over its holes.
//
// Requires: all blocks are released, or retired and settled, before the pool ends.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/sure_memory.hpp"
#include "memory/mover.hpp"
#include "refrain/machine.hpp"

namespace refrain::memory {

/// Names a retired block: an owner's address, and a number that the owner has given no other.
struct Retirement {
  const void* owner = nullptr;
  std::uint64_t number = 0;
  friend auto operator<=>(const Retirement&, const Retirement&) = default;
};

/// Places for blocks within a stretch of bytes, by next fit: the first hole that is large enough, from where the last
/// block ended. So bytes that were never used come first, and then the bytes given up longest ago.
///
/// Operations may still use a block when its owner gives it up; then the owner *retires* it. To the owner its bytes are
/// a hole from then on; to everybody else they are taken until the retirement is *settled*, when the operations are
/// done. So the places of an owner's blocks follow from the order of its own calls, however far its operations are. An
/// owner that gets retired bytes is told which retirements to wait for.
///
/// Guarantees: blocks do not overlap, except with blocks that the same owner has retired. A block starts at a multiple
/// of `unit`. Cost: a walk over the holes, in the worst case all of them. Threads: one at a time.
class Arena {
 public:
  static constexpr std::uint64_t unit = 64;

  explicit Arena(std::uint64_t size) : size_(size) { holes_.emplace(0, Hole{size, {}}); }

  /// Where a block of this size may lie, or nothing. What `owner` (null: nobody) has retired there is added
  /// to `awaited`: it has to be settled before the bytes are used.
  std::optional<std::uint64_t> take(std::uint64_t bytes, const void* owner,
                                    std::vector<std::uint64_t>& awaited);
  /// A block comes back, of the size that was asked for. `by`: it may still be in use; without an owner: nobody uses it.
  void give(std::uint64_t at, std::uint64_t bytes, const Retirement& by = {});
  /// What is left of a retired block, given back as `by`, is a hole to everybody.
  void settle(std::uint64_t at, std::uint64_t bytes, const Retirement& by);

 private:
  struct Hole {
    std::uint64_t size = 0;
    Retirement of;  ///< without an owner: everybody's
  };
  using Holes = std::map<std::uint64_t, Hole, std::less<>,
                         SureAllocator<std::pair<const std::uint64_t, Hole>>>;

  [[nodiscard]] std::optional<std::uint64_t> find(std::uint64_t from, std::uint64_t bytes,
                                                  const void* owner) const;
  /// The last block may be cut short by the end, so that exactly `size` bytes fit.
  [[nodiscard]] std::uint64_t end_of(std::uint64_t at, std::uint64_t bytes) const;
  void cut_out(std::uint64_t begin, std::uint64_t end, std::vector<std::uint64_t>& awaited);
  Holes::iterator join(Holes::iterator hole);

  const std::uint64_t size_;
  Holes holes_;              ///< by start; everybody's never touch each other
  std::uint64_t next_ = 0;   ///< where the search goes on
  std::uint64_t taken_ = 0;  ///< blocks that were not given back
};

class MemoryPool {
 public:
  /// `mover`: moves values into and out of this memory. With imagined_mover() blocks have addresses and no bytes; what fits
  /// and where it lies is as in a memory with bytes.
  explicit MemoryPool(const Memory& memory, const Mover& mover = cpu_mover());
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// Storage, or null when there is no room. `alignment` is a power of two, at most 4096 (64 in a
  /// framebuffer). A request for no bytes gets a block as well. `awaited`: the numbers of what `owner` has
  /// retired and must settle before it uses the block; none for an owner that is null.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment, const void* owner,
                               std::vector<std::uint64_t>& awaited);
  /// Takes back what allocate gave; null is allowed. `by`: it may still be in use; without an owner: nobody uses it.
  void release(void* block, const Retirement& by = {});
  /// What was retired is in use no more.
  void settle(const Retirement& what);
  /// Takes back all that `owner` has been given, retired or not: nobody uses it. Goes through all blocks.
  void release_all(const void* owner) noexcept;

  /// Would there be room if the memory were empty?
  [[nodiscard]] bool fits_ever(std::size_t bytes) const { return bytes <= capacity_; }

  [[nodiscard]] const Mover& mover() const { return mover_; }
  /// In bytes: of the blocks handed out (and not retired), now and at most so far; kept for reuse beside them.
  struct Usage {
    std::uint64_t used, peak, cached;
  };
  [[nodiscard]] Usage usage() const;

 private:
  class Source;
  class MainMemory;
  class Imagined;
  class Framebuffer;
  struct Block {
    void* bytes;
    std::size_t size;  ///< asked for
    const void* owner;
  };
  using Retired =
      std::map<Retirement, Block, std::less<>, SureAllocator<std::pair<const Retirement, Block>>>;

  /// Of main memory: whether there is room, once what is added to `awaited` has been settled.
  [[nodiscard]] bool find_room(std::size_t bytes, const void* owner,
                               std::vector<std::uint64_t>& awaited) const;
  Retired::iterator settle(Retired::iterator retired);

  const std::uint64_t capacity_;
  const Mover& mover_;
  std::unique_ptr<Source> source_;
  mutable std::mutex mutex_;  ///< guards all below, and the source
  std::unordered_map<void*, Block, std::hash<void*>, std::equal_to<>,
                     SureAllocator<std::pair<void* const, Block>>>
      blocks_;       ///< handed out
  Retired retired_;  ///< and not settled
  std::uint64_t retired_bytes_ = 0, used_ = 0, peak_ = 0;
};

}  // namespace refrain::memory
