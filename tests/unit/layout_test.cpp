#include "data/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "memory/mover.hpp"
#include "point_sets.hpp"
#include "support/test_budget.hpp"

namespace refrain::data::layout_test {
namespace {

Layout in_order(Order order, Sparse sparse = Sparse::box) {
  Layout layout;
  layout.order = order;
  layout.sparse = sparse;
  return layout;
}

Layout any_layout(RandomSets& random) {
  return in_order(random.number(0, 1) == 0 ? Order::c : Order::fortran,
                  random.number(0, 1) == 0 ? Sparse::box : Sparse::compact);
}

// Storage for these points, every byte known.
struct Storage {
  Storage(const IndexSpaceRef& points, std::size_t value_size, const Layout& wanted, unsigned seed)
      : space(points), layout(*space, value_size, wanted), bytes(layout.bytes), size(value_size) {
    std::mt19937 random(seed);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  }
  refrain::detail::Placement placement() {
    refrain::detail::Placement placed{bytes.data() + layout.offset, {}};
    std::copy(std::begin(layout.stride), std::end(layout.stride), placed.stride);
    if (layout.compact) {
      placed.compact = space.get();
      placed.runs = space->runs();
    }
    return placed;
  }
  std::byte* at(const BoxPoint& p) {
    std::ptrdiff_t place = layout.offset;
    if (layout.compact) place = static_cast<std::ptrdiff_t>(*space->rank_by_boxes(p) * size);
    else
      for (int d = 0; d < 3; ++d) place += p[d] * layout.stride[d];
    EXPECT_GE(place, 0);
    EXPECT_LE(static_cast<std::size_t>(place) + size, bytes.size());
    return bytes.data() + place;
  }

