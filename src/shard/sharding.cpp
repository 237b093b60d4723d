#include "shard/sharding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "refrain/error.hpp"

namespace refrain {

Sharding Sharding::cyclic() {
  Sharding sharding;
  sharding.kind_ = Kind::cyclic;
  return sharding;
}

Sharding Sharding::tiled(const Point<3>& grid) {
  constexpr Coord most = Coord{1} << 20;
  Coord tiles = 1;
  for (int d = 0; d < 3 && tiles > 0; ++d)
    tiles = grid[d] < 1 || grid[d] > most / tiles ? 0 : tiles * grid[d];
  if (tiles == 0)
    throw UsageError(
        fmt::format("a sharding of {} tiles: expected at least 1 in each dimension, and {} at most",
                    refrain::to_string(grid), most));
  Sharding sharding;
  sharding.kind_ = Kind::tiled;
  sharding.grid_ = grid;
  return sharding;
}

Sharding Sharding::function(std::string name, Function f, std::uint64_t key) {
  if (f == nullptr) throw UsageError("sharding '" + name + "' has no function");
  Sharding sharding;
  sharding.kind_ = Kind::function;
  sharding.name_ = std::move(name);
  sharding.function_ = f;
  sharding.key_ = key;
  return sharding;
}

std::uint64_t Sharding::tile_of(const Point<3>& point, const Rect<3>& bounds) const {
  std::uint64_t number = 0;
  for (int d = 0; d < 3; ++d) {
    const auto length = static_cast<std::uint64_t>(bounds.hi[d] - bounds.lo[d] + 1);
    const auto from = static_cast<std::uint64_t>(point[d] - bounds.lo[d]);
    const auto tiles = static_cast<ShardId>(std::min(static_cast<std::uint64_t>(grid_[d]), length));
    number = number * tiles + shard::shard_in_runs(length, from, tiles);
  }
  return number;
}

std::uint64_t Sharding::id() const {
  const struct {
    std::uint64_t kind;
    Point<3> grid;
    std::uint64_t key;
  } numbers{static_cast<std::uint64_t>(kind_), grid_, key_};
  return hash_bytes(name_.data(), name_.size(), hash_bytes(&numbers, sizeof numbers));
}

std::string Sharding::describe() const {
  switch (kind_) {
    case Kind::blocked: return "blocked";
    case Kind::cyclic: return "cyclic";
    case Kind::tiled: return "tiled " + refrain::to_string(grid_);
    case Kind::function: break;
  }
  return key_ == 0 ? name_ : fmt::format("{}, key {}", name_, key_);
}

namespace shard {

namespace {

using data::Box;
using data::BoxPoint;
using data::IndexSpace;
using data::IndexSpaceRef;

std::uint64_t extent(const Box& bounds, int d) {
  return static_cast<std::uint64_t>(bounds.hi[d] - bounds.lo[d] + 1);
}

/// How many tiles there are in each dimension: each has a point of the bounds.
Point<3> tiles_of(const Box& bounds, const Point<3>& grid) {
  Point<3> tiles;
  for (int d = 0; d < 3; ++d) tiles[d] = std::min(grid[d], static_cast<Coord>(extent(bounds, d)));
  return tiles;
}

/// The tile of the bounds that has this number in row-major order.
Box tile(const Box& bounds, const Point<3>& count, std::uint64_t number) {
  Box box = bounds;
  for (int d = 2; d >= 0; --d) {
    const auto tiles = static_cast<ShardId>(count[d]);
    const auto at = static_cast<ShardId>(number % tiles);
    number /= tiles;
    const auto edge = [&](ShardId i) {
      return bounds.lo[d] + static_cast<Coord>(first_of_run(extent(bounds, d), i, tiles));
    };
    box.lo[d] = edge(at);
    box.hi[d] = edge(at + 1) - 1;
  }
  return box;
}

/// The points at positions first, first + step, ... before `end`.
IndexSpaceRef points_at(const IndexSpaceRef& domain, std::size_t first, std::size_t end,
                        std::size_t step) {
  std::vector<BoxPoint> points;
  points.reserve((end - first) / step + 1);
  for (std::size_t position = first; position < end; position += step)
    points.push_back(domain->nth(position));
  return IndexSpace::from_points(domain->dim(), points);
}

}  // namespace

ShardId shard_of(const Sharding& sharding, const IndexSpace& domain, const Point<3>& point,
                 ShardId shards) {
  if (shards == 1 && sharding.kind() != Sharding::Kind::function) return 0;
  switch (sharding.kind()) {
    case Sharding::Kind::blocked:
    case Sharding::Kind::cyclic: {
      const auto rank = domain.rank(point);
      REFRAIN_ASSERT(rank, "a point of the domain");
      if (sharding.kind() == Sharding::Kind::cyclic) return static_cast<ShardId>(*rank % shards);
      return shard_in_runs(domain.volume(), *rank, shards);
    }
    case Sharding::Kind::tiled:
      return static_cast<ShardId>(sharding.tile_of(point, domain.bounds()) % shards);
    case Sharding::Kind::function: break;
  }
  const ShardId shard = sharding.ask(point, domain.bounds(), shards);
  if (shard >= shards)
    throw UsageError(fmt::format("sharding {} puts point {} on shard {}: there are {}",
                                 sharding.describe(), data::to_string(point, domain.dim()), shard,
                                 shards));
  return shard;
}

IndexSpaceRef own_points(const Sharding& sharding, const IndexSpaceRef& domain, ShardId shard,
                         ShardId shards) {
  const std::size_t volume = domain->volume();
  if (domain->empty() || (shards == 1 && sharding.kind() != Sharding::Kind::function))
    return domain;
  switch (sharding.kind()) {
    case Sharding::Kind::blocked:
      return points_at(domain, first_of_run(volume, shard, shards),
                       first_of_run(volume, shard + 1, shards), 1);
    case Sharding::Kind::cyclic:
      return points_at(domain, shard, std::max<std::size_t>(volume, shard), shards);
    case Sharding::Kind::tiled: {
      const Point<3> count = tiles_of(domain->bounds(), sharding.grid());
      const auto tiles = static_cast<std::uint64_t>(count[0] * count[1] * count[2]);
      std::vector<IndexSpaceRef> own;
      for (std::uint64_t number = shard; number < tiles; number += shards)
        own.push_back(data::clip(domain, tile(domain->bounds(), count, number)));
      return data::unite(domain->dim(), own);
    }
    case Sharding::Kind::function: break;
  }
  std::vector<BoxPoint> own;
  domain->for_each_point([&](const BoxPoint& p) {
    if (shard_of(sharding, *domain, p, shards) == shard) own.push_back(p);
  });
  return IndexSpace::from_points(domain->dim(), own);
}

}  // namespace shard

}  // namespace refrain
