#include "shard/sharding.hpp"

#include <gtest/gtest.h>

#include "point_sets.hpp"
#include "refrain/error.hpp"

namespace refrain::shard::sharding_test {
namespace {

using data::IndexSpaceRef;
using data::RandomSets;

ShardId by_sum(const Point<3>& point, const Rect<3>& bounds, ShardId shards, std::uint64_t key) {
  const Coord sum = point[0] - bounds.lo[0] + point[1] - bounds.lo[1];
  return static_cast<ShardId>((static_cast<std::uint64_t>(sum) + key) % shards);
}

// Each point is on one shard, which has it among its own.
TEST(Sharding, DividesEveryDomain) {
  data::for_seeds(600, [](RandomSets& random, int dim, Coord range) {
    const IndexSpaceRef domain = random.space(dim, range);
    const auto shards = static_cast<ShardId>(random.number(1, 9));
    Point<3> grid{1, 1, 1};
    for (int d = 0; d < dim; ++d) grid[d] = random.number(1, 4);
    for (const Sharding& sharding : {Sharding::blocked(), Sharding::cyclic(), Sharding::tiled(grid),
                                     Sharding::function("by_sum", by_sum, 3)}) {
      std::vector<data::PointSet> own(shards);
      domain->for_each_point(
          [&](const Point<3>& p) { own[shard_of(sharding, *domain, p, shards)].insert(p); });
      for (ShardId shard = 0; shard < shards; ++shard)
        ASSERT_EQ(own_points(sharding, domain, shard, shards), data::space_of(dim, own[shard]))
            << sharding.describe();
    }
  });
}

TEST(Sharding, BlocksAreAsLongAsEachOther) {
  const IndexSpaceRef domain = data::IndexSpace::dense(1, data::Box{{5, 0, 0}, {14, 0, 0}});
  for (ShardId shard = 0; shard < 4; ++shard) {
    const std::size_t points = own_points(Sharding::blocked(), domain, shard, 4)->volume();
    EXPECT_TRUE(points == 2 || points == 3);
  }
}

TEST(Sharding, TilesWithoutPointsAreLeftOut) {
  const IndexSpaceRef domain = data::IndexSpace::dense(1, data::Box{{0, 0, 0}, {9, 0, 0}});
  for (ShardId shard = 0; shard < 2; ++shard)
    EXPECT_EQ(own_points(Sharding::tiled({2, 2, 1}), domain, shard, 2)->volume(), 5U);
}

TEST(Sharding, EqualOnesHaveEqualNames) {
  const Point<3> grid{2, 3, 1};
  EXPECT_EQ(Sharding::tiled(grid), Sharding::tiled(grid));
  EXPECT_EQ(Sharding::tiled(grid).id(), Sharding::tiled(grid).id());
  EXPECT_NE(Sharding::tiled(grid).id(), Sharding::blocked().id());
  EXPECT_NE(Sharding::function("a", by_sum, 1).id(), Sharding::function("a", by_sum, 2).id());
  EXPECT_EQ(Sharding::tiled(grid).describe(), "tiled (2, 3, 1)");
  EXPECT_EQ(Sharding::function("by_sum", by_sum, 7).describe(), "by_sum, key 7");
}

TEST(Sharding, WhatIsWrongIsAnError) {
  EXPECT_THROW(static_cast<void>(Sharding::tiled({2, 0, 1})), UsageError);
  EXPECT_THROW(static_cast<void>(Sharding::tiled({1 << 10, 1 << 10, 2})), UsageError);
  EXPECT_THROW(static_cast<void>(Sharding::function("none", nullptr)), UsageError);
}

}  // namespace
}  // namespace refrain::shard::sharding_test
