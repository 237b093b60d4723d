#pragma once
// What comes after a progress sequence: the event at some distance, and the next occurrence of an event (PYTHIA,
// section II-C). What is known is skipped by its length, whole repetitions and whole rules at a time: O(log n) for
// each level of the path, up and down, for n uses in a rule, whatever the distance.
//
// Where the path says less than the future depends on, the prediction branches: a repetition that is not exact may be
// the last one or not, and of an outermost rule that ends all its uses are possible, each as probable as it is often
// in the run. Branches are followed from the most probable on, and not more than Limits::branches; those that are
// left out belong to no event, so that a probability is too low rather than too high. A number of repetitions that
// may have any of more than Limits::spread values takes that many of them, evenly spread, each in the place of its
// neighbours.

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "oracle/containing.hpp"
#include "oracle/delays.hpp"
#include "oracle/progress.hpp"

namespace refrain::oracle {

/// The event at a distance.
struct Prediction {
  std::optional<std::uint32_t>
      event;  ///< the most probable one; of equals the smallest. None: nothing is known
  double probability = 0;
  double end = 0;    ///< the probability that the run is over before
  double delay = 0;  ///< expected from the last event to it; 0 without Delays
};

/// Where an event comes next.
struct Occurrence {
  std::uint64_t distance =
      0;  ///< the most probable one; of equals the smallest. 0: it is not known to come
  double probability = 0;
  double end = 0;  ///< the probability that it does not come any more
  double delay = 0;
};

struct Limits {
  std::size_t branches = 48;
  std::size_t spread = 16;  ///< at least 1
};

/// Asks about the future of one Tracker; one thread. Keeps what it has found out about events that were asked for, at
/// most as much as a few times the grammar.
class Future {
 public:
  /// Without delays they are 0. Both have to outlive it.
  Future(const Reference& reference, const Delays* delays, Limits limits)
      : reference_(&reference), delays_(delays), limits_(limits) {}
  /// From now on of these, with the same positions.
  void turn_to(const Reference& reference, const Delays* delays);

  /// Of sequences as probable as their weights say. The distance is at least 1.
  [[nodiscard]] Prediction predict(std::span<const Progress> sequences, std::uint64_t distance);
  [[nodiscard]] Occurrence next(std::span<const Progress> sequences, std::uint32_t event);

 private:
  /// A future whose beginning is known: one repetition of a use has just ended.
  struct Branch {
    double probability;
    std::uint64_t distance;    ///< events that have gone by
    double delay;              ///< and how long they took
    const Progress* sequence;  ///< what is around: its levels outside of `level`
    std::size_t level;
    Level at;
    std::uint32_t looked_up = 0;  ///< positions whose delays were looked up in their context
  };
  struct Outcome {
    std::uint64_t key;  ///< the event, or the distance
    double probability;
    double delay;  ///< times the probability
  };

  template <class Goal>
  void explore(std::span<const Progress> sequences, const Goal& goal);
  template <class Goal>
  void begin(const Progress& sequence, const Goal& goal);
  template <class Goal>
  void follow(Branch branch, const Goal& goal);
  template <class Goal>
  bool finish_repetitions(Branch& branch, const Goal& goal);
  template <class Goal>
  bool finish_rule(Branch& branch, std::uint32_t rule, std::uint32_t from, const Goal& goal);
  template <class Goal>
  void arrive(Branch branch, Delays::Context at, std::uint64_t offset, const Goal& goal);
  void repeat(Branch& branch, std::uint64_t times) const;
  [[nodiscard]] double expected(Delays::Context at, std::uint64_t times) const;
  void pass(Branch& branch, Delays::Context at, std::uint32_t rule, std::uint32_t to) const;
  void branch_around(const Branch& branch, std::uint32_t rule);
  void push(const Branch& branch);
  void count(std::uint64_t key, const Branch& branch);
  [[nodiscard]] Delays::Context context(const Branch& branch, std::uint32_t position,
                                        bool again = false) const;
  [[nodiscard]] const Outcome* most_probable() const;
  const Containing& containing(std::uint32_t event);

  /// What comes soonest is what a caller waits for: the first few positions that go by take their delays in the whole
  /// context, later ones from the sums of rules.
  static constexpr std::uint32_t kLookedUp = 8;

  const Reference* reference_;
  const Delays* delays_;
  Limits limits_;
  std::vector<Branch> branches_;  ///< a heap, the most probable on top
  std::vector<Outcome> outcomes_;
  double end_ = 0;
  std::unordered_map<std::uint32_t, Containing> containing_;
  std::size_t kept_ = 0;  ///< their sizes
};

}  // namespace refrain::oracle
