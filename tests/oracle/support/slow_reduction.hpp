#pragma once
// A grammar of a sequence of events, made slowly and simply from the finished sequence: repetitions are counted, then
// the couple of neighbours that comes most often, counts and all, becomes a rule, until none comes twice; a rule that
// is used once is written out again. No symbol stands beside itself and no couple of uses comes twice. And grammars
// of no run: random rules.

#include <cstdint>
#include <span>
#include <vector>

#include "oracle/grammar.hpp"
#include "support/random.hpp"

namespace refrain::test {

oracle::Grammar slow_reduction(std::span<const std::uint32_t> events);

/// Of at most that many events in all (at least 4), over a few letters.
oracle::Grammar random_grammar(Random& random, std::uint64_t longest);

std::vector<std::uint32_t> unfolded(const oracle::Grammar& grammar);

}  // namespace refrain::test
