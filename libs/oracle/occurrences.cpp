#include "oracle/occurrences.hpp"

#include <cstddef>

namespace refrain::oracle {

RuleOccurrences rule_occurrences(const Grammar& grammar) {
  const std::size_t rules = grammar.rules();
  std::vector<std::uint32_t> uses_left(rules);
  for (const Use& use : grammar.uses())
    if (use.symbol.is_rule()) ++uses_left[use.symbol.number()];
  RuleOccurrences found;
  found.order.reserve(rules);
  for (std::uint32_t rule = 0; rule < rules; ++rule)
    if (uses_left[rule] == 0) found.order.push_back(rule);
  found.of.resize(rules);
  found.of[0] = 1;
  for (std::size_t i = 0; i < found.order.size(); ++i) {
    const std::uint64_t comes = found.of[found.order[i]];
    for (const Use& use : grammar.rule(found.order[i])) {
      if (!use.symbol.is_rule()) continue;
      const std::uint32_t used = use.symbol.number();
      found.of[used] += comes * use.times;
      if (--uses_left[used] == 0) found.order.push_back(used);
    }
  }
  return found;
}

}  // namespace refrain::oracle
