#pragma once
// Places for blocks within a stretch of bytes, by next fit: the first hole that is large enough, from where
// the last block ended. Never used bytes come first so, and then those given up longest ago.
//
// Operations may still use a block when its owner gives it up; then the owner *retires* it. To the owner its bytes are a
// hole from then on; to everybody else they are taken until the retirement is *settled*, when the operations are done.
// So the places of an owner's blocks follow from the order of its own calls, however far its operations are. An owner
// that gets retired bytes is told which retirements to wait for.
//
// Guarantees: blocks do not overlap, except with blocks that the same owner has retired. A block starts at a
// multiple of `unit`. Cost: a walk over the holes, in the worst case all of them. Threads: one at a time.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/sure_memory.hpp"

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

}  // namespace refrain::memory
