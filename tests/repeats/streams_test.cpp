// The streams that traces are looked for in.

#include "support/streams.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

namespace refrain::test::streams_test {
namespace {

std::vector<std::string> all_streams() {
  std::vector<std::string> names = program_streams;
  for (const auto* more : {&other_streams, &noisy_streams})
    names.insert(names.end(), more->begin(), more->end());
  return names;
}

TEST(Streams, AreTheBeginningOfLongerOnes) {
  for (const std::string& name : all_streams()) {
    const Stream longer = make_stream(name, 3000, 5);
    ASSERT_EQ(longer.size(), 3000u) << name;
    for (const std::size_t size : {0, 1, 2, 100, 1777}) {
      const Stream stream = make_stream(name, size, 5);
      ASSERT_EQ(stream.size(), size) << name;
      EXPECT_TRUE(std::equal(stream.begin(), stream.end(), longer.begin())) << name;
    }
  }
}

TEST(Streams, FollowTheirSeeds) {
  for (const std::string& name : program_streams)
    EXPECT_NE(make_stream(name, 500, 1), make_stream(name, 500, 2)) << name;
}

TEST(Streams, AreWhatTheirNamesSay) {
  EXPECT_EQ(make_stream("fibonacci", 13, 1), (Stream{0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(make_stream("thue_morse", 8, 1), (Stream{0, 1, 1, 0, 1, 0, 0, 1}));
  EXPECT_EQ(make_stream("period_doubling", 8, 1), (Stream{0, 1, 0, 0, 0, 1, 0, 1}));
  EXPECT_EQ(make_stream("one_token", 3, 1), (Stream{0, 0, 0}));
  const Stream distinct = make_stream("distinct", 2000, 1);
  EXPECT_EQ(std::set(distinct.begin(), distinct.end()).size(), 2000u);
  const Stream loop = make_stream("loop", 500, 1);
  EXPECT_TRUE(std::equal(loop.begin() + 90, loop.end(), loop.begin() + 30));
  const Stream noisy = make_stream("noisy_loop", 10'000, 1);
  int others = 0;
  for (std::size_t i = 0; i < noisy.size(); ++i) {
    if (noisy[i] == i % 37) continue;
    ++others;
    EXPECT_TRUE(noisy[i] >= 37 && noisy[i] < 42);
  }
  EXPECT_GE(others, 150);
  EXPECT_LE(others, 250);
}

TEST(Streams, OfNoSuchName) { EXPECT_THROW(make_stream("", 1, 1), std::invalid_argument); }

}  // namespace
}  // namespace refrain::test::streams_test
