#pragma once
// The table of all index spaces alive, by content: what makes equality a comparison of references.
//
// The table owns nothing. Its protocol with the reference count: a count that has reached zero never
// rises again. find() takes a reference only while the count is positive (under the shard's lock), and
// the thread that brought it to zero removes the set and frees it. A set that dies while an equal one
// is made is simply not found, and for a moment two equal objects exist, of which only one has owners.
//
// Any thread may call anything. Sharded by hash, so that threads rarely meet. Never destroyed: static
// references may go after any order of destruction.

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "data/index_space.hpp"

namespace refrain::data {

class IndexSpaceTable {
 public:
  static IndexSpaceTable& instance();

  /// The living set with this content, or null.
  IndexSpaceRef find(int dim, BoxSpan list, std::uint64_t id);
  /// Enters a new set whose single reference passes to the caller, unless an equal one came first:
  /// then `space` is freed and the other returned.
  IndexSpaceRef insert(const IndexSpace* space);
  /// Takes out a set that has no references any more.
  void remove(const IndexSpace* space) noexcept;
  std::size_t live_count() const { return live_.load(std::memory_order_relaxed); }

 private:
  struct alignas(64) Shard {
    std::mutex mutex;
    std::vector<const IndexSpace*> buckets;  // chained through IndexSpace::chain_
    std::size_t count = 0;
  };
  static constexpr std::size_t shard_count = 16;

  // The highest bits choose the shard, the lowest the bucket.
  Shard& shard_of(std::uint64_t id) { return shards_[id >> 60]; }
  static const IndexSpace*& bucket_of(Shard& shard, std::uint64_t id) {
    return shard.buckets[id & (shard.buckets.size() - 1)];
  }
  static IndexSpaceRef find_in(Shard& shard, int dim, BoxSpan list, std::uint64_t id);
  static void grow(Shard& shard);

  std::array<Shard, shard_count> shards_;
  std::atomic<std::size_t> live_{0};
};

}  // namespace refrain::data
