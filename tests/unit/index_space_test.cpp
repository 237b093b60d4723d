// Index spaces against explicit point sets: canonical form, interning, order of the domain.

#include "data/index_space.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "point_sets.hpp"
#include "refrain/error.hpp"

namespace refrain::data::index_space_test {
namespace {

TEST(IndexSpace, CanonicalAndInterned) {
  for_seeds(3000, [](RandomSets& random, int dim, Coord range) {
    const BoxList boxes = random.boxes(dim, range);
    const IndexSpaceRef space = IndexSpace::from_boxes(dim, boxes);
    const PointSet points = points_of(boxes);
    ASSERT_TRUE(is_canonical_list(dim, space->boxes()));
    ASSERT_EQ(points_of(space), points);
    ASSERT_EQ(space->volume(), points.size());
    ASSERT_EQ(space_of(dim, points), space);  // another way to the same set: the same object
    ASSERT_EQ(space->dense(), space->boxes().size() <= 1);
    Box bounds;
    if (!points.empty()) bounds = {*points.begin(), *points.begin()};
    for (const BoxPoint& p : points)
      for (int d = 0; d < 3; ++d) {
        bounds.lo[d] = std::min(bounds.lo[d], p[d]);
        bounds.hi[d] = std::max(bounds.hi[d], p[d]);
      }
    ASSERT_EQ(space->bounds(), bounds);
  });
}

TEST(IndexSpace, OrderOfTheDomain) {
  for_seeds(1500, [](RandomSets& random, int dim, Coord range) {
    const IndexSpaceRef space = random.space(dim, range);
    const PointSet points = points_of(space);
    std::vector<BoxPoint> walked;
    space->for_each_point([&](const BoxPoint& p) { walked.push_back(p); });
    ASSERT_EQ(walked, std::vector<BoxPoint>(points.begin(), points.end()));
    for (std::size_t i = 0; i < walked.size(); ++i) {
      ASSERT_EQ(space->rank(walked[i]), i);
      ASSERT_EQ(space->nth(i), walked[i]);
    }
    for (int i = 0; i < 20; ++i) {
      const BoxPoint p = random.point(dim, range + 1);
      ASSERT_EQ(space->contains(p), points.contains(p));
      ASSERT_EQ(space->rank(p).has_value(), points.contains(p));
    }
  });
}

TEST(IndexSpace, RunsOfALine) {
  for_seeds(1500, [](RandomSets& random, int /*dim*/, Coord range) {
    const IndexSpaceRef space = random.space(1, range);
    const auto* runs = space->runs();
    ASSERT_EQ(runs == nullptr, space->dense());
    if (runs == nullptr) return;
    std::size_t quick = 0;
    for (Coord x = -range - 2; x <= range + 2; ++x) {
      const auto position = space->rank_by_boxes({x, 0, 0});
      const std::size_t found = runs->quick_position(x);
      if (found != refrain::detail::RunIndex::none) { ASSERT_EQ(found, position); }
      quick += found != refrain::detail::RunIndex::none ? 1 : 0;
    }
    // Where intervals are short, those whose first run it is: at least one point of each.
    ASSERT_GE(quick, 1U);
  });
}

TEST(IndexSpace, OrderOfTheBoxes) {
  for_seeds(1500, [](RandomSets& random, int dim, Coord range) {
    const IndexSpaceRef space = random.space(dim, range);
    const PointSet points = points_of(space);
    std::size_t position = 0;
    for (const Box& box : space->boxes())
      for (const BoxPoint& p : points_of(box)) ASSERT_EQ(space->rank_by_boxes(p), position++);
    const Box part = random.space(dim, range)->bounds();
    PointSet met;
    space->for_each_meeting(part, [&](const Box& box, std::size_t before) {
      ASSERT_EQ(space->rank_by_boxes(box.lo), before);
      for (const BoxPoint& p : points_of(box)) met.insert(p);
    });
    for (const BoxPoint& p : points)
      if (part.contains(p)) { ASSERT_TRUE(met.contains(p)); }
    for (const Box& box : space->boxes()) {
      const bool meets = !intersection(box, part).empty();
      ASSERT_EQ(met.contains(box.lo), meets);
    }
    for (int i = 0; i < 20; ++i) {
      const BoxPoint p = random.point(dim, range + 1);
      ASSERT_EQ(space->rank_by_boxes(p).has_value(), points.contains(p));
    }
  });
}

TEST(IndexSpace, IdIsTheSameInEveryRun) {
  EXPECT_EQ(IndexSpace::dense(Rect1{0, 99})->id(), IndexSpace::dense(Rect1{0, 99})->id());
  EXPECT_NE(IndexSpace::dense(Rect1{0, 0})->id(), IndexSpace::dense(Rect2{{0, 0}, {0, 0}})->id());
  EXPECT_NE(IndexSpace::empty_space(1), IndexSpace::empty_space(2));
  // Written down once; a change of the hash changes every recorded token.
  EXPECT_EQ(IndexSpace::dense(Rect1{0, 99})->id(), 431442786616099508u);
}

TEST(IndexSpace, FreedWithItsLastReference) {
  const std::size_t before = IndexSpace::live_count();
  {
    IndexSpaceRef a = IndexSpace::dense(Rect1{1234, 5678});
    EXPECT_EQ(IndexSpace::live_count(), before + 1);
    IndexSpaceRef b = IndexSpace::from_boxes(1, {a->bounds()});
    EXPECT_EQ(a, b);
    EXPECT_EQ(IndexSpace::live_count(), before + 1);
    a = {};
    EXPECT_EQ(b->volume(), 4445u);
  }
  EXPECT_EQ(IndexSpace::live_count(), before);
}

TEST(IndexSpace, ManyThreadsMakeAndFreeTheSameSets) {
  const std::size_t before = IndexSpace::live_count();
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      RandomSets random(t);
      std::vector<IndexSpaceRef> kept(16);
      for (int i = 0; i < 20000; ++i) {
        const Coord n = random.number(0, 30);
        const IndexSpaceRef a = IndexSpace::from_boxes(
            1, {Box{{n, 0, 0}, {n + 3, 0, 0}}, Box{{n + 10, 0, 0}, {n + 12, 0, 0}}});
        ASSERT_EQ(a->volume(), 7u);
        kept[static_cast<std::size_t>(random.number(0, 15))] = a;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(IndexSpace::live_count(), before);
}

TEST(IndexSpace, ManyPointsInAnyOrder) {
  for (const int dim : {1, 2, 3}) {
    std::mt19937_64 random(7);
    // Many for their bounds, and few.
    for (const Coord range : {Coord{dim == 1   ? 300000
                                    : dim == 2 ? 600
                                               : 70},
                              Coord{1} << (dim == 3 ? 20 : 30)}) {
      std::vector<BoxPoint> points(200000);
      for (BoxPoint& p : points)
        for (int d = 0; d < dim; ++d)
          p[d] = static_cast<Coord>(random() % static_cast<std::uint64_t>(range)) - range / 2;
      const IndexSpaceRef space = IndexSpace::from_points(dim, points);
      std::sort(points.begin(), points.end());
      points.erase(std::unique(points.begin(), points.end()), points.end());
      ASSERT_TRUE(is_canonical_list(dim, space->boxes()));
      std::size_t i = 0;
      space->for_each_point([&](const BoxPoint& p) { ASSERT_EQ(p, points[i++]); });
      ASSERT_EQ(i, points.size());
    }
  }
}

TEST(IndexSpace, ManyPointsThatComeTwice) {
  // Every point comes twice, far from its twin, and next to others now and then.
  constexpr std::size_t count = 700000;
  std::vector<BoxPoint> points(2 * count);
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i][0] = static_cast<Coord>(i % count * 7919 % count) * 1000 + (i % 3 == 0 ? 1 : 0);
  const IndexSpaceRef space = IndexSpace::from_points(1, points);
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  ASSERT_TRUE(is_canonical_list(1, space->boxes()));
  std::size_t i = 0;
  space->for_each_point([&](const BoxPoint& p) { ASSERT_EQ(p, points[i++]); });
  ASSERT_EQ(i, points.size());
}

TEST(IndexSpace, RefusesWhatCannotBeCounted) {
  const Coord far = coordinate_limit;
  EXPECT_EQ(IndexSpace::dense(Rect1{-far, far})->volume(), (std::size_t{1} << 61) + 1);
  EXPECT_THROW(IndexSpace::dense(Rect1{0, far + 1}), UsageError);
  EXPECT_THROW(IndexSpace::dense(Rect2{{0, 0}, {far, far}}), UsageError);
  // Two points so far apart that the points between cannot be counted are still a set.
  EXPECT_EQ(
      IndexSpace::from_points(2, std::vector<BoxPoint>{{far, far, 0}, {-far, -far, 0}})->volume(),
      2u);
}

}  // namespace
}  // namespace refrain::data::index_space_test
