// Set algebra against explicit point sets.

#include "data/index_space.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "point_sets.hpp"

namespace refrain::data::set_algebra_test {
namespace {

TEST(SetAlgebra, EqualsPointSets) {
  for_seeds(6000, [](RandomSets& random, int dim, Coord range) {
    const IndexSpaceRef a = random.space(dim, range);
    // Often related to the first, as the sets of one program are.
    IndexSpaceRef b = random.space(dim, range);
    if (random.number(0, 4) == 0) b = subtract(a, b);
    const PointSet pa = points_of(a), pb = points_of(b);
    ASSERT_EQ(intersect(a, b), space_of(dim, common(pa, pb)));
    ASSERT_EQ(unite(a, b), space_of(dim, either(pa, pb)));
    ASSERT_EQ(subtract(a, b), space_of(dim, without(pa, pb)));
    ASSERT_EQ(subtract(b, a), space_of(dim, without(pb, pa)));
    ASSERT_EQ(overlaps(a, b), !common(pa, pb).empty());
    ASSERT_EQ(contains(a, b), without(pb, pa).empty());
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

IndexSpaceRef comb(Coord first, Coord step) {
  BoxList teeth;
  for (Coord i = 0; i < 10; ++i)
    teeth.push_back({{first + i * step, 0, 0}, {first + i * step, 0, 0}});
  return IndexSpace::from_boxes(1, std::move(teeth));
}

TEST(SetAlgebra, ResultsKeepNothingAlive) {
  const std::size_t alive = IndexSpace::live_count();
  {
    const IndexSpaceRef a = comb(0, 2), b = comb(0, 3);
    const IndexSpaceRef both = intersect(a, b);
    EXPECT_EQ(intersect(b, a), both);
    EXPECT_EQ(unite(a, both), a);
    EXPECT_EQ(IndexSpace::live_count(), alive + 3);
  }
  EXPECT_EQ(IndexSpace::live_count(), alive);
}

TEST(SetAlgebra, ManyThreads) {
  const std::size_t alive = IndexSpace::live_count();
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      RandomSets random(t);
      for (int i = 0; i < 3000; ++i) {
        const IndexSpaceRef a = comb(random.number(0, 4), random.number(2, 5));
        const IndexSpaceRef b = comb(random.number(0, 4), random.number(2, 5));
        ASSERT_EQ(unite(subtract(a, b), intersect(a, b)), a);
        ASSERT_EQ(contains(a, b), subtract(b, a)->empty());
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(IndexSpace::live_count(), alive);
}

}  // namespace
}  // namespace refrain::data::set_algebra_test
