// Replays of long traces do not wait for their ends: what is launched first runs while the rest has not been launched.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "refrain/refrain.hpp"
#include "support/autotrace_settings.hpp"
#include "support/token_program.hpp"

namespace refrain::test::autotrace_order_test {
namespace {

constexpr std::uint64_t kBody = 5000, kEach = 501;

std::atomic<int> begun{0};
const Task tell{"tell", [](ReadWrite<std::uint64_t> x) {
                  ++x[0];
                  begun.fetch_add(1);
                }};

/// Whether it becomes true; nobody waits in the runtime. Long, for a busy machine: what depended on launches that are
/// still to come would never happen.
bool happens(const std::function<bool()>& it) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(100);
  while (!it()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

// A body of 5,000 launches. Each 501 there is one that is told of when it runs, and the program goes on after nine more
// launches when it has: so ten times, which the recording has in other places each.
void expect_begun_within_ten_launches(int workers) {
  Options options;
  options.machine = "emulated:cpus=4";
  options.workers = workers;
  options.autotrace_history = 20'000;
  Runtime runtime(options);
  int iterations = 0, checked = 0, told = 0;
  begun = 0;
  runtime.run([&](Context& ctx) {
    const TokenData data(ctx);
    const auto counter = ctx.region(Rect1{0, 0}, bits);
    ctx.fill(counter, bits, std::uint64_t{0});
    std::uint64_t analysed = 0;
    // Until the loop is found and replayed, which takes as long as it takes; then some more iterations.
    for (; checked < 20 && iterations < 1000; ++iterations) {
      const AutotraceCounters before = runtime.counters().autotrace;
      const bool steady = before.analysed == analysed && before.replayed >= kBody;
      analysed = before.analysed;
      for (std::uint64_t call = 0; call < kBody; ++call) {
        if (call % kEach == 0) {
          ctx.launch(tell, counter[bits]);
          ++told;
        } else {
          data.launch(ctx, call);
        }
        if (steady && call % kEach == 9) {
          ASSERT_TRUE(happens([&] { return begun == told; })) << iterations << ' ' << call;
        }
      }
      if (steady) ++checked;
      else ctx.fence();  // the same iteration for whoever mines, however busy the machine is
    }
    // While it was looked at all was replayed.
    EXPECT_EQ(runtime.counters().autotrace.analysed, analysed);
    EXPECT_EQ(ctx.access<Read>(counter[bits])[0], static_cast<std::uint64_t>(told));
  });
  EXPECT_EQ(checked, 20);
}

TEST(AutotraceOrder, TheFirstTaskOfALongTraceRunsWithinTenLaunches) {
  expect_begun_within_ten_launches(1);
  expect_begun_within_ten_launches(3);
}

}  // namespace
}  // namespace refrain::test::autotrace_order_test
