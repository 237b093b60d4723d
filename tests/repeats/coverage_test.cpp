// How much Algorithm 2 covers, against the best that can be; and what it is compared with.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "coverage/lzw.hpp"
#include "coverage/tandem_repeats.hpp"
#include "repeats/passes.hpp"
#include "repeats/repeats.hpp"
#include "support/optimal_coverage.hpp"
#include "support/random.hpp"
#include "support/streams.hpp"
#include "support/test_budget.hpp"

namespace refrain::autotrace::coverage_test {
namespace {

using Text = std::span<const Token>;
using test::in_letters;
using test::optimal_coverage;

std::vector<Token> tokens(const std::string& letters) {
  std::vector<Token> text;
  for (const char letter : letters) text.push_back(static_cast<Token>(letter - 'a'));
  return text;
}

struct Interval {
  std::size_t begin;
  std::size_t length;
};

/// What is covered by the intervals, or 0 where they overlap or any has no other that is equal.
std::size_t covered_by(Text text, const std::vector<Interval>& intervals) {
  std::map<std::vector<Token>, int> times;
  std::size_t end = 0, covered = 0;
  for (const auto& [begin, length] : intervals) {
    if (begin < end) return 0;
    end = begin + length;
    covered += length;
    const Text part = text.subspan(begin, length);
    ++times[{part.begin(), part.end()}];
  }
  return std::ranges::any_of(times, [](const auto& part) { return part.second < 2; }) ? 0 : covered;
}

/// The definition: of all sets of intervals the best.
std::size_t optimal_by_definition(Text text, std::size_t least_length) {
  std::vector<Interval> all;
  for (std::size_t begin = 0; begin < text.size(); ++begin)
    for (std::size_t length = least_length; begin + length <= text.size(); ++length)
      all.push_back({begin, length});
  std::size_t best = 0;
  for (std::uint32_t set = 0; set < 1U << all.size(); ++set) {
    std::vector<Interval> chosen;
    for (std::size_t i = 0; i < all.size(); ++i)
      if ((set >> i & 1) != 0) chosen.push_back(all[i]);
    best = std::max(best, covered_by(text, chosen));
  }
  return best;
}

TEST(OptimalCoverage, IsThatOfTheDefinition) {
  for (std::size_t length = 0; length <= 6; ++length) {
    test::for_each_text(length, 3, [](Text text) {
      for (const std::uint32_t least : {2U, 3U})
        ASSERT_EQ(optimal_coverage(text, least), optimal_by_definition(text, least))
            << in_letters(text) << ", at least " << least;
    });
  }
}

TEST(OptimalCoverage, OfThePapersFigures) {
  EXPECT_EQ(optimal_coverage(tokens("abcabcabababcababc"), 2), 18u);
  EXPECT_EQ(optimal_coverage(tokens("aabcbcbaa"), 1), 9u);
  EXPECT_EQ(optimal_coverage(tokens("aabcbcbaa"), 2), 8u);
  EXPECT_EQ(optimal_coverage(tokens("aabcbcbaa"), 3), 0u);
}

TEST(OptimalCoverage, TextsUpToRenaming) {
  std::vector<std::string> texts;
  test::for_each_text(3, 2, [&](Text text) { texts.push_back(in_letters(text)); });
  EXPECT_EQ(texts, (std::vector<std::string>{"aaa", "aab", "aba", "abb"}));
  int number = 0;
  test::for_each_text(8, 3, [&](Text) { ++number; });
  EXPECT_EQ(number, (2187 + 1) / 2);
}

/// Disjoint, equal to each other, no shorter than asked for, at least so many of each.
void expect_repeats_of(Text text, const std::vector<Repeat>& repeats, std::uint32_t least,
                       std::size_t at_least = 2) {
  std::vector<int> covered(text.size());
  for (const Repeat& repeat : repeats) {
    ASSERT_GE(repeat.length, least);
    ASSERT_GE(repeat.begins.size(), at_least);
    EXPECT_TRUE(std::ranges::is_sorted(repeat.begins));
    for (const std::uint32_t begin : repeat.begins) {
      ASSERT_LE(begin + repeat.length, text.size());
      EXPECT_TRUE(std::ranges::equal(text.subspan(begin, repeat.length),
                                     text.subspan(repeat.begins.front(), repeat.length)));
      for (std::uint32_t i = 0; i < repeat.length; ++i) EXPECT_EQ(covered[begin + i]++, 0);
    }
  }
}

/// All of them say of which text.
void expect_no_more_than_optimal(Text text, std::uint32_t least) {
  SCOPED_TRACE(in_letters(text) + ", at least " + std::to_string(least));
  const std::size_t optimal = optimal_coverage(text, least);
  for (const auto& repeats : {find_repeats(text, least), find_repeats_in_passes(text, least),
                              bench::tandem_repeats(text, least)}) {
    expect_repeats_of(text, repeats, least);
    EXPECT_LE(coverage(repeats), optimal);
  }
  const auto phrases = bench::lzw_phrases(text, least);
  expect_repeats_of(text, phrases, least, 1);
  EXPECT_LE(coverage(phrases), optimal);
}

TEST(Coverage, IsAtMostTheOptimum) {
  for (test::TestBudget budget{20'000, 100}; budget.more(); budget.next()) {
    test::Random random(budget.seed());
    std::vector<Token> text(static_cast<std::size_t>(random.between(1, 16)));
    const int letters = random.between(1, 4);
    for (Token& token : text) token = static_cast<Token>(random.below(letters));
    for (const std::uint32_t least : {2U, 3U}) expect_no_more_than_optimal(text, least);
    if (HasFailure()) FAIL() << "seed " << budget.seed();
  }
}

/// The distribution over all texts of one length, of which `make bench-coverage` has more.
struct Shares {
  int texts = 0;
  int optimal = 0;
  double sum = 0;
};

template <class Find>
Shares shares_of(Find find, std::uint32_t least) {
  Shares shares;
  test::for_each_text(10, 3, [&](Text text) {
    const auto optimal = static_cast<double>(optimal_coverage(text, least));
    if (optimal == 0) return;
    const auto covered = static_cast<double>(coverage(find(text, least)));
    ++shares.texts;
    shares.sum += covered / optimal;
    if (covered == optimal) ++shares.optimal;
  });
  return shares;
}

TEST(Coverage, OfAllTextsOfTenTokens) {
  const Shares two = shares_of(find_repeats, 2), three = shares_of(find_repeats, 3);
  EXPECT_EQ(two.texts, 9551);
  EXPECT_GE(two.optimal, 8131);
  EXPECT_GE(two.sum, 0.959 * two.texts);
  EXPECT_EQ(three.texts, 3683);
  EXPECT_GE(three.optimal, 3609);
  EXPECT_GE(three.sum, 0.98 * three.texts);
  const Shares passes = shares_of(find_repeats_in_passes, 2);
  EXPECT_GE(passes.optimal, two.optimal);
  EXPECT_GE(passes.sum, two.sum);
}

TEST(Passes, CoverAtLeastAsMuch) {
  for (test::TestBudget budget{5'000, 100}; budget.more(); budget.next()) {
    test::Random random(budget.seed());
    std::vector<Token> text(static_cast<std::size_t>(random.between(0, 200)));
    const int letters = random.between(1, 10);
    for (Token& token : text) token = static_cast<Token>(random.below(letters));
    const auto least = static_cast<std::uint32_t>(random.between(1, 4));
    const std::vector<Repeat> repeats = find_repeats_in_passes(text, least);
    expect_repeats_of(text, repeats, least);
    EXPECT_GE(coverage(repeats), coverage(find_repeats(text, least)));
    std::set<std::vector<Token>> parts;
    for (const Repeat& repeat : repeats) {
      const auto begin = text.begin() + repeat.begins.front();
      EXPECT_TRUE(parts.emplace(begin, begin + repeat.length).second) << "twice the same";
    }
    if (HasFailure()) FAIL() << "seed " << budget.seed();
  }
}

// The streams have something irregular between iterations, which is what greed stumbles over.
TEST(Coverage, OfStreamsOfPrograms) {
  for (const std::string& name : test::program_streams) {
    const test::Stream stream = test::make_stream(name, 5000, 1);
    EXPECT_GE(coverage(find_repeats(stream, 10)), 3200u) << name;
  }
}

TEST(Passes, CoverStreamsOfPrograms) {
  for (const std::string& name : test::program_streams) {
    const test::Stream stream = test::make_stream(name, 5000, 1);
    const std::size_t covered = coverage(find_repeats_in_passes(stream, 10));
    EXPECT_GE(covered, name == "long_loop" ? 3900u : 4700u) << name;
    EXPECT_GE(covered, 5 * coverage(bench::lzw_phrases(stream, 10))) << name;
  }
}

// Between two calls that are others instead, any part of the loop may be left: none of the longest repeats comes often,
// and all of them have rests of others between them.
TEST(Coverage, OfANoisyLoop) {
  for (const std::size_t size : {10'000, 100'000, 1'000'000})
    for (const std::uint64_t seed : {1, 2}) {
      const auto repeats = find_repeats(test::make_stream("noisy_loop", size, seed), 10);
      EXPECT_GE(coverage(repeats), size * 80 / 100) << size << " tokens, seed " << seed;
    }
}

/// Of `"key":[3,1,2]` or `"key":3` in a line.
std::vector<Token> numbers_of(const std::string& line, const std::string& key) {
  std::istringstream in(line.substr(line.find('"' + key + "\":") + key.size() + 3));
  if (in.peek() == '[') in.get();
  std::vector<Token> numbers;
  for (Token number = 0; in >> number; in.get()) numbers.push_back(number);
  return numbers;
}

// 800 texts, random ones and of structure, of 10 to 300 tokens, and what the implementation by the algorithm's authors
// covers of each, in lines as {"kind":"nested","least":2,"text":[3,1,2],"coverage":0}
TEST(Coverage, IsAtLeastThatOfTheAuthors) {
  const char* folder = std::getenv("REFRAIN_REFERENCES");
  const std::string path =
      std::string(folder != nullptr ? folder : TEST_REFERENCES) + "/outside/repeats.json";
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << "there is no " << path << " (REFRAIN_REFERENCES is the folder)";
  struct Sum {
    std::size_t texts = 0, ours = 0, theirs = 0;
  };
  std::map<std::string, Sum> sums;
  for (std::string line; std::getline(file, line);) {
    const std::size_t kind_end = line.find(",\"least\"");
    if (kind_end == std::string::npos) continue;
    Sum& sum = sums[line.substr(0, kind_end)];
    const auto least = static_cast<std::uint32_t>(numbers_of(line, "least").at(0));
    ++sum.texts;
    sum.ours += coverage(find_repeats(numbers_of(line, "text"), least));
    sum.theirs += numbers_of(line, "coverage").at(0);
  }
  EXPECT_EQ(sums.size(), 5u);
  for (const auto& [kind, sum] : sums)
    EXPECT_GE(sum.ours, sum.theirs) << kind << ", " << sum.texts << " texts";
}

TEST(TandemRepeats, AreInARow) {
  const auto found = bench::tandem_repeats(tokens("xabababyabcabczabab"), 2);
  // ab three times, twice; abc twice.
  EXPECT_EQ(coverage(found), 16u);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].begins, (std::vector<std::uint32_t>{1, 3, 5, 15, 17}));
  EXPECT_EQ(found[1].begins, (std::vector<std::uint32_t>{8, 11}));
  EXPECT_EQ(coverage(bench::tandem_repeats(tokens("abcxabcyabc"), 2)), 0u);
}

TEST(LzwPhrases, GrowByOneToken) {
  // a, b, ab, aba and ba are taken.
  const auto found = bench::lzw_phrases(tokens("ababababa"), 2);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].begins, (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(found[1].begins, (std::vector<std::uint32_t>{7}));
  EXPECT_EQ(found[2].begins, (std::vector<std::uint32_t>{4}));
  EXPECT_EQ(coverage(found), 0u);
}

}  // namespace
}  // namespace refrain::autotrace::coverage_test
