// Traces whose replays are too short to gain anything are analysed most of the time (docs/tracing.md, "Short
// replays"): what the program computes stays the same, and so does the order of its operations; and they are
// replayed again as soon as that is of use.

#include <gtest/gtest.h>

#include <vector>

#include "refrain/refrain.hpp"
#include "support/same_run.hpp"

namespace refrain::test::trace_short_test {
namespace {

constexpr Field<double> a{"a"}, b{"b"};

const auto accumulate = [](ReadWrite<double> y, Read<double> x) {
  for (auto p : y.domain()) y[p] = 0.5 * y[p] + x[p] + 1;
};
const Task add{"add", accumulate};
const Task add_0{"add on 0", on<ProcessorKind::gpu>(accumulate)};
const Task sum{"sum", [](Read<double> x) {
                 double total = 0;
                 for (auto p : x.domain()) total += x[p];
                 return total;
               }};

struct Cells {
  explicit Cells(Context& ctx) : cells(ctx.region(Rect1{0, 7}, a, b)) {
    ctx.fill(cells, a, 0.0);
    ctx.fill(cells, b, 1.0);
  }
  Region<1> cells;

  /// A body of so many launches, which also goes to another memory and back.
  void launch(Context& ctx, int launches) const {
    for (int i = 0; i < launches; ++i) {
      if (i % 3 == 2) ctx.launch(add_0, cells[b], cells[a]);
      else ctx.launch(add, cells[a], cells[b]);
    }
  }
  [[nodiscard]] std::vector<double> values(Context& ctx) const {
    return {ctx.launch(sum, cells[a]).get(), ctx.launch(sum, cells[b]).get()};
  }
};

/// The same numbers each time, in no order that repeats.
int length(int t) { return 1 + (t * t / 3 + 5 * t) % 13; }

TEST(ShortReplays, OfBodiesOfAnyLengthChangeNothing) {
  SameRun same;
  same.seeds = 5;
  const Counters counters = same.compare([](Context& ctx) {
    const Trace step{"step"};
    const Cells data(ctx);
    for (int t = 0; t < 600; ++t) ctx.trace(step, [&] { data.launch(ctx, length(t)); });
    return data.values(ctx);
  });
  EXPECT_GE(counters.replays, 20u);
}

struct Shares {
  double in_the_middle, at_the_end;
};

/// The share of launches replayed while they are alone, between launches on the same data, and when they are
/// followed by others of the trace.
Shares shares(bool required) {
  Options options;
  options.workers = 0;
  Runtime runtime(options);
  constexpr int kRounds = 1000, kLaunches = 24;
  std::uint64_t before = 0, middle = 0, after = 0;
  runtime.run([&](Context& ctx) {
    const Trace step{"step"};
    if (required) ctx.require_replay(step);
    const Cells data(ctx);
    const auto rounds = [&](int launches) {
      for (int t = 0; t < kRounds; ++t) {
        ctx.trace(step, [&] {
          for (int i = 0; i < launches; ++i) ctx.launch(add, data.cells[a], data.cells[b]);
        });
        ctx.launch(sum, data.cells[a]);
      }
    };
    rounds(2);
    before = runtime.counters().replayed_tasks;
    rounds(2);
    middle = runtime.counters().replayed_tasks;
    rounds(kLaunches);
    after = runtime.counters().replayed_tasks;
  });
  return {static_cast<double>(middle - before) / (2.0 * kRounds),
          static_cast<double>(after - middle) / (double{kLaunches} * kRounds)};
}

TEST(ShortReplays, AreMadeSeldomUntilTheyGain) {
  const auto [in_the_middle, at_the_end] = shares(false);
  EXPECT_LE(in_the_middle, 0.1);
  EXPECT_GE(at_the_end, 0.8);
}

TEST(ShortReplays, AreMadeWhereTheyAreRequired) {
  const auto [in_the_middle, at_the_end] = shares(true);
  EXPECT_GE(in_the_middle, 0.99);
  EXPECT_GE(at_the_end, 0.99);
}

}  // namespace
}  // namespace refrain::test::trace_short_test
