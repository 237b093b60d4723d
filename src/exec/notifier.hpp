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
// End. stop() wakes everybody; a thread that is about to sleep sees it in its second look.
//
// Cost: notifying nobody is one load of a line that changes only when threads go to sleep or wake. Everything else takes
// a lock and is off the hot path.
//
// Spin: a thread in search of work looks about once per microsecond. Looking more often it would take each node of a
// program of tiny tasks the moment it is published, and two threads would do little but move cache lines to and fro
// (measured: 175 against 55 ns per empty task). A waiter looks more often.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/sure_memory.hpp"
#include "profile/clock.hpp"

namespace refrain::exec {

/// For a loop that looks again and again.
inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// One thread's, for one wait.
class Spin {
 public:
  static constexpr int kSearch = 64, kWait = 8;  ///< pauses per step
  /// How long until it is time to sleep. Who waits for messages spins longer than a nap with its wake-up takes: else two
  /// processes that wait for each other in turn would sleep through each other's spins.
  static constexpr std::uint64_t kUsualNs = 50'000, kForMessagesNs = 1'000'000;

  /// `yield`: there are more threads than cores.
  Spin(bool yield, int pauses, std::uint64_t ns) : yield_(yield), pauses_(pauses), ns_(ns) {}
  /// False when it is time to sleep.
  bool step() {
    ++steps_;
    if (yield_ || steps_ % 16 == 0) {
      std::this_thread::yield();
      const std::uint64_t now = profile::now_ns();
      if (end_ == 0) end_ = now + ns_;
      return now < end_;
    }
    for (int i = 0; i < pauses_; ++i) pause_briefly();
    return true;
  }

 private:
  bool yield_;
  int pauses_;
  std::uint64_t ns_;
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
  Notifier(int threads, int kinds, std::function<Sleeper*()> all_asleep)
      : kinds_(kinds), threads_(threads), all_asleep_(std::move(all_asleep)) {}

  void prepare(Sleeper& sleeper, int kind) {
    const std::lock_guard lock(mutex_);
    sleeper.wake_ = Wake::none;
    sleeper.committed_ = false;
    sleeper.kind_ = kind;
    kinds_[kind].waiting.push_back(&sleeper);
    // seq_cst: before the caller's second look; partner: the load in any().
    kinds_[kind].count.fetch_add(1, std::memory_order_seq_cst);
  }
  void cancel(Sleeper& sleeper) {
    {
      const std::lock_guard lock(mutex_);
      if (sleeper.wake_ == Wake::none) return remove(sleeper);
    }
    if (notify_one(sleeper.kind_)) return;  // it is passed on
    // Perhaps it was woken to watch.
    const std::lock_guard lock(mutex_);
    if (watches_ && !watched_) wake_anybody();
  }
  /// How long the sleeper that watches sleeps, and whether all threads slept when that was over.
  struct Nap {
    std::chrono::nanoseconds time;
    bool all_asleep = false;
  };
  /// Sleeps. With a nap, if nobody else does so, for that long at most: who sleeps so *watches*, and gets Wake::none when
  /// the time is over. When it is woken before, somebody else is woken to watch.
  Wake commit(Sleeper& sleeper, Nap* nap = nullptr) {
    std::unique_lock lock(mutex_);
    if (sleeper.wake_ != Wake::none) return sleeper.wake_;
    sleeper.committed_ = true;
    ++asleep_;
    look_for_deadlock();
    const auto is_woken = [&] { return sleeper.wake_ != Wake::none; };
    if (nap == nullptr || watched_) {
      sleeper.woken_.wait(lock, is_woken);
      return sleeper.wake_;
    }
    watches_ = watched_ = true;
    const bool woken = sleeper.woken_.wait_for(lock, nap->time, is_woken);
    watched_ = false;
    if (woken) {
      wake_anybody();
    } else {
      nap->all_asleep = asleep_ == threads_;
      remove(sleeper);
      --asleep_;
    }
    return sleeper.wake_;
  }

