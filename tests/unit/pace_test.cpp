// Whether tasks are short: only the times given decide.

#include "exec/pace.hpp"

#include <gtest/gtest.h>

namespace refrain::exec {
namespace {

/// So many tasks take so long.
struct Watched {
  Pace pace;
  std::uint64_t now = 1'000'000'000, executed = 0;
  bool is_short_after(std::uint64_t tasks, std::uint64_t ns_each) {
    now += tasks * ns_each;
    executed += tasks;
    if (pace.due(executed)) pace.look(now, executed);
    return pace.is_short();
  }
};

TEST(Pace, IsShortAtFirst) { EXPECT_TRUE(Pace().is_short()); }

TEST(Pace, FollowsTheTasks) {
  Watched run;
  EXPECT_TRUE(run.is_short_after(1000, 100'000)) << "the clock was not looked at before";
  EXPECT_TRUE(run.is_short_after(1000, 100));
  EXPECT_FALSE(run.is_short_after(1000, 100'000));
  EXPECT_FALSE(run.is_short_after(1000, 30'000));
  EXPECT_TRUE(run.is_short_after(1000, 10'000));
}

TEST(Pace, NeedsSomeTasks) {
  Watched run;
  run.is_short_after(256, 100);
  EXPECT_TRUE(run.is_short_after(100, 1'000'000));
  EXPECT_TRUE(run.is_short_after(100, 1'000'000));
  EXPECT_FALSE(run.is_short_after(100, 1'000'000));
}

}  // namespace
}  // namespace refrain::exec
