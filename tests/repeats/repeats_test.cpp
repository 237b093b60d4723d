// The repeat finder: suffix arrays, the paper's examples, and Algorithm 2 as it is written down.

#include "autotrace/repeats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>

#include "autotrace/suffix_array.hpp"
#include "support/random.hpp"
#include "support/test_budget.hpp"

namespace refrain::autotrace {
namespace {

using Letters = std::vector<std::uint32_t>;

std::vector<Token> tokens(const std::string& letters) { return {letters.begin(), letters.end()}; }

/// Of few different letters, at times periodic.
Letters random_text(test::Random& random) {
  Letters text(1 + static_cast<std::size_t>(random.below(60)));
  const auto alphabet = static_cast<std::uint32_t>(1 + random.below(5));
  const std::size_t period =
      random.below(3) == 0 ? 1 + static_cast<std::size_t>(random.below(7)) : text.size();
  for (std::size_t i = 0; i < text.size(); ++i)
    text[i] = i < period || random.below(20) == 0
                  ? static_cast<std::uint32_t>(random.below(alphabet))
                  : text[i - period];
  return text;
}

Letters sorted_suffixes(const Letters& text) {
  Letters begins(text.size());
  std::iota(begins.begin(), begins.end(), 0);
  std::ranges::sort(begins, [&](std::uint32_t a, std::uint32_t b) {
    return std::lexicographical_compare(text.begin() + a, text.end(), text.begin() + b, text.end());
  });
  return begins;
}

std::uint32_t in_common(const Letters& text, std::uint32_t a, std::uint32_t b) {
  std::uint32_t length = 0;
  while (std::max(a, b) + length < text.size() && text[a + length] == text[b + length]) ++length;
  return length;
}

TEST(SuffixArray, IsTheOrderOfSuffixes) {
  for (test::TestBudget budget{20'000, 100}; budget.more(); budget.next()) {
    test::Random random(budget.seed());
    const Letters text = random_text(random);
    const SuffixArray array = suffix_array(text, 5);
    ASSERT_EQ(array.begins, sorted_suffixes(text)) << "seed " << budget.seed();
    for (std::size_t i = 0; i + 1 < text.size(); ++i)
      ASSERT_EQ(array.common[i], in_common(text, array.begins[i], array.begins[i + 1]))
          << "seed " << budget.seed();
  }
}

TEST(SuffixArray, OfNothing) { EXPECT_TRUE(suffix_array({}, 0).begins.empty()); }

// Figure 4 of the paper; the letters' order is that in which they are met, which is the alphabet's here.
TEST(Repeats, OfFigure4) {
  const std::string text = "aabcbcbaa";
  const std::vector<Candidate> found = candidates(tokens(text), 1);
  std::vector<std::tuple<std::string, std::uint32_t>> longest;
  for (const Candidate& c : found)
    if (c.length > 1) longest.emplace_back(text.substr(c.begin, c.length), c.begin);
  const decltype(longest) expected{{"aa", 0}, {"aa", 7}, {"bc", 2},
                                   {"bc", 4}, {"cb", 3}, {"cb", 5}};
  EXPECT_EQ(longest, expected);

  const std::vector<Repeat> all = find_repeats(tokens(text), 1);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].begins, (Letters{0, 7}));
  EXPECT_EQ(all[1].begins, (Letters{2, 4}));
  EXPECT_EQ(all[2].length, 1u);
  EXPECT_EQ(all[2].begins, Letters{6});
  EXPECT_EQ(find_repeats(tokens(text), 2).size(), 2u);
}

// Figure 2. Greedily the longest repeat comes first, so that the optimum of 18 is not reached.
TEST(Repeats, OfFigure2) {
  const std::vector<Repeat> found = find_repeats(tokens("abcabcabababcababc"), 2);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].length, 7u);  // abcabab
  EXPECT_EQ(found[0].begins, (Letters{3, 10}));
  EXPECT_EQ(coverage(found), 14u);
}

TEST(Repeats, OfNothingAndOfOneToken) {
  EXPECT_TRUE(find_repeats({}, 2).empty());
  EXPECT_TRUE(find_repeats(tokens("a"), 1).empty());
  EXPECT_TRUE(find_repeats(tokens("abcdefg"), 1).empty());
}

/// Algorithm 2 as the paper has it (line 11, which it leaves out: half of what is covered).
std::vector<Repeat> as_written(const Letters& text, std::uint32_t least_length) {
  const Letters begins = sorted_suffixes(text);
  using Found = std::tuple<std::int64_t, Letters, std::uint32_t>;  // -length, tokens, begin
  std::vector<Found> found;
  const auto add = [&](std::uint32_t length, std::uint32_t part, std::uint32_t begin) {
    if (length >= least_length && length > 0)
      found.emplace_back(-std::int64_t{length},
                         Letters(text.begin() + part, text.begin() + part + length), begin);
  };
  for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
    const auto [s1, s2] = std::minmax(begins[i], begins[i + 1]);
    const std::uint32_t p = in_common(text, s1, s2), d = s2 - s1;
    if (s1 + p <= s2) {
      add(p, s1, s1);
      add(p, s1, s2);
    } else {
      const std::uint32_t l = (p + d) / 2 - (p + d) / 2 % d;
      add(l, s1, s1);
      add(l, s1, s1 + l);
    }
  }
  std::ranges::sort(found);
  std::vector<Repeat> chosen;
  std::vector<bool> covered(text.size());
  Letters last;
  for (const auto& [minus_length, part, begin] : found) {
    const auto first = covered.begin() + begin,
               end = first + static_cast<std::ptrdiff_t>(part.size());
    if (std::find(first, end, true) != end) continue;
    std::fill(first, end, true);
    if (part != last) chosen.push_back({static_cast<std::uint32_t>(part.size()), {}});
    last = part;
    chosen.back().begins.push_back(begin);
  }
  return chosen;
}

TEST(Repeats, AreThoseOfAlgorithm2) {
  for (test::TestBudget budget{20'000, 100}; budget.more(); budget.next()) {
    test::Random random(budget.seed());
    Letters text = random_text(random);
    // The order among equally long ones is that in which letters are met.
    Letters met;
    for (std::uint32_t& letter : text) {
      const auto at = std::ranges::find(met, letter) - met.begin();
      if (at == std::ssize(met)) met.push_back(letter);
      letter = static_cast<std::uint32_t>(at);
    }
    const auto least = static_cast<std::uint32_t>(1 + random.below(3));
    const std::vector<Repeat> found =
        find_repeats(std::vector<Token>(text.begin(), text.end()), least);
    const std::vector<Repeat> expected = as_written(text, least);
    ASSERT_EQ(found.size(), expected.size()) << "seed " << budget.seed();
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].length, expected[i].length) << "seed " << budget.seed();
      ASSERT_EQ(found[i].begins, expected[i].begins) << "seed " << budget.seed();
    }
  }
}

}  // namespace
}  // namespace refrain::autotrace
