#pragma once
// Runs: equivalence sets of one field that are in the same state, walked as one.
//
// Why. Of n partitions that contain one another, each piece is up to n equivalence sets. A launch that walks them all
// finds most of them as one task has left them. Ray casting (Bauer et al., Visibility Algorithms for Dynamic Dependence
// Analysis and Distributed Coherence, PPoPP 2023) has one equivalence set for all that a task has written, and cuts it
// again for the next task. Here the sets stay apart, so nothing is ever cut again: only their state is shared.
//
// How. The sets stand in an order where a set that was cut from another one comes right behind that one. So the sets of
// a footprint are a few intervals of positions. A run is an interval of positions with one state: that of its first set,
// its *head*. Walking a footprint first splits the runs at the ends of its intervals: a state is copied, which takes no set
// algebra. Then the footprint is whole runs, and a write that leaves all of them in one state makes each interval one run.
//
// When. Writes to footprints of many sets are counted by the sets that they walk; a cut begins the count anew. Runs begin
// when it reaches the number of sets and of what all footprints name: so beginning costs no more than was paid already. They
// end before anything that is about a single set: a cut, a copy that makes it valid, a recording. A balance of sets that
// were not walked, less splits, says whether runs are worth it: if not, they end too, and the next ones take twice as long
// to begin. All of this follows from launch order alone.
//
// A field that was ever recorded has no runs: its recordings name single sets.
//
// Owner: the thread of the context.

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/equivalence_set.hpp"

namespace refrain::analysis {

class FieldState;

class SetRuns {
 public:
  explicit SetRuns(FieldState& field) : field_(field) {}

  /// Sets that stand for all of the footprint's: what is done to their state is done to all. Until the next walk, written()
  /// or end().
  std::span<EquivalenceSet* const> walk(const Footprint& footprint) {
    if (!footprint.many) [[likely]]
      return footprint.all();
    if (!begun()) return footprint.all();
    if (walked_last_ != &footprint) walk_runs(footprint);
    return walking_;
  }
  /// To be called when a footprint of many sets was written in the instance.
  void written(const Footprint& footprint, const Instance& instance);

  /// Whether states are shared: then a set is to be found by walk() alone.
  [[nodiscard]] bool begun() const { return !sets_.empty(); }
  /// Every set has its own state again.
  void end() {
    walked_ = 0;
    if (begun()) [[unlikely]]
      separate();
  }

  /// A footprint of fewer sets is walked set by set, unless others make runs begin. Tests lower it, while nothing runs.
  static inline std::size_t least_many = 16;
  /// How often all sets are walked before runs begin, at least. Tests lower it, too.
  static inline std::int64_t least_patience = 1;

 private:
  using Position = std::uint32_t;
  /// What a split costs, in sets that could have been walked in its time.
  static constexpr std::int64_t kSplit = 4;
  static constexpr std::int64_t kMostPatience = 1024;

  void begin();
  /// What beginning and ending take, in sets walked.
  [[nodiscard]] std::int64_t all() const;
  void separate();
  void walk_runs(const Footprint& footprint);
  void split(Position at);
  [[nodiscard]] Position head_of(Position position) const;
  [[nodiscard]] Position next_head(Position from, Position end) const;
  [[nodiscard]] bool is_head(Position at) const { return (heads_[at / 64] >> (at % 64) & 1) != 0; }

  FieldState& field_;
  std::vector<EquivalenceSet*> sets_;       ///< by position; none: no runs have begun
  std::vector<std::uint64_t> heads_;        ///< a bit for each position
  std::vector<EquivalenceSet*> walking_;    ///< the heads of the footprint walked last
  const Footprint* walked_last_ = nullptr;  ///< null: none, or runs were joined since
  std::int64_t walked_ = 0;                 ///< sets, since runs could have begun
  std::int64_t balance_ = 0;                ///< what these runs have saved, in sets walked
  std::int64_t patience_ = least_patience;  ///< how often all sets are walked before runs begin
};

}  // namespace refrain::analysis
