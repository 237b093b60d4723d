#pragma once
// Random sharding functions, the same on every shard.

#include <cstdint>
#include <string>

#include "data/index_space.hpp"
#include "shard/sharding.hpp"
#include "support/random.hpp"

namespace refrain::test {

inline shard::ShardId any_shard(const Point<3>& point, const Rect<3>& /*bounds*/,
                                shard::ShardId shards, std::uint64_t key) {
  return static_cast<shard::ShardId>(
      mix(static_cast<std::uint64_t>(point[0] * 7 + point[1] * 3 + point[2]), key) % shards);
}

/// By a launch's task and domain, and a seed. The same in every process: a domain is known by its bounds.
inline shard::Sharding some_sharding(const std::string& task, const data::IndexSpaceRef& domain,
                                     std::uint64_t seed) {
  std::uint64_t drawn = mix(seed, static_cast<std::uint64_t>(task.back()));
  for (int d = 0; d < domain->dim(); ++d)
    drawn = mix(mix(drawn, static_cast<std::uint64_t>(domain->bounds().lo[d])),
                static_cast<std::uint64_t>(domain->bounds().hi[d]));
  switch (drawn % 4) {
    case 0: return shard::Sharding::cyclic();
    case 1: {
      Point<3> grid{1, 1, 1};
      for (int d = 0; d < domain->dim(); ++d)
        grid[d] = 1 + static_cast<Coord>(drawn >> (8 + d) & 1);
      return shard::Sharding::tiled(grid);
    }
    case 2: return shard::Sharding::function("any", any_shard, drawn >> 8 & 3);
    default: return shard::Sharding::blocked();
  }
}

}  // namespace refrain::test
