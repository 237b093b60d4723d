#pragma once
// Random sharding functions, the same on every shard.

#include <cstdint>
#include <string_view>

#include "data/index_space.hpp"
#include "refrain/sharding.hpp"
#include "support/random.hpp"

namespace refrain::test {

inline ShardId any_shard(const Point<3>& point, const Rect<3>& /*bounds*/, ShardId shards,
                         std::uint64_t key) {
  return static_cast<ShardId>(
      mix(static_cast<std::uint64_t>(point[0] * 7 + point[1] * 3 + point[2]), key) % shards);
}

/// The name of what deals out the pieces of attached memory.
inline constexpr const char* attached_name = "attached";

/// By a launch's task and domain, and a seed. The same in every process: a domain is known by its bounds.
inline Sharding some_sharding(std::string_view task, int dim, const Rect<3>& bounds,
                              std::uint64_t seed) {
  std::uint64_t drawn = mix(seed, static_cast<std::uint64_t>(task.back()));
  for (int d = 0; d < dim; ++d)
    drawn = mix(mix(drawn, static_cast<std::uint64_t>(bounds.lo[d])),
                static_cast<std::uint64_t>(bounds.hi[d]));
  switch (drawn % 4) {
    case 0: return Sharding::cyclic();
    case 1: {
      Point<3> grid{1, 1, 1};
      for (int d = 0; d < dim; ++d) grid[d] = 1 + static_cast<Coord>(drawn >> (8 + d) & 1);
      return Sharding::tiled(grid);
    }
    case 2: return Sharding::function("any", any_shard, drawn >> 8 & 3);
    default: return Sharding::blocked();
  }
}

inline Sharding some_sharding(std::string_view task, const data::IndexSpaceRef& domain,
                              std::uint64_t seed) {
  return some_sharding(task, domain->dim(), domain->bounds(), seed);
}

}  // namespace refrain::test
