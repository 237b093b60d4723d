// What is in vain is tried less and less; what was found and was wrong is watched before it is replayed again.

#include "finder/ledger.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace refrain::autotrace::ledger_test {
namespace {

/// How often it is left alone until it may be tried.
int pauses(Ledger& ledger) {
  int times = 0;
  while (ledger.pause()) ++times;
  return times;
}

/// How often in a row it has to gain, while it is watched, before it may be tried.
int watched(Ledger ledger) {
  int times = 0;
  for (; !ledger.is_open(); ++times) ledger.watched(true);
  return times;
}

TEST(Ledger, IsOpenAtFirst) {
  Ledger ledger;
  EXPECT_TRUE(ledger.is_open());
  EXPECT_FALSE(ledger.pause());
}

TEST(Ledger, PausesGrowToALimit) {
  Ledger ledger;
  std::vector<int> found;
  for (int i = 0; i < 8; ++i) {
    ledger.enter(-1);
    found.push_back(pauses(ledger));
  }
  EXPECT_EQ(found, (std::vector{1, 3, 7, 15, 31, 63, 63, 63}));
}

TEST(Ledger, AGainEndsThePauseSooner) {
  Ledger ledger;
  for (int i = 0; i < 5; ++i) ledger.enter(-1);
  EXPECT_FALSE(ledger.is_open());
  ledger.enter(1);
  EXPECT_EQ(pauses(ledger), 15);
  for (int i = 0; i < 4; ++i) ledger.enter(1);
  ledger.enter(-1);
  EXPECT_EQ(pauses(ledger), 1);
}

TEST(Ledger, OnlyGainsInARowCountWhileItIsWatched) {
  Ledger ledger;
  for (int i = 0; i < 2; ++i) ledger.enter(-1);
  ledger.watched(true);
  ledger.watched(true);
  EXPECT_EQ(watched(ledger), 1);
  ledger.watched(false);
  EXPECT_EQ(watched(ledger), 3);
}

TEST(Ledger, IsOpenWhileMoreIsGainedThanLost) {
  Ledger ledger(0, 128);
  ledger.enter(10);
  ledger.enter(-10);
  EXPECT_TRUE(ledger.is_open());
  ledger.enter(-1);
  EXPECT_FALSE(ledger.is_open());
}

TEST(Ledger, WhatWasGainedLongAgoDoesNotCount) {
  Ledger ledger(0, 128);
  ledger.enter(1'000'000);
  ledger.enter(-129);
  EXPECT_FALSE(ledger.is_open());
}

TEST(Ledger, CreditIsSpentBeforeItPauses) {
  Ledger ledger(1024, 128);
  ledger.enter(-1000);
  ledger.enter(200);  // counts up to 128 only
  ledger.enter(-128);
  EXPECT_TRUE(ledger.is_open());
  ledger.enter(-1);
  EXPECT_EQ(pauses(ledger), 1);
}

}  // namespace
}  // namespace refrain::autotrace::ledger_test
