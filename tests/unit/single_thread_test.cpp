// When the launching thread is left alone, and whether tasks are short: only the rates and times given decide.

#include "exec/single_thread.hpp"

#include <gtest/gtest.h>

namespace refrain::exec::single_thread_test {
namespace {

constexpr std::uint64_t ms = 1'000'000;

// Now and then the first worker asks; `tasks` more have been executed, `ns` have passed.
struct Watched {
  SingleThreadMode mode{false};
  std::uint64_t now = ms, executed = 0;
  bool begin(std::uint64_t ns, std::uint64_t tasks, bool busy = false) {
    now += ns;
    executed += tasks;
    return mode.due(now) && mode.begin(now, executed, busy);
  }
  bool go_on(std::uint64_t ns, std::uint64_t tasks) {
    return mode.go_on(now += ns, executed += tasks);
  }
};

TEST(SingleThreadMode, LongTasksAreShared) {
  Watched run;
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(run.begin(ms, 450));
  EXPECT_FALSE(run.mode.on());
}

TEST(SingleThreadMode, GoesOnForAsLongAsAloneIsFaster) {
  Watched run;
  run.begin(ms, 0);
  ASSERT_TRUE(run.begin(ms, 6000));
  EXPECT_TRUE(run.mode.on());
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(run.go_on(ms, 10000));
  EXPECT_FALSE(run.go_on(ms, 5000));
  EXPECT_FALSE(run.mode.on());
  EXPECT_TRUE(run.begin(ms, 6000)) << "after a long success the next trial comes soon";
}

TEST(SingleThreadMode, WithoutABusyWorkerItHasToBeFaster) {
  for (const bool busy : {false, true}) {
    Watched run;
    run.begin(ms, 0, busy);
    ASSERT_TRUE(run.begin(ms, 6000, busy));
    EXPECT_TRUE(run.go_on(ms, 7000));
    EXPECT_EQ(run.go_on(ms, 6000), !busy);
  }
}

TEST(SingleThreadMode, AFailedTrialIsNotRepeatedSoon) {
  Watched run;
  run.begin(ms, 0);
  ASSERT_TRUE(run.begin(ms, 3000));
  ASSERT_FALSE(run.go_on(ms / 10, 200));
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(run.begin(ms, 3000));
  EXPECT_TRUE(run.begin(ms, 3000));
}

TEST(SingleThreadMode, ARateNeedsSomeTime) {
  Watched run;
  run.begin(ms, 0);
  EXPECT_FALSE(run.begin(1000, 1000));
  EXPECT_FALSE(run.mode.on());
}

TEST(SingleThreadMode, EndsWhenNothingRuns) {
  Watched run;
  run.begin(ms, 0);
  ASSERT_TRUE(run.begin(ms, 6000));
  EXPECT_FALSE(run.go_on(ms, 0));
}

/// So many tasks take so long.
struct Tasks {
  SingleThreadMode mode{true};
  std::uint64_t now = 1'000'000'000, executed = 0;
  bool is_short_after(std::uint64_t tasks, std::uint64_t ns_each) {
    now += tasks * ns_each;
    executed += tasks;
    if (mode.length_due(executed)) mode.look_at_length(now, executed);
    return mode.on();
  }
};

TEST(TaskLength, IsShortAtFirst) { EXPECT_TRUE(SingleThreadMode(true).on()); }

TEST(TaskLength, FollowsTheTasks) {
  Tasks run;
  EXPECT_TRUE(run.is_short_after(1000, 100'000)) << "the clock was not looked at before";
  EXPECT_TRUE(run.is_short_after(1000, 100));
  EXPECT_FALSE(run.is_short_after(1000, 100'000));
  EXPECT_FALSE(run.is_short_after(1000, 30'000));
  EXPECT_TRUE(run.is_short_after(1000, 10'000));
}

TEST(TaskLength, NeedsSomeTasks) {
  Tasks run;
  run.is_short_after(256, 100);
  EXPECT_TRUE(run.is_short_after(100, 1'000'000));
  EXPECT_TRUE(run.is_short_after(100, 1'000'000));
  EXPECT_FALSE(run.is_short_after(100, 1'000'000));
}

}  // namespace
}  // namespace refrain::exec::single_thread_test
