// Events become a grammar: the paper's figures, and its three rules after every event.

#include "oracle/reduction.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "oracle/support/random_events.hpp"
#include "oracle/support/three_rules.hpp"
#include "support/random.hpp"
#include "support/streams.hpp"
#include "support/test_budget.hpp"

namespace refrain::oracle::reduction_test {
namespace {

std::string letter(std::uint32_t event) { return std::string(1, static_cast<char>('a' + event)); }

std::string letters(std::span<const std::uint32_t> events) {
  std::string text;
  for (const std::uint32_t event : events) text += letter(event);
  return text;
}

void add(Reduction& reduction, const std::string& text) {
  for (const char c : text) reduction.add(static_cast<std::uint32_t>(c - 'a'));
}

std::string grammar_of(const std::string& text) {
  Reduction reduction;
  add(reduction, text);
  return reduction.grammar().text(letter);
}

std::string times(int number, const std::string& text) {
  std::string all;
  for (int i = 0; i < number; ++i) all += text;
  return all;
}

// --- the paper's figures

TEST(Reduction, OfFigure1) {
  EXPECT_EQ(grammar_of("abbcbcab"), "R -> A B^2 A\nA -> a b\nB -> b c\n");
}

TEST(Reduction, OfFigure2) { EXPECT_EQ(grammar_of(times(50, "ab")), "R -> A^50\nA -> a b\n"); }

TEST(Reduction, OfFigure3) {
  Reduction reduction;
  add(reduction, "bbbccxbbbbbccybbbbbccbbbbb");
  EXPECT_EQ(reduction.grammar().text(letter), "R -> A x B y B b^5\nA -> b^3 c^2\nB -> b^2 A\n");
  add(reduction, "c");
  EXPECT_EQ(reduction.grammar().text(letter),
            "R -> A x B y B b^2 C\nA -> C c\nB -> b^2 A\nC -> b^3 c\n");
  add(reduction, "c");
  EXPECT_EQ(reduction.grammar().text(letter), "R -> A x B y B^2\nA -> b^3 c^2\nB -> b^2 A\n");
}

// What is called A here is B in the paper.
TEST(Reduction, OfFigures4To6) {
  EXPECT_EQ(grammar_of("abcabdababc"), "R -> A B d B A\nA -> B c\nB -> a b\n");
}

// --- cases

TEST(Reduction, OfNothing) {
  Reduction reduction;
  EXPECT_EQ(reduction.grammar(), Grammar());
  EXPECT_EQ(reduction.symbols(), 0u);
  EXPECT_EQ(reduction.rules(), 1u);
}

TEST(Reduction, OneEventOverAndOver) {
  Reduction reduction;
  for (int i = 0; i < 1'000'000; ++i) reduction.add(7);
  EXPECT_EQ(reduction.grammar(), Grammar({{{Symbol::event(7), 1'000'000}}}));
}

TEST(Reduction, CouplesThatTouchAreARepetition) {
  EXPECT_EQ(grammar_of("abab"), "R -> A^2\nA -> a b\n");
  EXPECT_EQ(grammar_of("aabaab"), "R -> A^2\nA -> a^2 b\n");
  EXPECT_EQ(grammar_of("abbaab"), "R -> A b a A\nA -> a b\n");
}

TEST(Reduction, WhatIsLeftOfExponentsStays) {
  EXPECT_EQ(grammar_of("aaabcaab"), "R -> a A c A\nA -> a^2 b\n");
  EXPECT_EQ(grammar_of("aabcaaab"), "R -> A c a A\nA -> a^2 b\n");
  EXPECT_EQ(grammar_of("aaabbcab"), "R -> a^2 A b c A\nA -> a b\n");
}

TEST(Reduction, ARuleInTwoPlacesGrowsWithThem) {
  EXPECT_EQ(grammar_of("abcdxabc"), "R -> A d x A\nA -> a b c\n");
  EXPECT_EQ(grammar_of("abcdxabcd"), "R -> A x A\nA -> a b c d\n");
  EXPECT_EQ(grammar_of("abccdxabc"), "R -> A c d x A\nA -> a b c\n");
  EXPECT_EQ(grammar_of("abccdxabcc"), "R -> A d x A\nA -> a b c^2\n");
}

TEST(Reduction, MemoryDoesNotGrowWithTheRun) {
  const std::string iteration = times(5, "abcdef" + times(3, "gh")) + "x";
  Reduction reduction;
  add(reduction, times(10, iteration));
  const std::size_t bytes = reduction.bytes(), symbols = reduction.symbols();
  for (int i = 0; i < 10'000; ++i) add(reduction, iteration);
  EXPECT_EQ(reduction.symbols(), symbols);
  EXPECT_EQ(reduction.bytes(), bytes);
}

// --- the three rules

/// After one more event.
void check(Reduction& reduction, std::span<const std::uint32_t> events, const std::string& what) {
  ASSERT_NO_THROW(reduction.check_invariants()) << what;
  const Grammar grammar = reduction.grammar();
  ASSERT_EQ(complaint(grammar, events), "") << what;
  ASSERT_EQ(reduction.rules(), grammar.rules()) << what;
  ASSERT_EQ(reduction.symbols(), grammar.uses().size()) << what;
  ASSERT_EQ(reduction.events(), events.size()) << what;
}

/// All texts of that length: what is asked after each event is asked of a shorter one.
void check_all_texts(std::size_t length, std::uint32_t different) {
  Events events(length);
  for (bool more = true; more;) {
    Reduction reduction;
    for (const std::uint32_t event : events) reduction.add(event);
    ASSERT_NO_FATAL_FAILURE(check(reduction, events, letters(events)));
    more = false;
    for (std::size_t i = 0; i < length && !more; ++i) {
      events[i] = (events[i] + 1) % different;
      more = events[i] != 0;
    }
  }
}

TEST(Reduction, TheRulesHoldOnAllShortTexts) {
  for (test::TestBudget budget{15, 8}; budget.more(); budget.next()) {
    const auto length = static_cast<std::size_t>(budget.seed());
    check_all_texts(length, 2);
    if (length <= 10) check_all_texts(length, 3);
    if (length <= 7) check_all_texts(length, 4);
  }
}

TEST(Reduction, TheRulesHoldAfterEveryEvent) {
  for (test::TestBudget budget{4000, 50}; budget.more(); budget.next()) {
    test::Random random(budget.seed());
    const Events events = random_events(random);
    Reduction reduction, never_asked;
    for (std::size_t i = 0; i < events.size(); ++i) {
      reduction.add(events[i]);
      never_asked.add(events[i]);
      ASSERT_NO_THROW(never_asked.check_invariants()) << "seed " << budget.seed();
      const auto so_far = std::span(events).first(i + 1);
      ASSERT_NO_FATAL_FAILURE(check(
          reduction, so_far, "seed " + std::to_string(budget.seed()) + ": " + letters(so_far)));
    }
    ASSERT_EQ(never_asked.grammar(), reduction.grammar()) << "seed " << budget.seed();
  }
}

/// What is asked after each event has nothing put off.
void expect_the_same(std::span<const std::uint32_t> events, const std::string& what) {
  Reduction never_asked, asked;
  for (const std::uint32_t event : events) {
    never_asked.add(event);
    asked.add(event);
    static_cast<void>(asked.symbols());
  }
  ASSERT_EQ(never_asked.grammar(), asked.grammar()) << what;
}

/// Of rules that are made of those before them, some of them repeated.
Events nested_events(test::Random& random) {
  std::vector<Events> rules;
  const std::uint32_t letters = 2 + random.below(6);
  for (std::uint32_t letter = 0; letter < letters; ++letter) rules.push_back({letter});
  const auto append = [&](Events& to, const Events& part) {
    to.insert(to.end(), part.begin(), part.end());
  };
  for (auto more = 1 + random.below(6); more > 0; --more) {
    Events rule;
    for (auto parts = 1 + random.below(5); parts > 0; --parts) {
      const Events part = random.pick(rules);
      for (auto times = random.below(3) > 0 ? 1 : 1 + random.below(5); times > 0; --times)
        if (rule.size() < 100) append(rule, part);
    }
    rules.push_back(rule);
  }
  Events events;
  for (auto parts = 1 + random.below(12); parts > 0; --parts)
    append(events, random.below(2) > 0 ? rules.back() : random.pick(rules));
  return events;
}

// The first four need that it goes ahead into no rule behind the first symbol of another.
TEST(Reduction, WhatIsPutOffComesToTheSame) {
  for (const std::string text :
       {"cacbcbcbcbacacbacacbcacbcbcbcbacacb", "bfeffcbbbbfcbbbbfcbbbbeffcbbbbf",
        "adadcdadadadadcadaaddadadadad", "dbdbdddddaabddddbddddbddddbddddbdddddaabddddb",
        "abcabcabdabcabcabdabcabcabcabd"}) {
    Events events;
    for (const char c : text) events.push_back(static_cast<std::uint32_t>(c - 'a'));
    ASSERT_NO_FATAL_FAILURE(expect_the_same(events, text));
  }
  for (test::TestBudget budget{20'000, 2'000}; budget.more(); budget.next()) {
    test::Random random(budget.seed());
    const Events events = nested_events(random);
    ASSERT_NO_FATAL_FAILURE(expect_the_same(events, "seed " + std::to_string(budget.seed())));
  }
  // rules() while something is put off.
  Reduction reduction;
  add(reduction, "bcdbcdibcdbcdzbcdbcdibcdbcdzbcdbcdibcdbc");
  EXPECT_EQ(reduction.rules(), 5u);
}

/// A stream whose tokens have become events, and its reduction so far.
struct Long {
  explicit Long(const std::string& stream, std::size_t size) : name(stream) {
    std::map<std::uint64_t, std::uint32_t> number;
    for (const std::uint64_t token : test::make_stream(stream, size, 1))
      events.push_back(
          number.emplace(token, static_cast<std::uint32_t>(number.size())).first->second);
  }

  std::string name;
  Events events;
  std::unique_ptr<Reduction> reduction = std::make_unique<Reduction>();
};

// All streams go ahead together, so that where time is short all have a part of it.
TEST(Reduction, TheRulesHoldOnLongStreams) {
  constexpr std::size_t steps = 50, step = 20'000;
  std::vector<Long> streams;
  for (const auto* names : {&test::program_streams, &test::other_streams})
    for (const std::string& name : *names) streams.emplace_back(name, steps * step);
  for (test::TestBudget budget{steps, 2}; budget.more(); budget.next()) {
    for (Long& stream : streams) {
      const auto so_far = std::span(stream.events).first(budget.seed() * step);
      for (const std::uint32_t event : so_far.last(step)) stream.reduction->add(event);
      ASSERT_NO_FATAL_FAILURE(
          check(*stream.reduction, so_far,
                stream.name + ", " + std::to_string(so_far.size()) + " events"));
    }
  }
}

}  // namespace
}  // namespace refrain::oracle::reduction_test
