#pragma once
// Spinning before sleep: how long, and in what steps. A thread in search of work looks about once per
// microsecond: looking more often it would take each node of a program of tiny tasks the moment it is
// published, and the two threads would do little but move cache lines to and fro (measured: 175 against
// 55 ns per empty task). A waiter looks more often.

#include <cstdint>
#include <thread>

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

}  // namespace refrain::exec
