// A program that goes on after failures, again and again, does not remember them all.

#include <gtest/gtest.h>

#include "refrain/refrain.hpp"
#include "runtime/context_impl.hpp"

namespace refrain {
namespace {

TEST(FailureBound, FailuresAreForgottenWhenTheirDataIsOverwritten) {
  static constexpr Field<double> value{"value"};
  const Task fail{"fail", [](Write<double>) { throw std::runtime_error("no"); }};
  Options options;
  options.workers = 1;
  Runtime runtime(options);
  runtime.run([&](Context& ctx) {
    const auto region = ctx.region(Rect1{0, 3}, value);
    for (int i = 0; i < 5000; ++i) {
      ctx.launch(fail, region[value]);
      EXPECT_THROW(ctx.fence(), TaskFailed);
    }
    EXPECT_LE(ctx.impl().scope().failures(), 2100u);
    // The last one is still carried by the data.
    EXPECT_THROW(static_cast<void>(ctx.access<Read>(region[value])), TaskFailed);
    ctx.fill(region, value, 1.0);
    EXPECT_EQ(ctx.access<Read>(region[value])[2], 1.0);
  });
}

}  // namespace
}  // namespace refrain
