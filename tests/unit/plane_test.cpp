// A sweep over boxes of a plane, against the same points one by one.

#include "data/plane.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "data/partition_ops.hpp"
#include "point_sets.hpp"

namespace refrain::data::plane_test {
namespace {

Box random_box(RandomSets& random, Coord range) {
  Box box{{0, 0, 0}, {0, 0, 0}};
  for (int d = 0; d < 2; ++d) {
    box.lo[d] = random.number(0, range);
    box.hi[d] = std::min(range, box.lo[d] + random.number(0, range / 3));
  }
  return box;
}

TEST(Plane, BoxesAreInTheOrderOfTheirLowerEnds) {
  for (const int count : {0, 1, 100, 1000, 20'000}) {
    RandomSets random(static_cast<unsigned>(count));
    BoxList boxes;
    for (int i = 0; i < count; ++i) {
      boxes.push_back({});
      for (int d = 0; d < 2; ++d)
        boxes.back().lo[d] =
            random.number(-coordinate_limit, coordinate_limit) >> random.number(0, 60);
    }
    const std::vector<std::uint32_t> order = order_in_plane(boxes);
    ASSERT_EQ(order.size(), boxes.size());
    EXPECT_TRUE(std::ranges::is_sorted(
        order, {}, [&](std::uint32_t i) { return std::tuple(boxes[i].lo[0], boxes[i].lo[1], i); }));
  }
}

// Each point is in one box, free once, or in two boxes that are told to meet.
TEST(Plane, ASweepKnowsWhatMeetsAndWhatIsFree) {
  constexpr Coord range = 30;
  const Box bounds{{0, 0, 0}, {range, range, 0}};
  int alone = 0, met = 0;
  for (unsigned seed = 1; seed <= 3000; ++seed) {
    RandomSets random(seed);
    std::map<BoxPoint, int> covered;
    const auto count = [&](const Box& box) {
      for (Coord x = box.lo[0]; x <= box.hi[0]; ++x)
        for (Coord y = box.lo[1]; y <= box.hi[1]; ++y) ++covered[{x, y, 0}];
    };
    BoxList boxes;
    bool meets = false;
    for (Coord n = random.number(0, 12); n > 0; --n) {
      const Box box = random_box(random, range);
      const bool meets_some =
          std::ranges::any_of(boxes, [&](const Box& b) { return meet(b, box); });
      if (meets_some && random.number(0, 19) != 0) continue;
      meets |= meets_some;
      boxes.push_back(box);
    }
    std::ranges::for_each(boxes, count);
    Sweep sweep(bounds);
    bool passed = true;
    BoxList free;
    const auto add_free = [&](const Box& box) { free.push_back(box); };
    for (const std::uint32_t each : order_in_plane(boxes))
      passed &= passed && sweep.pass(boxes[each], add_free);
    ASSERT_EQ(passed, !meets) << "seed " << seed;
    std::vector<IndexSpaceRef> pieces;
    for (const Box& box : boxes) pieces.push_back(IndexSpace::dense(2, box));
    ASSERT_EQ(is_disjoint(pieces), !meets) << "seed " << seed;
    meets ? ++met : ++alone;
    if (!passed) continue;
    sweep.end(bounds, add_free);
    std::ranges::for_each(free, count);
    ASSERT_EQ(covered.size(), bounds.volume()) << "seed " << seed;
    ASSERT_TRUE(std::ranges::all_of(covered, [](const auto& each) { return each.second == 1; }))
        << "seed " << seed;
    ASSERT_LE(free.size(), 3 * boxes.size() + 1) << "seed " << seed;
  }
  EXPECT_GT(alone, 100);
  EXPECT_GT(met, 100);
}

}  // namespace
}  // namespace refrain::data::plane_test
