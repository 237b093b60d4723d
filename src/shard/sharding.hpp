#pragma once
// What sharding functions (refrain/sharding.hpp) say of a launch domain. Any thread.

#include <cstdint>

#include "data/index_space.hpp"
#include "refrain/sharding.hpp"

namespace refrain::shard {

using refrain::ShardId;
using refrain::Sharding;

/// `point`: one of the domain. UsageError when a function names a shard that does not exist.
[[nodiscard]] ShardId shard_of(const Sharding& sharding, const data::IndexSpace& domain,
                               const Point<3>& point, ShardId shards);
/// The points of one shard. O(own points and tiles), but for functions, which are asked about every point.
[[nodiscard]] data::IndexSpaceRef own_points(const Sharding& sharding,
                                             const data::IndexSpaceRef& domain, ShardId shard,
                                             ShardId shards);

/// Of `count` things in a row, dealt out in runs: the first of a shard, and the shard of one.
[[nodiscard]] inline std::uint64_t first_of_run(std::uint64_t count, ShardId shard,
                                                ShardId shards) {
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(count) * shard / shards);
}
[[nodiscard]] inline ShardId shard_in_runs(std::uint64_t count, std::uint64_t position,
                                           ShardId shards) {
  const auto after = static_cast<unsigned __int128>(position + 1) * shards;
  return static_cast<ShardId>((after - 1) / count);
}

}  // namespace refrain::shard
