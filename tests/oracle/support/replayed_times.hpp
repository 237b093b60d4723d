#pragma once
// The judge of times that are added up while a run goes on: all of them, replayed through the finished grammar, as the
// paper does (PYTHIA, section II-C), in contexts of at least TimeGroups::fewest() events.

#include <map>
#include <span>
#include <vector>

#include "oracle/delays.hpp"
#include "oracle/grammar.hpp"

namespace refrain::test {

/// Of each event of the run, with so many uses around (at most 2).
std::vector<oracle::Delays::Context> contexts(const oracle::Grammar& grammar, unsigned enclosing);

struct Times {
  double sum = 0;
  std::uint64_t count = 0;
  friend bool operator==(const Times&, const Times&) = default;
};
using TimesByContext = std::map<oracle::Delays::Context, Times>;

TimesByContext replayed(const oracle::Grammar& grammar, std::span<const double> times,
                        unsigned enclosing);

}  // namespace refrain::test
