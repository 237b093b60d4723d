// The repeat finder: suffix arrays, the paper's examples, and Algorithm 2 as it is written down, but for what would be
// chosen once.

#include "repeats/repeats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "repeats/suffix_array.hpp"
#include "support/random.hpp"
#include "support/streams.hpp"
#include "support/test_budget.hpp"

namespace refrain::autotrace::repeats_test {
namespace {

using Letters = std::vector<std::uint32_t>;

std::vector<Token> tokens(const std::string& letters) { return {letters.begin(), letters.end()}; }

/// Of few different letters, at times periodic.
Letters random_text(test::Random& random) {
  Letters text(1 + static_cast<std::size_t>(random.below(60)));
  const int alphabet = 1 + random.below(5);
  const std::size_t period =
      random.below(3) == 0 ? 1 + static_cast<std::size_t>(random.below(7)) : text.size();
  for (std::size_t i = 0; i < text.size(); ++i)
    text[i] = i < period || random.below(20) == 0
                  ? static_cast<std::uint32_t>(random.below(alphabet))
                  : text[i - period];
  return text;
}

/// A word again and again with gaps between, tandem repeats, nested loops, copies of what came before.
Letters structured_text(test::Random& random) {
  const auto letter = [&, alphabet = random.between(2, 50)] {
    return static_cast<std::uint32_t>(random.below(alphabet));
  };
  const auto word = [&](int longest) {
    Letters letters(static_cast<std::size_t>(random.between(1, longest)));
    std::ranges::generate(letters, letter);
    return letters;
  };
  const auto size = static_cast<std::size_t>(random.between(10, 150));
  const int kind = random.below(4);
  const Letters body = word(20), inner = word(6);
  Letters text;
  const auto append = [&](const Letters& letters) {
    text.insert(text.end(), letters.begin(), letters.end());
  };
  while (text.size() < size) {
    switch (kind) {
      case 0: append(body), append(word(4)); break;
      case 1: {
        const Letters part = word(8);
        for (int i = random.between(2, 9); i > 0; --i) append(part);
        break;
      }
      case 2:
        append(body);
        for (int i = random.between(0, 5); i > 0; --i) append(inner);
        break;
      default: {
        append(word(5));
        const auto from = static_cast<std::size_t>(random.below(static_cast<int>(text.size())));
        const auto length = static_cast<std::size_t>(random.between(1, 30));
        for (std::size_t i = 0; i < length; ++i) text.push_back(text[from + i]);
      }
    }
  }
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

// Words in which repeats are in repeats: what is sorted again is a text of the same kind.
TEST(SuffixArray, OfLongTexts) {
  for (const std::string& name : test::other_streams) {
    SCOPED_TRACE(name);
    Letters text;
    for (const Token token : test::make_stream(name, 2000, 1))
      text.push_back(static_cast<std::uint32_t>(token % 2003));
    const SuffixArray array = suffix_array(text, 2003);
    Letters sorted = array.begins;
    std::ranges::sort(sorted);
    for (std::uint32_t i = 0; i < text.size(); ++i) ASSERT_EQ(sorted[i], i);
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
      const std::uint32_t a = array.begins[i], b = array.begins[i + 1];
      const std::uint32_t common = in_common(text, a, b);
      ASSERT_EQ(array.common[i], common);
      ASSERT_TRUE(a + common == text.size() ||
                  (b + common < text.size() && text[a + common] < text[b + common]));
    }
  }
}

TEST(SuffixArray, OfNothing) { EXPECT_TRUE(suffix_array({}, 0).begins.empty()); }

using Found = std::tuple<std::int64_t, Letters, std::uint32_t>;  // -length, tokens, begin

/// Those of Algorithm 2 as the paper has it (line 11, which it leaves out: half of what is covered), in its order.
std::vector<Found> candidates_as_written(const Letters& text, std::uint32_t least_length) {
  const Letters begins = sorted_suffixes(text);
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
  return found;
}

/// Of each candidate as many as find room among those chosen before; none, if that is one.
std::vector<Repeat> chosen_as_written(const Letters& text, std::uint32_t least_length) {
  std::map<std::pair<std::int64_t, Letters>, std::vector<std::uint32_t>> groups;
  for (const auto& [minus_length, part, begin] : candidates_as_written(text, least_length))
    groups[{minus_length, part}].push_back(begin);
  std::vector<Repeat> chosen;
  std::vector<char> covered(text.size());
  for (const auto& [group, begins] : groups) {
    const auto length = static_cast<std::uint32_t>(-group.first);
    std::vector<char> then = covered;
    Repeat repeat{length, {}};
    for (const std::uint32_t begin : begins) {
      const std::span place(then.begin() + begin, length);
      if (std::ranges::count(place, 0) < length) continue;
      std::ranges::fill(place, 1);
      repeat.begins.push_back(begin);
    }
    if (repeat.begins.size() < 2) continue;
    chosen.push_back(std::move(repeat));
    covered = std::move(then);
  }
  return chosen;
}

// Figure 4 of the paper; the letters' order is that in which they are met, which is the alphabet's here.
TEST(Repeats, OfFigure4) {
  const std::string text = "aabcbcbaa";
  const Letters letters(text.begin(), text.end());
  EXPECT_EQ(suffix_array(letters, 128).begins, (Letters{8, 7, 0, 1, 6, 4, 2, 5, 3}));
  std::vector<std::tuple<std::string, std::uint32_t>> longest;
  for (const auto& [minus_length, part, begin] : candidates_as_written(letters, 2))
    longest.emplace_back(std::string(part.begin(), part.end()), begin);
  const decltype(longest) expected{{"aa", 0}, {"aa", 7}, {"bc", 2},
                                   {"bc", 4}, {"cb", 3}, {"cb", 5}};
  EXPECT_EQ(longest, expected);

  // The paper's has the b at 6, too, which is there once.
  for (const std::uint32_t least : {1U, 2U}) {
    const std::vector<Repeat> chosen = find_repeats(tokens(text), least);
    ASSERT_EQ(chosen.size(), 2u);
    EXPECT_EQ(chosen[0].begins, (Letters{0, 7}));
    EXPECT_EQ(chosen[1].begins, (Letters{2, 4}));
  }
}

// One ab is in an aa, the other would be alone, and in the way of both ba.
TEST(Repeats, ThatWouldBeChosenOnceCoverNothing) {
  const std::vector<Repeat> found = find_repeats(tokens("aaaababa"), 2);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].begins, (Letters{0, 2}));
  EXPECT_EQ(found[1].begins, (Letters{4, 6}));
  EXPECT_EQ(coverage(found), 8u);
}

