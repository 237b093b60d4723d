#include "oracle/places.hpp"

#include "oracle/sorted_search.hpp"

namespace refrain::oracle {

Places::Places(const Grammar& grammar) : grammar_(grammar) {
  before_.reserve(grammar.uses().size());
  for (std::uint32_t r = 0; r < grammar.rules(); ++r) {
    std::uint64_t before = 0;
    for (const Use& use : grammar.rule(r)) {
      before_.push_back(before);
      before += use.times * grammar.length(use.symbol);
    }
  }
}

std::span<const Places::Step> Places::path(std::uint64_t event) {
  std::size_t guess = 0;
  while (!path_.empty() && !path_.back().holds(event)) {
    guess = path_.back().position + 1;
    path_.pop_back();
  }
  Symbol symbol = Symbol::rule(0);
  std::uint64_t begin = 0;
  if (!path_.empty()) {
    symbol = grammar_.uses()[path_.back().position].symbol;
    begin = path_.back().begin;
  }
  while (symbol.is_rule()) {
    const std::size_t position = holding(symbol.number(), event - begin, guess);
    const Use& use = grammar_.uses()[position];
    symbol = use.symbol;
    begin += before_[position];
    const std::uint64_t length = grammar_.length(symbol);
    const bool repeated = use.times > 1 && event - begin >= length;
    if (repeated) begin += (event - begin) / length * length;
    path_.push_back(
        {static_cast<std::uint32_t>(position), begin, length, before_[position] == 0, repeated});
    guess = symbol.is_rule() ? grammar_.begin(symbol.number()) : 0;
  }
  return path_;
}

Places::Rounds Places::rounds(std::uint64_t event, std::uint64_t fewest, std::uint64_t within) {
  Rounds found;
  path(event);
  for (std::size_t level = path_.size(); level-- > 0 && path_[level].begin == event;) {
    const auto& [position, begin, length, first, repeated] = path_[level];
    if (!repeated || length > within / fewest) continue;
    const std::uint64_t around = level == 0 ? 0 : path_[level - 1].begin;
    const std::uint64_t end = around + before_[position] + grammar_.uses()[position].times * length;
    const std::uint64_t number = std::min(end - event, within) / length;
    if (number >= fewest) found = {number, length};
  }
  return found;
}

/// The use in a rule that has the event behind so many of the rule's.
std::size_t Places::holding(std::uint32_t rule, std::uint64_t offset, std::size_t guess) const {
  const std::size_t begin = grammar_.begin(rule), end = begin + grammar_.rule(rule).size();
  if (begin <= guess && guess < end && before_[guess] <= offset &&
      (guess + 1 == end || offset < before_[guess + 1]))
    return guess;
  return begin + last_not_above(std::span<const std::uint64_t>(before_).subspan(begin, end - begin),
                                offset);
}

}  // namespace refrain::oracle
