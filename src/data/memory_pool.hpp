#pragma once
// The storage of one memory of the machine: blocks up to its capacity.
//
// Main memory (system, pinned): a large block is mapped from the operating system without reserving
// swap, so pages that nobody touches cost nothing; a small one comes from the heap. Large blocks that
// are released are kept for the next request of the same size, up to a sixteenth of the capacity, so
// that a program which makes and destroys its temporaries does not fault its pages in anew.
//
// A framebuffer (emulated) is an arena of exactly `capacity` bytes, reserved as addresses only, where
// blocks are placed next fit (the first hole that is large enough, from where the last block ended) and
// neighbours that are free are one. So it fragments as a real one does, and the same requests give the
// same places in every run.
//
// Guarantees: blocks do not overlap; the sizes of the blocks handed out add up to no more than the
// capacity. A block's bytes are not initialised. Threads: any, one lock. Cost: a table look-up, and
// for a framebuffer a search among the free blocks, in the worst case all of them.
//
// Requires: all blocks are released before the pool ends.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "refrain/machine.hpp"
#include "refrain/mapper.hpp"

namespace refrain::data {

class IndexSpaceRef;

class MemoryPool {
 public:
  explicit MemoryPool(const Memory& memory);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// Storage, or null when there is no room now. `alignment` is a power of two, at most 4096 (64 in a
  /// framebuffer). A request for no bytes gets a block as well.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment);
  /// Takes back what allocate gave; null is allowed.
  void release(void* block);

  /// Would there be room if the memory were empty?
  [[nodiscard]] bool fits_ever(std::size_t bytes) const { return bytes <= capacity_; }
  [[nodiscard]] bool fits_ever(const IndexSpaceRef& space, std::size_t value_size,
                               const Layout& layout) const;

  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
  /// Bytes of the blocks handed out, now and at most so far.
  [[nodiscard]] std::uint64_t used() const;
  [[nodiscard]] std::uint64_t peak() const;
  /// Bytes kept for reuse; no part of used().
  [[nodiscard]] std::uint64_t cached() const;
  /// Gives what is kept for reuse back to the operating system.
  void trim();

 private:
  /// How blocks are found in one kind of memory. Called under the pool's lock.
  class Source;
  class MainMemory;
  class Arena;
  struct State;

  const std::uint64_t capacity_;
  const std::unique_ptr<State> state_;
};

}  // namespace refrain::data
