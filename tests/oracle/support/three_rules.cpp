#include "three_rules.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace refrain::oracle {

namespace {

std::string name(Symbol symbol) {
  return (symbol.is_rule() ? "rule " : "event ") + std::to_string(symbol.number());
}

/// Two symbols beside each other, in one word: there are millions, and they are sorted.
struct Couple {
  Couple(Symbol left, Symbol right, std::uint32_t in)
      : symbols(word(left) << 32 | word(right)), rule(in) {}
  [[nodiscard]] std::string text() const {
    return name(symbol(symbols >> 32)) + " is before " + name(symbol(symbols & 0xFFFF'FFFF));
  }

  std::uint64_t symbols;
  std::uint32_t rule;

 private:
  static std::uint64_t word(Symbol symbol) {
    return symbol.number() + (symbol.is_rule() ? Symbol::kMost : 0u);
  }
  static Symbol symbol(std::uint64_t word) {
    const auto number = static_cast<std::uint32_t>(word % Symbol::kMost);
    return word < Symbol::kMost ? Symbol::event(number) : Symbol::rule(number);
  }
};

std::string complaint_about_couples(const Grammar& grammar) {
  std::vector<Couple> couples;
  for (std::uint32_t r = 0; r < grammar.rules(); ++r) {
    const std::span<const Use> rule = grammar.rule(r);
    for (std::size_t i = 1; i < rule.size(); ++i) {
      if (rule[i - 1].symbol == rule[i].symbol)
        return name(rule[i].symbol) + " stands beside itself in rule " + std::to_string(r);
      couples.emplace_back(rule[i - 1].symbol, rule[i].symbol, r);
    }
  }
  std::ranges::sort(couples, {}, &Couple::symbols);
  const auto twice = std::ranges::adjacent_find(couples, {}, &Couple::symbols);
  if (twice == couples.end()) return "";
  return twice->text() + " in rule " + std::to_string(twice->rule) + " and in rule " +
         std::to_string(std::next(twice)->rule);
}

std::string complaint_about_rules(const Grammar& grammar) {
  std::vector<std::uint64_t> uses(grammar.rules());
  std::uint32_t met = 0;
  for (const Use& use : grammar.uses()) {
    if (!use.symbol.is_rule()) continue;
    uses[use.symbol.number()] += use.times;
    if (use.symbol.number() > met + 1) return name(use.symbol) + " is met too early";
    met = std::max(met, use.symbol.number());
  }
  for (std::uint32_t r = 1; r < grammar.rules(); ++r) {
    if (uses[r] < 2)
      return "rule " + std::to_string(r) + " is used " + std::to_string(uses[r]) + " times";
    if (grammar.rule(r).size() < 2) return "rule " + std::to_string(r) + " has one symbol";
  }
  return "";
}

}  // namespace

std::string complaint(const Grammar& grammar, std::span<const std::uint32_t> events) {
  std::size_t at = 0;
  bool same = true;
  grammar.unfold([&](std::uint32_t event) {
    same = same && at < events.size() && events[at] == event;
    ++at;
  });
  if (!same || at != events.size() || grammar.length(0) != events.size())
    return "it does not unfold to the events";
  const std::string about_rules = complaint_about_rules(grammar);
  return about_rules.empty() ? complaint_about_couples(grammar) : about_rules;
}

}  // namespace refrain::oracle
