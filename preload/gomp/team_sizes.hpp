#pragma once
// How many threads a parallel region should have. Two ways: the paper's, fixed thresholds of the expected duration
// (PYTHIA, section III-D), and learning: what the region took with teams of each size.
//
// What is learned is learned by *occasion*: the calls of one region that are expected to take about as long, for the
// same function may be called with a loop of ten iterations here and of a million there, and only the oracle's context
// tells them apart. Of each size the last few durations are kept, and what counts is their mean without the longest: a
// call during which the machine did something else changes nothing, but if that is so for every tenth call, as for a
// team on a machine that others use, too, then it is what this size costs. (A median would not see it.)
//
// A size that has not been measured has to be tried. What all trials of a thread together may cost is an Allowance: a
// share of the time spent in regions. So short regions, whose trials cost next to nothing, are explored at once, and
// long ones once the run has been long enough. What a trial will cost is a guess, by what teams of that size have cost in
// other regions (TeamCosts); it is charged with what it has cost.
//
// What a region took in the reference run says how long it may take. Until whole teams have been measured in this run it
// counts for them, but it is no measure: the machine was another one then, perhaps, or the sizes were chosen, too.
//
// Nothing here knows OpenMP, the oracle or a clock. One thread; choosing and noting a duration take some 50 ns.

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gomp/team_costs.hpp"

namespace refrain::gomp {

/// The paper's choice: at most so many threads for regions that are expected to take less than so long.
class Thresholds {
 public:
  /// What was right on a machine where a team of two takes about a microsecond to start and to end.
  Thresholds();

  /// "1:10,4:50": one thread below 10 us, at most 4 below 50 us. Nothing, if it is not of this form or not ascending.
  static std::optional<Thresholds> parse(std::string_view text);

  /// `limit` if nothing is expected (0).
  unsigned choose(double expected_ns, unsigned limit) const;

 private:
  struct Step {
    unsigned threads;
    double below_ns;
  };
  std::vector<Step> steps_;
};

/// What trials may cost: a share of the time in regions, and a little in advance.
class Allowance {
 public:
  void earn(double ns) { left_ += share * ns; }
  /// What is not expected to cost anything is covered whatever has been spent.
  bool covers(double ns) const { return ns <= 0 || ns <= left_; }
  void spend(double ns) { left_ -= ns, spent_ += ns; }
  double spent() const { return spent_; }

  /// 1%; and as much more as the last trials took longer than was expected, which is known only behind them.
  static constexpr double share = 0.01;
  static constexpr double advance_ns = 100e3;

 private:
  double left_ = advance_ns;
  double spent_ = 0;
};

/// What one thread's trials may cost, and what they have shown.
struct Trials {
  Allowance allowance;
  TeamCosts costs;
};

/// The last durations with one size.
class Durations {
 public:
  void add(double ns);
  /// The mean of all but the longest; 0 if there are none.
  double typical() const { return typical_; }
  double shortest() const { return shortest_; }
  /// 0 if there are none.
  double median() const { return median_; }
  /// At most how many are kept.
  unsigned count() const { return count_; }

  static constexpr unsigned kept = 15;

 private:
  std::array<float, kept> last_{};
  unsigned count_ = 0;
  unsigned next_ = 0;
  double typical_ = 0;
  double shortest_ = 0;
  double median_ = 0;
};

/// The sizes from which one may be chosen.
struct Choices {
  Choices(unsigned most, bool extremes = false) : limit(most), one_or_all(extremes) {}

  [[nodiscard]] bool have(unsigned threads) const {
    return threads <= limit && (!one_or_all || threads == 1 || threads == limit);
  }
  friend bool operator==(const Choices&, const Choices&) = default;

  unsigned limit;
  bool one_or_all;  ///< nothing between 1 and the limit
};

/// The calls of one region that are expected to take about as long.
class Occasion {
 public:
  /// 0: nothing is expected of them. `of_whole`: that is what a whole team took.
  explicit Occasion(double expected_ns = 0, bool of_whole = true)
      : expected_ns_(expected_ns), of_whole_(of_whole) {}

  double expected_ns() const { return expected_ns_; }

