#include "support/peer_process.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace refrain::bench {
namespace {

std::string reason_of(Peer& peer, const std::string& request) {
  try {
    peer.ask(request);
  } catch (const Peer::Lost& lost) { return lost.what(); }
  return "answered";
}

TEST(Peer, AnswersEveryRequest) {
  Peer peer(TEST_PEER, {"1"});
  EXPECT_EQ(peer.ask("do=0 twice=21"), 42);
  EXPECT_EQ(peer.ask("do=0 twice=4"), 8);
}

TEST(Peer, TwoTakeTurns) {
  Peer one(TEST_PEER, {"1"});
  Peer two(TEST_PEER, {"1"});
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(one.ask("do=0 twice=1"), 2);
    EXPECT_EQ(two.ask("do=0 twice=2"), 4);
  }
}

TEST(Peer, AnAbsentOneIsNotBuilt) {
  try {
    Peer peer("/nowhere/peer", {});
    FAIL();
  } catch (const Peer::Lost& lost) { EXPECT_STREQ(lost.what(), "not built"); }
}

TEST(Peer, OneThatRefusesToStartSaysWhy) {
  try {
    Peer peer(TEST_PEER, {"1", "unwilling"});
    FAIL();
  } catch (const Peer::Lost& lost) { EXPECT_STREQ(lost.what(), "does not want to"); }
}

TEST(Peer, ErrorsDeathsAndSilenceAreReasons) {
  Peer failing(TEST_PEER, {"1"});
  EXPECT_EQ(reason_of(failing, "do=1"), "the check failed");
  EXPECT_EQ(reason_of(failing, "do=0"), "request without 'twice'");
  Peer dying(TEST_PEER, {"1"});
  EXPECT_EQ(reason_of(dying, "do=3"), "died");
  EXPECT_EQ(reason_of(dying, "do=0 twice=1"), "is gone");
  Peer hanging(TEST_PEER, {"1"}, 1);
  EXPECT_EQ(reason_of(hanging, "do=2"), "gave no answer for 1 s");
}

TEST(Peer, TuningVariablesDoNotReachIt) {
  setenv("OMP_NUM_THREADS", "7", 1);
  Peer peer(TEST_PEER, {"1"});
  unsetenv("OMP_NUM_THREADS");
  EXPECT_EQ(peer.ask("do=9"), 0);
}

}  // namespace
}  // namespace refrain::bench
