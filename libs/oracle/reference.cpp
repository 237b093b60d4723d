#include "oracle/reference.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <ranges>
#include <tuple>
#include <utility>

#include "oracle/error.hpp"
#include "oracle/occurrences.hpp"
#include "oracle/sorted_search.hpp"

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
  divide_root();
  order_rules();
  sort_positions();
  unfold_short_rules();
  sort_successions();
  choose_places();
}

/// The run in parts of a power of two, of which there are no more than uses in the root.
void Reference::divide_root() {
  const std::size_t uses = grammar_.rule(0).size();
  if (uses == 0) return;
  const std::uint64_t last = grammar_.length(0) - 1;
  while (last >> root_part_ >= uses) ++root_part_;
  std::uint32_t position = 0;
  for (std::uint64_t part = 0; part <= last >> root_part_; ++part) {
    while (position + 1 < uses && before_[position + 1] <= part << root_part_) ++position;
    root_parts_.push_back(position);
  }
  root_parts_.push_back(static_cast<std::uint32_t>(uses - 1));
}

void Reference::order_rules() {
  const std::size_t rules = grammar_.rules();
  const auto [order, occurrences] = rule_occurrences(grammar_);
  occurrences_.assign(occurrences.begin(), occurrences.end());
  rank_.resize(rules);
  first_.resize(rules);
  last_.resize(rules);
  for (std::size_t i = rules; i-- > 0;) {
    const std::uint32_t rule = order[i];
    rank_[rule] = static_cast<std::uint32_t>(i);
    if (grammar_.rule(rule).empty()) continue;
    first_[rule] = first(grammar_.rule(rule).front().symbol);
    const Symbol last = grammar_.rule(rule).back().symbol;
    last_[rule] = last.is_rule() ? last_[last.number()] : last.number();
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
  added_up_.reserve(positions_.size());
  rules_begin_.reserve(grammar_.rules() + 1);
  for (std::uint32_t i = 0; i < positions_.size(); ++i) {
    const Symbol symbol = use(positions_[i]).symbol;
    const bool is_first = i == 0 || use(positions_[i - 1]).symbol != symbol;
    added_up_.push_back(comes(positions_[i]) + (is_first ? 0 : added_up_.back()));
    if (symbol.is_rule()) rules_begin_.resize(symbol.number() + 1, i);
    else if (is_first) listed_.push_back({symbol.number(), i});
  }
  rules_begin_.resize(grammar_.rules() + 1, static_cast<std::uint32_t>(positions_.size()));
  listed_.push_back({UINT32_MAX, rules_begin_.front()});
}

/// From the innermost rules outwards, what a rule uses is known.
void Reference::unfold_short_rules() {
  std::vector<std::uint32_t> order(grammar_.rules());
  for (std::uint32_t rule = 0; rule < order.size(); ++rule) order[rank_[rule]] = rule;
  unfolded_begin_.assign(order.size(), kLong);
  for (const std::uint32_t rule : std::views::reverse(order)) {
    const std::uint64_t length = grammar_.length(rule);
    if (length > kShort) continue;
    const auto begin = static_cast<std::uint32_t>(unfolded_.size());
    for (const Use& use : grammar_.rule(rule))
      for (std::uint64_t i = 0; i < use.times * grammar_.length(use.symbol); ++i)
        unfolded_.push_back(event(use.symbol, i));
    unfolded_begin_[rule] = begin;
  }
}

void Reference::sort_successions() {
  for (std::uint32_t position = 0; position < rule_of_.size(); ++position) {
    if (occurrences_[rule_of_[position]] == 0) continue;
    if (before_[position] > 0) successions_.push_back({position, false});
    if (use(position).times > 1) successions_.push_back({position, true});
  }
  const auto comes = [&](Succession of) {
    return occurrences_[rule_of_[of.position]] *
           (of.repeated ? static_cast<double>(use(of.position).times - 1) : 1);
  };
  std::ranges::sort(successions_, std::less(), [&](Succession of) {
    return std::tuple(events_of(of), -comes(of), of.position, of.repeated);
  });
  for (std::uint32_t i = 0; i < successions_.size(); ++i) {
    const EventPair events = events_of(successions_[i]);
    if (pairs_.empty() || pairs_.back().events != events) pairs_.push_back({events, i});
  }
  pairs_.push_back({{UINT32_MAX, UINT32_MAX}, static_cast<std::uint32_t>(successions_.size())});
}

std::span<const Reference::Succession> Reference::successions(std::uint32_t event,
                                                              std::uint32_t next) const {
  const EventPair events(event, next);
  const auto end = pairs_.end() - 1;
  const auto found =
      std::ranges::lower_bound(pairs_.begin(), end, events, std::less(), &Pair::events);
  if (found == end || found->events != events) return {};
  return std::span(successions_).subspan(found->begin, (found + 1)->begin - found->begin);
}

void Reference::choose_places() {
  std::vector<std::uint32_t> order(grammar_.rules());
  for (std::uint32_t rule = 0; rule < order.size(); ++rule) order[rank_[rule]] = rule;
  places_.resize(order.size());
  for (const std::uint32_t rule : order)
    if (rule != 0 && occurrences_[rule] > 0) places_[rule] = places_of(rule);
}

/// Those of the rules that use it are known.
Reference::Places Reference::places_of(std::uint32_t rule) const {
  const std::span<const std::uint32_t> uses = positions(Symbol::rule(rule));
  const std::span<const double> sums = added_up(uses);
  Places places{};
  std::size_t use = 0;
  for (std::size_t i = 0; i < kPlaces; ++i) {
    const double at = (static_cast<double>(i) + 0.5) / kPlaces * sums.back();
    while (use + 1 < uses.size() && sums[use] <= at) ++use;
    const std::uint32_t position = uses[use];
    // Of the places of the use, each with all its repetitions.
    const double before = use == 0 ? 0 : sums[use - 1];
    const double share = std::min((at - before) / (sums[use] - before), 1.0) * kPlaces;
    const auto around = std::min(static_cast<std::size_t>(share), kPlaces - 1);
    const Use& repeated = this->use(position);
    const auto repetition = static_cast<std::uint64_t>((share - static_cast<double>(around)) *
                                                       static_cast<double>(repeated.times));
    places[i] = places_[rule_of_[position]][around] + before_[position] +
                std::min(repetition, repeated.times - 1) * grammar_.length(rule);
  }
  return places;
}

std::uint32_t Reference::holding(std::uint32_t rule, std::uint64_t event) const {
  std::size_t begin = grammar_.begin(rule), end = begin + grammar_.rule(rule).size();
  if (rule == 0) {
    const std::uint64_t part = event >> root_part_;
    begin = root_parts_[part];
    end = root_parts_[part + 1] + std::size_t{1};
  }
  const auto before = std::span(std::as_const(before_)).subspan(begin, end - begin);
  return static_cast<std::uint32_t>(begin + last_not_above(before, event));
}

std::uint32_t Reference::event(Symbol symbol, std::uint64_t number) const {
  while (symbol.is_rule()) {
    const std::uint32_t rule = symbol.number();
    const std::uint64_t length = grammar_.length(rule);
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): no rule is empty.
    if (number >= length) number %= length;
    if (unfolded_begin_[rule] != kLong) return unfolded_[unfolded_begin_[rule] + number];
    const std::uint32_t position = holding(rule, number);
    symbol = use(position).symbol;
    number -= before(position);
  }
  return symbol.number();
}

std::span<const std::uint32_t> Reference::positions(Symbol symbol) const {
  const auto between = [&](std::uint32_t begin, std::uint32_t end) {
    return std::span(positions_).subspan(begin, end - begin);
  };
  if (symbol.is_rule())
    return between(rules_begin_[symbol.number()], rules_begin_[symbol.number() + 1]);
  const auto end = listed_.end() - 1;
  const auto found =
      std::ranges::lower_bound(listed_.begin(), end, symbol.number(), std::less(), &Listed::event);
  if (found == end || found->event != symbol.number()) return {};
  return between(found->begin, (found + 1)->begin);
}

}  // namespace refrain::oracle
