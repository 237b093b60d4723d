// The launching thread takes part in what is replayed while it waits, also when it has waited for so long that it
// sleeps. After a long task two are ready that end only when both have begun: one worker cannot have run them alone.
// Either thread may run the long one, so there are many.

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "refrain/refrain.hpp"

namespace refrain::test::trace_help_test {
namespace {

constexpr Field<double> state{"state"};
constexpr int kIterations = 50;

class Meeting {
 public:
  /// Returns when the other one has come, too, or when it takes too long.
  void come() {
    std::unique_lock lock(mutex_);
    const int meeting = come_++ / 2;
    if (come_ % 2 == 0) {
      ++met_;
      both_.notify_all();
      return;
    }
    if (!missed_)
      missed_ = !both_.wait_for(lock, std::chrono::seconds(10), [&] { return met_ > meeting; });
  }
  [[nodiscard]] bool missed() {
    const std::lock_guard lock(mutex_);
    return missed_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable both_;
  int come_ = 0, met_ = 0;
  bool missed_ = false;
};

TEST(TraceHelp, ASleepingWaiterIsWokenWhenWorkersAreBusy) {
  Meeting meeting;
  const Task rest{
      "rest", [](ReadWrite<double>) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }};
  const Task meet{"meet", [&meeting](ReadWrite<double>) { meeting.come(); }};
  Options options;
  options.workers = 1;
  Runtime runtime(options);
  runtime.run([&](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 1}, state);
    const auto halves = ctx.blocks(cells, 2);
    ctx.fill(cells, state, 0.0);
    for (int t = 0; t < kIterations; ++t)
      ctx.trace(step, [&] {
        ctx.launch(rest, cells[state]);
        ctx.launch(meet, 2, halves[state]);
      });
  });
  EXPECT_FALSE(meeting.missed());
  EXPECT_GE(runtime.counters().replays, kIterations - 5u);
}

}  // namespace
}  // namespace refrain::test::trace_help_test
