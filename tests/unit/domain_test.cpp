// The public index spaces.

#include "refrain/domain.hpp"

#include <gtest/gtest.h>

#include "data/shared_index_space.hpp"

namespace refrain {
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

}  // namespace
}  // namespace refrain
