#include "base/text.hpp"

#include <gtest/gtest.h>

namespace refrain::size_test {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

TEST(Size, ReadsUnits) {
  EXPECT_EQ(parse_size("4096"), 4096U);
  EXPECT_EQ(parse_size("0"), 0U);
  EXPECT_EQ(parse_size("12B"), 12U);
  EXPECT_EQ(parse_size("64MiB"), 64 * mib);
  EXPECT_EQ(parse_size("64 mib"), 64 * mib);
  EXPECT_EQ(parse_size("1.5GB"), 1'500'000'000U);
  EXPECT_EQ(parse_size("0.5KiB"), 512U);
  EXPECT_EQ(parse_size("2TB"), 2'000'000'000'000U);
  EXPECT_EQ(parse_size("9007199254740993"), 9007199254740993U) << "more bits than a double has";
}

TEST(Size, RefusesWhatIsNoSize) {
  for (const char* text :
       {"", "MiB", "-1", "+1", "1e3", "1.MiB", ".5MiB", "1.2.3", "64 ", "64  MiB", "64MiBs", "64M",
        "inf", "nan", "0x10", "9223372036854775808", "9000000000TB"})
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
}

TEST(Size, BandwidthsAndDurations) {
  EXPECT_DOUBLE_EQ(parse_bandwidth("16GB/s").value_or(0), 16e9);
  EXPECT_DOUBLE_EQ(parse_bandwidth("1.5 MiB/s").value_or(0), 1.5 * 1048576);
  EXPECT_EQ(parse_bandwidth("16GB"), std::nullopt);
  EXPECT_EQ(parse_bandwidth("/s"), std::nullopt);
  EXPECT_DOUBLE_EQ(parse_duration("1.5us").value_or(0), 1.5e-6);
  EXPECT_DOUBLE_EQ(parse_duration("100 ns").value_or(0), 100e-9);
  EXPECT_DOUBLE_EQ(parse_duration("2s").value_or(0), 2);
  EXPECT_EQ(parse_duration("5"), std::nullopt) << "a duration needs a unit";
  EXPECT_DOUBLE_EQ(parse_flops("9.3TFlop/s").value_or(0), 9.3e12);
  EXPECT_DOUBLE_EQ(parse_flops("2 flop/s").value_or(0), 2);
  EXPECT_EQ(parse_flops("9.3TFlops"), std::nullopt);
  EXPECT_EQ(parse_flops("9.3"), std::nullopt) << "so does a rate";
}

TEST(Size, WhatIsWrittenIsReadBack) {
  for (std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}, 64 * mib,
                              3 * mib / 2, mib + 1, std::uint64_t{9007199254740993}})
    EXPECT_EQ(parse_size(exact_size(bytes)), bytes) << exact_size(bytes);
  EXPECT_EQ(exact_size(64 * mib), "64MiB");
  EXPECT_EQ(short_size(16 * 1000 * mib), "15.62GiB");
  EXPECT_EQ(short_bandwidth(16e9), "16GB/s");
  EXPECT_EQ(short_duration(1.5e-6), "1.5us");
  EXPECT_EQ(short_duration(0), "0ns");
  EXPECT_EQ(short_flops(70.4e9), "70.4GFlop/s");
}

TEST(Size, DigitsInGroups) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1'000");
  EXPECT_EQ(grouped(1234567), "1'234'567");
}

}  // namespace
}  // namespace refrain::size_test
