// Channel flow and shallow water, as the applications run them: replayed throughout after few iterations, although they
// wait for values inside their loops.

#include <gtest/gtest.h>

#include "apps/cfd/channel.hpp"
#include "apps/shallow_water/water.hpp"
#include "run.hpp"

namespace refrain::test {
namespace {

using namespace arrays;

constexpr int kIterations = 200, kGoal = 30;

void expect_steady(const Counters& counters) {
  ASSERT_TRUE(counters.autotrace.before_steady.has_value());
  const double calls_per_iteration =
      static_cast<double>(counters.autotrace.analysed + counters.autotrace.replayed) / kIterations;
  EXPECT_LE(static_cast<double>(*counters.autotrace.before_steady), kGoal * calls_per_iteration);
}

class ArrayApplications : public testing::TestWithParam<Coord> {};
INSTANTIATE_TEST_SUITE_P(PointsAlongAnEdge, ArrayApplications, testing::Values(10, 32, 200));

TEST_P(ArrayApplications, ChannelFlowIsSteadyWithinThirtyIterations) {
  expect_steady(run_arrays([](Session& np) {
    const cfd::Channel channel{.nx = GetParam(), .ny = GetParam()};
    cfd::Flow flow(np, channel);
    for (int i = 0; i < kIterations; ++i) {
      if (i % 10 == 9) cfd::step_and_compare(np, channel, flow);
      else cfd::step(np, channel, flow);
    }
  }));
}

TEST_P(ArrayApplications, ShallowWaterIsSteadyWithinThirtyIterations) {
  expect_steady(run_arrays([](Session& np) {
    const shallow_water::Lake lake{.nx = GetParam(), .ny = GetParam()};
    shallow_water::Water water(np, lake);
    double dt = 0;
    for (int i = 0; i < kIterations; ++i) {
      if (i % 10 == 0) dt = shallow_water::time_step(lake, water);
      shallow_water::step(lake, water, dt);
    }
  }));
}

}  // namespace
}  // namespace refrain::test
