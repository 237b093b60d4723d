#include "oracle/grammar.hpp"

#include <gtest/gtest.h>

#include <string>

#include "oracle/error.hpp"

namespace refrain::oracle::grammar_test {
namespace {

constexpr Symbol a = Symbol::event(0), b = Symbol::event(1), c = Symbol::event(2);
constexpr Symbol A = Symbol::rule(1), B = Symbol::rule(2);

std::string letter(std::uint32_t event) { return std::string(1, static_cast<char>('a' + event)); }

std::string unfolded(const Grammar& grammar) {
  std::string text;
  grammar.unfold([&](std::uint32_t event) { text += letter(event); });
  return text;
}

TEST(OracleGrammar, UnfoldsAsInFigure1) {
  const Grammar grammar({{{A}, {B, 2}, {A}}, {{a}, {b}}, {{b}, {c}}});
  EXPECT_EQ(unfolded(grammar), "abbcbcab");
  EXPECT_EQ(grammar.text(letter), "R -> A B^2 A\nA -> a b\nB -> b c\n");
  EXPECT_EQ(grammar.length(0), 8u);
  EXPECT_EQ(grammar.events(), 3u);
}

TEST(OracleGrammar, CountsWhatNobodyCouldUnfold) {
  std::vector<std::vector<Use>> rules{{{Symbol::rule(1), 1000}}};
  for (std::uint32_t r = 1; r < 18; ++r) rules.push_back({{Symbol::rule(r + 1), 10}});
  rules.push_back({{a}, {b}});
  EXPECT_THROW(Grammar{rules}, InvalidGrammar);
  rules[0][0].times = 10;
  EXPECT_EQ(Grammar(rules).length(0), 2'000'000'000'000'000'000u);
}

TEST(OracleGrammar, NoEvents) {
  EXPECT_EQ(Grammar().length(0), 0u);
  EXPECT_EQ(Grammar().rules(), 1u);
  EXPECT_EQ(unfolded(Grammar()), "");
}

TEST(OracleGrammar, WhatIsNoneIsRefused) {
  EXPECT_THROW(Grammar(std::vector<std::vector<Use>>{}), InvalidGrammar);
  EXPECT_THROW(Grammar({{{A}}}), InvalidGrammar);                     // no such rule
  EXPECT_THROW(Grammar({{{Symbol::rule(0)}}}), InvalidGrammar);       // the root
  EXPECT_THROW(Grammar({{{A}}, {}}), InvalidGrammar);                 // empty
  EXPECT_THROW(Grammar({{{A, 0}}, {{a}}}), InvalidGrammar);           // does not come
  EXPECT_THROW(Grammar({{{A}}, {{B}}, {{c}, {A}}}), InvalidGrammar);  // contains itself
}

}  // namespace
}  // namespace refrain::oracle::grammar_test
