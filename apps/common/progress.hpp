#pragma once
// A progress line on stderr for runs that last: on a terminal one line that is rewritten and cleared,
// elsewhere a line every two seconds. Of several processes the first one prints it. Launches run ahead of their tasks, so what is counted are tasks
// that have run: a task's body calls step(). Any thread may; it costs a look at the clock.

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "refrain/runtime.hpp"
#include "timer.hpp"

namespace apps {

class Progress {
 public:
  Progress(std::string what, std::int64_t total)
      : what_(std::move(what)),
        total_(total),
        shown_(refrain::processes().rank == 0),
        terminal_(shown_ && isatty(STDERR_FILENO) == 1),
        interval_(terminal_ ? 200'000'000 : 2'000'000'000),
        due_(now() + interval_) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() {
    if (terminal_) std::fputs("\r\033[K", stderr);
  }

  /// One more of the total is done, or several more.
  void step(std::int64_t count = 1) {
    // Relaxed: a count and a deadline that nobody derives anything else from.
    const std::int64_t done = done_.fetch_add(count, std::memory_order_relaxed) + count;
    const std::int64_t time = now();
    std::int64_t due = due_.load(std::memory_order_relaxed);
    if (time < due || done >= total_ || !shown_) return;
    // Whoever moves the deadline prints.
    if (due_.compare_exchange_strong(due, time + interval_, std::memory_order_relaxed)) print(done);
  }

 private:
  static std::int64_t now() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  void print(std::int64_t done) const {
    std::fprintf(stderr,
                 terminal_ ? "\r%s: %lld of %lld (%lld%%)\033[K" : "%s: %lld of %lld (%lld%%)\n",
                 what_.c_str(), static_cast<long long>(done), static_cast<long long>(total_),
                 static_cast<long long>(100 * done / total_));
  }

  const std::string what_;
  const std::int64_t total_;
  const bool shown_;
  const bool terminal_;
  const std::int64_t interval_;  // nanoseconds
  std::atomic<std::int64_t> due_;
  std::atomic<std::int64_t> done_{0};
};

}  // namespace apps
