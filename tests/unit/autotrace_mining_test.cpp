// What of a sample is kept: periods, from where on, pieces, each once.

#include "finder/mining.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

#include "support/random.hpp"
#include "support/streams.hpp"

namespace refrain::autotrace::autotrace_mining_test {
namespace {

/// Letters are calls that are analysed; capital ones were replayed, and a full stop after one ends its replay.
Sample sample_of(std::string_view text) {
  Sample sample;
  for (const char c : text) {
    if (c == '.') {
      sample.kinds.back() = Sample::end_of_replay;
      continue;
    }
    const bool replayed = c >= 'A' && c <= 'Z';
    sample.tokens.push_back(static_cast<Token>(replayed ? c - 'A' + 'a' : c));
    sample.kinds.push_back(replayed ? Sample::replayed : Sample::analysed);
    sample.work.push_back(1);
  }
  return sample;
}

std::string text_of(const std::vector<Token>& tokens) { return {tokens.begin(), tokens.end()}; }

std::vector<std::string> mined(std::string_view text, MiningLimits limits = {}) {
  std::vector<std::string> found;
  for (const MinedRepeat& repeat : mine(sample_of(text), limits))
    found.push_back(text_of(repeat.tokens));
  return found;
}

using Texts = std::vector<std::string>;

TEST(Mining, ThePeriodOfTokens) {
  const auto period = [](std::string_view text) { return period_of(sample_of(text).tokens); };
  EXPECT_EQ(period("a"), 1u);
  EXPECT_EQ(period("aaaa"), 1u);
  EXPECT_EQ(period("abcabcab"), 3u);
  EXPECT_EQ(period("abcd"), 4u);
  EXPECT_EQ(period("aabaaab"), 4u);
}

TEST(Mining, ThePeriodIsTheShortest) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    test::Random random(seed);
    std::vector<Token> tokens(static_cast<std::size_t>(random.between(1, 20)));
    for (Token& token : tokens) token = static_cast<Token>(random.below(2));
    std::size_t shortest = 1;
    while (!std::equal(tokens.begin() + static_cast<std::ptrdiff_t>(shortest), tokens.end(),
                       tokens.begin()))
      ++shortest;
    ASSERT_EQ(period_of(tokens), shortest) << "seed " << seed;
  }
}

TEST(Mining, OfALoopOnePeriodIsKept) {
  const auto found = mine(sample_of("xbcxbcxbcxbcxbc"), {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].tokens.size(), 3u);
  EXPECT_EQ(found[0].period, 3u);
  EXPECT_GE(found[0].count, 4u);
}

TEST(Mining, ShortPeriodsComeSeveralTimes) {
  const auto found = mine(sample_of("abcabcabcabcabcabcabcabc"), {.least = 7});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(text_of(found[0].tokens), "abcabcabc");
  EXPECT_EQ(found[0].period, 3u);
}

TEST(Mining, WorkIsWhatMakesARepeatLongEnough) {
  Sample sample = sample_of("abcxabcyabczd");
  EXPECT_TRUE(mine(sample, {.least = 7}).empty());
  for (const std::size_t at : {1U, 5U, 9U}) sample.work[at] = 5;
  const auto found = mine(sample, {.least = 7});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(text_of(found[0].tokens), "abc");
  EXPECT_EQ(found[0].work, 7u);
  EXPECT_EQ(found[0].analysed, 7u);
  EXPECT_TRUE(mine(sample, {.least = 8}).empty());
}

TEST(Mining, ALoopIsUnrolledByItsCallsOrItsWork) {
  Sample sample = sample_of("abcabcabcabc");
  const auto calls_with = [&](Work work) {
    std::ranges::fill(sample.work, work);
    const auto found = mine(sample, {.least = 4});
    return found.empty() ? 0 : found[0].tokens.size();
  };
  EXPECT_EQ(calls_with(1), 6u);
  EXPECT_EQ(calls_with(16), 6u);
  EXPECT_EQ(calls_with(100), 3u);
}

TEST(Mining, ARepeatThatFollowsItselfIsAPeriod) {
  const auto found = mine(sample_of("abcabc"), {.least = 3});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].period, 3u);
}

TEST(Mining, APeriodBeginsWithTheRarestToken) {
  EXPECT_EQ(mined("bbbabbbabbbabbba"), (Texts{"abbb"}));
  // Of several as rare the first after more frequent ones.
  EXPECT_EQ(mined("xbbaxbbaxbbaxbbaxbba"), (Texts{"axbb"}));
}

TEST(Mining, APeriodBeginsWhereCallsWereAnalysedAfterReplayedOnes) {
  EXPECT_EQ(mined("ABcdABcdABcdABcd"), (Texts{"cdab"}));
  EXPECT_EQ(mined("aBCdaBCdaBCdaBCd"), (Texts{"dabc"}));
}

TEST(Mining, WhatIsReplayedAnywayIsLeftOut) {
  EXPECT_EQ(mined("ABC.ABC.ABC.ABC."), Texts{});
  // Only the last time counts.
  EXPECT_EQ(mined("abcdeXabcdeYABCDE."), Texts{});
  EXPECT_EQ(mined("ABCDE.xABCDE.yabcde"), (Texts{"abcde"}));
}

TEST(Mining, ARepeatWithSomethingBetween) {
  const auto found = mine(sample_of("abcdexabcdeyabcdez"), {.least = 3});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(text_of(found[0].tokens), "abcde");
  EXPECT_EQ(found[0].period, 0u);
  EXPECT_EQ(found[0].count, 3u);
}

TEST(Mining, WhatIsLeftOverOnceIsInTheWayOfNothing) {
  // Of depqr one is part of an abcde, so that it is no repeat.
  EXPECT_EQ(mined("abcdepqr1abcde2depqr3", {.least = 3}), (Texts{"abcde", "pqr"}));
}

