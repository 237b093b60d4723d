// Set algebra against explicit point sets, and the cache that remembers it.

#include "data/set_algebra.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "data/set_cache.hpp"
#include "point_sets.hpp"

namespace refrain::data {
namespace {

TEST(SetAlgebra, EqualsPointSets) {
  for_seeds(6000, [](RandomSets& random, int dim, Coord range) {
    const IndexSpaceRef a = random.space(dim, range);
    // Often related to the first, as the sets of one program are.
    IndexSpaceRef b = random.space(dim, range);
    if (random.number(0, 4) == 0) b = subtract_uncached(a, b);
    const PointSet pa = points_of(a), pb = points_of(b);
    for (int again = 0; again < 2; ++again) {  // the second time from the cache
      ASSERT_EQ(intersect(a, b), space_of(dim, common(pa, pb)));
      ASSERT_EQ(unite(a, b), space_of(dim, either(pa, pb)));
      ASSERT_EQ(subtract(a, b), space_of(dim, without(pa, pb)));
      ASSERT_EQ(subtract(b, a), space_of(dim, without(pb, pa)));
      ASSERT_EQ(overlaps(a, b), !common(pa, pb).empty());
      ASSERT_EQ(contains(a, b), without(pb, pa).empty());
    }
    ASSERT_EQ(intersect_uncached(a, b), intersect(a, b));
    ASSERT_EQ(unite_uncached(a, b), unite(a, b));
    ASSERT_EQ(overlaps_uncached(a, b), overlaps(a, b));
    ASSERT_EQ(contains_uncached(a, b), contains(a, b));
    for (const auto& result : {intersect(a, b), unite(a, b), subtract(a, b), subtract(b, a)})
      ASSERT_TRUE(is_canonical_list(dim, result->boxes()));
  });
}

TEST(SetAlgebra, ManySetsAndClipping) {
  for_seeds(1500, [](RandomSets& random, int dim, Coord range) {
    std::vector<IndexSpaceRef> sets;
    PointSet all;
    for (Coord n = random.number(0, 5); n > 0; --n) {
      sets.push_back(random.space(dim, range));
      all.merge(points_of(sets.back()));
    }
    ASSERT_EQ(unite(dim, sets), space_of(dim, all));
    const IndexSpaceRef a = random.space(dim, range);
    const Box box = random.box(dim, range);
    ASSERT_EQ(clip(a, box), space_of(dim, common(points_of(a), points_of(box))));
  });
}

class SetCacheTest : public testing::Test {
 protected:
  void SetUp() override { set_cache().clear(); }
  void TearDown() override {
    set_cache().set_bounds(std::size_t{1} << 15, std::size_t{1} << 20);
    set_cache().clear();
  }
  static IndexSpaceRef comb(Coord first, Coord step) {
    BoxList teeth;
    for (Coord i = 0; i < 10; ++i)
      teeth.push_back({{first + i * step, 0, 0}, {first + i * step, 0, 0}});
    return IndexSpace::from_boxes(1, std::move(teeth));
  }
};

TEST_F(SetCacheTest, RemembersAndForgetsWithTheOperands) {
  const std::size_t alive = IndexSpace::live_count();
  {
    const IndexSpaceRef a = comb(0, 2), b = comb(0, 3);
    const SetCacheStats start = set_cache().stats();
    const IndexSpaceRef both = intersect(a, b);
    EXPECT_EQ(intersect(b, a), both);
    EXPECT_TRUE(overlaps(a, b));
    EXPECT_TRUE(overlaps(b, a));
    EXPECT_EQ(unite(a, both), a);  // the result is an operand
    const SetCacheStats stats = set_cache().stats();
    EXPECT_EQ(stats.hits - start.hits, 2u);
    EXPECT_EQ(stats.misses - start.misses, 3u);
    EXPECT_EQ(stats.entries, 3u);
    EXPECT_EQ(stats.boxes, both->boxes().size());
  }
  EXPECT_EQ(set_cache().stats().entries, 0u);
  EXPECT_EQ(set_cache().stats().boxes, 0u);
  EXPECT_EQ(IndexSpace::live_count(), alive);
}

TEST_F(SetCacheTest, StaysWithinItsBounds) {
  set_cache().set_bounds(100, 400);
  std::vector<IndexSpaceRef> sets;
  for (Coord i = 0; i < 40; ++i) sets.push_back(comb(i % 7, 2 + i));
  for (const auto& a : sets)
    for (const auto& b : sets) {
      (void)unite(a, b);
      (void)overlaps(a, b);
      (void)subtract(a, b);
      EXPECT_LE(set_cache().stats().entries, 100u);
      EXPECT_LE(set_cache().stats().boxes, 400u);
    }
  EXPECT_GT(set_cache().stats().evictions, 0u);
}

TEST_F(SetCacheTest, LongChainsOfResultsDieWithoutRecursion) {
  const std::size_t alive = IndexSpace::live_count();
  std::vector<IndexSpaceRef> points;
  IndexSpaceRef first = comb(0, 4);
  {
    IndexSpaceRef rest = first;
    for (Coord i = 1; i < 20000; ++i) {
      points.push_back(IndexSpace::dense(Rect1{-i, -i}));
      rest = unite(rest, points.back());
    }
  }
  EXPECT_GE(IndexSpace::live_count(), alive + 39999);  // each result is kept by the one before
  first = {};
  EXPECT_EQ(IndexSpace::live_count(), alive + 19999);
  points.clear();
  EXPECT_EQ(IndexSpace::live_count(), alive);
}

TEST_F(SetCacheTest, ManyThreads) {
  set_cache().set_bounds(64, 1000);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      RandomSets random(t);
      for (int i = 0; i < 3000; ++i) {
        const IndexSpaceRef a = comb(random.number(0, 4), random.number(2, 5));
        const IndexSpaceRef b = comb(random.number(0, 4), random.number(2, 5));
        ASSERT_EQ(intersect(a, b), intersect_uncached(a, b));
        ASSERT_EQ(unite(a, b), unite_uncached(a, b));
        ASSERT_EQ(contains(a, b), contains_uncached(a, b));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace refrain::data
