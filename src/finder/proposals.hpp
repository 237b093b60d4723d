#pragma once
// Candidates out of the grammar of an earlier run (oracle/grammar.hpp). The rules of a grammar are its repeats, so
// there is nothing to search for. A proposal proves nothing: it is recorded and compared like any other candidate.
//
// Choice of rules. Recording a rule costs its calls once, and then an entry for each row of it. Recording its parts
// costs less, but calls in no part are analysed each time, and each part has entries of its own. So each rule is
// compared with the best of its parts, from the bottom up; the better ones are taken, from the root down. That is the
// body of an inner loop if the outer loop comes seldom, and the body of the outer one if it comes often. A rule that
// follows itself is the body of a loop, and is turned and unrolled as the finder does (finder/mining.hpp). A rule with
// calls that cannot be replayed is cut there, and its pieces are proposed.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "finder/mining.hpp"
#include "oracle/grammar.hpp"

namespace refrain::autotrace {

struct ProposalLimits {
  MiningLimits mining;
  std::size_t longest = ~std::size_t{0};  ///< calls of one rule
  std::size_t most = 64;                  ///< proposals: those with the most calls in the whole run
};

/// `tokens`: of the grammar's events; none: what cannot be replayed. O(symbols and what is proposed), but for a sort of
/// the rules.
std::vector<MinedRepeat> proposals(const oracle::Grammar& grammar,
                                   std::span<const std::optional<Token>> tokens,
                                   const ProposalLimits& limits);

}  // namespace refrain::autotrace
