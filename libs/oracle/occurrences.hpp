#pragma once
// How often the rules of a grammar come in its run.

#include <cstdint>
#include <vector>

#include "oracle/grammar.hpp"

namespace refrain::oracle {

struct RuleOccurrences {
  std::vector<std::uint32_t> order;  ///< all rules, each before those that it uses
  /// Of each rule, repetitions counted; of the root 1. Exact, since no run is longer than 2^63. 0: it is not in the run.
  std::vector<std::uint64_t> of;
};

/// O(uses).
[[nodiscard]] RuleOccurrences rule_occurrences(const Grammar& grammar);

}  // namespace refrain::oracle
