// Launch domains: their points, in order; own points and their ranks.

#include "launch/launch_plan.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "data/index_space.hpp"
#include "refrain/launch.hpp"

namespace refrain::detail::launch_points_test {
namespace {

std::vector<Point<3>> points_of(const LaunchDomain& domain) {
  std::vector<Point<3>> points;
  LaunchRequest launch;
  launch.domain = &domain;
  for_each_launch_point(launch, 0, [&](const Point<3>& p) { points.push_back(p); });
  return points;
}

TEST(LaunchDomain, Counts) {
  EXPECT_EQ(points_of(LaunchDomain(3)), (std::vector<Point<3>>{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}));
  EXPECT_TRUE(points_of(LaunchDomain(0)).empty());
  EXPECT_EQ(space_of(LaunchDomain(0))->dim(), 1);
}

TEST(LaunchDomain, RectsInRowMajorOrder) {
  const LaunchDomain domain = LaunchDomain(Rect2{{1, 5}, {2, 6}});
  EXPECT_EQ(points_of(domain), (std::vector<Point<3>>{{1, 5, 0}, {1, 6, 0}, {2, 5, 0}, {2, 6, 0}}));
  EXPECT_EQ(space_of(domain)->dim(), 2);
}

TEST(LaunchDomain, SparseOnesInTheOrderOfTheDomain) {
  const IndexSpace<2> space(std::vector<Point<2>>{{2, 0}, {0, 3}, {1, 1}, {0, 1}});
  const LaunchDomain domain = LaunchDomain(space);
  EXPECT_EQ(points_of(domain), (std::vector<Point<3>>{{0, 1, 0}, {0, 3, 0}, {1, 1, 0}, {2, 0, 0}}));
  EXPECT_EQ(space_of(domain), space.shared().space);
}

TEST(LaunchDomain, EqualOnesAreOne) {
  const data::IndexSpaceRef line = space_of(LaunchDomain(4));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(space_of(LaunchDomain(4)), line);
    EXPECT_EQ(space_of(LaunchDomain(100 + i))->volume(), 100u + static_cast<unsigned>(i));
    EXPECT_NE(space_of(LaunchDomain(Rect2{{0, 0}, {3, 0}})),
              line);  // other dimensions, same rectangle
  }
}

TEST(LaunchPoints, OfOneProcessHaveOneRank) {
  const data::IndexSpaceRef domain = space_of(LaunchDomain(Rect2{{1, 5}, {2, 6}}));
  const runtime::LaunchPoints all{domain, domain};
  for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_EQ(all.own_rank(rank), rank);
}

TEST(LaunchPoints, OfSeveralProcessesHaveAnOwnRankOfEach) {
  const data::IndexSpaceRef domain = space_of(LaunchDomain(Rect2{{0, 0}, {2, 3}}));
  const runtime::LaunchPoints some{domain,
                                   data::IndexSpace::dense(2, Rect<3>{{0, 1, 0}, {1, 2, 0}})};
  const std::vector<std::size_t> launch_ranks{1, 2, 5, 6};
  std::size_t own = 0;
  for (std::size_t rank = 0; rank < domain->volume(); ++rank) {
    if (own < launch_ranks.size() && rank == launch_ranks[own]) {
      EXPECT_EQ(some.own_rank(rank), own++);
    } else {
      EXPECT_FALSE(some.own_rank(rank)) << rank;
    }
  }
  EXPECT_EQ(own, launch_ranks.size());
}

}  // namespace
}  // namespace refrain::detail::launch_points_test