  IndexSpaceRef space;
  InstanceLayout layout;
  std::vector<std::byte> bytes;
  std::size_t size;
};

constexpr std::size_t sizes[] = {1, 2, 3, 4, 8, 12, 16, 24, 100};

TEST(InstanceLayout, PlacesPointsSideBySide) {
  RandomSets random(1);
  for (int round = 0; round < 300; ++round) {
    const int dim = 1 + round % 3;
    const IndexSpaceRef space = random.space(dim, test_range(dim));
    for (Order order : {Order::c, Order::fortran}) {
      Storage storage(space, 8, in_order(order), 1);
      const auto box = points_of(BoxList{space->bounds()});
      EXPECT_EQ(storage.layout.bytes, box.size() * 8);
      EXPECT_EQ(storage.layout.alignment, 64U);
      std::set<std::byte*> places;
      for (const BoxPoint& p : box) places.insert(storage.at(p));
      EXPECT_EQ(places.size(), box.size());
      if (!space->empty()) { EXPECT_EQ(storage.layout.stride[order == Order::c ? dim - 1 : 0], 8); }
    }
  }
}

TEST(InstanceLayout, StridesOfBothOrders) {
  const auto space = IndexSpace::dense(Rect<3>{{1, 2, 3}, {4, 6, 8}});
  const InstanceLayout c(*space, 4, in_order(Order::c));
  EXPECT_EQ(c.stride[2], 4);
  EXPECT_EQ(c.stride[1], 4 * 6);
  EXPECT_EQ(c.stride[0], 4 * 6 * 5);
  EXPECT_EQ(c.offset, -(1 * 120 + 2 * 24 + 3 * 4));
  const InstanceLayout f(*space, 4, in_order(Order::fortran));
  EXPECT_EQ(f.stride[0], 4);
  EXPECT_EQ(f.stride[1], 4 * 4);
  EXPECT_EQ(f.stride[2], 4 * 4 * 5);
}

TEST(InstanceLayout, WhatNoMemoryHoldsDoesNotWrap) {
  const Coord far = Coord{1} << 59;
  const auto sparse =
      IndexSpace::from_points(3, std::vector<BoxPoint>{{-far, -far, -far}, {far, far, far}});
  EXPECT_EQ(InstanceLayout(*sparse, 8, in_order(Order::c)).bytes,
            std::numeric_limits<std::size_t>::max());
  EXPECT_EQ(InstanceLayout(*IndexSpace::empty_space(2), 8, {}).bytes, 0U);
}

TEST(InstanceLayout, CompactWhereThereAreManyHoles) {
  const auto space = [](Coord apart) {
    return IndexSpace::from_points(1, std::vector<BoxPoint>{{0, 0, 0}, {apart, 0, 0}});
  };
  EXPECT_FALSE(is_compact(*space(127), Sparse::by_density));  // 128 points have room
  EXPECT_TRUE(is_compact(*space(128), Sparse::by_density));
  EXPECT_TRUE(is_compact(*space(2), Sparse::compact));
  EXPECT_FALSE(is_compact(*space(1), Sparse::compact));  // a rectangle
  EXPECT_FALSE(is_compact(*space(Coord{1} << 59), Sparse::box));
  EXPECT_EQ(InstanceLayout(*space(Coord{1} << 59), 8, {}).bytes, 16U);
}

TEST(CpuMover, CopyEqualsTheNaiveLoop) {
  for (test::TestBudget budget{2000, 200}; budget.more(); budget.next()) {
    RandomSets random(static_cast<unsigned>(budget.seed()));
    const int dim = static_cast<int>(random.number(1, 3));
    const IndexSpaceRef points = random.space(dim, test_range(dim));
    const std::size_t size = sizes[random.number(0, std::size(sizes) - 1)];
    // Either end may have room for more points than are copied.
    const auto room = [&] {
      return random.number(0, 1) == 0
                 ? points
                 : space_of(dim, either(points_of(points),
                                        points_of(random.space(dim, test_range(dim)))));
    };
    Storage source(room(), size, any_layout(random), 1),
        target(room(), size, any_layout(random), 2);
    Storage expected = target;
    for (const BoxPoint& p : points_of(points)) std::memcpy(expected.at(p), source.at(p), size);
    std::vector<std::byte> message(points->volume() * size);
    memory::pack(*points, source.placement(), size, message.data());
    if (random.number(0, 1) == 0)
      memory::cpu_mover().copy(*points, target.placement(), source.placement(), size);
    else memory::unpack(*points, target.placement(), size, message.data());
    ASSERT_EQ(target.bytes, expected.bytes) << "seed " << budget.seed();
  }
}

TEST(CpuMover, FillEqualsTheNaiveLoop) {
  for (test::TestBudget budget{2000, 200}; budget.more(); budget.next()) {
    RandomSets random(static_cast<unsigned>(budget.seed()));
    const int dim = static_cast<int>(random.number(1, 3));
    const IndexSpaceRef points = random.space(dim, test_range(dim));
    const std::size_t size = sizes[random.number(0, std::size(sizes) - 1)];
    const bool one_byte = random.number(0, 2) == 0;
    std::vector<std::byte> value(size);
    for (std::byte& b : value) b = static_cast<std::byte>(one_byte ? 7 : random.number(0, 255));
    Storage target(points, size, any_layout(random), 3);
    Storage expected = target;
    for (const BoxPoint& p : points_of(points)) std::memcpy(expected.at(p), value.data(), size);
    memory::cpu_mover().fill(*points, target.placement(), value.data(), size);
    ASSERT_EQ(target.bytes, expected.bytes) << "seed " << budget.seed();
  }
}

TEST(CpuMover, CopyWithGapsBetweenRowsAndValues) {
  // Columns 1 and 2 of a 4 x 5 array of structs of 24 bytes whose second double is the value.
  struct Record {
    double a, b, c;
  };
  std::vector<Record> records(20);
  for (std::size_t i = 0; i < records.size(); ++i) records[i].b = static_cast<double>(i);
  const auto points = IndexSpace::dense(Rect<2>{{0, 1}, {3, 2}});
  std::vector<double> out(8, -1);
  const refrain::detail::Placement source{reinterpret_cast<std::byte*>(&records[0].b),
                                          {5 * sizeof(Record), sizeof(Record), 0}};
  const refrain::detail::Placement target{reinterpret_cast<std::byte*>(out.data()) - 8, {16, 8, 0}};
  memory::cpu_mover().copy(*points, target, source, 8);
  EXPECT_EQ(out, (std::vector<double>{1, 2, 6, 7, 11, 12, 16, 17}));
}

}  // namespace
}  // namespace refrain::data::layout_test
