#include "tracing/selector.hpp"

#include <gtest/gtest.h>

#include <string>

namespace refrain::runtime::repetition_test {
namespace {

/// What has come twice at the end of the text.
std::string twice(const std::string& text) {
  Repetition<char> seen;
  for (const char c : text) seen.add(c);
  const auto found = seen.twice();
  return {found.begin(), found.end()};
}

TEST(Repetition, FindsTheShortestSequenceThatCameTwice) {
  EXPECT_EQ(twice(""), "");
  EXPECT_EQ(twice("a"), "");
  EXPECT_EQ(twice("ab"), "");
  EXPECT_EQ(twice("aba"), "");
  EXPECT_EQ(twice("abab"), "ab");
  EXPECT_EQ(twice("ababa"), "ba");
  EXPECT_EQ(twice("caabaab"), "aab");
  EXPECT_EQ(twice("aabaa"), "a");
  EXPECT_EQ(twice("abcabd"), "");
}

TEST(Repetition, LooksAsFarBackAsItSays) {
  std::string longest;
  for (std::size_t i = 0; i < Repetition<char>::kLongest; ++i)
    longest += static_cast<char>('a' + i);
  for (std::size_t before = 0; before < 100; ++before)
    EXPECT_EQ(twice(std::string(before, '-') + '+' + longest + longest), longest) << before;
  EXPECT_EQ(twice(longest + '+' + longest + '+'), "");
}

TEST(Repetition, Forgets) {
  Repetition<int> seen;
  for (const int value : {1, 2, 1}) seen.add(value);
  seen.clear();
  seen.add(2);
  EXPECT_TRUE(seen.twice().empty());
}

}  // namespace
}  // namespace refrain::runtime::repetition_test
