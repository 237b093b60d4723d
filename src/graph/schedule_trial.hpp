#pragma once
// Whether the replays of a template run from its schedule (graph/schedule.hpp). No property of the template decides it: it
// depends on how long operations take, how much that varies, and who else uses the cores. So it is tried: some replays go
// the other ways, some run from the schedule, and the faster way goes on. While the schedule runs it is watched, and
// given up at once when it has become slower than the others were. After a trial that failed the next one comes later and
// later; one that did well is repeated now and then, since the others may have become faster.
//
// Where operations are tiny, a schedule that is expected to pay is trusted for some milliseconds before the first trial:
// a loop of such operations is over before a trial is.
//
// Owner: the owner of the scope, which asks before each replay that follows another one. Cost: a look at the clock every
// few replays. Results never depend on it.

#include <algorithm>
#include <cstdint>

namespace refrain::exec {

class ScheduleTrial {
 public:
  /// Whether the next replay is to run from the schedule. `complete`: how many replays are, since ever: what is in flight
  /// says nothing of the speed. `now`: the clock, in nanoseconds; rarely called.
  template <class Now>
  bool next(std::uint32_t complete, Now now) {
    if (complete < look_at_) return scheduled_;
    const std::uint64_t at = now();
    if (!measures_) {
      begin_period(complete, at);
    } else if (at - began_ < kPeriodNs || complete - from_ < kLeast) {
      look_at_ = complete + kLook;
    } else {
      const bool was = scheduled_;
      decide(static_cast<double>(at - began_) / (complete - from_), at);
      if (was == scheduled_) begin_period(complete, at);
      else settle(complete);
    }
    return scheduled_;
  }
  /// A schedule was made that is expected to be faster by far.
  void trust(std::uint64_t now) {
    if (others_ != 0) return;
    scheduled_ = true;
    trusted_until_ = now + kTrustNs;
  }
  /// What has been measured of the present period does not count.
  void settle(std::uint32_t complete) {
    measures_ = false;
    look_at_ = complete + kSettle;
  }

 private:
  /// The first replays of a period are not measured: caches, and who holds which lane, have to settle.
  static constexpr std::uint32_t kSettle = 8, kLeast = 16, kLook = 8;
  static constexpr std::uint64_t kPeriodNs = 1'000'000;
  static constexpr double kBetter = 0.95;  ///< of the others' time: enough to go on
  static constexpr double kWorse = 1.1;    ///< of the others' time: too much
  static constexpr std::uint64_t kFirstPauseNs = 2'000'000, kLastPauseNs = 2'000'000'000;
  static constexpr std::uint64_t kRecheckNs = 500'000'000;
  static constexpr std::uint64_t kTrustNs = 10'000'000;

  void begin_period(std::uint32_t complete, std::uint64_t at) {
    measures_ = true;
    from_ = complete;
    began_ = at;
    look_at_ = complete + kLook;
  }
  /// A replay has taken so long in this period.
  void decide(double ns, std::uint64_t at) {
    if (!scheduled_) {
      others_ = ns;
      scheduled_ = at >= next_trial_;
    } else if (others_ == 0) {
      scheduled_ = at < trusted_until_;
    } else if (ns >= others_ * (keeps_ ? kWorse : kBetter)) {
      give_up(at);
    } else if (!keeps_) {
      pause_ = kFirstPauseNs;
      next_trial_ = at + kRecheckNs;
      keeps_ = true;
    } else if (at >= next_trial_) {  // the others are measured again
      scheduled_ = keeps_ = false;
    }
  }

  void give_up(std::uint64_t at) {
    next_trial_ = at + pause_;
    pause_ = std::min(4 * pause_, kLastPauseNs);
    scheduled_ = keeps_ = false;
  }

  bool scheduled_ = false, keeps_ = false;
  bool measures_ = false;
  std::uint32_t look_at_ = kSettle;  ///< when so many replays are complete
  std::uint32_t from_ = 0;           ///< so many were when the period began
  std::uint64_t began_ = 0, next_trial_ = 0, pause_ = kFirstPauseNs, trusted_until_ = 0;
  double others_ = 0;  ///< nanoseconds per replay; 0: not measured yet
};

}  // namespace refrain::exec
