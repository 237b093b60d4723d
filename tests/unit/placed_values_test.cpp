// Values placed by strides, against the bytes themselves.

#include "data/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/random.hpp"
#include "support/test_budget.hpp"

namespace refrain::data::placed_values_test {
namespace {

std::set<std::uintptr_t> bytes_of(const PlacedValues& values) {
  std::set<std::uintptr_t> bytes;
  values.points->for_each_point([&](const BoxPoint& p) {
    std::uintptr_t address = values.lowest;
    for (int d = 0; d < values.points->dim(); ++d)
      address +=
          static_cast<std::uintptr_t>((p[d] - values.points->bounds().lo[d]) * values.stride[d]);
    for (std::size_t i = 0; i < values.size; ++i) bytes.insert(address + i);
  });
  return bytes;
}

PlacedValues random_values(test::Random& random) {
  PlacedValues values;
  const int dim = random.between(1, 3);
  BoxList boxes;
  for (int i = random.between(1, 3); i > 0; --i) {
    Box box;
    for (int d = 0; d < dim; ++d) {
      box.lo[d] = random.between(-4, 4);
      box.hi[d] = box.lo[d] + random.between(0, 3);
    }
    boxes.push_back(box);
  }
  values.points = IndexSpace::from_boxes(dim, std::move(boxes));
  values.size = static_cast<std::size_t>(random.between(1, 8));
  values.lowest = 100'000 + static_cast<std::uintptr_t>(random.below(400));
  for (int d = 0; d < dim; ++d)
    values.stride[d] = random.between(1, 40) * (random.percent(70) ? 1 : -1);
  return values;
}

TEST(PlacedValues, SharedBytesAreFoundAndNoOthers) {
  int shared = 0, apart = 0;
  for (test::TestBudget budget{20'000, 10}; budget.more(); budget.next()) {
    test::Random random(budget.seed());
    const PlacedValues a = random_values(random);
    PlacedValues b = random_values(random);
    if (random.percent(50) && a.points->dim() == b.points->dim())
      std::copy_n(a.stride, 3, b.stride);
    const std::set<std::uintptr_t> of_a = bytes_of(a), of_b = bytes_of(b);
    const bool expected =
        std::ranges::any_of(of_a, [&](std::uintptr_t byte) { return of_b.contains(byte); });
    ASSERT_EQ(share_bytes(a, b), expected) << "seed " << budget.seed();
    ASSERT_EQ(share_bytes(b, a), expected) << "seed " << budget.seed();
    ASSERT_LE(static_cast<std::uintptr_t>(a.extent().lo[0]), *of_a.begin());
    ASSERT_GE(static_cast<std::uintptr_t>(a.extent().hi[0]), *of_a.rbegin());
    ++(expected ? shared : apart);
  }
  EXPECT_GT(shared, apart / 10);
  EXPECT_GT(apart, shared / 10);
}

// A hundred million structs, and blocks of a matrix with as many rows: no walk over them.
TEST(PlacedValues, LargeOnesAreNoWork) {
  const auto line = [](std::uintptr_t lowest, Coord stride) {
    return PlacedValues{IndexSpace::dense(Rect1{0, 100'000'000}), lowest, {stride}, 8};
  };
  EXPECT_FALSE(share_bytes(line(1 << 20, 24), line((1 << 20) + 8, 24)));
  EXPECT_FALSE(share_bytes(line(1 << 20, 24), line((1 << 20) + 16, 24)));
  EXPECT_TRUE(share_bytes(line(1 << 20, 24), line((1 << 20) + 20, 24)));
  EXPECT_TRUE(share_bytes(line(1 << 20, 24), line((1 << 20) + 24'000, 24)));
  const auto block = [](Coord column) {
    return PlacedValues{IndexSpace::dense(Rect2{{0, 0}, {100'000'000, 9}}),
                        static_cast<std::uintptr_t>((1 << 20) + 8 * column),
                        {800, 8},
                        8};
  };
  EXPECT_FALSE(share_bytes(block(0), block(10)));
  EXPECT_TRUE(share_bytes(block(0), block(9)));
}

}  // namespace
}  // namespace refrain::data::placed_values_test
