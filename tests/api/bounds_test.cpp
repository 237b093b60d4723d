// What a program does again and again, each time otherwise, is not all remembered.

#include <gtest/gtest.h>

#include <functional>

#include "analysis/tree_state.hpp"
#include "refrain/refrain.hpp"
#include "runtime/context_impl.hpp"

namespace refrain {
namespace {

void run(const std::function<void(Context&)>& program) {
  Options options;
  options.workers = 1;
  Runtime runtime(options);
  runtime.run(program);
}

TEST(FailureBound, FailuresAreForgottenWhenTheirDataIsOverwritten) {
  static constexpr Field<double> value{"value"};
  const Task fail{"fail", [](Write<double>) { throw std::runtime_error("no"); }};
  run([&](Context& ctx) {
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

// The same for a program that never fences: it waits for a future, or looks at the data.
TEST(FailureBound, FailuresAreForgottenWithoutFences) {
  static constexpr Field<double> value{"value"};
  const Task fail{"fail", [](Write<double>) -> int { throw std::runtime_error("no"); }};
  for (const bool by_future : {true, false}) {
    run([&](Context& ctx) {
      const auto region = ctx.region(Rect1{0, 3}, value);
      for (int i = 0; i < 5000; ++i) {
        const auto result = ctx.launch(fail, region[value]);
        if (by_future) EXPECT_THROW(static_cast<void>(result.get()), TaskFailed);
        else EXPECT_THROW(static_cast<void>(ctx.access<Read>(region[value])), TaskFailed);
        ASSERT_LE(ctx.impl().scope().failures(), 4 * 1024u);
      }
      EXPECT_THROW(static_cast<void>(ctx.access<Read>(region[value])), TaskFailed);
      ctx.fill(region, value, 1.0);
      EXPECT_EQ(ctx.access<Read>(region[value])[2], 1.0);
    });
  }
}

// Each copy tells other points of its source apart.
TEST(CopyBound, SourcesForgetTheShapesOfTheirCopies) {
  static constexpr Field<int> value{"value"};
  run([&](Context& ctx) {
    const auto source = ctx.region(Rect1{0, 9999}, value);
    ctx.fill(source, value, 7);
    const AnyRegion any = source;
    auto& state = analysis::TreeState::of(*any.tree).field(*any.tree, 0);
    for (Coord i = 0; i < 3000; ++i) {
      const auto target = ctx.region(Rect1{i, i + 37 * (i % 100)}, value);
      ctx.copy(source[value], target[value]);
      if (i % 1000 == 0) { EXPECT_EQ(ctx.access<Read>(target[value])[i], 7); }
      if (i % 10 == 0) ctx.fence();
      ctx.destroy(target);
      ASSERT_LE(state.pieces().size(), 1000u);
    }
  });
}

}  // namespace
}  // namespace refrain
