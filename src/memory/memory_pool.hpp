#pragma once
// The storage of one memory of the machine: blocks up to its capacity.
//
// Main memory (system, pinned): a large block is mapped from the operating system without reserving
// swap, so pages that nobody touches cost nothing; a small one comes from the heap. Large blocks that
// are released are kept for the next request of the same size, up to a sixteenth of the capacity and, with those in use,
// a quarter more than was ever in use at once, so that a program which makes and destroys its temporaries does not
// fault its pages in anew, and one whose sizes change keeps no others.
//
// A framebuffer (emulated) is an arena (memory/arena.hpp) of exactly `capacity` bytes, reserved as addresses
// only. So it fragments as a real one does, and the same requests give the same places in every run.
//
// Operations may still use a block that its owner retires: the owner counts it as free from then on, all others when it
// is settled (memory/arena.hpp). So an owner's blocks follow from the order of calls alone. An owner that gets bytes
// before they are free is told which retirements to wait for.
//
// Guarantees: the sizes of the blocks handed out, and of those of other owners that are retired and not
// settled, add up to no more than the capacity; such blocks do not overlap. A block's bytes are not
// initialised. Threads: any, one lock. Cost: a table look-up, and for a framebuffer a walk over its holes.
//
// Requires: all blocks are released, or retired and settled, before the pool ends.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "memory/arena.hpp"
#include "memory/mover.hpp"
#include "refrain/machine.hpp"
#include "refrain/mapper.hpp"

namespace refrain::memory {

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
