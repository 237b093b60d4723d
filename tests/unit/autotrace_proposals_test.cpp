// What the grammar of a run proposes, against the run itself.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "finder/mining.hpp"
#include "oracle/reduction.hpp"
#include "support/random.hpp"
#include "support/streams.hpp"
#include "support/test_budget.hpp"

namespace refrain::autotrace::autotrace_proposals_test {
namespace {

/// A run of calls; 0 cannot be replayed.
using Calls = std::vector<Token>;

std::vector<MinedRepeat> proposed(const Calls& calls, const ProposalLimits& limits) {
  oracle::Reduction reduction;
  std::unordered_map<Token, std::uint32_t> events;
  std::vector<std::optional<Token>> tokens;
  for (const Token call : calls) {
    const auto [event, is_new] = events.try_emplace(call, tokens.size());
    if (is_new) tokens.push_back(call != 0 ? std::optional(call) : std::nullopt);
    reduction.add(event->second);
  }
  return proposals(reduction.grammar(), tokens, limits);
}

Calls calls_of(std::string_view text) {
  Calls calls;
  for (const char c : text) calls.push_back(c == '!' ? Token{0} : static_cast<Token>(c));
  return calls;
}

std::string times(int n, std::string_view text) {
  std::string all;
  for (int i = 0; i < n; ++i) all += text;
  return all;
}

std::vector<std::string> proposed(std::string_view text, const ProposalLimits& limits) {
  std::vector<std::string> all;
  for (const MinedRepeat& repeat : proposed(calls_of(text), limits))
    all.emplace_back(repeat.tokens.begin(), repeat.tokens.end());
  return all;
}

using Texts = std::vector<std::string>;

TEST(Proposals, OfALoopItsBody) {
  const auto found = proposed(calls_of("xyz" + times(50, "abcd") + "u"), {.mining = {.least = 3}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].period, 4u);
  EXPECT_EQ(found[0].tokens.size(), 4u);
  EXPECT_EQ(found[0].work, 4u);
  EXPECT_GE(found[0].count, 49u);
}

TEST(Proposals, AShortBodySeveralTimes) {
  EXPECT_EQ(proposed(times(50, "a"), {.mining = {.least = 6}}), (Texts{"aaaaaa"}));
  const auto found = proposed(calls_of(times(50, "abc")), {.mining = {.least = 7}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].period, 3u);
  EXPECT_EQ(found[0].tokens.size(), 9u);
}

TEST(Proposals, NothingOfAShortLoop) {
  EXPECT_EQ(proposed(times(12, "a"), {.mining = {.least = 6}}), Texts{});
  EXPECT_EQ(proposed("abcabc", {.mining = {.least = 4}}), Texts{});
}

TEST(Proposals, WhatComesAgainElsewhere) {
  EXPECT_EQ(proposed("abcdefgh1abcdefgh2abcdefgh3", {.mining = {.least = 4}}), (Texts{"abcdefgh"}));
}

TEST(Proposals, OfALoopThatComesSeldomTheInnerOne) {
  const std::string outer = times(100, "abcd") + "xy";
  const auto found = proposed(calls_of(times(3, outer)), {.mining = {.least = 4}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].period, 4u);
}

TEST(Proposals, OfALoopThatComesOftenAllOfIt) {
  const std::string outer = times(5, "abcd") + "xyzuvw";
  const auto found = proposed(calls_of(times(300, outer)), {.mining = {.least = 4}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].period, 26u);
}

TEST(Proposals, WhatIsBetweenCallsThatCannotBeReplayed) {
  EXPECT_EQ(proposed(times(50, "abcdefg!"), {.mining = {.least = 4}}), (Texts{"abcdefg"}));
  EXPECT_EQ(proposed("efg!" + times(50, "abcdehij!efg!"), {.mining = {.least = 4}}),
            (Texts{"abcdehij"}));
  EXPECT_EQ(proposed("g" + times(50, "!abcdefg"), {.mining = {.least = 7}}), (Texts{"abcdefg"}));
  EXPECT_EQ(proposed(times(50, "!"), {.mining = {.least = 1}}), Texts{});
}

TEST(Proposals, LongOnesInPieces) {
  EXPECT_EQ(proposed("abcdefgh1abcdefgh2abcdefgh", {.mining = {.least = 3, .most = 3}}),
            (Texts{"abc", "def"}));
}

TEST(Proposals, NoRuleLongerThanTheLongest) {
  const std::string outer = times(5, "abcd") + "xyzuvw";
  for (const MinedRepeat& repeat :
       proposed(calls_of(times(300, outer)), {.mining = {.least = 4}, .longest = 25}))
    EXPECT_LE(repeat.tokens.size(), 25u);
}

TEST(Proposals, AsManyAsAreAskedFor) {
  const Calls calls = test::make_stream("phases", 20'000, 1);
  EXPECT_EQ(proposed(calls, {.mining = {.least = 8}, .most = 2}).size(), 2u);
}

/// How often it comes, none overlapping another.
std::size_t disjoint_occurrences(const Calls& calls, const std::vector<Token>& part) {
  std::size_t count = 0;
  for (auto from = calls.begin();
       (from = std::search(from, calls.end(), part.begin(), part.end())) != calls.end();
       from += static_cast<std::ptrdiff_t>(part.size()))
    ++count;
  return count;
}

/// What a replayer makes of a run that knows what is proposed and nothing else: the first time it records, then it
/// replays; a loop goes on as long as its body does.
double share_replayed_after_recording(const Calls& calls, const std::vector<MinedRepeat>& repeats) {
  std::vector<bool> recorded(repeats.size());
  std::size_t replayed = 0, recording = 0;
  for (std::size_t at = 0; at < calls.size();) {
    std::size_t best = repeats.size();
    for (std::size_t i = 0; i < repeats.size(); ++i) {
      const auto& tokens = repeats[i].tokens;
      if (tokens.size() <= calls.size() - at &&
          std::equal(tokens.begin(), tokens.end(),
                     calls.begin() + static_cast<std::ptrdiff_t>(at)) &&
          (best == repeats.size() || tokens.size() > repeats[best].tokens.size()))
        best = i;
    }
    if (best == repeats.size()) {
      ++at;
      continue;
    }
    (recorded[best] ? replayed : recording) += repeats[best].tokens.size();
    recorded[best] = true;
    at += repeats[best].tokens.size();
  }
  return static_cast<double>(replayed) / static_cast<double>(calls.size() - recording);
}

TEST(Proposals, ArePartsOfTheRunThatComeAgain) {
  for (test::TestBudget budget{400}; budget.more(); budget.next()) {
    test::Random random(budget.seed());
    const bool like_a_program = random.percent(50);
    const auto& names = like_a_program ? test::program_streams : test::other_streams;
    Calls calls = test::make_stream(
        random.pick(names), static_cast<std::size_t>(random.between(1, 3000)), budget.seed());
    if (random.percent(30))
      for (Token& call : calls)
        if (random.percent(1)) call = 0;
    ProposalLimits limits{.mining = {.least = static_cast<std::size_t>(random.between(1, 30))},
                          .longest = static_cast<std::size_t>(random.between(1, 2000))};
    if (random.percent(30))
      limits.mining.most = limits.mining.least + static_cast<std::size_t>(random.below(40));
    for (const MinedRepeat& repeat : proposed(calls, limits)) {
      ASSERT_GE(repeat.tokens.size(), limits.mining.least) << "seed " << budget.seed();
      ASSERT_LE(repeat.tokens.size(), limits.mining.most) << "seed " << budget.seed();
      ASSERT_EQ(std::ranges::count(repeat.tokens, Token{0}), 0) << "seed " << budget.seed();
      ASSERT_GE(disjoint_occurrences(calls, repeat.tokens), 2u)
          << "seed " << budget.seed() << ", length " << repeat.tokens.size() << ", period "
          << repeat.period << ", count " << repeat.count;
      ASSERT_EQ(repeat.work, repeat.tokens.size()) << "seed " << budget.seed();
      if (repeat.period != 0) {
        ASSERT_EQ(repeat.tokens.size() % repeat.period, 0u) << "seed " << budget.seed();
      }
    }
  }
}

TEST(Proposals, CoverWhatProgramsRepeat) {
  const std::unordered_map<std::string, double> least = {
      {"loop", 0.98},  {"insertions", 0.85}, {"observed", 0.85}, {"branches", 0.8},
      {"nested", 0.8}, {"alternating", 0.9}, {"phases", 0.95}};
  for (const auto& [name, share] : least)
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Calls calls = test::make_stream(name, 16'000, seed);
      EXPECT_GE(share_replayed_after_recording(calls, proposed(calls, {.mining = {.least = 16}})),
                share)
          << name << ", seed " << seed;
    }
}

}  // namespace
}  // namespace refrain::autotrace::autotrace_proposals_test
