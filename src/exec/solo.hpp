#pragma once
// When the launching thread runs alone. A task moves to another thread by way of some cache lines; when
// tasks are shorter than that takes, threads that share them get less done together than one by itself
// (empty tasks: 165 ns each with two threads, 82 with one). No fixed length of a task says when: it
// depends on where the threads run. So it is tried: while many tasks a microsecond are executed, the
// workers now and then stay away for a moment, and for as long as the launching thread alone gets on
// about as fast as they did together, or faster.
//
// Owner: the first worker, which calls `begin` when it finds nothing to do, and if that says so takes naps
// with `go_on` after each. Everybody may ask `on`: the other workers nap meanwhile, and the launching thread
// runs what it launches, a few hundred tasks at a time, as if there were no others (Executor::relieve).
// A worker has time for a chore instead of a nap (exec/chore.hpp). The first one looks at its watch when its
// chore is done: for so long a trial may go on that had better end.

#include <atomic>
#include <cstdint>

namespace refrain::exec {

class Solo {
 public:
  /// How long a worker naps at a time.
  static constexpr std::uint64_t kNapNs = 100'000;

  // relaxed: only advice, nothing is read on the strength of it.
  [[nodiscard]] bool on() const { return on_.load(std::memory_order_relaxed); }

  /// Long enough after the last look for another: `begin` may be called.
  [[nodiscard]] bool due(std::uint64_t now_ns) const {
    return now_ns >= period_began_ns_ + kPeriodNs;
  }
  /// Begins a trial if one may pay. `executed`: tasks by all threads up to `now_ns`. True: stay away.
  bool begin(std::uint64_t now_ns, std::uint64_t executed);
  /// After a nap. False: it is over, the launching thread alone got on more slowly.
  bool go_on(std::uint64_t now_ns, std::uint64_t executed);

 private:
  static constexpr std::uint64_t kPeriodNs = 50'000;  ///< the least over which a rate is taken

  double end_period(std::uint64_t now_ns, std::uint64_t executed);

  std::atomic<bool> on_{false};
  std::uint64_t period_began_ns_ = 0, executed_then_ = 0;
  std::uint64_t began_ns_ = 0, not_before_ns_ = 0;
  double together_ = 0;  ///< tasks per nanosecond before the workers stayed away
};

}  // namespace refrain::exec
