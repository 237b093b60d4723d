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
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/sure_memory.hpp"
#include "memory/mover.hpp"
#include "refrain/machine.hpp"
#include "refrain/mapper.hpp"

namespace refrain::memory {

/// Names a retired block: an owner's address, and a number that the owner has given no other.
struct Retirement {
  const void* owner = nullptr;
  std::uint64_t number = 0;
  friend auto operator<=>(const Retirement&, const Retirement&) = default;
};

/// Blocks that are retired and not settled.
template <class Block>
class RetiredBlocks : public std::map<Retirement, Block, std::less<>,
                                      SureAllocator<std::pair<const Retirement, Block>>> {
 public:
  /// The oldest of this owner's, or of a later one's.
  auto first_of(const void* owner) const { return this->lower_bound(Retirement{owner, 0}); }
  Block take_out(const Retirement& what) {
    const auto found = this->find(what);
    REFRAIN_ASSERT(found != this->end(), "what has been retired is settled once");
    const Block block = found->second;
    this->erase(found);
    return block;
  }
  /// Calls settle(what) for all of the owner's, which takes each out; returns how many these were.
  template <class Settle>
  std::size_t settle_all(const void* owner, Settle settle) const {
    std::size_t settled = 0;
    for (auto at = first_of(owner); at != this->end() && at->first.owner == owner; ++settled) {
      settle(Retirement(at->first));
      at = first_of(owner);
    }
    return settled;
  }
};

/// Places for blocks within a stretch of bytes, by next fit: the first hole that is large enough, from where the last
/// block ended. Never used bytes come first so, and then those given up longest ago.
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
  /// A block that may still be in use; by.owner is not null.
  void retire(std::uint64_t at, const Retirement& by);
  /// What is left of a retired block is a hole to everybody.
  void settle(const Retirement& what);
  /// All that `owner` has retired; returns how many blocks.
  std::size_t settle_all(const void* owner);
  /// A block that nobody uses.
  void release(std::uint64_t at);

 private:
  struct Hole {
    std::uint64_t size = 0;
    Retirement of;  ///< without an owner: everybody's
  };
  using Holes = std::map<std::uint64_t, Hole, std::less<>,
                         SureAllocator<std::pair<const std::uint64_t, Hole>>>;

  [[nodiscard]] std::optional<std::uint64_t> find(std::uint64_t from, std::uint64_t bytes,
                                                  const void* owner) const;
  void cut_out(std::uint64_t begin, std::uint64_t end, std::vector<std::uint64_t>& awaited);
  std::uint64_t give_up(std::uint64_t at);
  Holes::iterator join(Holes::iterator hole);

  const std::uint64_t size_;
  Holes holes_;             ///< by start; everybody's never touch each other
  std::uint64_t next_ = 0;  ///< where the search goes on
  std::unordered_map<std::uint64_t, std::uint64_t, std::hash<std::uint64_t>, std::equal_to<>,
                     SureAllocator<std::pair<const std::uint64_t, std::uint64_t>>>
      blocks_;  ///< taken and not retired: start to size
  using Extent = std::pair<std::uint64_t, std::uint64_t>;
  RetiredBlocks<Extent> retired_;  ///< start and end
};

class MemoryPool {
 public:
  /// `mover`: moves values into and out of this memory.
  explicit MemoryPool(const Memory& memory, const Mover& mover = cpu_mover());
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// Storage, or null when there is no room. `alignment` is a power of two, at most 4096 (64 in a
  /// framebuffer). A request for no bytes gets a block as well. `awaited`: the numbers of what `owner` has
  /// retired and must settle before it uses the block.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment, const void* owner,
                               std::vector<std::uint64_t>& awaited);
  /// The same for somebody who retires nothing.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment);
  /// Takes back what allocate gave and nobody uses; null is allowed.
  void release(void* block);
  /// Takes back what may still be in use; by.owner is not null.
  void retire(void* block, const Retirement& by);
  /// What was retired is in use no more.
  void settle(const Retirement& what);
  /// Takes back all that `owner` has been given, retired or not: nobody uses it. Goes through all blocks.
  void release_all(const void* owner) noexcept;

  /// Would there be room if the memory were empty?
  [[nodiscard]] bool fits_ever(std::size_t bytes) const { return bytes <= capacity_; }
  [[nodiscard]] bool fits_ever(const data::IndexSpaceRef& space, std::size_t value_size,
                               const Layout& layout) const;

  [[nodiscard]] const Mover& mover() const { return mover_; }
  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
  /// Bytes of the blocks handed out (and not retired), now and at most so far.
  [[nodiscard]] std::uint64_t used() const;
  [[nodiscard]] std::uint64_t peak() const;
  /// Bytes kept for reuse; no part of used().
  [[nodiscard]] std::uint64_t cached() const;
  /// Gives what is kept for reuse back to the operating system.
  void trim();

 private:
  /// How blocks are found in one kind of memory. Called under the pool's lock.
  struct Request;
  class Source;
  class MainMemory;
  class Framebuffer;
  struct State;

  const std::uint64_t capacity_;
  const Mover& mover_;
  const std::unique_ptr<State> state_;
};

}  // namespace refrain::memory