TEST(Repeats, CoverWhereTheyAreChosenTwice) {
  EXPECT_EQ(coverage(std::vector<Repeat>{{3, {0}}, {2, {3, 5}}, {1, {7, 9, 10}}}), 7u);
  EXPECT_EQ(coverage({}), 0u);
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

/// The order among equally long candidates is that in which letters are met.
Letters in_order_of_meeting(Letters text) {
  Letters met;
  for (std::uint32_t& letter : text) {
    const auto at = std::ranges::find(met, letter) - met.begin();
    if (at == std::ssize(met)) met.push_back(letter);
    letter = static_cast<std::uint32_t>(at);
  }
  return text;
}

void expect_as_written(const Letters& text, std::uint32_t least) {
  const std::vector<Repeat> found =
      find_repeats(std::vector<Token>(text.begin(), text.end()), least);
  const std::vector<Repeat> expected = chosen_as_written(in_order_of_meeting(text), least);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].length, expected[i].length);
    ASSERT_EQ(found[i].begins, expected[i].begins);
  }
}

TEST(Repeats, AreThoseOfAlgorithm2) {
  for (test::TestBudget budget{20'000, 100}; budget.more(); budget.next()) {
    test::Random random(budget.seed());
    const Letters text = random_text(random);
    expect_as_written(text, static_cast<std::uint32_t>(1 + random.below(3)));
    if (HasFatalFailure()) FAIL() << "seed " << budget.seed();
  }
}

TEST(Repeats, OfTextsWithStructureAreThoseOfAlgorithm2) {
  for (test::TestBudget budget{3'000, 50}; budget.more(); budget.next()) {
    test::Random random(budget.seed());
    const Letters text = structured_text(random);
    expect_as_written(text, random.pick<std::uint32_t>({2, 3, 5, 10}));
    if (HasFatalFailure()) FAIL() << "seed " << budget.seed();
  }
}

}  // namespace
}  // namespace refrain::autotrace::repeats_test
