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
// long ones once the run has been long enough.
//
// Nothing here knows OpenMP, the oracle or a clock. One thread; choosing and noting a duration take some 50 ns.

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  bool covers(double ns) const { return ns <= left_; }
  void spend(double ns) { left_ -= ns, spent_ += ns; }
  double spent() const { return spent_; }

  static constexpr double share = 0.01;
  static constexpr double advance_ns = 200e3;

 private:
  double left_ = advance_ns;
  double spent_ = 0;
};

/// The last durations with one size.
class Durations {
 public:
  void add(double ns);
  /// The mean of all but the longest; 0 if there are none.
  double typical() const { return typical_; }
  double shortest() const { return shortest_; }
  /// At most how many are kept.
  unsigned count() const { return count_; }

  static constexpr unsigned kept = 15;

 private:
  std::array<float, kept> last_{};
  unsigned count_ = 0;
  unsigned next_ = 0;
  double typical_ = 0;
  double shortest_ = 0;
};

/// The calls of one region that are expected to take about as long.
class Occasion {
 public:
  /// 0: nothing is expected of them.
  explicit Occasion(double expected_ns = 0) : expected_ns_(expected_ns) {}

  double expected_ns() const { return expected_ns_; }

  /// How many threads the next call should have, from 1 to `limit`.
  unsigned choose(unsigned limit, const Thresholds& first, const Allowance& allowance);

  /// It had so many, and took so long.
  void ran(unsigned threads, double ns, Allowance& allowance);

  /// "EXPECTED THREADS:TYPICAL*COUNT ...", times in ns: what choose() needs to know in the next run. There the calls
  /// are expected to take what they took here. Empty if there is nothing to tell.
  std::string note() const;
  static std::optional<Occasion> recall(std::string_view note);

  /// Fewer durations than that say nothing.
  static constexpr unsigned trustworthy = 3;
  /// Sizes are tried in rounds; the calls between two of them double. From the beginning when another size has become
  /// the best one, and what was best is soon tried again.
  static constexpr std::uint32_t shortest_pause = 4;
  static constexpr std::uint32_t longest_pause = 1024;

 private:
  struct Size {
    unsigned threads;
    unsigned tried;  ///< in how many trials of this round
    Durations durations;
  };

  void consider(unsigned limit, const Thresholds& first);
  /// The size to try at this call, if any. Ends the round if all have been tried.
  const Size* to_try(const Allowance& allowance);
  double loss_expected(const Size& size) const;
  Size& size(unsigned threads);
  void choose_best();

  double expected_ns_;
  std::vector<Size> sizes_;  ///< ascending; those up to limit_ are candidates
  unsigned limit_ = 0;
  unsigned best_ = 0;                        ///< the size that calls have which are no trials
  std::uint32_t until_round_ = trustworthy;  ///< so many calls until sizes are tried
  std::uint32_t pause_ = shortest_pause;     ///< the calls between rounds
};

/// One region's occasions.
class Occasions {
 public:
  /// The occasion whose expected duration is nearest, or a new one if that is another by more than a factor of
  /// `alike`. The reference stays valid.
  Occasion& at(double expected_ns);

  /// One line for each occasion.
  std::string note() const;
  /// What an earlier run found out; lines that are not of that form say nothing.
  void recall(std::string_view note);

  static constexpr double alike = 3;
  static constexpr std::size_t most = 8;

 private:
  std::deque<Occasion> occasions_;  // references into it hold
};

}  // namespace refrain::gomp
