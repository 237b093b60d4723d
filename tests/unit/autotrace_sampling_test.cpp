// What is mined when. Yadav et al., Figure 5.

#include "finder/history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "support/random.hpp"

namespace refrain::autotrace::autotrace_sampling_test {
namespace {

constexpr std::size_t all = ~std::size_t{0};

/// When how many of the last tokens are mined.
using Pieces = std::vector<std::pair<std::uint64_t, std::size_t>>;

enum Luck : std::uint8_t { fruitless, fruitful };

/// The pieces after `from` tokens, up to `to`.
Pieces pieces(Sampling& sampling, std::uint64_t from, std::uint64_t to, Luck luck) {
  Pieces mined;
  for (std::uint64_t now = from + 1; now <= to; ++now) {
    if (now < sampling.next_at()) continue;
    if (const std::size_t size = sampling.next(now, all)) mined.emplace_back(now, size);
    if (luck == fruitful) sampling.restart(now);
  }
  return mined;
}

TEST(Sampling, FollowsTheRulerFunction) {
  Sampling sampling(16, 128);
  EXPECT_EQ(pieces(sampling, 0, 16 * 16, fruitful), (Pieces{{16, 16},
                                                            {32, 32},
                                                            {48, 16},
                                                            {64, 64},
                                                            {80, 16},
                                                            {96, 32},
                                                            {112, 16},
                                                            {128, 128},
                                                            {144, 16},
                                                            {160, 32},
                                                            {176, 16},
                                                            {192, 64},
                                                            {208, 16},
                                                            {224, 32},
                                                            {240, 16},
                                                            {256, 128}}));
}

TEST(Sampling, TheLargestPieceIsTheWholeHistory) {
  Sampling sampling(16, 100);
  EXPECT_EQ(pieces(sampling, 0, 100, fruitful),
            (Pieces{{16, 16}, {32, 32}, {48, 16}, {64, 64}, {80, 16}, {96, 32}}));
  // 100 is no multiple: it comes with the next.
  EXPECT_EQ(pieces(sampling, 100, 112, fruitful), (Pieces{{112, 100}}));
}

TEST(Sampling, AMultipleIsAtMostTheHistory) {
  Sampling sampling(1000, 8);
  EXPECT_EQ(pieces(sampling, 0, 20, fruitful), (Pieces{{8, 8}, {16, 8}}));
  Sampling least(0, 0);
  EXPECT_EQ(pieces(least, 0, 2, fruitful), (Pieces{{1, 1}, {2, 1}}));
}

TEST(Sampling, WaitsDoubleWhileNothingIsFound) {
  Sampling sampling(16, 16);
  EXPECT_EQ(pieces(sampling, 0, 1000, fruitless), (Pieces{{16, 16},
                                                          {32, 16},
                                                          {64, 16},
                                                          {96, 16},
                                                          {160, 16},
                                                          {224, 16},
                                                          {352, 16},
                                                          {480, 16},
                                                          {736, 16},
                                                          {992, 16}}));
}

TEST(Sampling, WaitsAreBounded) {
  Sampling sampling(16, 16);
  (void)pieces(sampling, 0, 50'000, fruitless);
  const Pieces later = pieces(sampling, 50'000, 100'000, fruitless);
  ASSERT_GE(later.size(), 11u);
  for (std::size_t i = 1; i < later.size(); ++i)
    EXPECT_EQ(later[i].first - later[i - 1].first, 256u * 16u);
}

TEST(Sampling, CostsLessAndLessWhereNothingRepeats) {
  Sampling sampling(64, 16384);
  const auto cost = [&](std::uint64_t from, std::uint64_t to) {
    std::size_t tokens = 0;
    for (const auto& [now, size] : pieces(sampling, from, to, fruitless)) tokens += size;
    return static_cast<double>(tokens) / static_cast<double>(to - from);
  };
  (void)cost(0, 5'000'000);
  // Nine sizes, each of which costs 1/256 of a token.
  EXPECT_LE(cost(5'000'000, 10'000'000), 9.0 / 256 + 0.005);
}

TEST(Sampling, StartsAgain) {
  Sampling sampling(16, 64);
  (void)pieces(sampling, 0, 10'000, fruitless);
  EXPECT_GT(sampling.next_at(), 10'016u);
  sampling.restart(10'000);
  EXPECT_EQ(pieces(sampling, 10'000, 10'064, fruitless),
            (Pieces{{10'016, 16}, {10'032, 32}, {10'064, 64}}));
}

// A stream that changes all the time leaves something for large pieces.
TEST(Sampling, SmallPiecesDoNotTakeItAll) {
  Sampling sampling(64, 16384);
  std::size_t largest = 0;
  for (std::uint64_t now = 1; now <= 400'000; ++now) {
    if (now >= sampling.next_at())
      if (const std::size_t size = sampling.next(now, all); now > 100'000)
        largest = std::max(largest, size);
    if (now % 1000 == 0) sampling.restart(now);
  }
  EXPECT_GE(largest, 2048u);
}

// Whatever is found, each call pays for a quarter of a token of small pieces and of large ones, after those that are
// for free.
TEST(Sampling, EachCallPaysForAPartOfAToken) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    test::Random random(seed);
    const auto multiple = static_cast<std::size_t>(random.between(1, 100));
    const auto history = static_cast<std::size_t>(random.between(100, 8000));
    Sampling sampling(multiple, history);
    std::size_t mined = 0;
    for (std::uint64_t now = 1; now <= 100'000; ++now) {
      if (now >= sampling.next_at()) mined += sampling.next(now, all);
      if (random.percent(20)) sampling.restart(now);
      ASSERT_LE(mined, 8192 + std::max<std::uint64_t>(8192, 2 * history) + now / 2)
          << "seed " << seed;
    }
    EXPECT_GE(mined, 8192u) << "seed " << seed;
  }
}

TEST(Sampling, LargePiecesComeHoweverOftenItStartsAgain) {
  Sampling sampling(16, 1024);
  std::size_t largest = 0;
  for (std::uint64_t now = 1; now <= 2000; ++now) {
    if (now >= sampling.next_at()) largest = std::max(largest, sampling.next(now, all));
    sampling.restart(now);
  }
  EXPECT_EQ(largest, 1024u);
}

// What is saved up is bounded: after a long time without mining there is no long time of it.
TEST(Sampling, CreditIsBounded) {
  Sampling sampling(1024, 1024);
  (void)sampling.next(100'000'000, all);
  std::size_t mined = 0;
  for (std::uint64_t now = 100'000'001; now <= 100'050'000; ++now) {
    if (now >= sampling.next_at()) mined += sampling.next(now, all);
    sampling.restart(now);
  }
  EXPECT_LE(mined, 8192u + 50'000 / 4);
}

}  // namespace
}  // namespace refrain::autotrace::autotrace_sampling_test
