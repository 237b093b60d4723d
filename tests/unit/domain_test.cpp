// The public index spaces.

#include "refrain/domain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "data/index_space.hpp"
#include "support/random.hpp"

namespace refrain::domain_test {
namespace {

TEST(IndexSpaceOfPrograms, DenseSparseAndFromPoints) {
  const IndexSpace<2> dense(Rect2{{1, 2}, {3, 5}});
  EXPECT_EQ(dense.volume(), 12u);
  EXPECT_TRUE(dense.domain().dense());
  EXPECT_EQ(dense.domain().bounds(), (Rect2{{1, 2}, {3, 5}}));

  const IndexSpace<1> sparse(std::vector<Rect1>{{4, 9}, {0, 2}, {8, 12}, {7, 3}});
  EXPECT_EQ(sparse.volume(), 12u);
  EXPECT_EQ(sparse.domain().rect_count(), 2u);
  EXPECT_FALSE(sparse.domain().contains(3));
  EXPECT_TRUE(sparse.domain().contains(10));
  std::vector<Coord> points;
  for (const auto p : sparse.domain()) points.push_back(p);
  EXPECT_EQ(points, (std::vector<Coord>{0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  points.clear();
  const IndexSpace<1> copy = IndexSpace<1>(sparse);
  for (const Point1 p : copy) points.push_back(p);
  EXPECT_EQ(points, (std::vector<Coord>{0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12}));

  const IndexSpace<3> few(std::vector<Point<3>>{{1, 1, 1}, {0, 0, 0}, {1, 1, 1}});
  EXPECT_EQ(few.volume(), 2u);
}

TEST(IndexSpaceOfPrograms, EqualSetsAreOne) {
  const IndexSpace<1> a(Rect1{0, 9});
  const IndexSpace<1> b(std::vector<Rect1>{{5, 9}, {0, 4}});
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.shared().space, b.shared().space);
  EXPECT_FALSE(a == IndexSpace<1>(Rect1{0, 8}));
  EXPECT_EQ(IndexSpace<2>().volume(), 0u);
  EXPECT_EQ(IndexSpace<2>().domain().rect_count(), 0u);
}

/// Points of a small box, some of its rows and planes equal to each other.
template <int N>
std::vector<Point<N>> some_points(test::Random& random) {
  Rect<N> box;
  for (int d = 0; d < N; ++d) {
    box.lo[d] = random.between(-3, 3);
    box.hi[d] = box.lo[d] + random.below(6);
  }
  const int kept = random.between(20, 100), alike = random.between(1, 3);
  const auto choice = random.next();
  std::vector<Point<N>> points;
  for (const Point<N>& p : Domain<N>(box)) {
    std::uint64_t hash = choice;
    for (int d = 0; d < N; ++d)
      hash = test::mix(hash, static_cast<std::uint64_t>(d + 1 < N ? (p[d] + 10) / alike : p[d]));
    if (static_cast<int>(hash % 100) < kept) points.push_back(p);
  }
  return points;
}

template <int N>
void expect_one_order(std::uint64_t seed) {
  SCOPED_TRACE(std::to_string(N) + " dimensions, seed " + std::to_string(seed));
  test::Random random(seed);
  std::vector<Point<N>> points = some_points<N>(random);
  std::ranges::sort(points);
  const IndexSpace<N> space(points);
  const Domain<N> domain = space.domain();
  const std::vector<Point<N>> visited(domain.begin(), domain.end());
  EXPECT_EQ(visited, points);
  const data::IndexSpaceRef& set = space.shared().space;
  ASSERT_EQ(set->volume(), points.size());
  for (std::size_t i = 0; i < points.size(); ++i)
    ASSERT_EQ(set->nth(i), detail::erase_dimension(points[i]));
}

// Row-major, whatever rectangles the set consists of: as a launch has them.
TEST(IndexSpaceOfPrograms, TheirPointsHaveOneOrder) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    expect_one_order<1>(seed);
    expect_one_order<2>(seed);
    expect_one_order<3>(seed);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace refrain::domain_test
