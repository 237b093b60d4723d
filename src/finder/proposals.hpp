#pragma once
// Candidates out of the grammar of an earlier run (oracle/grammar.hpp): a grammar says what repeats, so nothing has to
// be searched for. What is proposed proves nothing: it is recorded and compared as what a finder has found.
//
// Which rules. To record a rule costs its calls, once; after that, an entry for each row of it. To record parts of it
// instead costs less, but what is in no part is analysed each time, and each part has its entries. So from the bottom
// up each rule is compared with the best of its parts, and from the root down those are taken that are the better:
// the body of an inner loop where the outer one comes seldom, the outer one's where it comes often. A rule that
// follows itself is a loop's body, and becomes what the finder makes of that (finder/mining.hpp): turned, and as
// many iterations as the least length asks for. Of one with something in it that cannot be replayed the pieces in
// between are proposed.

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
