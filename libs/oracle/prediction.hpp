#pragma once
// What comes after a progress sequence: the event at some distance, and the next occurrence of an event (PYTHIA,
// section II-C). What is known is skipped by its length, whole repetitions and whole rules at a time: O(log n) for
// each level of the path, up and down, for n uses in a rule, whatever the distance.
//
// Where the path says less than the future depends on, the prediction branches: a repetition that is not exact may be
// the last one or not, and of an outermost rule that ends all its uses are possible, each as probable as it is often
// in the run. All branches that have at least the Limits::branches-th part of the probability are followed. The others
// stand for each other: of them a sample is followed, evenly spread over their probability, each with that part of it.
// So what a prediction costs is bounded, however far away it is, and what many improbable branches have in common is
// seen. (To follow the most probable branches first, and so many of them, ends before any is far enough: it is the
// short ones that are probable.) The same question has the same answer. A number of repetitions that may have any of
// more than Limits::spread values takes that many of them, evenly spread, each in the place of its neighbours.
//
// Where the reference run is in its last loop, or before it, a run may also go on there when the reference's is over
// (last_loop.hpp): that has the probability kGoesOn, whatever the distance, so what the reference did is more probable
// as long as it did something.

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "oracle/containing.hpp"
#include "oracle/delays.hpp"
#include "oracle/last_loop.hpp"
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
  std::size_t branches = 8;  ///< at least 1
  std::size_t spread = 16;   ///< at least 1
  bool goes_on = true;       ///< the last loop may
};

/// Asks about the future of one Tracker; one thread. Keeps what it has found out about events that were asked for, at
/// most as much as a few times the grammar.
class Future {
 public:
  /// Without delays they are 0. Both have to outlive it.
  Future(const Reference& reference, const Delays* delays, Limits limits)
      : limits_(limits), least_(1 / static_cast<double>(limits.branches)) {
    turn_to(reference, delays);
  }
  /// From now on of these, with the same positions.
  void turn_to(const Reference& reference, const Delays* delays);

  /// Of sequences as probable as their weights say. The distance is at least 1.
  [[nodiscard]] Prediction predict(std::span<const Progress> sequences, std::uint64_t distance);
  [[nodiscard]] Occurrence next(std::span<const Progress> sequences, std::uint32_t event);

  /// The probability that a run that comes to where the reference's last loop ended goes on with it.
  static constexpr double kGoesOn = 1.0 / 3;

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
  void follow(Branch& branch, const Goal& goal);
  template <class Goal>
  bool finish_repetitions(Branch& branch, const Goal& goal);
  template <class Goal>
  bool finish_some_repetitions(Branch& branch, std::uint64_t more, std::uint64_t whole,
                               std::uint64_t offset, const Goal& goal);
  template <class Goal>
  bool finish_rule(Branch& branch, std::uint32_t rule, std::uint32_t from, const Goal& goal);
  template <class Goal>
  void go_on(Branch& branch, std::uint64_t next, const Goal& goal);
  template <class Goal>
  void finish_run(Branch& branch, std::uint64_t next, const Goal& goal);
  template <class Goal>
  void arrive(Branch branch, Delays::Context at, std::uint64_t offset, const Goal& goal);
  void repeat(Branch& branch, std::uint64_t times) const;
  [[nodiscard]] double expected(const Branch& branch, Delays::Context at,
                                std::uint64_t times) const;
  void pass(Branch& branch, Delays::Context at, std::uint32_t rule, std::uint32_t to) const;
  template <class Goal>
  void branch_around(Branch& branch, std::uint32_t rule, const Goal& goal);
  [[nodiscard]] double probability_of(double probability, double& passed_over) const;
  void count(std::uint64_t key, const Branch& branch);
  [[nodiscard]] double chance();
  [[nodiscard]] Delays::Context context(const Branch& branch, std::uint32_t position,
                                        bool again = false) const;
  [[nodiscard]] double delay_before(std::uint64_t event) const;
  [[nodiscard]] Occurrence most_probable() const;
  const Containing& containing(std::uint32_t event);

  /// What comes soonest is what a caller waits for: the first few positions that go by take their delays in the whole
  /// context, later ones from the sums of rules, as all do where many branches are followed.
  static constexpr std::uint32_t kLookedUp = 8;

  const Reference* reference_;
  const Delays* delays_;
  const Limits limits_;
  const double least_;  ///< the probability of a branch that is followed
  std::optional<LastLoop> last_loop_;
  std::vector<double> weights_;
  std::vector<Branch> branches_;
  std::vector<Outcome> outcomes_;
  double end_ = 0;
  double chance_ = 0;
  std::unordered_map<std::uint32_t, Containing> containing_;
  std::size_t kept_ = 0;  ///< their sizes
};

}  // namespace refrain::oracle