  /// Anybody of this kind asleep or about to be?
  [[nodiscard]] bool any(int kind) const {
    return kinds_[kind].count.load(std::memory_order_seq_cst) != 0;
  }
  /// False: there was nobody.
  bool notify_one(int kind) { return any(kind) && notify(kind, false); }
  bool notify_all(int kind) { return any(kind) && notify(kind, true); }

  /// The threads are to end: notifies everybody, and who sleeps later does not.
  void stop() {
    stopped_.store(true, std::memory_order_seq_cst);
    for (int kind = 0; kind < static_cast<int>(kinds_.size()); ++kind) notify_all(kind);
  }
  [[nodiscard]] bool stopped() const { return stopped_.load(std::memory_order_seq_cst); }
  /// There are more threads than cores.
  [[nodiscard]] bool is_crowded() const { return crowded_; }
  /// For a thread in search of work; see Spin.
  [[nodiscard]] Spin spin(int pauses, bool for_messages) const {
    return {crowded_, pauses, for_messages ? Spin::kForMessagesNs : Spin::kUsualNs};
  }

  /// Any thread: one more operation is completed from outside (graph/executor.hpp). Until it has come, nobody is told
  /// of a deadlock: who will complete it is like one more thread that is awake.
  void expect() {
    const std::lock_guard lock(mutex_);
    ++expected_;
  }
  /// Any thread, when everything is done and everybody notified: one has come. When all others sleep, it is this that
  /// finds the deadlock. After the last one the notifier may end (await_expected).
  void arrived() {
    const std::lock_guard lock(mutex_);
    if (--expected_ > 0) return;
    look_for_deadlock();
    none_expected_.notify_all();  // under the lock: whoever waits may end the notifier
  }
  /// Sleeps until nothing is expected.
  void await_expected() {
    std::unique_lock lock(mutex_);
    none_expected_.wait(lock, [this] { return expected_ == 0; });
  }

 private:
  /// Those that have prepared and are not notified yet, and their number.
  struct Kind {
    std::vector<Sleeper*, SureAllocator<Sleeper*>> waiting;
    std::atomic<std::uint32_t> count{0};
  };

  /// Apart, so that the look for sleepers, which is on the way of every task, stays small.
  [[gnu::noinline]] bool notify(int kind, bool all) {
    const std::lock_guard lock(mutex_);
    bool found = false;
    for (const auto& waiting = kinds_[kind].waiting; !waiting.empty() && (all || !found);) {
      wake(*waiting.back(), Wake::notified);
      found = true;
    }
    return found;
  }
  // The others are called under the lock.
  void remove(Sleeper& sleeper) {
    std::erase(kinds_[sleeper.kind_].waiting, &sleeper);
    kinds_[sleeper.kind_].count.fetch_sub(1, std::memory_order_relaxed);
  }
  void wake(Sleeper& sleeper, Wake reason) {
    remove(sleeper);
    sleeper.wake_ = reason;
    if (sleeper.committed_) --asleep_;
    sleeper.woken_.notify_one();
  }
  void wake_anybody() {
    for (const Kind& kind : kinds_)
      if (!kind.waiting.empty()) return wake(*kind.waiting.back(), Wake::notified);
  }
  void look_for_deadlock() {
    if (asleep_ < threads_ || expected_ > 0) return;
    if (Sleeper* victim = all_asleep_()) wake(*victim, Wake::deadlock);
  }

  std::mutex mutex_;
  std::vector<Kind> kinds_;
  const int threads_;
  const bool crowded_ = static_cast<unsigned>(threads_) > std::thread::hardware_concurrency();
  int asleep_ = 0;
  int expected_ = 0;      ///< completions from outside
  bool watches_ = false;  ///< somebody is to watch while others sleep
  bool watched_ = false;  ///< by one of those that sleep
  std::condition_variable none_expected_;
  const std::function<Sleeper*()> all_asleep_;
  std::atomic<bool> stopped_{false};
};

}  // namespace refrain::exec