  /// How many threads the next call should have.
  unsigned choose(const Choices& choices, const Thresholds& first, Trials& trials);
  /// The same for a call while that size is tried: it, if that is affordable.
  unsigned choose(const Choices& choices, const Thresholds& first, Trials& trials, unsigned tried);
  /// The size of a call that is not measured. Requires that choose() was called with the same choices.
  [[nodiscard]] unsigned best() const { return best_; }
  [[nodiscard]] const Choices& choices() const { return choices_; }
  /// What it takes with the best size and with a whole team, in ns, interruptions counted; 0: nothing is known. Of whole
  /// teams of which little is known it is a guess.
  [[nodiscard]] std::pair<double, double> best_and_whole(const TeamCosts& costs) const;
  /// Too little is known for calls that are not measured.
  [[nodiscard]] bool is_new() const {
    return calls_ < 2 * trustworthy || (calls_ < explored && !knows_all());
  }

  /// It had so many, and took so long. Not `counts`: a trial has just begun or ended, which makes regions longer.
  void ran(unsigned threads, double ns, Trials& trials, bool counts = true);

  /// "EXPECTED THREADS:TYPICAL*COUNT ...", times in ns: what choose() needs to know in the next run. There the calls
  /// are expected to take what they took here. Empty if there is nothing to tell.
  std::string note() const;
  static std::optional<Occasion> recall(std::string_view note);

  /// Fewer durations than that say nothing.
  static constexpr unsigned trustworthy = 3;
  /// Sizes are tried in rounds. The calls between two of them double, or are eight times as many where no other size is
  /// nearly as good; from the beginning when another size has become the best one, and what was best is soon tried again.
  static constexpr std::uint32_t shortest_pause = 4;
  static constexpr std::uint32_t longest_pause = 1024;
  /// What takes that long is not much longer because another size came before it.
  static constexpr double long_ns = 300e3;
  /// After so many calls it is no news that a size is unknown.
  static constexpr std::uint32_t explored = 16;

 private:
  struct Size {
    unsigned threads;
    unsigned tried;        ///< in how many trials of this round
    unsigned not_counted;  ///< trials of this round that were no measure
    Durations durations;
    double earlier = 0;  ///< what it took before those, in ns; 0: nothing is known of that

    /// One thread waits for no others: what interrupts it now and then would do so with any team.
    [[nodiscard]] double typical() const {
      if (durations.count() == 0) return earlier;
      return threads == 1 ? durations.median() : durations.typical();
    }
  };

  void consider(const Choices& choices, const Thresholds& first, TeamCosts& costs);
  /// The size to try at this call, if any. Ends the round if all have been tried.
  const Size* to_try(const Trials& trials);
  [[nodiscard]] bool is_affordable(const Size& candidate, const Trials& trials, double calls) const;
  void end_round(const TeamCosts& costs);
  void compare(const Size& had, double ns, TeamCosts& costs);
  [[nodiscard]] static double expected_of(const Size& size, const TeamCosts& costs) {
    return size.typical() + costs.interruptions(size.threads);
  }
  [[nodiscard]] double loss_expected(const Size& size, const TeamCosts& costs) const;
  /// nullptr: nothing is known of that size.
  [[nodiscard]] const Size* find(unsigned threads) const;
  Size& size(unsigned threads);
  [[nodiscard]] bool knows_all() const;
  void choose_best(const TeamCosts& costs);

  double expected_ns_;
  bool of_whole_;
  std::vector<Size> sizes_;  ///< ascending; those of choices_ are candidates
  Choices choices_{0};
  unsigned calls_ = 0;  ///< that were measured, as far as that matters
  unsigned best_ = 0;   ///< the size that calls have which are no trials
  double usual_ = 0;    ///< what it took when its last round ended; 0: none has
  std::uint32_t until_round_ = trustworthy;  ///< so many calls until sizes are tried
  std::uint32_t pause_ = shortest_pause;     ///< the calls between rounds
};

/// One region's occasions.
class Occasions {
 public:
  /// The occasion whose expected duration is nearest, or a new one if that is another by more than a factor of
  /// `alike`. The reference stays valid.
  Occasion& at(double expected_ns);

  /// The size of a call that is not measured, whatever is expected of it; 0: that depends, or has to be found out.
  [[nodiscard]] unsigned common(const Choices& choices) const;

  /// One line for each occasion.
  std::string note() const;
  /// What an earlier run found out; lines that are not of that form say nothing.
  void recall(std::string_view note);

  static constexpr double alike = 3;
  static constexpr std::size_t most = 8;

 private:
  std::deque<Occasion> occasions_;  // references into it hold
  bool of_whole_ = true;            // no sizes were chosen in the reference run
};

}  // namespace refrain::gomp
