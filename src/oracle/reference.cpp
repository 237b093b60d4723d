#include "oracle/reference.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "oracle/error.hpp"

namespace refrain::oracle {

namespace {

/// Events first, then rules.
constexpr auto key(Symbol symbol) { return std::pair(symbol.is_rule(), symbol.number()); }

}  // namespace

Reference::Reference(Grammar grammar) : grammar_(std::move(grammar)) {
  const std::size_t uses = grammar_.uses().size();
  if (uses >= std::numeric_limits<std::uint32_t>::max())
    throw InvalidGrammar("there are too many uses");
  rule_of_.reserve(uses);
  before_.reserve(uses + 1);
  for (std::uint32_t r = 0; r < grammar_.rules(); ++r) {
    std::uint64_t before = 0;
    for (const Use& use : grammar_.rule(r)) {
      rule_of_.push_back(r);
      before_.push_back(before);
      before += use.times * grammar_.length(use.symbol);
    }
  }
  before_.push_back(0);
  order_rules();
  sort_positions();
}

void Reference::order_rules() {
  const std::size_t rules = grammar_.rules();
  std::vector<std::uint32_t> uses_left(rules);
  for (const Use& use : grammar_.uses())
    if (use.symbol.is_rule()) ++uses_left[use.symbol.number()];
  std::vector<std::uint32_t> order;
  order.reserve(rules);
  for (std::uint32_t r = 0; r < rules; ++r)
    if (uses_left[r] == 0) order.push_back(r);
  occurrences_.assign(rules, 0);
  occurrences_[0] = 1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const Use& use : grammar_.rule(order[i])) {
      if (!use.symbol.is_rule()) continue;
      const std::uint32_t used = use.symbol.number();
      occurrences_[used] += occurrences_[order[i]] * static_cast<double>(use.times);
      if (--uses_left[used] == 0) order.push_back(used);
    }
  }
  rank_.resize(rules);
  first_.resize(rules);
  for (std::size_t i = rules; i-- > 0;) {
    const std::uint32_t rule = order[i];
    rank_[rule] = static_cast<std::uint32_t>(i);
    if (!grammar_.rule(rule).empty()) first_[rule] = first(grammar_.rule(rule).front().symbol);
  }
}

void Reference::sort_positions() {
  positions_.resize(rule_of_.size());
  std::iota(positions_.begin(), positions_.end(), 0);
  // A rule that is nowhere in the run has no places there.
  std::erase_if(positions_, [&](std::uint32_t p) { return occurrences_[rule_of_[p]] == 0; });
  std::ranges::sort(positions_, std::less(), [&](std::uint32_t position) {
    return std::tuple(key(use(position).symbol), -comes(position), position);
  });
  for (std::uint32_t i = 0; i < positions_.size(); ++i) {
    const Symbol symbol = use(positions_[i]).symbol;
    if (listed_.empty() || listed_.back().symbol != symbol) listed_.push_back({symbol, i});
  }
  listed_.push_back({Symbol(), static_cast<std::uint32_t>(positions_.size())});
}

std::uint32_t Reference::holding(std::uint32_t rule, std::uint64_t event) const {
  const auto begin = before_.begin() + static_cast<std::ptrdiff_t>(grammar_.begin(rule));
  const auto end = begin + static_cast<std::ptrdiff_t>(grammar_.rule(rule).size());
  return static_cast<std::uint32_t>(std::upper_bound(begin, end, event) - before_.begin() - 1);
}

std::span<const std::uint32_t> Reference::positions(Symbol symbol) const {
  const auto end = listed_.end() - 1;
  const auto found = std::lower_bound(
      listed_.begin(), end, symbol,
      [](const Listed& listed, Symbol wanted) { return key(listed.symbol) < key(wanted); });
  if (found == end || found->symbol != symbol) return {};
  return std::span(positions_).subspan(found->begin, (found + 1)->begin - found->begin);
}

}  // namespace refrain::oracle
