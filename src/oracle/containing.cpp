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
    const Found at = *first(begin, UINT32_MAX);
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

}  // namespace refrain::oracle
