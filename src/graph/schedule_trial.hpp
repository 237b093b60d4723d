#pragma once
// Whether the replays of a template run from its schedule (graph/schedule.hpp). No property of the template decides it: it
// depends on how long operations take, how much that varies, and who else uses the cores. So it is tried: some replays go
// the other ways, some run from the schedule, and the faster way goes on. While the schedule runs it is watched, and
// given up at once when it has become slower than the others were. After a trial that failed the next one comes later and
// later; one that did well is repeated now and then, since the others may have become faster.
//
// Owner: the owner of the scope, which asks before each replay that follows another one. Cost: a look at the clock every
// few replays. Results never depend on it.

#include <algorithm>
#include <cstdint>

namespace refrain::exec {

class ScheduleTrial {
 public:
  /// Whether the next replay is to run from the schedule. `now`: the clock, in nanoseconds; rarely called.
  template <class Now>
  bool next(Now now) {
    if (++replays_ < look_at_) return scheduled_;
    const std::uint64_t at = now();
    if (replays_ == kSettle) return begin_period(at);
    look_at_ = replays_ + kLook;
    const std::uint64_t took = at - began_;
    if (took < kPeriodNs || replays_ < kSettle + kLeast) return scheduled_;
    end_period(static_cast<double>(took) / (replays_ - kSettle), at);
    return scheduled_;
  }
  /// The replay does not follow another one: what has been measured of this period does not count.
  void begin_chain() {
    replays_ = 0;
    look_at_ = kSettle;
  }

 private:
  /// The first replays of a period are not measured: caches, and who holds which lane, have to settle.
  static constexpr std::uint32_t kSettle = 8, kLeast = 16, kLook = 8;
  static constexpr std::uint64_t kPeriodNs = 1'000'000;
  static constexpr double kBetter = 0.95;  ///< of the others' time: enough to go on
  static constexpr double kWorse = 1.1;    ///< of the others' time: too much
  static constexpr std::uint64_t kFirstPauseNs = 2'000'000, kLastPauseNs = 2'000'000'000;

  bool begin_period(std::uint64_t at) {
    began_ = at;
    look_at_ = replays_ + kLook;
    return scheduled_;
  }
  void end_period(double ns, std::uint64_t at) {
    if (!scheduled_) {
      others_ = ns;
      if (at < next_trial_) return (void)begin_period_again(at);
    } else if (ns < others_ * (keeps_ ? kWorse : kBetter)) {
      const bool was_kept = keeps_;
      keeps_ = true;
      if (!was_kept) pause_ = kFirstPauseNs, next_trial_ = at + kRecheckNs;
      if (at < next_trial_) return (void)begin_period_again(at);
      next_trial_ = 0;  // measure the others again, and come back
      keeps_ = false;
    } else {
      keeps_ = false;
      next_trial_ = at + pause_;
      pause_ = std::min(4 * pause_, kLastPauseNs);
    }
    scheduled_ = !scheduled_;
    begin_chain();
  }
  void begin_period_again(std::uint64_t at) {
    replays_ = kSettle;
    begin_period(at);
  }

  static constexpr std::uint64_t kRecheckNs = 500'000'000;

  bool scheduled_ = false, keeps_ = false;
  std::uint32_t replays_ = 0, look_at_ = kSettle;  ///< of the present period
  std::uint64_t began_ = 0, next_trial_ = 0, pause_ = kFirstPauseNs;
  double others_ = 0;  ///< nanoseconds per replay
};

}  // namespace refrain::exec
