#pragma once
// How often the rules of a grammar come in its run.

#include <cstdint>
#include <vector>

#include "oracle/grammar.hpp"

namespace refrain::oracle {

/// All rules, each before those that it uses. O(uses).
[[nodiscard]] std::vector<std::uint32_t> from_the_root_inwards(const Grammar& grammar);

/// Of each rule, repetitions counted; of the root 1. Exact, since no run is longer than 2^63. 0: it is not in the run.
/// `order`: from_the_root_inwards().
[[nodiscard]] std::vector<std::uint64_t> occurrences(const Grammar& grammar,
                                                     const std::vector<std::uint32_t>& order);
[[nodiscard]] inline std::vector<std::uint64_t> occurrences(const Grammar& grammar) {
  return occurrences(grammar, from_the_root_inwards(grammar));
}

}  // namespace refrain::oracle
