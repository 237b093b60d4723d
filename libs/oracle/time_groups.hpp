#pragma once
// Times of events, added up by context, in a form that outlives the grammar that the contexts are in: they can be put
// into any later grammar of the same run.
//
// A *group* is of events that came in the same context. Which ones they are is not known, but for one of them, by its
// number in the run; and how far around that one all of them have the same neighbours: as far as the outermost use of
// their context goes. In a later grammar all of them are taken to be where that one is, in the longest context that is
// within what they have in common. Groups that meet in a context there are one group.
//
// In a run that is long and varied, a context that is longer than a position has at least kFewest events: with fewer,
// the times of one context are no more than chance, there are many such contexts, and each costs time, memory and bytes
// in the file.
//
// What is exact: the sum (as long as a double holds it) and the number of all times, always; and each group, as long as
// the events of its context stay together. They do not always, at the end of a run that is not settled yet: when x^m
// becomes x^i and x^(m-i), all m are counted for one of the two; and neighbours that are alike may be parsed
// differently in two places.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "oracle/delays.hpp"
#include "oracle/grammar.hpp"

namespace refrain::oracle {

struct TimeGroup {
  /// Everything is known around an event that is alone.
  static constexpr std::uint32_t kAll = UINT32_MAX;

  std::uint64_t event;                    ///< one of them: how many came before it in the run
  std::uint32_t in_common_before = kAll;  ///< so many events before it are alike for all
  std::uint32_t in_common_behind = kAll;
  double sum;
  std::uint64_t count = 1;
};

/// One thread.
class TimeGroups {
 public:
  /// The most uses around a position that can be told apart.
  static constexpr unsigned kMostEnclosing = 2;

  /// How many events of the run a context that is longer than a position has at least: 1, if the run has at most kShort
  /// events or its grammar at most kSmall uses.
  static std::uint64_t fewest(const Grammar& grammar) {
    return grammar.length(0) <= kShort || grammar.uses().size() <= kSmall ? 1 : kFewest;
  }
  static constexpr std::uint64_t kShort = 4096, kSmall = 1024, kFewest = 8;

  /// `enclosing`: how many are.
  explicit TimeGroups(unsigned enclosing);

  /// Puts the groups, and the last events of the run, into the contexts of its grammar. `last`: the times since the
  /// events before them; that of the first event is none. With more than `most` contexts that are longer than a
  /// position, those of the fewest events become shorter. Takes O(d log n) for each group, for paths of d uses and n
  /// uses in a rule, and O(1) amortised for each of the last events. `recorded`: gets all, if it is wanted.
  void replay(const Grammar& grammar, std::span<const double> last, std::size_t most,
              std::vector<Delays::Recorded>* recorded = nullptr);

  [[nodiscard]] std::size_t bytes() const { return groups_.capacity() * sizeof(TimeGroup); }

 private:
  unsigned enclosing_;
  std::vector<TimeGroup> groups_;
};

}  // namespace refrain::oracle
