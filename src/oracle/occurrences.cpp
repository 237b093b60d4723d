#include "oracle/occurrences.hpp"

#include <cstddef>

namespace refrain::oracle {

std::vector<std::uint32_t> from_the_root_inwards(const Grammar& grammar) {
  std::vector<std::uint32_t> uses_left(grammar.rules());
  for (const Use& use : grammar.uses())
    if (use.symbol.is_rule()) ++uses_left[use.symbol.number()];
  std::vector<std::uint32_t> order;
  order.reserve(grammar.rules());
  for (std::uint32_t rule = 0; rule < grammar.rules(); ++rule)
    if (uses_left[rule] == 0) order.push_back(rule);
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const Use& use : grammar.rule(order[i]))
      if (use.symbol.is_rule() && --uses_left[use.symbol.number()] == 0)
        order.push_back(use.symbol.number());
  return order;
}

std::vector<std::uint64_t> occurrences(const Grammar& grammar,
                                       const std::vector<std::uint32_t>& order) {
  std::vector<std::uint64_t> found(grammar.rules());
  found[0] = 1;
  for (const std::uint32_t rule : order)
    for (const Use& use : grammar.rule(rule))
      if (use.symbol.is_rule()) found[use.symbol.number()] += found[rule] * use.times;
  return found;
}

}  // namespace refrain::oracle
