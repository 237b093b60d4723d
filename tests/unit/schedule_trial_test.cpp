// Trials of schedules, against a clock that the test moves.

#include "graph/schedule_trial.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace refrain::exec::schedule_trial_test {
namespace {

/// A loop whose replays take so long from a schedule, and so long otherwise.
class Loop {
 public:
  Loop(std::uint64_t scheduled_ns, std::uint64_t others_ns)
      : scheduled_ns_(scheduled_ns), others_ns_(others_ns) {}

  /// The part of the replays that ran from a schedule.
  double run(std::uint64_t for_ns) {
    const std::uint64_t end = now_ + for_ns;
    std::uint32_t scheduled = 0, all = 0;
    for (; now_ < end; ++all, ++complete_) {
      const bool is = trial.next(complete_, [this] { return now_; });
      now_ += is ? scheduled_ns_ : others_ns_;
      scheduled += is ? 1 : 0;
    }
    return static_cast<double>(scheduled) / all;
  }
  [[nodiscard]] std::uint64_t now() const { return now_; }

  ScheduleTrial trial;

 private:
  std::uint64_t scheduled_ns_, others_ns_;
  std::uint64_t now_ = 1;
  std::uint32_t complete_ = 0;
};

constexpr std::uint64_t ms = 1'000'000;

TEST(ScheduleTrial, TheFasterWayGoesOn) {
  Loop gains(5'000, 10'000), loses(10'000, 5'000), equal(10'000, 10'000);
  gains.run(10 * ms), loses.run(10 * ms), equal.run(10 * ms);
  EXPECT_GT(gains.run(400 * ms), 0.99);
  EXPECT_LT(loses.run(400 * ms), 0.05);
  EXPECT_LT(equal.run(400 * ms), 0.05) << "what gains nothing is not worth its waits";
}

TEST(ScheduleTrial, TrialsThatFailComeLaterAndLater) {
  Loop loses(10'000, 5'000);
  loses.run(100 * ms);
  EXPECT_LT(loses.run(10'000 * ms), 0.005);
}

TEST(ScheduleTrial, OneThatIsTrustedRunsAtOnceAndIsJudgedLater) {
  Loop gains(5'000, 10'000), loses(10'000, 5'000);
  for (Loop* loop : {&gains, &loses}) {
    EXPECT_EQ(loop->run(ms / 10), 0) << "not before it is trusted";
    loop->trial.trust(loop->now());
    EXPECT_EQ(loop->run(8 * ms), 1);
  }
  gains.run(10 * ms), loses.run(10 * ms);
  EXPECT_GT(gains.run(400 * ms), 0.99);
  EXPECT_LT(loses.run(400 * ms), 0.05);
}

TEST(ScheduleTrial, WhatIsKnownToLoseIsNotTrusted) {
  Loop loses(10'000, 5'000);
  loses.run(20 * ms);
  loses.trial.trust(loses.now());
  EXPECT_LT(loses.run(400 * ms), 0.05);
}

}  // namespace
}  // namespace refrain::exec::schedule_trial_test
