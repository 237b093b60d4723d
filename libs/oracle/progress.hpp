#pragma once
// A progress sequence: where in the reference run a program is, as a path from a use of an event towards the root
// (PYTHIA, section II-B1). Where following began in the middle of the run, the path ends below the root: what is
// around its outermost rule is not known, and the sequence stands for all places that this rule's uses give.
//
// Of each use on the path it is said which of its repetitions is going on: exactly, or, where following began within
// them, that at least so many have been. Then all that are left are equally likely, since they are equally often in the
// run. So a sequence stands for a set of places in the run, weight() says how many, and continuations of different
// sequences, or different ones of one, are different places: sequences that are followed from all positions
// of an event stand for exactly the places in the run where the same events come last.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "oracle/levels.hpp"
#include "oracle/reference.hpp"
#include "oracle/ways_behind.hpp"

namespace refrain::oracle {

/// How many repetitions of a use may come after one.
struct RepetitionsLeft {
  bool exactly;  ///< these, else any number up to these
  std::uint64_t most;
};
inline RepetitionsLeft repetitions_left(const Reference& reference, const Level& at) {
  const std::uint64_t times = reference.use(at.position).times;
  if (at.time < times) return {at.exact, times - 1 - at.time};
  // A loop has gone round more often than in the reference run: it may do so as often again.
  return {times == 1, times == 1 ? 0 : at.time};
}

class Progress {
 public:
  /// Before the first event of the run.
  Progress() = default;
  /// At some place of a position of an event.
  explicit Progress(std::uint32_t position) { levels_.append({position, false, 0}); }

  /// The outermost first; the last is the event's. Empty before the first event.
  [[nodiscard]] std::span<const Level> levels() const { return levels_.all(); }
  /// How many places in the run this may be.
  [[nodiscard]] double weight(const Reference& reference) const {
    return weight(reference, levels());
  }
  /// The same, with `at` in the place of that level and of those below.
  [[nodiscard]] double weight(const Reference& reference, std::size_t level, const Level& at) const;

  /// Calls visit(level, at) for each way to go on by one event: to the first event of the symbol at `at`, which takes
  /// the place of that level. Where the rule around is not known, all its uses are ways to go on.
  template <class Visit>
  void continuations(const Reference& reference, Visit&& visit) const;
  /// The same for those in what is known. Returns the outermost rule, if it may end; else the root.
  template <class Visit>
  std::uint32_t continuations_within(const Reference& reference, Visit&& visit) const;
  struct Way {
    std::size_t level;
    Level at;
  };
  /// The way to go on that continuations() would visit, if there is no other, as in a run that is known from its
  /// beginning. Nothing also for some from which there is one only.
  [[nodiscard]] std::optional<Way> only_way(const Reference& reference) const {
    const std::span<const Level> levels = this->levels();
    for (std::size_t level = levels.size(); level-- > 0;) {
      const Level& at = levels[level];
      const auto [exactly, most] = repetitions_left(reference, at);
      if (most > 0) {
        if (!exactly) return std::nullopt;
        return Way{level, {at.position, at.exact, at.time + 1}};
      }
      if (!reference.is_last(at.position)) return Way{level, {at.position + 1, true, 0}};
    }
    return std::nullopt;
  }
  /// Goes there.
  void go(const Reference& reference, std::size_t level, const Level& at);
  /// Becomes what another sequence would be.
  void go(const Reference& reference, const Progress& from, std::size_t level, const Level& at);
  /// The same places in the same run with other counts of repetitions, of which there are fewer here, if anything.
  void fit(const Reference& reference);

 private:
  static double weight(const Reference& reference, std::span<const Level> levels);

  Levels levels_;
};

template <class Visit>
void Progress::continuations(const Reference& reference, Visit&& visit) const {
  const std::uint32_t rule = continuations_within(reference, visit);
  if (rule != 0)
    WaysBehind::all(reference, rule, [&](const Level& at) { visit(std::size_t{0}, at); });
}

template <class Visit>
std::uint32_t Progress::continuations_within(const Reference& reference, Visit&& visit) const {
  const std::span<const Level> levels = this->levels();
  if (levels.empty()) {
    if (!reference.grammar().rule(0).empty()) visit(std::size_t{0}, Level{0, true, 0});
    return 0;
  }
  for (std::size_t level = levels.size(); level-- > 0;) {
    const Level& at = levels[level];
    const auto [exactly, most] = repetitions_left(reference, at);
    if (most > 0) {
      visit(level, Level{at.position, at.exact, at.time + 1});
      if (exactly) return 0;
    }
    if (!reference.is_last(at.position)) {
      visit(level, Level{at.position + 1, true, 0});
      return 0;
    }
  }
  return reference.rule_of(levels[0].position);
}

}  // namespace refrain::oracle
