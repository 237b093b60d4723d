#include "support/gate.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace refrain::bench {
namespace {

TEST(Gate, HoldsWhoComesUntilItIsOpened) {
  Gate gate;
  for (int round = 0; round < 100; ++round) {
    bool opened = false, passed_when_open = false;
    gate.close();
    std::thread other([&] {
      gate.pass();
      passed_when_open = opened;
    });
    EXPECT_TRUE(gate.wait_until_held());
    opened = true;
    gate.open();
    other.join();
    EXPECT_TRUE(passed_when_open);
  }
}

TEST(Gate, HoldsNobodyWhenItIsOpen) {
  Gate gate;
  std::thread other([&] { gate.pass(); });
  other.join();
}

TEST(Gate, LetsItsOwnerPass) {
  Gate gate;
  gate.close();
  gate.pass();
  EXPECT_FALSE(gate.wait_until_held());
}

}  // namespace
}  // namespace refrain::bench
