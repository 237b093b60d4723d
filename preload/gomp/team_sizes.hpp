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
// A trial is not of one call: a team of another size than the one before costs more, since threads that have nothing to do
// go to sleep, and wake up late. So a size is tried for a stretch of regions (Trial), each as far as that is affordable,
// and what the first of them takes is not counted.
//
// To measure a region costs more than to start it with a size that is known, so few are measured where nothing new is
// found out (Measuring).
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

/// The last durations with one size.
class Durations {
 public:
  void add(double ns);
  /// The mean of all but the longest; 0 if there are none.
  double typical() const { return typical_; }
  double shortest() const { return shortest_; }
  /// 0 if there are none. Sorts.
  double median() const;
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
  /// 0: nothing is expected of them.
  explicit Occasion(double expected_ns = 0) : expected_ns_(expected_ns) {}

  double expected_ns() const { return expected_ns_; }

  /// How many threads the next call should have.
  unsigned choose(const Choices& choices, const Thresholds& first, const Allowance& allowance);
  /// The same for a call while that size is tried: it, if that is affordable.
  unsigned choose(const Choices& choices, const Thresholds& first, const Allowance& allowance,
                  unsigned tried);
  /// The size of a call that is not measured. Requires that choose() was called with the same choices.
  [[nodiscard]] unsigned best() const { return best_; }
  [[nodiscard]] const Choices& choices() const { return choices_; }
  /// Too little is known for calls that are not measured.
  [[nodiscard]] bool is_new() const {
    return calls_ < 2 * trustworthy || (calls_ < explored && !knows_all());
  }

  /// It had so many, and took so long. Not `counts`: that is no measure of the size.
  void ran(unsigned threads, double ns, Allowance& allowance, bool counts = true);

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
  /// After so many calls it is no news that a size is unknown.
  static constexpr std::uint32_t explored = 64;

 private:
  struct Size {
    unsigned threads;
    unsigned tried;  ///< in how many trials of this round
    Durations durations;
    double earlier = 0;  ///< what it took in the round before, in ns; 0: nothing is known of that

    /// One thread waits for no others: what interrupts it now and then would do so with any team.
    [[nodiscard]] double typical() const {
      return threads == 1 ? durations.median() : durations.typical();
    }
  };

  void consider(const Choices& choices, const Thresholds& first);
  /// The size to try at this call, if any. Ends the round if all have been tried.
  const Size* to_try(const Allowance& allowance);
  double loss_expected(const Size& size) const;
  Size& size(unsigned threads);
  [[nodiscard]] bool knows_all() const;
  void choose_best();

  double expected_ns_;
  std::vector<Size> sizes_;  ///< ascending; those of choices_ are candidates
  Choices choices_{0};
  unsigned calls_ = 0;                       ///< that were measured, as far as that matters
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
};

/// A stretch of regions for which one size is tried.
class Trial {
 public:
  /// The size; 0: none is tried. Call it for each region.
  unsigned next() { return left_ == 0 ? 0 : (--left_, threads_); }
  void begin(unsigned threads) { threads_ = threads, left_ = length; }
  /// Whether what a region took is a measure of its size: not if another size came before it, and it is short.
  bool counts(unsigned threads, double ns) {
    const bool same = threads == last_;
    last_ = threads;
    return same || ns >= long_ns;
  }

  /// Nothing has been measured.
  [[nodiscard]] bool is_first() const { return last_ == 0; }

  static constexpr unsigned length = 16;
  static constexpr double long_ns = 300e3;

 private:
  unsigned threads_ = 0;
  unsigned left_ = 0;
  unsigned last_ = 0;
};

/// Which regions are measured: a stretch, and then none for up to so many times as many, the more the longer nothing
/// has been new.
class Measuring {
 public:
  /// A region begins. Whether it is measured.
  bool next() {
    if (left_out_ == 0) return true;
    --left_out_;
    return false;
  }
  /// One that is measured began at that time.
  void began(std::uint64_t now_ns);
  /// Something was found out by it, or is to be.
  void is_new() { new_ = true; }

  static constexpr std::uint64_t stretch_ns = 300'000;
  static constexpr std::uint64_t stretch_regions = 64;
  static constexpr std::uint64_t most_left_out = 12;        ///< times as many as are measured
  static constexpr std::uint64_t left_out_ns = 20'000'000;  ///< at most

 private:
  std::uint64_t left_out_ = 0;  ///< so many more
  std::uint64_t factor_ = 0;
  std::uint64_t began_ns_ = 0;
  std::uint64_t regions_ = 0;  ///< in this stretch
  bool new_ = false;
};

}  // namespace refrain::gomp
