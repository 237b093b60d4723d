// Who waits for whose cache.

#include "capture/shared_lines.hpp"

#include <gtest/gtest.h>

namespace refrain::test::shared_lines_test {
namespace {

using capture::SharedLines;
using capture::Touch;

constexpr double kRead = 64 << 10;  ///< bytes of the block that is shared

/// A microsecond for each KiB, and a cache of 256 KiB, of which half counts.
class Lines : public SharedLines {
 public:
  Lines()
      : SharedLines({{1 << 10, 1, 1e-6, 0}, {256 << 10, 1, 256e-6, 0}, {1 << 20, 1, 250e-6, 0}}) {}

  std::uint32_t of(Coord first, Coord last, std::uint64_t instance = 0) {
    return block({nullptr, instance}, {{first, 0, 0}, {last, 0, 0}});
  }
  double read(std::uint32_t core, std::uint32_t block, double bytes = kRead) {
    return 1e6 * begin({Touch{block, true, false, bytes}}, core);
  }
  double write(std::uint32_t core, std::uint32_t block) {
    return 1e6 * begin({Touch{block, false, true, kRead}}, core);
  }
  double read_and_write(std::uint32_t core, std::uint32_t block) {
    return 1e6 * begin({Touch{block, true, true, kRead}}, core);
  }
};

TEST(SharedLines, WhoWritesWhatAnotherHasReadWaitsForIt) {
  Lines lines;
  const auto x = lines.of(0, 99);
  EXPECT_EQ(lines.write(0, x), 0) << "nobody has it";
  EXPECT_EQ(lines.read(1, x), 0);
  EXPECT_NEAR(lines.write(0, x), 64, 1e-6);
  EXPECT_EQ(lines.write(0, x), 0) << "it has been let go";
  lines.read(1, x);
  lines.read(0, x);
  EXPECT_NEAR(lines.read_and_write(0, x), 64, 1e-6) << "the other has it all the same";
}

TEST(SharedLines, WhoHasItAloneDoesNotWait) {
  Lines lines;
  const auto x = lines.of(0, 99);
  lines.write(0, x);
  EXPECT_EQ(lines.write(1, x), 0) << "the other has written it, and not read it since";
  EXPECT_EQ(lines.read_and_write(0, x), 0);
  EXPECT_EQ(lines.read_and_write(1, x), 0) << "it goes from core to core";
  EXPECT_FALSE(SharedLines({}).matter());
}

TEST(SharedLines, WhatHasLeftTheCacheIsNotWaitedFor) {
  Lines lines;
  const auto x = lines.of(0, 99), other = lines.of(0, 99, 1);
  lines.read(1, x);
  lines.read(1, other, 96 << 10);
  EXPECT_NEAR(lines.write(0, x), 32, 1e-6) << "half of it has";
  lines.read(1, x);
  lines.read(1, other, 1 << 20);
  EXPECT_EQ(lines.write(0, x), 0);
}

TEST(SharedLines, WhoReadsABlockReadsThoseInIt) {
  Lines lines;
  const auto all = lines.of(0, 99), most = lines.of(1, 98), edge = lines.of(0, 1);
  lines.read(1, most);
  EXPECT_NEAR(lines.write(0, all), 64, 1e-6);
  EXPECT_EQ(lines.write(0, most), 0) << "it was written with all";
  lines.read(1, edge);
  EXPECT_EQ(lines.write(0, all), 0) << "hardly any of it";
  lines.read(1, all);
  EXPECT_NEAR(lines.write(0, edge), 64, 1e-6);
}

}  // namespace
}  // namespace refrain::test::shared_lines_test
