// The history against one that forgets nothing.

#include "finder/history.hpp"

#include <gtest/gtest.h>

#include "support/random.hpp"

namespace refrain::autotrace::autotrace_history_test {
namespace {

using Kinds = std::vector<Sample::Kind>;
using Tokens = std::vector<Token>;

std::vector<Work> ones(const Tokens& tokens) { return std::vector<Work>(tokens.size(), 1); }

TEST(History, GivesTheLastTokensInTheirOrder) {
  History history(4);
  for (const Token token : {1, 2, 3, 4, 5}) history.add(token);
  EXPECT_EQ(history.count(), 5u);
  EXPECT_EQ(history.last(3).tokens, (Tokens{3, 4, 5}));
  EXPECT_EQ(history.last(100).tokens, (Tokens{2, 3, 4, 5}));
  EXPECT_TRUE(history.last(0).tokens.empty());
}

TEST(History, KnowsWhatBecameOfTheCalls) {
  History history(8);
  const Tokens replay{2, 3}, another{4};
  history.add(1);
  history.add_replayed(replay, ones(replay));
  history.add_replayed(another, ones(another));
  history.add(5);
  EXPECT_EQ(history.last(8).kinds, (Kinds{Sample::analysed, Sample::replayed, Sample::end_of_replay,
                                          Sample::end_of_replay, Sample::analysed}));
  // A sample may begin in the middle of a replay.
  EXPECT_EQ(history.last(3).kinds,
            (Kinds{Sample::end_of_replay, Sample::end_of_replay, Sample::analysed}));
}

TEST(History, TheContextIsTheLastTokens) {
  History history(4), another(1000);
  for (Token token = 0; token < 100; ++token) {
    if (token > 80) history.add(token);
    another.add(token);
  }
  EXPECT_EQ(history.context(0), another.context(0));
  EXPECT_NE(history.context(0), history.context(1));
  another.add(100);
  EXPECT_EQ(history.context(0), another.context(1));
  EXPECT_NE(history.context(0), another.context(0));
}

TEST(History, OneUniqueTokenIsAsGoodAsAnotherForAContext) {
  EXPECT_TRUE(is_unique(unique_token(0)));
  EXPECT_TRUE(is_unique(unique_token(1'000'000'000)));
  EXPECT_FALSE(is_unique(0x123456789abcdef0));
  const Tokens one{1, unique_token(1), 2}, other{1, unique_token(2), 2}, none{1, 3, 2};
  EXPECT_EQ(context_of(one), context_of(other));
  EXPECT_NE(context_of(one), context_of(none));
}

TEST(History, AReplayMayBeLongerThanIt) {
  History history(4);
  const Tokens replay{1, 2, 3, 4, 5, 6, 7, 8, 9};
  history.add_replayed(replay, ones(replay));
  EXPECT_EQ(history.count(), 9u);
  EXPECT_EQ(history.last(9).tokens, (Tokens{6, 7, 8, 9}));
  EXPECT_EQ(history.last(2).kinds, (Kinds{Sample::replayed, Sample::end_of_replay}));
}

TEST(History, IsAtLeastOneTokenLong) {
  History history(0);
  for (const Token token : {1, 2, 3}) history.add(token);
  EXPECT_EQ(history.last(5).tokens, (Tokens{3}));
}

TEST(History, IsTheEndOfAllThatCame) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    test::Random random(seed);
    const auto capacity = static_cast<std::size_t>(random.between(1, 40));
    History history(capacity);
    Tokens tokens;
    Kinds kinds;
    std::vector<Work> work;
    for (int step = 0; step < 200; ++step) {
      if (random.percent(70)) {
        tokens.push_back(random.next());
        kinds.push_back(Sample::analysed);
        work.push_back(static_cast<Work>(random.between(1, 9)));
        history.add(tokens.back(), work.back());
      } else {
        Tokens replay(static_cast<std::size_t>(random.between(1, 30)));
        for (Token& token : replay) token = random.next();
        tokens.insert(tokens.end(), replay.begin(), replay.end());
        kinds.insert(kinds.end(), replay.size() - 1, Sample::replayed);
        kinds.push_back(Sample::end_of_replay);
        work.resize(tokens.size(), static_cast<Work>(random.between(1, 9)));
        history.add_replayed(replay, std::span(work).last(replay.size()));
      }
      const auto length = static_cast<std::size_t>(random.below(60));
      const auto kept = static_cast<std::ptrdiff_t>(std::min({length, capacity, tokens.size()}));
      const Sample sample = history.last(length);
      ASSERT_EQ(history.count(), tokens.size());
      ASSERT_EQ(sample.tokens, Tokens(tokens.end() - kept, tokens.end())) << "seed " << seed;
      ASSERT_EQ(sample.kinds, Kinds(kinds.end() - kept, kinds.end())) << "seed " << seed;
      ASSERT_EQ(sample.work, std::vector<Work>(work.end() - kept, work.end())) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace refrain::autotrace::autotrace_history_test
