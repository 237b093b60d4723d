// The candidates, against a list of them that is looked through.

#include "finder/candidates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "support/random.hpp"

namespace refrain::autotrace::autotrace_candidates_test {
namespace {

constexpr std::size_t kMany = 1000;

MinedRepeat repeat_of(std::string_view text, std::uint32_t count = 2) {
  return {{text.begin(), text.end()},         0, count, text.size(), text.size(),
          std::hash<std::string_view>{}(text)};
}

/// A candidate's text; empty: null.
std::string text_of(const TraceCandidate* candidate) {
  if (candidate == nullptr) return {};
  return {candidate->repeat.tokens.begin(), candidate->repeat.tokens.end()};
}

Candidates::Position walk(const Candidates& candidates, std::string_view text) {
  Candidates::Position at;
  for (std::size_t i = 0; i < text.size(); ++i)
    at = i == 0 ? candidates.begin(static_cast<Token>(text[0]))
                : Candidates::next(at, static_cast<Token>(text[i]));
  return at;
}

/// How often it has appeared, as far as is remembered.
double appearances(Candidates& candidates, std::string_view text, std::uint64_t now) {
  const TraceCandidate* candidate = candidates.find(repeat_of(text).identity);
  return candidate == nullptr ? 0 : candidate->appearances_at(now);
}

// --- the trie ------------------------------------------------------------------------------------------

TEST(Candidates, ShareTheirBeginnings) {
  Candidates candidates(kMany, kMany);
  EXPECT_TRUE(candidates.empty());
  EXPECT_EQ(candidates.add({repeat_of("abcd"), repeat_of("abef"), repeat_of("ab")}, 0), 3u);
  EXPECT_EQ(candidates.size(), 3u);
  EXPECT_EQ(text_of(Candidates::ending(walk(candidates, "ab"))), "ab");
  EXPECT_EQ(text_of(Candidates::ending(walk(candidates, "abcd"))), "abcd");
  EXPECT_EQ(text_of(Candidates::ending(walk(candidates, "abef"))), "abef");
  EXPECT_EQ(walk(candidates, "abe").length, 3u);
  EXPECT_EQ(Candidates::ending(walk(candidates, "abe")), nullptr);
  for (const char* not_one : {"b", "ac", "abcf", "abcde", "aba"})
    EXPECT_FALSE(walk(candidates, not_one)) << not_one;
}

TEST(Candidates, AreWhatAListOfThemIs) {
  const auto word = [](test::Random& random, int shortest) {
    std::string made;
    for (int left = random.between(shortest, 9); left > 0; --left)
      made += static_cast<char>('a' + random.below(2));
    return made;
  };
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    test::Random random(seed);
    Candidates candidates(kMany, kMany);
    std::vector<std::string> list;
    for (int round = 0; round < 4; ++round) {
      std::vector<MinedRepeat> more;
      std::size_t expected = 0;
      for (int left = random.below(8); left > 0; --left) {
        const std::string text = word(random, 1);
        more.push_back(repeat_of(text, static_cast<std::uint32_t>(random.between(1, 5))));
        if (std::ranges::find(list, text) != list.end()) continue;
        list.push_back(text);
        ++expected;
      }
      ASSERT_EQ(candidates.add(std::move(more), 0), expected);
    }
    ASSERT_EQ(candidates.size(), list.size());
    for (int look = 0; look < 50; ++look) {
      const std::string text = word(random, 1);
      const auto at = walk(candidates, text);
      double best = 0;
      for (const std::string& each : list)
        if (each.starts_with(text))
          best = std::max(best, candidates.find(repeat_of(each).identity)->score(10));
      ASSERT_EQ(bool(at), best > 0) << "seed " << seed << ' ' << text;
      const TraceCandidate* found = Candidates::best(at, 10);
      ASSERT_EQ(found != nullptr ? found->score(10) : 0, best) << "seed " << seed << ' ' << text;
      const bool is_one = std::ranges::find(list, text) != list.end();
      ASSERT_EQ(text_of(Candidates::ending(at)), is_one ? text : "") << "seed " << seed;
    }
  }
}

// --- what is known of them -------------------------------------------------------------------------------

TEST(Candidates, AreKnownAgain) {
  Candidates candidates(kMany, kMany);
  EXPECT_EQ(candidates.add({repeat_of("abc", 2)}, 0), 1u);
  EXPECT_EQ(candidates.add({repeat_of("abc", 3)}, 0), 0u);
  EXPECT_EQ(candidates.size(), 1u);
  EXPECT_EQ(appearances(candidates, "abc", 0), 5);
  EXPECT_EQ(candidates.find(repeat_of("abc").identity)->number, 1u);
}

TEST(Candidates, MayBeginElsewhereUntilTheyAreRecorded) {
  const auto rotated = [](std::string_view text) {
    MinedRepeat repeat = repeat_of(text);
    repeat.period = 3;
    repeat.identity = 7;
    return repeat;
  };
  Candidates candidates(kMany, kMany);
  candidates.add({rotated("abc")}, 0);
  candidates.add({rotated("bca")}, 0);
  EXPECT_EQ(candidates.size(), 1u);
  EXPECT_FALSE(walk(candidates, "a"));
  ASSERT_TRUE(walk(candidates, "bca"));
  Candidates::ending(walk(candidates, "bca"))->recordings = 1;
  candidates.add({rotated("cab")}, 0);
  EXPECT_TRUE(walk(candidates, "bca"));
  EXPECT_FALSE(walk(candidates, "c"));
}

TEST(Candidates, AreExpectedInTheContextInWhichTheyWereMined) {
  Candidates candidates(kMany, kMany);
  MinedRepeat repeat = repeat_of("abc");
  repeat.context = 17;
  candidates.add({repeat}, 0);
  EXPECT_TRUE(Candidates::is_expected(candidates.begin('a'), 17));
  EXPECT_FALSE(Candidates::is_expected(candidates.begin('a'), 18));
  EXPECT_FALSE(Candidates::is_expected(candidates.begin('b'), 17));
  // Until it is recorded the last time that it was mined counts.
  repeat.context = 18;
  candidates.add({repeat}, 0);
  EXPECT_TRUE(Candidates::is_expected(candidates.begin('a'), 18));
  EXPECT_FALSE(Candidates::is_expected(candidates.begin('a'), 17));
}

// --- scores ----------------------------------------------------------------------------------------------

TEST(CandidateScores, AreLengthTimesAppearances) {
  TraceCandidate candidate;
  candidate.repeat = repeat_of("abcde");
  candidate.appeared(3, 100);
  EXPECT_DOUBLE_EQ(candidate.score(100), 5 * 3);
}

TEST(CandidateScores, AreCapped) {
  TraceCandidate candidate;
  candidate.repeat = repeat_of("abcde");
  candidate.appeared(1000, 0);
  EXPECT_DOUBLE_EQ(candidate.score(0), 5 * 16);
  candidate.appeared(1, 0);
  EXPECT_DOUBLE_EQ(candidate.score(0), 5 * 16);
}

TEST(CandidateScores, BecomeHalfAfterAWhile) {
  TraceCandidate candidate;
  candidate.repeat = repeat_of("abcde");
  candidate.appeared(8, 1000);
  const double fresh = candidate.score(1000);
  constexpr std::uint64_t half_life = 4096;
  EXPECT_DOUBLE_EQ(candidate.score(1000 + half_life), fresh / 2);
  EXPECT_DOUBLE_EQ(candidate.score(1000 + 2 * half_life), fresh / 4);
  // A new appearance is added to what is left.
  candidate.appeared(1, 1000 + half_life);
  EXPECT_DOUBLE_EQ(candidate.appearances, 5);
  EXPECT_DOUBLE_EQ(candidate.score(~std::uint64_t{0}), 0);
}

TEST(CandidateScores, AnOldOneIsOvertaken) {
  Candidates candidates(kMany, kMany);
  candidates.add({repeat_of("abcdef", 100)}, 0);
  candidates.add({repeat_of("abx", 2)}, 20'000);
  EXPECT_EQ(text_of(Candidates::best(walk(candidates, "ab"), 20'000)), "abx");
  EXPECT_EQ(text_of(Candidates::best(walk(candidates, "abc"), 20'000)), "abcdef");
}

// It was recorded again and again and never replayed: another one is preferred.
TEST(CandidateScores, WhatIsRecordedInVainIsLeftAlone) {
  Candidates candidates(kMany, kMany);
  candidates.add({repeat_of("abcdef"), repeat_of("abx")}, 0);
  TraceCandidate* const longer = candidates.find(repeat_of("abcdef").identity);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(Candidates::best(walk(candidates, "ab"), 0), longer) << i;
    longer->recording.enter(-1);
  }
  EXPECT_EQ(text_of(Candidates::best(walk(candidates, "ab"), 0)), "abx");
  longer->recording.enter(1);
  EXPECT_EQ(Candidates::best(walk(candidates, "ab"), 0), longer);
}

// --- limits ----------------------------------------------------------------------------------------------

TEST(Candidates, TheLowestScoresGo) {
  Candidates candidates(2, kMany);
  candidates.add({repeat_of("abcdef"), repeat_of("ghi"), repeat_of("jklm")}, 0);
  EXPECT_EQ(candidates.size(), 2u);
  EXPECT_FALSE(walk(candidates, "g"));
  EXPECT_EQ(candidates.find(repeat_of("ghi").identity), nullptr);
  EXPECT_TRUE(walk(candidates, "abcdef"));
  EXPECT_TRUE(walk(candidates, "jklm"));
}

TEST(Candidates, TheirTokensAreBounded) {
  Candidates candidates(kMany, 10);
  candidates.add({repeat_of("abcdef"), repeat_of("ghi"), repeat_of("jklm")}, 0);
  EXPECT_EQ(candidates.size(), 2u);  // ghi goes, and ten are left
  EXPECT_TRUE(walk(candidates, "abcdef"));
  candidates.add({repeat_of("nopqrstuvwxyz", 1)}, 0);
  EXPECT_EQ(candidates.size(), 0u);  // what is longer than that pushes out the others, and itself
  EXPECT_EQ(candidates.add({repeat_of("ab")}, 0), 1u);
}

TEST(Candidates, StayWithinTheirLimits) {
  test::Random random(1);
  Candidates candidates(16, 200);
  for (std::uint64_t now = 0; now < 20'000; ++now) {
    if (random.percent(10)) {
      std::string text;
      for (int left = random.between(1, 40); left > 0; --left)
        text += static_cast<char>('a' + random.below(3));
      candidates.add({repeat_of(text, static_cast<std::uint32_t>(random.between(1, 9)))}, now);
      ASSERT_LE(candidates.size(), 16u);
    }
    ASSERT_FALSE(candidates.begin('d'));
  }
}

TEST(Candidates, MayPayByWhatOfThemIsNotReplayedYet) {
  TraceCandidate candidate;
  candidate.repeat.work = 6400;
  candidate.repeat.analysed = 6400;  // never seen before
  EXPECT_TRUE(candidate.may_pay(0));
  candidate.repeat.analysed = 100;
  EXPECT_FALSE(candidate.may_pay(0));
  candidate.appeared(3, 0);
  EXPECT_FALSE(candidate.may_pay(0));
  candidate.appeared(1, 0);
  EXPECT_TRUE(candidate.may_pay(0));
  EXPECT_FALSE(candidate.may_pay(10'000'000));  // it has not come for long
  candidate.repeat.analysed = 24;               // so few that no number of appearances is enough
  candidate.appeared(1000, 10'000'000);
  EXPECT_FALSE(candidate.may_pay(10'000'000));
}

}  // namespace
}  // namespace refrain::autotrace::autotrace_candidates_test
