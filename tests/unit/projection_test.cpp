// Projections: what they compute, and that equal ones are one.

#include "data/projection.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "refrain/error.hpp"
#include "refrain/privilege.hpp"

namespace refrain::projection_test {
namespace {

Point<3> ring(const Point<3>& p, std::uint64_t key) {
  return {(p[0] + 1) % static_cast<Coord>(key), 0, 0};
}
Point<3> mirror(const Point<3>& p, std::uint64_t) { return {-p[0], 0, 0}; }

constexpr std::array<std::array<Coord, 3>, 3> unit{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr std::array<std::array<Coord, 3>, 3> swap_axes{{{0, 1, 0}, {1, 0, 0}, {0, 0, 2}}};

TEST(Projection, Apply) {
  EXPECT_EQ(data::project(nullptr, {1, 2, 3}), (Point<3>{1, 2, 3}));
  EXPECT_EQ(data::project(shift(3).impl(), {1, 2, 3}), (Point<3>{4, 2, 3}));
  EXPECT_EQ(data::project(shift({1, -1}).impl(), {1, 2, 3}), (Point<3>{2, 1, 3}));
  EXPECT_EQ(data::project(shift({1, 1, 1}).impl(), {1, 2, 3}), (Point<3>{2, 3, 4}));
  const Projection swapped = Projection::affine(swap_axes, {10, 20, 30});
  EXPECT_EQ(data::project(swapped.impl(), {1, 2, 3}), (Point<3>{12, 21, 36}));
  EXPECT_EQ(data::project(Projection::function("ring", ring, 4).impl(), {3, 0, 0}), (Point<3>{}));
}

TEST(Projection, TheIdentityIsNull) {
  EXPECT_EQ(Projection().impl(), nullptr);
  EXPECT_EQ(Projection::affine(unit, {}).impl(), nullptr);
  EXPECT_EQ(shift(0).impl(), nullptr);
}

TEST(Projection, EqualOnesAreOneWhileSomebodyKeepsIt) {
  const Projection kept = shift(1);
  EXPECT_EQ(shift(1).impl(), kept.impl());
  EXPECT_EQ(shift({1, 0}).impl(), kept.impl());
  EXPECT_NE(shift(2).impl(), kept.impl());
  const Projection f = Projection::function("ring", ring, 4);
  EXPECT_EQ(Projection::function("ring", ring, 4).impl(), f.impl());
  EXPECT_NE(Projection::function("ring", ring, 5).impl(), f.impl());
  EXPECT_NE(Projection::function("other", ring, 4).impl(), f.impl());
  EXPECT_NE(Projection::function("ring", mirror, 4).impl(), f.impl());
}

TEST(Projection, IdsAreContent) {
  EXPECT_EQ(data::projection_id(nullptr), 0u);
  const Projection one = shift(1);
  const std::uint64_t before = one.impl()->id;
  EXPECT_EQ(before,
            8603556716452633366u);  // written down from one run: every process must find the same
  EXPECT_EQ(Projection::affine(unit, {1, 0, 0}).impl()->id, before);
  std::set<std::uint64_t> ids{before};
  ids.insert(shift(2).impl()->id);
  ids.insert(Projection::affine(swap_axes, {}).impl()->id);
  ids.insert(Projection::function("ring", ring, 1).impl()->id);
  ids.insert(Projection::function("ring", ring, 2).impl()->id);
  ids.insert(Projection::function("knot", ring, 1).impl()->id);
  EXPECT_EQ(ids.size(), 6u);
  // The function's address is no part of it.
  EXPECT_EQ(Projection::function("ring", ring, 1).impl()->id,
            Projection::function("ring", mirror, 1).impl()->id);
}

TEST(Projection, ManyThreadsAgree) {
  const Projection kept = shift(7);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (Coord i = 0; i < 500; ++i) {
        ASSERT_EQ(shift(7).impl(), kept.impl());
        ASSERT_EQ(shift(100 + i).impl()->offset[0], 100 + i);
      }
    });
  for (auto& thread : threads) thread.join();
}

TEST(Projection, Texts) {
  EXPECT_EQ(data::describe(nullptr), "identity");
  EXPECT_EQ(data::describe(shift(1).impl()), "shift by (1, 0, 0)");
  EXPECT_EQ(data::describe(Projection::affine(swap_axes, {}).impl()), "affine");
  EXPECT_EQ(data::describe(Projection::function("ring", ring).impl()), "ring");
  EXPECT_EQ(data::describe(Projection::function("ring", ring, 3).impl()), "ring, key 3");
  EXPECT_THROW(Projection::function("none", nullptr), UsageError);
  EXPECT_EQ(to_string(Privilege::read_write), "read-write");
  EXPECT_EQ(to_string(Privilege::reduce), "reduce");
}

}  // namespace
}  // namespace refrain::projection_test