TEST(Mining, OnlyWhatRepeatsIsFound) {
  EXPECT_EQ(mined(""), Texts{});
  EXPECT_EQ(mined("a"), Texts{});
  EXPECT_EQ(mined("abcdefgh"), Texts{});
}

TEST(Mining, ReplaysThatFollowOnAnalysedCallsGoWithThem) {
  EXPECT_EQ(mined("abCD.xabCD.y", {.least = 2}), (Texts{"abcd"}));
  // What is not replayed to its end is not known to be of use.
  EXPECT_EQ(mined("abCD.Ex1abCD.Ey2", {.least = 2}), (Texts{"abcd"}));
  // What was replayed before them they come after.
  EXPECT_EQ(mined("CD.abxCD.aby", {.least = 2}), (Texts{"ab"}));
}

TEST(Mining, KnowsWhatComesBefore) {
  const auto context = [](std::string_view text) { return context_of(sample_of(text).tokens); };
  const auto contexts = [](std::string_view text) {
    std::vector<std::uint64_t> found;
    for (const MinedRepeat& repeat : mine(sample_of(text), {})) found.push_back(repeat.context);
    return found;
  };
  // Of a loop: what comes before in the loop, however short it is; it begins with the rarest, c.
  EXPECT_EQ(contexts("cabbacabbacabba"), std::vector{context("acabbacabbacabba")});
  // Of other repeats: what came before the last time.
  EXPECT_EQ(contexts("abcde1fghijabcde"), std::vector{context("abcde1fghij")});
}

TEST(Mining, LongOnesAreCutIntoPieces) {
  const MiningLimits limits{.least = 2, .most = 3};
  EXPECT_EQ(mined("abcdefgh1abcdefgh2", limits), (Texts{"abc", "def", "gh"}));
  // A rest that is too short is left out.
  EXPECT_EQ(mined("abcdefg1abcdefg2", limits), (Texts{"abc", "def"}));
}

TEST(Mining, APeriodThatIsTooLongIsCutToo) {
  const auto found = mine(sample_of("abcdefghabcdefghabcdefgh"), {.least = 2, .most = 3});
  ASSERT_EQ(found.size(), 3u);
  for (const MinedRepeat& piece : found) {
    EXPECT_EQ(piece.period, 0u);
    EXPECT_LE(piece.tokens.size(), 3u);
  }
}

TEST(Mining, APeriodIsTheSameWhereverItBegins) {
  std::set<std::uint64_t> identities;
  const std::string loop = "abcdeabcdeabcdeabcdeabcde";
  for (std::size_t begin = 0; begin < 5; ++begin) {
    const auto found = mine(sample_of(loop.substr(begin)), {});
    ASSERT_EQ(found.size(), 1u);
    identities.insert(found[0].identity);
  }
  EXPECT_EQ(identities.size(), 1u);
}

/// Streams, parts of them as if replayed.
Sample random_sample(test::Random& random) {
  std::vector<std::string> names = test::program_streams;
  names.insert(names.end(), test::other_streams.begin(), test::other_streams.end());
  Sample sample;
  sample.tokens = test::make_stream(random.pick(names), 400, random.next());
  for (Token& token : sample.tokens) token = test::mix(token, 1);  // tokens are hashes
  while (sample.kinds.size() < sample.tokens.size()) {
    const auto length = static_cast<std::size_t>(random.between(1, 40));
    if (random.percent(50)) {
      sample.kinds.insert(sample.kinds.end(), length, Sample::analysed);
    } else {
      sample.kinds.insert(sample.kinds.end(), length - 1, Sample::replayed);
      sample.kinds.push_back(Sample::end_of_replay);
    }
  }
  sample.kinds.resize(sample.tokens.size());
  sample.work.assign(sample.tokens.size(), 1);
  return sample;
}

TEST(Mining, IsInTheSampleAndWithinTheLimits) {
  std::size_t found = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    test::Random random(seed);
    const Sample sample = random_sample(random);
    const auto least = static_cast<std::size_t>(random.between(1, 30));
    const MiningLimits limits{least, least + static_cast<std::size_t>(random.below(60))};
    std::set<std::uint64_t> identities;
    for (const MinedRepeat& repeat : mine(sample, limits)) {
      ++found;
      EXPECT_TRUE(identities.insert(repeat.identity).second) << "seed " << seed;
      const std::vector<Token>& tokens = repeat.tokens;
      EXPECT_LE(tokens.size(), limits.most) << "seed " << seed;
      if (repeat.period == 0) {
        EXPECT_GE(tokens.size(), limits.least) << "seed " << seed;
      } else {
        // Where no number of periods is within both limits the upper one counts.
        EXPECT_TRUE(tokens.size() >= limits.least || tokens.size() + repeat.period > limits.most)
            << "seed " << seed;
        EXPECT_LE(repeat.period, limits.most) << "seed " << seed;
        EXPECT_EQ(tokens.size() % repeat.period, 0u) << "seed " << seed;
        EXPECT_LT(tokens.size(), limits.least + repeat.period) << "seed " << seed;
        EXPECT_TRUE(std::equal(tokens.begin() + repeat.period, tokens.end(), tokens.begin()));
      }
      // A period, wherever it begins, is in a loop; of several periods no more than one may be in the sample.
      const auto part = std::span(tokens).first(repeat.period != 0 ? repeat.period : tokens.size());
      EXPECT_FALSE(std::ranges::search(sample.tokens, part).empty()) << "seed " << seed;
      EXPECT_GE(repeat.count, 2u) << "seed " << seed;
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GE(found, 1000u);
}

}  // namespace
}  // namespace refrain::autotrace::autotrace_mining_test
