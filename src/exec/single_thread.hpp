#pragma once
// Whether the launching thread had better run tasks by itself, as it issues them.
//
// With several threads. A task moves to another thread by way of some cache lines. Where tasks are shorter than that
// takes, threads that share them get less done together than one by itself (empty tasks: 165 ns each with two threads, 82
// with one). No fixed length of a task decides it, since it depends on where the threads run. So it is tried: while many
// tasks a microsecond are executed, the workers now and then stay away for a moment. They stay away for as long as the
// launching thread alone is about as fast as all threads were together, or faster; where the first worker was busy, it has
// to be faster. Other workers that find nodes run them meanwhile, and count as the launching thread does. The first worker
// decides: it calls `begin` when it finds nothing to do, and after every few nodes. After a true answer it naps, and calls
// `go_on` after each nap. Any thread may ask `on`: the other workers nap meanwhile, and the launching thread runs what it
// launches, some hundred tasks at a time (Executor::relieve). A worker does background jobs instead of naps, after its
// first nap if it was busy. The first worker looks at the clock when its job is done; a trial that had better end may go on
// for so long.
//
// With one thread. Short tasks are run as they are issued, in the order of the program, which costs nothing. Long tasks
// are better run as they become ready, the latest first: they find more of their data in the caches (s3d-like with tasks
// of 34 us: 3%), and the cost of the queue does not matter. The thread calls `look_at_length` now and then. At first
// tasks are taken for short.

#include <atomic>
#include <cstdint>

namespace refrain::exec {

class SingleThreadMode {
 public:
  /// How long a worker naps at a time.
  static constexpr std::uint64_t kNapNs = 100'000;

  explicit SingleThreadMode(bool one_thread) : on_(one_thread) {}

  // relaxed: only advice, nothing is read on the strength of it.
  [[nodiscard]] bool on() const { return on_.load(std::memory_order_relaxed); }

  /// Long enough after the last look for another: `begin` may be called.
  [[nodiscard]] bool due(std::uint64_t now_ns) const {
    return now_ns >= period_began_ns_ + kPeriodNs;
  }
  /// Begins a trial if one may pay. `executed`: tasks by all threads up to `now_ns`. `busy`: the worker that asks has
  /// found something to run, so the launching thread has to be faster without it. True: stay away.
  bool begin(std::uint64_t now_ns, std::uint64_t executed, bool busy) {
    const double rate = end_period(now_ns, executed);
    if (rate < kTiny || now_ns < not_before_ns_) return false;
    enough_ = (busy ? kFaster : kAsFast) * rate;
    began_ns_ = now_ns;
    on_.store(true, std::memory_order_relaxed);
    return true;
  }
  /// After a nap. False: the trial is over, the launching thread alone was slower.
  bool go_on(std::uint64_t now_ns, std::uint64_t executed) {
    if (end_period(now_ns, executed) > enough_) return true;
    not_before_ns_ = now_ns + (now_ns - began_ns_ < kLongNs ? kFailedNs : kAgainNs);
    on_.store(false, std::memory_order_relaxed);
    return false;
  }

  /// Other threads have work that is theirs. Any of them.
  void end() {
    if (on()) on_.store(false, std::memory_order_relaxed);
  }

  /// With one thread: enough tasks have been executed since the last look for another.
  [[nodiscard]] bool length_due(std::uint64_t executed) const {
    return executed >= executed_then_ + kTasks;
  }
  void look_at_length(std::uint64_t now_ns, std::uint64_t executed) {
    const bool first = period_began_ns_ == 0;
    const double rate = end_period(now_ns, executed);
    if (!first) on_.store(rate > kShort, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t kPeriodNs = 50'000;  ///< the least over which a rate is taken
  static constexpr double kTiny = 5e-4;         ///< tasks per nanosecond from which a trial may pay
  static constexpr std::uint64_t kTasks = 256;  ///< between two looks at their length
  static constexpr double kShort = 5e-5;  ///< tasks per nanosecond with all that is done for them
  /// Of the common rate: enough to go on alone without a worker that had nothing to run, and without one that had.
  static constexpr double kAsFast = 0.9, kFaster = 1.1;
  /// Until the next trial, after one that failed and after one that did well for long: a trial costs a
  /// nap of the workers.
  static constexpr std::uint64_t kFailedNs = 10'000'000, kLongNs = 1'000'000, kAgainNs = 200'000;

  double end_period(std::uint64_t now_ns, std::uint64_t executed) {
    const double rate = static_cast<double>(executed - executed_then_) /
                        static_cast<double>(now_ns - period_began_ns_);
    period_began_ns_ = now_ns;
    executed_then_ = executed;
    return rate;
  }

  std::atomic<bool> on_;
  std::uint64_t period_began_ns_ = 0, executed_then_ = 0;
  std::uint64_t began_ns_ = 0, not_before_ns_ = 0;
  double enough_ = 0;  ///< tasks per nanosecond to go on alone
};

}  // namespace refrain::exec
