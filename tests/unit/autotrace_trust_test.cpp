// What was for nothing is tried less and less; what was found and was wrong is watched before it is replayed again.

#include <gtest/gtest.h>

#include <vector>

#include "tracing/segment.hpp"

namespace refrain::runtime {
namespace {

/// How often it is left alone until it may be tried.
int pauses(Patience& patience) {
  int times = 0;
  while (patience.pause()) ++times;
  return times;
}

TEST(Patience, PausesGrowToALimit) {
  Patience patience;
  EXPECT_EQ(pauses(patience), 0);
  std::vector<int> found;
  for (int i = 0; i < 8; ++i) {
    patience.judge(false);
    found.push_back(pauses(patience));
  }
  EXPECT_EQ(found, (std::vector{1, 3, 7, 15, 31, 63, 64, 64}));
}

TEST(Patience, BeginsAnewWhenItWasOfUse) {
  Patience patience;
  for (int i = 0; i < 5; ++i) patience.judge(false);
  EXPECT_TRUE(patience.is_pausing());
  patience.judge(true);
  EXPECT_FALSE(patience.is_pausing());
  EXPECT_EQ(pauses(patience), 0);
  patience.judge(false);
  EXPECT_EQ(pauses(patience), 1);
}

/// How often in a row it has to come in full before it is replayed.
int watched(Trust trust) {
  int times = 0;
  for (; !trust.is_given(); ++times) trust.came(true);
  return times;
}

TEST(Trust, IsGivenAtFirst) { EXPECT_TRUE(Trust().is_given()); }

TEST(Trust, IsEarnedAgainAndAgainHarder) {
  Trust trust;
  std::vector<int> found;
  for (int i = 0; i < 5; ++i) {
    trust.judge(-1);
    found.push_back(watched(trust));
  }
  EXPECT_EQ(found, (std::vector{1, 3, 7, 15, 15}));
}

TEST(Trust, OnlyTimesInARowCount) {
  Trust trust;
  for (int i = 0; i < 2; ++i) trust.judge(-1);
  trust.came(true);
  trust.came(true);
  EXPECT_EQ(watched(trust), 1);
  trust.came(false);
  EXPECT_EQ(watched(trust), 3);
}

TEST(Trust, StaysWhileMoreIsGainedThanLost) {
  Trust trust;
  trust.judge(10);
  trust.judge(-10);
  EXPECT_TRUE(trust.is_given());
  trust.judge(-1);
  EXPECT_FALSE(trust.is_given());
}

TEST(Trust, WhatWasGainedLongAgoDoesNotCount) {
  Trust trust;
  trust.judge(1'000'000);
  trust.judge(-65);
  EXPECT_FALSE(trust.is_given());
}

TEST(Trust, ComesBackWithWhatIsGained) {
  Trust trust;
  for (int i = 0; i < 4; ++i) trust.judge(-1);  // 15 times
  for (int i = 0; i < 4; ++i) trust.judge(1);
  for (int i = 0; i < 5; ++i) trust.judge(-1);
  EXPECT_EQ(watched(trust), 1);
}

}  // namespace
}  // namespace refrain::runtime
