// Channel flow and shallow water, as the applications run them: replayed throughout after few iterations, although they
// wait for values inside their loops.

#include <gtest/gtest.h>

#include "apps/cfd/channel.hpp"
#include "apps/shallow_water/water.hpp"
#include "run.hpp"

namespace refrain::test::applications_test {
namespace {

using namespace arrays;

constexpr int kIterations = 200, kGoal = 30;

void expect_steady(const Counters& counters) {
  ASSERT_TRUE(counters.autotrace.before_steady.has_value());
  const double calls_per_iteration =
      static_cast<double>(counters.autotrace.analysed + counters.autotrace.replayed) / kIterations;
  EXPECT_LE(static_cast<double>(*counters.autotrace.before_steady), kGoal * calls_per_iteration);
}

struct Size {
  Coord edge;
  int pressure_iterations = 50;
};
class ArrayApplications : public testing::TestWithParam<Size> {};
INSTANTIATE_TEST_SUITE_P(, ArrayApplications,
                         testing::Values(Size{10}, Size{32}, Size{200}, Size{10, 10},
                                         Size{32, 10}));

TEST_P(ArrayApplications, ChannelFlowIsSteadyWithinThirtyIterations) {
  expect_steady(run_arrays([](Session& np) {
    const auto [edge, pressure_iterations] = GetParam();
    const cfd::Channel channel{.nx = edge, .ny = edge, .pressure_iterations = pressure_iterations};
    cfd::Flow flow(np, channel);
    for (int i = 0; i < kIterations; ++i) {
      if (i % 10 == 9) cfd::step_and_compare(np, channel, flow);
      else cfd::step(np, channel, flow);
    }
  }));
}

TEST_P(ArrayApplications, ShallowWaterIsSteadyWithinThirtyIterations) {
  expect_steady(run_arrays([](Session& np) {
    const shallow_water::Lake lake{.nx = GetParam().edge, .ny = GetParam().edge};
    shallow_water::Water water(np, lake);
    double dt = 0;
    for (int i = 0; i < kIterations; ++i) {
      if (i % 10 == 0) dt = shallow_water::time_step(lake, water);
      shallow_water::step(lake, water, dt);
    }
  }));
}

}  // namespace
}  // namespace refrain::test::applications_test
