// Random numbers by counter: the generator's published answers, and what a program may rely on.

#include "refrain/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "refrain/refrain.hpp"

namespace refrain::random_test {
namespace {

using Block = std::array<std::uint32_t, 4>;

// kat_vectors of Random123, for philox4x32 with ten rounds.
TEST(Random, HasThePublishedAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
  static_assert(philox({0, 0, 0, 0}, {0, 0})[3] == 0x9b00dbd8);
}

// Seed: the key. Number i: half i % 2 of the block whose counter is (i / 2, stream). This never changes.
TEST(Random, StreamsAreHalvesOfBlocks) {
  EXPECT_EQ(RandomStream(0).bits(0), 0xe169c58d6627e8d5u);
  EXPECT_EQ(RandomStream(0).bits(1), 0x9b00dbd8bc57ac4cu);
  const RandomStream all_ones(~std::uint64_t{0}, ~std::uint64_t{0});
  EXPECT_EQ(all_ones.pair(~std::uint64_t{0}),
            (std::array<std::uint64_t, 2>{0x41c83b0e408f276du, 0x6d5451fda20bc7c6u}));
  const RandomStream digits(0x299f31d0a4093822u, 0x0370734413198a2eu);
  EXPECT_EQ(digits.pair(0x85a308d3243f6a88u),
            (std::array<std::uint64_t, 2>{0x94fdccebd16cfe09u, 0x24126ea15001e420u}));
  // Below zero: the numbers go on.
  EXPECT_EQ(all_ones.bits(-1), all_ones.pair(~std::uint64_t{0} / 2)[1]);
}

TEST(Random, NumbersLieWhereTheySay) {
  const RandomStream numbers(7, 3);
  double sum = 0;
  std::array<int, 5> seen{};
  for (Coord i = 0; i < 100'000; ++i) {
    const double x = numbers.uniform(i);
    EXPECT_TRUE(0 <= x && x < 1);
    EXPECT_EQ(numbers.uniform(i, -2, 2), -2 + 4 * x);
    sum += x;
    ++seen[numbers.below(i, 5)];
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 0.005);
  for (const int count : seen) EXPECT_NEAR(count, 20'000, 600);
  EXPECT_EQ(numbers.below(0, 1), 0u);
  EXPECT_LT(RandomStream::unit(~std::uint64_t{0}), 1);
  EXPECT_NE(numbers.bits(0), RandomStream(7, 4).bits(0));
  EXPECT_NE(numbers.bits(0), RandomStream(8, 3).bits(0));
}

TEST(Random, IsAGeneratorOfTheStandardLibrary) {
  static_assert(std::uniform_random_bit_generator<RandomStream>);
  RandomStream numbers(1);
  EXPECT_EQ(numbers(), numbers.bits(0));
  RandomStream copy = numbers;
  EXPECT_EQ(numbers(), numbers.bits(1));
  EXPECT_EQ(copy(), numbers.bits(1));
  std::vector<int> cards(52);
  std::iota(cards.begin(), cards.end(), 0);
  std::shuffle(cards.begin(), cards.end(), numbers);
  EXPECT_FALSE(std::ranges::is_sorted(cards));
  std::ranges::sort(cards);
  EXPECT_EQ(cards.back(), 51);
}

struct Cell {
  static constexpr Field<double> value{"value"};
};

// Any number of pieces and threads: the same numbers.
TEST(Random, DoesNotDependOnPieces) {
  const Task draw{"draw", [](Write<double> x, RandomStream numbers) {
                    for (const auto p : x.domain()) x[p] = numbers.uniform(p);
                  }};
  Options options;
  options.workers = 2;
  Runtime(options).run([&](Context& ctx) {
    for (const int pieces : {1, 3, 10}) {
      const auto cells = ctx.region(Rect1{-5, 94}, Cell::value);
      ctx.launch(draw, pieces, ctx.blocks(cells, pieces)[Cell::value], RandomStream(42, 1));
      const auto value = ctx.access<Read>(cells[Cell::value]);
      for (Coord i = -5; i < 95; ++i) EXPECT_EQ(value[i], RandomStream(42, 1).uniform(i));
    }
  });
}

}  // namespace
}  // namespace refrain::random_test
