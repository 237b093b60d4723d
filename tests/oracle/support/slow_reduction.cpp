#include "oracle/support/slow_reduction.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace refrain::test {

using oracle::Grammar;
using oracle::Symbol;
using oracle::Use;

namespace {

using Rule = std::vector<Use>;
using Couple = std::array<std::uint64_t, 4>;

std::uint64_t word(Symbol symbol) { return symbol.number() * 2ull + (symbol.is_rule() ? 1 : 0); }
Couple couple(const Use& a, const Use& b) {
  return {word(a.symbol), a.times, word(b.symbol), b.times};
}

void append(Rule& rule, const Use& use) {
  if (!rule.empty() && rule.back().symbol == use.symbol) rule.back().times += use.times;
  else rule.push_back(use);
}

/// The one that comes most often, if any comes twice.
bool most_frequent(const std::vector<Rule>& rules, Use& first, Use& second) {
  std::map<Couple, std::size_t> counts;
  std::size_t most = 1;
  for (const Rule& rule : rules)
    for (std::size_t i = 0; i + 1 < rule.size(); ++i)
      if (const std::size_t n = ++counts[couple(rule[i], rule[i + 1])]; n > most) {
        most = n;
        first = rule[i];
        second = rule[i + 1];
      }
  return most > 1;
}

Rule replaced(const Rule& rule, const Use& first, const Use& second, Symbol by) {
  Rule made;
  for (std::size_t i = 0; i < rule.size(); ++i) {
    const bool found = i + 1 < rule.size() && rule[i] == first && rule[i + 1] == second;
    append(made, found ? Use{by} : rule[i]);
    if (found) ++i;
  }
  return made;
}

/// Without the rules that are used once.
std::vector<Rule> written_out(std::vector<Rule> rules) {
  std::vector<std::uint64_t> used(rules.size());
  for (const Rule& rule : rules)
    for (const Use& use : rule)
      if (use.symbol.is_rule()) used[use.symbol.number()] += use.times;
  std::vector<std::uint32_t> number(rules.size());
  std::vector<Rule> kept;
  // A rule uses earlier ones only, but for the root, which uses any.
  const auto write = [&](const Rule& rule) {
    Rule made;
    for (const Use& use : rule) {
      if (!use.symbol.is_rule()) append(made, use);
      else if (used[use.symbol.number()] > 1)
        append(made, {Symbol::rule(number[use.symbol.number()]), use.times});
      else
        for (const Use& inner : rules[use.symbol.number()]) append(made, inner);
    }
    return made;
  };
  kept.emplace_back();
  for (std::size_t r = 1; r < rules.size(); ++r) {
    rules[r] = write(rules[r]);
    if (used[r] < 2) continue;
    number[r] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(rules[r]);
  }
  kept[0] = write(rules[0]);
  return kept;
}

}  // namespace

Grammar slow_reduction(std::span<const std::uint32_t> events) {
  std::vector<Rule> rules(1);
  for (const std::uint32_t event : events) append(rules[0], {Symbol::event(event)});
  Use first, second;
  while (most_frequent(rules, first, second)) {
    const Symbol symbol = Symbol::rule(static_cast<std::uint32_t>(rules.size()));
    for (Rule& rule : rules) rule = replaced(rule, first, second, symbol);
    rules.push_back({first, second});
  }
  return Grammar(written_out(std::move(rules)));
}

Grammar random_grammar(Random& random, std::uint64_t longest) {
  const auto letters = static_cast<int>(1 + random.below(4));
  const int rules = random.between(1, 7);
  std::vector<Rule> made(static_cast<std::size_t>(rules));
  std::vector<std::uint64_t> length(made.size());
  // Rules use later ones.
  for (int r = rules - 1; r >= 0; --r) {
    const int size = random.between(1, 5);
    for (int i = 0; i < size; ++i) {
      const bool is_rule = r + 1 < rules && random.percent(60);
      const auto number = static_cast<std::uint32_t>(is_rule ? random.between(r + 1, rules - 1)
                                                             : random.below(letters));
      const auto times = static_cast<std::uint64_t>(random.percent(60) ? 1 : random.between(2, 5));
      const std::uint64_t more = times * (is_rule ? length[number] : 1);
      if (i > 0 && length[static_cast<std::size_t>(r)] + more > longest) break;
      const Symbol symbol = is_rule ? Symbol::rule(number) : Symbol::event(number);
      if (more > longest) append(made[static_cast<std::size_t>(r)], {Symbol::event(0)});
      else append(made[static_cast<std::size_t>(r)], {symbol, times});
      length[static_cast<std::size_t>(r)] += more > longest ? 1 : more;
    }
  }
  return Grammar(made);
}

std::vector<std::uint32_t> unfolded(const Grammar& grammar) {
  std::vector<std::uint32_t> events;
  grammar.unfold([&](std::uint32_t event) { events.push_back(event); });
  return events;
}

}  // namespace refrain::test
