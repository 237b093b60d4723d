#pragma once
// Sleeping and waking of an executor's threads (an eventcount with named sleepers), and spinning before it.
//
// A thread that finds nothing to do calls prepare(), looks once more, and then either cancel() or commit(), which sleeps
// until it is notified. A thread that changes something a sleeper may wait for makes the change first. Then it calls
// notify_one or notify_all for the kind of sleeper concerned.
//
// No wake-up is lost. prepare() counts the sleeper in (seq_cst) before it looks again; the notifier makes its change (a
// seq_cst store or read-modify-write) before it reads the count (seq_cst). In the single order of these four operations
// either the count is read after it was raised, and the sleeper is notified, or the change comes before the second look,
// whose loads are seq_cst too and see it. Once counted in, a notification is remembered in the sleeper, so it may come
// before the sleep. A notify_one that hits a sleeper which has found something by itself is passed on by cancel().
//
// Deadlocks. When the last of `threads` threads goes to sleep and no completion is expected from outside, `all_asleep`
// is called under the lock, where everything that any of the threads did is visible. It may name a sleeper to be woken
// with Wake::deadlock. The same happens when the last expected completion has arrived and all threads sleep.
//
// Cost: notifying nobody is one load of a line that changes only when threads go to sleep or wake. Everything else takes
// a lock and is off the hot path.
//
// Spin: a thread in search of work looks about once per microsecond. Looking more often it would take each node of a
// program of tiny tasks the moment it is published, and two threads would do little but move cache lines to and fro
// (measured: 175 against 55 ns per empty task). A waiter looks more often.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/sure_memory.hpp"
#include "profile/clock.hpp"

namespace refrain::exec {

/// One thread's, for one wait.
class Spin {
 public:
  static constexpr int kSearch = 64, kWait = 8;  ///< pauses per step

  /// `yield`: there are more threads than cores.
  Spin(bool yield, int pauses) : yield_(yield), pauses_(pauses) {}
  /// False when it is time to sleep.
  bool step() {
    ++steps_;
    if (yield_ || steps_ % 16 == 0) {
      std::this_thread::yield();
      const std::uint64_t now = profile::now_ns();
      if (end_ == 0) end_ = now + kSpinNs;
      return now < end_;
    }
    for (int i = 0; i < pauses_; ++i) pause();
    return true;
  }

 private:
  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }

  static constexpr std::uint64_t kSpinNs = 50'000;
  bool yield_;
  int pauses_;
  std::uint32_t steps_ = 0;
  std::uint64_t end_ = 0;
};

enum class Wake : std::uint8_t { none, notified, deadlock };

/// One thread's place to sleep. Fields are the notifier's.
class Sleeper {
 private:
  friend class Notifier;
  std::condition_variable woken_;
  Wake wake_ = Wake::none;
  bool committed_ = false;
  int kind_ = 0;
};

class Notifier {
 public:
  Notifier(int threads, int kinds, std::function<Sleeper*()> all_asleep);

  void prepare(Sleeper& sleeper, int kind);
  void cancel(Sleeper& sleeper);
  /// Sleeps. Never returns Wake::none.
  Wake commit(Sleeper& sleeper);

  /// Any thread: one more operation is completed from outside (graph/executor.hpp). Until it has come, nobody is told
  /// of a deadlock: who will complete it is like one more thread that is awake.
  void expect();
  /// Any thread, when everything is done and everybody notified: one has come. When all others sleep, it is this that
  /// finds the deadlock. After the last one the notifier may end (await_expected).
  void arrived();
  /// Sleeps until nothing is expected.
  void await_expected();

  /// Anybody of this kind asleep or about to be?
  [[nodiscard]] bool any(int kind) const {
    return counts_[kind].load(std::memory_order_seq_cst) != 0;
  }
  /// False: there was nobody.
  bool notify_one(int kind) { return any(kind) && notify(kind, false); }
  bool notify_all(int kind) { return any(kind) && notify(kind, true); }

 private:
  bool notify(int kind, bool all);
  void wake(Sleeper& sleeper, Wake reason);
  void look_for_deadlock();

  std::mutex mutex_;
  std::vector<std::vector<Sleeper*, SureAllocator<Sleeper*>>>
      waiting_;  ///< per kind: prepared and not yet notified
  int threads_;
  int asleep_ = 0;
  int expected_ = 0;  ///< completions from outside
  std::condition_variable none_expected_;
  std::function<Sleeper*()> all_asleep_;
  std::unique_ptr<std::atomic<std::uint32_t>[]> counts_;  ///< sizes of waiting_
};

}  // namespace refrain::exec
