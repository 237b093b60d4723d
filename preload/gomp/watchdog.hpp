#pragma once
// Threads of a team may wait for each other by what they write to memory, where no library is called. In a folded team
// such a wait has no end: the one that is waited for does not run. A watchdog looks every 50 ms whether a thread is
// still in the same folded team as before, and interrupts it by SIGURG, which programs that do not use it ignore. If it
// is in code of the program, and so in no lock of libgomp's or of the C library's, its team is started there.
//
// One watchdog for a process, made when a team is folded first. Of a watched thread the thread itself writes; the
// watchdog reads how often a team has been entered or left, in any order with all else.

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace refrain::gomp {

/// A thread that may be in a folded team. It is watched from its construction on.
class WatchedThread {
 public:
  WatchedThread();
  ~WatchedThread();
  WatchedThread(const WatchedThread&) = delete;
  WatchedThread& operator=(const WatchedThread&) = delete;

  /// Whether there is somebody who watches: without, no team may be folded.
  [[nodiscard]] static bool is_possible();

  void enter() {
    wake_watchdog();
    changes_.store(changes_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void leave() {
    changes_.store(changes_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

 private:
  friend struct Watchdog;
  static void wake_watchdog() {
    if (asleep_.load(std::memory_order_relaxed)) [[unlikely]]
      wake();
  }
  static void wake();

  const pthread_t self_ = pthread_self();
  std::atomic<std::uint32_t> changes_{0};  ///< odd: it is in a folded team
  std::uint32_t seen_ = 0;                 ///< the watchdog's
  /// The watchdog has nothing to watch, or is not there any more, after a fork().
  static std::atomic<bool> asleep_;
};

}  // namespace refrain::gomp
