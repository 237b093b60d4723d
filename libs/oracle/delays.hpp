#pragma once
// How long it takes in the reference run from one event to the next, by position and by what is around it (PYTHIA,
// section II-C): the mean of a position in general ("Ab": all b in A), where A is used in one place ("BAb": those in
// the A of B), and where B is used in one place. What is known of the longest context is used.
//
// Where something is repeated, its first event comes after what stands before it in the first repetition, and after its
// own last event in the later ones. These are told apart ("again"), which the paper does not do.
//
// Sums over many events are kept ready for each use, so that whole rules are skipped. In them each event has its mean
// in the use of its rule, a context of one: with two the sums would be one for each pair of a use and a use around it,
// which may be as many as the square of the grammar's uses.
//
// Immutable; any number of threads read it. Times are of any one unit, e.g. nanoseconds.

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "oracle/reference.hpp"

namespace refrain::oracle {

class Delays {
 public:
  static constexpr std::uint32_t kUnknown = UINT32_MAX;
  /// A position of an event and the positions around it, as far as they are known.
  struct Context {
    std::uint32_t position;
    std::uint32_t around = kUnknown;     ///< the use of its rule
    std::uint32_t outermost = kUnknown;  ///< the use of the rule around that
    /// It begins a repetition that is not the first, of its use or of one around.
    bool again = false;

    friend bool operator==(const Context&, const Context&) = default;
    friend auto operator<=>(const Context& a, const Context& b) {
      return std::tie(a.position, a.around, a.outermost, a.again) <=>
             std::tie(b.position, b.around, b.outermost, b.again);
    }
  };
  /// Some events that came in a context.
  struct Recorded {
    Context context;
    double sum;  ///< of the times since the events before them
    std::uint64_t count;
  };

  /// What was recorded in a context counts for the shorter ones, too, so that each event is to be given once, in the
  /// longest context known. InvalidGrammar: a context is not in the grammar.
  Delays(const Reference& reference, std::span<const Recorded> recorded);
  /// The same delays for the same reference with other counts of repetitions.
  Delays(const Reference& reference, const Delays& delays);

  /// Of the longest part of the context of which anything is known, `again` being more than the uses around; of the
  /// event, wherever it is, if the position has no times; 0 if there are none at all.
  [[nodiscard]] double mean(const Context& context) const;
  /// How many events are in the mean of exactly this context.
  [[nodiscard]] std::uint64_t count(const Context& context) const;

  /// Expected from before the first event of one repetition of the position to its last event. `again`: of that first
  /// event.
  [[nodiscard]] double repetition(std::uint32_t position, bool again = false) const {
    return again ? repetition_[position].again : repetition_[position].first;
  }
  /// The same of one of so many repetitions, the first and the later ones together.
  [[nodiscard]] double mean_repetition(std::uint32_t position, std::uint64_t times) const {
    return repetition_[position].all(times) / static_cast<double>(times);
  }
  /// Expected for the events of its rule that come before a position, and for the whole rule, not again.
  [[nodiscard]] double before(std::uint32_t position) const { return before_[position]; }
  [[nodiscard]] double rule(std::uint32_t number) const { return rule_[number]; }

 private:
  /// By whether its first event comes again.
  struct Repetition {
    double first, again;
    [[nodiscard]] double all(std::uint64_t times) const {
      return first + static_cast<double>(times - 1) * again;
    }
  };

  [[nodiscard]] const Recorded* find(const Context& context) const;
  void find_means_of_events(const Reference& reference);
  void add_up(const Reference& reference);
  [[nodiscard]] Repetition whole_rule(const Reference& reference, std::uint32_t position) const;

  std::vector<Recorded> recorded_;  ///< ascending by context
  std::vector<double> of_event_;    ///< its mean, for each position of one
  std::vector<Repetition> repetition_;
  std::vector<double> before_;
  std::vector<double> rule_;
};

}  // namespace refrain::oracle
