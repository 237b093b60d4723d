#pragma once
// Where an event of the run is in a grammar, by how many events come before it: the path of uses from the root to it.
// From one event to the next it is O(1) amortised; from anywhere to anywhere O(log n) for each level of the path, for n
// uses in a rule. 8 bytes for each use, beside the grammar. One thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "oracle/grammar.hpp"

namespace refrain::oracle {

class Places {
 public:
  /// The grammar has to outlive it.
  explicit Places(const Grammar& grammar);

  /// A use on the path, and the repetition of it that is there.
  struct Step {
    std::uint32_t position;  ///< among Grammar::uses()
    std::uint64_t begin;     ///< how many events of the run come before this repetition
    std::uint64_t length;    ///< how many it has
    bool first;              ///< the use is the first of its rule
    bool repeated;           ///< this is not its first repetition
    [[nodiscard]] bool holds(std::uint64_t event) const { return event - begin < length; }
  };
  /// From the root's use to the event's own. Requires event < Grammar::length(0). Holds until the next call.
  std::span<const Step> path(std::uint64_t event);

  /// Repetitions of a use, one after the other.
  struct Rounds {
    std::uint64_t number = 0;
    std::uint64_t length = 0;  ///< the events of each
  };
  /// Of the longest repetition that begins with the event, is not the first of its use, and is followed by at least
  /// `fewest` - 1 others within so many events: it and all of those. None: nothing is repeated so often there.
  Rounds rounds(std::uint64_t event, std::uint64_t fewest, std::uint64_t within);

 private:
  [[nodiscard]] std::size_t holding(std::uint32_t rule, std::uint64_t offset,
                                    std::size_t guess) const;

  const Grammar& grammar_;
  std::vector<std::uint64_t> before_;  ///< how many events of its rule come before a use
  std::vector<Step> path_;
};

}  // namespace refrain::oracle
