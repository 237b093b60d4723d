#pragma once
// What a run has shown of how often its loops go round: where this is another number than in the reference run, as in a
// run of another size, what is still to come is told with the run's own. A count is taken over when a use has ended
// with it twice, one time after the other; so a loop of the reference that is left once in a hurry stays what it was.
//
// Made from it is the reference with other counts: the same rules and positions, so that progress sequences stay what
// they are. That takes as long as making the reference; so it is done after kPatience events for each of its uses, and
// costs O(log n) per event. One owner, one thread.

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "oracle/progress.hpp"

namespace refrain::oracle {

class OwnCounts {
 public:
  /// From now on what() has to be told: it cost too much in runs that do as the reference did.
  /// `reference`: the recorded one. What did not repeat there is no loop.
  void watch(const Reference& reference);
  [[nodiscard]] bool watches() const { return !ended_with_.empty(); }

  /// A program goes on from there (Progress::continuations): uses have ended. Requires watches().
  void go_on(const Reference& reference, std::span<const Level> from, std::size_t level,
             const Level& at);
  /// Is there something to take over, and is it time?
  [[nodiscard]] bool due() const {
    return !taken_over_.empty() && events_ >= kPatience * ended_with_.size();
  }
  /// The grammar with what has been taken over since the last call. None: it would be too long.
  [[nodiscard]] std::optional<Grammar> adapt(const Grammar& grammar);

 private:
  static constexpr std::uint64_t kPatience = 8;
  static constexpr std::uint64_t kExpected = 0, kNoLoop = UINT64_MAX;  // no counts

  /// By position: the last count, if it was another than expected.
  std::vector<std::uint64_t> ended_with_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> taken_over_;  ///< positions and their counts
  std::uint64_t events_ = 0;  ///< since the last call of adapt()
};

}  // namespace refrain::oracle
