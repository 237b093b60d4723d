// When the launching thread is left alone: only the rates given decide.

#include "exec/solo.hpp"

#include <gtest/gtest.h>

namespace refrain::exec {
namespace {

constexpr std::uint64_t ms = 1'000'000;

// Now and then the first worker asks; `tasks` more have been executed, `ns` have passed.
struct Watched {
  Solo solo;
  std::uint64_t now = ms, executed = 0;
  bool begin(std::uint64_t ns, std::uint64_t tasks) {
    now += ns;
    executed += tasks;
    return solo.due(now) && solo.begin(now, executed);
  }
  bool go_on(std::uint64_t ns, std::uint64_t tasks) {
    return solo.go_on(now += ns, executed += tasks);
  }
};

TEST(Solo, LongTasksAreShared) {
  Watched run;
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(run.begin(ms, 450));
  EXPECT_FALSE(run.solo.on());
}

TEST(Solo, GoesOnForAsLongAsAloneIsFaster) {
  Watched run;
  run.begin(ms, 0);
  ASSERT_TRUE(run.begin(ms, 6000));
  EXPECT_TRUE(run.solo.on());
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(run.go_on(ms, 10000));
  EXPECT_FALSE(run.go_on(ms, 5000));
  EXPECT_FALSE(run.solo.on());
  EXPECT_TRUE(run.begin(ms, 6000)) << "after a long success the next trial comes soon";
}

TEST(Solo, AFailedTrialIsNotRepeatedSoon) {
  Watched run;
  run.begin(ms, 0);
  ASSERT_TRUE(run.begin(ms, 3000));
  ASSERT_FALSE(run.go_on(ms / 10, 200));
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(run.begin(ms, 3000));
  EXPECT_TRUE(run.begin(ms, 3000));
}

TEST(Solo, ARateNeedsSomeTime) {
  Watched run;
  run.begin(ms, 0);
  EXPECT_FALSE(run.begin(1000, 1000));
  EXPECT_FALSE(run.solo.on());
}

TEST(Solo, EndsWhenNothingRuns) {
  Watched run;
  run.begin(ms, 0);
  ASSERT_TRUE(run.begin(ms, 6000));
  EXPECT_FALSE(run.go_on(ms, 0));
}

}  // namespace
}  // namespace refrain::exec
