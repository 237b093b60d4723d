#include "oracle/containing.hpp"

#include <algorithm>
#include <unordered_map>

namespace refrain::oracle {

Containing::Containing(const Reference& reference, std::uint32_t event) {
  std::unordered_map<std::uint32_t, std::uint64_t> offsets;  // of the rules that contain it
  std::vector<std::uint32_t> rules;
  const auto add_uses = [&](Symbol symbol) {
    for (const std::uint32_t position : reference.positions(symbol)) {
      found_.push_back({position, 0});
      const std::uint32_t rule = reference.rule_of(position);
      if (offsets.try_emplace(rule, 0).second) rules.push_back(rule);
    }
  };
  add_uses(Symbol::event(event));
  for (std::size_t i = 0; i < rules.size(); ++i) add_uses(Symbol::rule(rules[i]));
  std::ranges::sort(found_, std::less(), &Found::position);
  // From the innermost rules outwards, what is in a use is known before the use is come to.
  std::ranges::sort(rules, std::greater(), [&](std::uint32_t r) { return reference.rank(r); });
  for (const std::uint32_t rule : rules) {
    const auto begin = static_cast<std::uint32_t>(reference.grammar().begin(rule));
    const Found at =
        first(begin, UINT32_MAX).value_or(Found{});  // there is one: the rule was found by it
    const Symbol symbol = reference.use(at.position).symbol;
    offsets[rule] =
        reference.before(at.position) + (symbol.is_rule() ? offsets[symbol.number()] : 0);
  }
  for (Found& found : found_) {
    const Symbol symbol = reference.use(found.position).symbol;
    if (symbol.is_rule()) found.offset = offsets[symbol.number()];
  }
}

std::optional<Containing::Found> Containing::first(std::uint32_t begin, std::uint32_t end) const {
  const auto found = std::ranges::lower_bound(found_, begin, std::less(), &Found::position);
  if (found == found_.end() || found->position >= end) return std::nullopt;
  return *found;
}

std::optional<std::uint64_t> Containing::first_from(const Reference& reference,
                                                    std::uint64_t event) const {
  const Grammar& grammar = reference.grammar();
  if (event >= grammar.length(0)) return std::nullopt;
  // Down to the event; on the way the first occurrence behind each use on its path, the innermost last.
  std::optional<std::uint64_t> behind;
  std::uint32_t rule = 0;
  std::uint64_t begin = 0;  // of the rule, in the run
  for (;;) {
    const std::uint32_t position = reference.holding(rule, event - begin);
    const auto end = static_cast<std::uint32_t>(grammar.begin(rule) + grammar.rule(rule).size());
    const Use& use = reference.use(position);
    const std::uint64_t length = grammar.length(use.symbol);
    const std::uint64_t use_begin = begin + reference.before(position);
    const std::uint64_t repetition = (event - use_begin) / length;
    const auto here = first(position, position + 1);
    if (here && repetition + 1 < use.times)
      behind = use_begin + (repetition + 1) * length + here->offset;
    else if (const auto later = first(position + 1, end))
      behind = begin + reference.before(later->position) + later->offset;
    if (!here) return behind;
    if (!use.symbol.is_rule()) return event;
    rule = use.symbol.number();
    begin = use_begin + repetition * length;
  }
}

}  // namespace refrain::oracle
