// What a program does again and again, each time otherwise, is not all remembered.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "analysis/field_state.hpp"
#include "refrain/refrain.hpp"
#include "runtime/context_impl.hpp"

namespace refrain::bounds_test {
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
    EXPECT_LE(ctx.impl().scope.failures().size(), 2100u);
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
        ASSERT_LE(ctx.impl().scope.failures().size(), 4 * 1024u);
      }
      EXPECT_THROW(static_cast<void>(ctx.access<Read>(region[value])), TaskFailed);
      ctx.fill(region, value, 1.0);
      EXPECT_EQ(ctx.access<Read>(region[value])[2], 1.0);
    });
  }
}

// The same for one that only replays: every replay fails with what came before.
TEST(FailureBound, FailuresAreForgottenBetweenReplays) {
  static constexpr Field<double> value{"value"};
  const Task fail{"fail", [](ReadWrite<double>) { throw std::runtime_error("no"); }};
  const Trace trace{"failing"};
  EXPECT_THROW(run([&](Context& ctx) {
                 const auto region = ctx.region(Rect1{0, 3}, value);
                 for (int i = 0; i < 100'000; ++i) {
                   ctx.trace(trace, [&] { ctx.launch(fail, region[value]); });
                   ASSERT_LE(ctx.impl().scope.failures().size(), 30'000u);  // some windows full
                 }
               }),
               TaskFailed);
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
      ASSERT_LE(state.sets().size(), 1000u);
    }
  });
}

// The window is that of all recordings together, and of what is launched beside them.
TEST(TraceBound, ManyRecordingsKeepToTheWindowTogether) {
  static constexpr Field<int> value{"value"};
  constexpr int kBodies = 50, kLaunches = 10;
  std::atomic<int> ran{0};
  const Task count{"count", [&](ReadWrite<int> x) {
                     ++x[x.domain().bounds().lo];
                     ++ran;
                   }};
  Options options;
  options.workers = 0;
  options.window = 100;
  // More threads than one: replays go through the graph.
  options.machine = "emulated:cpus=2,gpus=2";
  for (const bool beside : {false, true}) {
    Runtime runtime(options);
    int launched = ran = 0, most = 0;
    runtime.run([&](Context& ctx) {
      const Trace step{"step"};
      const auto cells = ctx.region(Rect1{0, kBodies}, value);
      ctx.fill(cells, value, 0);
      const auto one = ctx.blocks(cells, kBodies + 1);
      const auto launch = [&](int piece) {
        ctx.launch(count, one(piece)[value]);
        most = std::max(most, ++launched - ran);
      };
      for (int t = 0; t < 1000; ++t) {
        ctx.trace(step, [&] {
          for (int i = 0; i < kLaunches; ++i) launch(t % kBodies);
        });
        if (beside && t % 10 == 0) launch(kBodies);
      }
    });
    EXPECT_GE(runtime.counters().replays, 800u);
    EXPECT_EQ(ran, launched);
    EXPECT_LE(most, 100 + kLaunches);  // the present replay is not counted
  }
}

// Replays tell of their readers when the state is brought forward, each time of new ones.
TEST(TraceBound, ReadersOfReplaysAreForgotten) {
  static constexpr Field<int> value{"value"}, other{"other"};
  const Task read{"read", [](Read<int> x) { static_cast<void>(x.domain().volume()); }};
  run([&](Context& ctx) {
    const Trace step{"step"};
    const auto region = ctx.region(Rect1{0, 3}, value, other);
    ctx.fill(region, value, 7);
    ctx.fill(region, other, 7);
    const auto pieces = ctx.blocks(region, 8);  // some without points
    const AnyRegion any = region;
    auto& state = analysis::TreeState::of(*any.tree).field(*any.tree, 0);
    for (int i = 0; i < 3000; ++i) {
      for (int t = 0; t < 3; ++t)
        ctx.trace(step, [&] {
          ctx.launch(read, region[value]);
          ctx.launch(read, pieces(0)[value]);
        });
      EXPECT_EQ(ctx.access<Read>(region[other])[0], 7);  // looks at the state
      if (i % 10 == 0) ctx.fence();
      for (const auto& piece : state.sets())
        for (const analysis::Use& use : piece->uses) ASSERT_LE(use.readers.size(), 300u);
      for (const auto& instance : state.instances().all())
        ASSERT_LE(instance->empty_users.size(), 300u);
    }
  });
}

}  // namespace
}  // namespace refrain::bounds_test
