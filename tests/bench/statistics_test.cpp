#include "support/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace refrain::bench {
namespace {

TEST(Statistics, SpreadIsMedianMinMax) {
  const Spread odd = spread({5, 1, 9});
  EXPECT_EQ(odd.median, 5);
  EXPECT_EQ(odd.min, 1);
  EXPECT_EQ(odd.max, 9);
  EXPECT_EQ(spread({4, 1, 2, 9}).median, 3);
  EXPECT_EQ(spread({7}).median, 7);
}

TEST(Statistics, GeometricMean) { EXPECT_DOUBLE_EQ(geometric_mean({1, 4, 16}), 4); }

TEST(Statistics, FifteenPairsUseTheFourthFromEitherEnd) {
  std::vector<double> ours;
  std::vector<double> theirs;
  for (int i = 1; i <= 15; ++i) {
    ours.push_back(i * (i + 0.0));
    theirs.push_back(i);
  }
  const PairedRatio ratio = paired_ratio(ours, theirs);  // the ratios are 1 to 15
  EXPECT_EQ(ratio.median, 8);
  EXPECT_EQ(ratio.low, 4);
  EXPECT_EQ(ratio.high, 12);
  EXPECT_TRUE(ratio.covered);
}

TEST(Statistics, SixPairsAreTheFewestThatCover) {
  EXPECT_TRUE(paired_ratio({1, 2, 3, 4, 5, 6}, {1, 1, 1, 1, 1, 1}).covered);
  const PairedRatio five = paired_ratio({1, 2, 3, 4, 5}, {1, 1, 1, 1, 1});
  EXPECT_FALSE(five.covered);
  EXPECT_EQ(five.low, 1);
  EXPECT_EQ(five.high, 5);
}

TEST(Metg, InterpolatesInTheLogarithm) {
  EXPECT_NEAR(metg({{100, 0.25}, {10000, 0.75}}, 0.5), 1000, 1e-9);
  EXPECT_NEAR(metg({{10000, 0.75}, {100, 0.25}}, 0.5), 1000, 1e-9);
}

TEST(Metg, TheCoarsestCrossingCounts) {
  EXPECT_NEAR(metg({{1, 0.9}, {100, 0.25}, {10000, 0.75}, {20000, 0.9}}, 0.5), 1000, 1e-9);
}

TEST(Metg, CurvesWithoutACrossing) {
  EXPECT_TRUE(std::isinf(metg({{100, 0.1}, {1000, 0.4}}, 0.5)));
  EXPECT_EQ(metg({{100, 0.6}, {1000, 0.9}}, 0.5), 100);
}

}  // namespace
}  // namespace refrain::bench
