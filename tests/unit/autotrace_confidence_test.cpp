// What was for nothing is tried less and less; what was found and was wrong is watched before it is replayed again.

#include <gtest/gtest.h>

#include <vector>

#include "tracing/trace_tree.hpp"

namespace refrain::runtime {
namespace {

/// How often it is left alone until it may be tried.
int pauses(Backoff& backoff) {
  int times = 0;
  while (backoff.pause()) ++times;
  return times;
}

TEST(Backoff, PausesGrowToALimit) {
  Backoff backoff;
  EXPECT_EQ(pauses(backoff), 0);
  std::vector<int> found;
  for (int i = 0; i < 8; ++i) {
    backoff.judge(false);
    found.push_back(pauses(backoff));
  }
  EXPECT_EQ(found, (std::vector{1, 3, 7, 15, 31, 63, 64, 64}));
}

TEST(Backoff, BeginsAnewWhenItWasOfUse) {
  Backoff backoff;
  for (int i = 0; i < 5; ++i) backoff.judge(false);
  EXPECT_TRUE(backoff.is_pausing());
  backoff.judge(true);
  EXPECT_FALSE(backoff.is_pausing());
  EXPECT_EQ(pauses(backoff), 0);
  backoff.judge(false);
  EXPECT_EQ(pauses(backoff), 1);
}

/// How often in a row it has to come in full before it is replayed.
int watched(Confidence confidence) {
  int times = 0;
  for (; !confidence.is_given(); ++times) confidence.came(true);
  return times;
}

TEST(Confidence, IsGivenAtFirst) { EXPECT_TRUE(Confidence().is_given()); }

TEST(Confidence, IsEarnedAgainAndAgainHarder) {
  Confidence confidence;
  std::vector<int> found;
  for (int i = 0; i < 5; ++i) {
    confidence.judge(-1);
    found.push_back(watched(confidence));
  }
  EXPECT_EQ(found, (std::vector{1, 3, 7, 15, 15}));
}

TEST(Confidence, OnlyTimesInARowCount) {
  Confidence confidence;
  for (int i = 0; i < 2; ++i) confidence.judge(-1);
  confidence.came(true);
  confidence.came(true);
  EXPECT_EQ(watched(confidence), 1);
  confidence.came(false);
  EXPECT_EQ(watched(confidence), 3);
}

TEST(Confidence, StaysWhileMoreIsGainedThanLost) {
  Confidence confidence;
  confidence.judge(10);
  confidence.judge(-10);
  EXPECT_TRUE(confidence.is_given());
  confidence.judge(-1);
  EXPECT_FALSE(confidence.is_given());
}

TEST(Confidence, WhatWasGainedLongAgoDoesNotCount) {
  Confidence confidence;
  confidence.judge(1'000'000);
  confidence.judge(-65);
  EXPECT_FALSE(confidence.is_given());
}

TEST(Confidence, ComesBackWithWhatIsGained) {
  Confidence confidence;
  for (int i = 0; i < 4; ++i) confidence.judge(-1);  // 15 times
  for (int i = 0; i < 4; ++i) confidence.judge(1);
  for (int i = 0; i < 5; ++i) confidence.judge(-1);
  EXPECT_EQ(watched(confidence), 1);
}

}  // namespace
}  // namespace refrain::runtime
