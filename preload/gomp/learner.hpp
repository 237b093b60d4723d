#pragma once
// How one thread learns which sizes its teams should have, while its regions run.
//
// Most regions are not looked at: to measure one costs more than to start it with a size that is known, so few are
// measured where nothing new is found out (Measuring). Of those that are, some are trials: stretches of regions that
// have another size than the one that is best for them (Trial).
//
// Nothing here knows OpenMP, the oracle or a clock. One thread. A region that is measured costs two looks at the clock and
// a prediction, one that is not some comparisons, and one in 64 a look at the clock.

#include <climits>
#include <cstdint>

#include "gomp/contest.hpp"
#include "gomp/team_sizes.hpp"

namespace refrain::gomp {

/// A stretch of regions for which one size is tried.
class Trial {
 public:
  /// The size; 0: none is tried. Call it for each region.
  unsigned next() { return left_ == 0 ? 0 : (--left_, threads_); }
  void begin(unsigned threads) { threads_ = threads, left_ = length; }
  [[nodiscard]] bool runs() const { return left_ > 0; }
  /// A region that is not measured begins: what comes before the next one is not known.
  void left_out() { last_ = is_first() ? 0 : unknown, tried_ = false; }
  /// Whether what a region took is a measure of its size, which was tried for it, or was the best one: not if a trial
  /// begins or has ended with it, and it is short.
  bool counts(unsigned threads, double ns, bool tried) {
    const bool same = threads == last_ || !(tried || tried_);
    last_ = threads;
    tried_ = tried;
    return same || ns >= Occasion::long_ns;
  }

  /// Nothing has been measured.
  [[nodiscard]] bool is_first() const { return last_ == 0; }

  static constexpr unsigned length = 16;

 private:
  static constexpr unsigned unknown = UINT_MAX;

  unsigned threads_ = 0;
  unsigned left_ = 0;
  unsigned last_ = 0;   ///< the size of the region before
  bool tried_ = false;  ///< whether it was a trial
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

class Learner {
 public:
  /// What is known of one region.
  struct Region {
    Occasions occasions;
    unsigned common = 0;  ///< the size of all its occasions; 0: none, or not known
    Choices common_of{0};
  };
  /// A call of a region, from choose() to ended().
  struct Call {
    unsigned threads = 0;
    Occasion* occasion = nullptr;  ///< nullptr: it is not measured
    std::uint64_t began_ns = 0;
  };

  /// `first` chooses where nothing is known; teams have so many processors.
  Learner(const Thresholds& first, unsigned processors)
      : first_(first), trials_{{}, TeamCosts(processors)} {}

  /// A region begins. Whether it is to have a whole team, and choose() is not to be called. `now` returns the time in ns.
  template <class Now>
  bool takes_whole(const Now& now) {
    if (contest_.next(now) == Contest::Way::by_region || trial_.runs()) return false;
    trial_.left_out();
    return true;
  }
  /// A region begins that does not, and may have teams of these sizes. `expected` returns the ns that it is expected to
  /// take, 0: not known; `now` the time in ns. Each is called at most once, as both take time.
  template <class Expected, class Now>
  Call choose(Region& region, const Choices& choices, const Expected& expected, const Now& now) {
    const bool left_out = !trial_.runs() && !measuring_.next();
    if (left_out && region.common_of == choices && region.common != 0)
      return trial_.left_out(), Call{region.common};
    Occasion& occasion = region.occasions.at(expected());
    const bool is_known = occasion.choices() == choices && !occasion.is_new();
    if (left_out && is_known) return trial_.left_out(), Call{occasion.best()};
    return measured(occasion, choices, now());
  }
  /// A call that was measured has ended.
  void ended(Region& region, const Call& call, std::uint64_t now_ns);

  Contest& contest() { return contest_; }

  /// In ns: what trials have cost, of the time from the first region that was measured to the last.
  [[nodiscard]] double spent_ns() const { return trials_.allowance.spent(); }
  [[nodiscard]] double passed_ns() const { return static_cast<double>(last_ns_ - first_ns_); }

 private:
  Call measured(Occasion& occasion, const Choices& choices, std::uint64_t now_ns);

  const Thresholds& first_;
  Trials trials_;
  Trial trial_;
  Measuring measuring_;
  Contest contest_;
  std::uint64_t first_ns_ = 0, last_ns_ = 0;  ///< when measured regions began
};

}  // namespace refrain::gomp
