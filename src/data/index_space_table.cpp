#include "data/index_space_table.hpp"

#include <algorithm>

namespace refrain::data {

IndexSpaceTable& IndexSpaceTable::instance() {
  static IndexSpaceTable* const table = new IndexSpaceTable;
  return *table;
}

IndexSpaceRef IndexSpaceTable::find_in(Shard& shard, int dim, BoxSpan list, std::uint64_t id) {
  if (shard.buckets.empty()) return {};
  for (const IndexSpace* space = bucket_of(shard, id); space; space = space->chain_) {
    if (space->id_ != id || space->dim_ != dim || !std::ranges::equal(space->boxes(), list))
      continue;
    std::uint32_t count = space->references_.load(std::memory_order_relaxed);
    while (count != 0)
      if (space->references_.compare_exchange_weak(count, count + 1, std::memory_order_relaxed))
        return {space, IndexSpaceRef::Adopt{}};
  }
  return {};
}

IndexSpaceRef IndexSpaceTable::find(int dim, BoxSpan list, std::uint64_t id) {
  Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  return find_in(shard, dim, list, id);
}

IndexSpaceRef IndexSpaceTable::insert(const IndexSpace* space) {
  Shard& shard = shard_of(space->id_);
  const std::lock_guard lock(shard.mutex);
  if (IndexSpaceRef other = find_in(shard, space->dim_, space->boxes(), space->id_)) {
    delete space;
    return other;
  }
  if (shard.count >= shard.buckets.size()) grow(shard);
  const IndexSpace*& bucket = bucket_of(shard, space->id_);
  space->chain_ = bucket;
  bucket = space;
  ++shard.count;
  live_.fetch_add(1, std::memory_order_relaxed);
  return {space, IndexSpaceRef::Adopt{}};
}

void IndexSpaceTable::remove(const IndexSpace* space) noexcept {
  Shard& shard = shard_of(space->id_);
  const std::lock_guard lock(shard.mutex);
  const IndexSpace** link = &bucket_of(shard, space->id_);
  while (*link != space) link = &(*link)->chain_;
  *link = space->chain_;
  --shard.count;
  live_.fetch_sub(1, std::memory_order_relaxed);
}

void IndexSpaceTable::grow(Shard& shard) {
  std::vector<const IndexSpace*> old(std::max<std::size_t>(64, 2 * shard.buckets.size()), nullptr);
  old.swap(shard.buckets);
  for (const IndexSpace* space : old)
    while (space) {
      const IndexSpace* next = space->chain_;
      const IndexSpace*& bucket = bucket_of(shard, space->id_);
      space->chain_ = bucket;
      bucket = space;
      space = next;
    }
}

}  // namespace refrain::data
