// Rule 6 of docs/tracing.md: whoever looks at the analysis' state while replays are ahead of it brings it up
// to date first. One test for each way of looking; what follows is as if nothing had been replayed.

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <vector>

#include "refrain/refrain.hpp"
#include "support/cells.hpp"
#include "support/same_run.hpp"

namespace refrain::test::trace_looks_test {
namespace {

using namespace programs;

const Task move_on{"move on 0", on<ProcessorKind::gpu>([](ReadWrite<double> x) {
                     for (auto p : x.domain()) x[p] = 0.5 * x[p] + 1;
                   })};

struct Cells {
  Region<1> region;
  Partition<1> halves;
};

/// Replays of `step` are in flight; then `act` comes, and some more replays.
SameRun::Program around(
    const std::function<void(Context&, const Cells&, std::vector<double>&)>& act,
    bool inside = false) {
  return [act, inside](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx, 1.0);
    const Cells all{cells, ctx.blocks(cells, 2)};
    std::vector<double> found;
    for (int round = 0; round < 3; ++round) {
      for (int t = 0; t < 5; ++t) {
        ctx.begin_trace(step);
        ctx.launch(add, 2, all.halves[b], all.halves[a]);
        if (inside && t == 4) act(ctx, all, found);
        ctx.launch(add, 2, all.halves[a], all.halves[b]);
        ctx.end_trace(step);
      }
      if (!inside) act(ctx, all, found);
    }
    found.push_back(ctx.launch(sum, cells[a]).get());
    found.push_back(ctx.launch(sum, cells[b]).get());
    return found;
  };
}

/// After whole replays, and in the middle of one.
void expect_same(const std::function<void(Context&, const Cells&, std::vector<double>&)>& act,
                 bool every_launch = false) {
  for (const bool inside : {false, true}) {
    SCOPED_TRACE(inside ? "in a trace" : "after it");
    const Counters counters = SameRun{.every_launch = every_launch}.compare(around(act, inside));
    EXPECT_GE(counters.replays, 4u);
  }
}

TEST(TraceRule6, AnAccessLooks) {
  expect_same([](Context& ctx, const Cells& cells, std::vector<double>& found) {
    found.push_back(ctx.access<Read>(cells.region[b])[3]);
    ctx.access<ReadWrite>(cells.region[a])[5] += 1;
  });
}

TEST(TraceRule6, AFillAndACopyLook) {
  expect_same([](Context& ctx, const Cells& cells, std::vector<double>&) {
    ctx.copy(cells.region[b], cells.region[c]);
    ctx.fill(cells.region, b, 0.25);
    ctx.copy(cells.region[c], cells.region[a]);
  });
}

TEST(TraceRule6, AnotherLaunchLooks) {
  expect_same([](Context& ctx, const Cells& cells, std::vector<double>& found) {
    ctx.launch(add, cells.region[a], cells.region[b]);
    found.push_back(ctx.launch(sum, cells.region[a]).get());
  });
}

TEST(TraceRule6, CuttingAPieceLooks) {
  const auto cut = [](Context& ctx, const Cells& cells, std::vector<double>&) {
    const auto thirds = ctx.blocks(cells.region, 3);
    ctx.launch(add, 3, thirds[a], thirds[b]);
  };
  expect_same(cut);
  // A mapper that is asked each time has its say, and the pieces are cut, before a launch is compared.
  expect_same(cut, true);
}

TEST(TraceRule6, DestroyingAPartitionLooks) {
  expect_same([](Context& ctx, const Cells& cells, std::vector<double>&) {
    const auto quarters = ctx.blocks(cells.region, 4);
    ctx.launch(add, 4, quarters[a], quarters[b]);
    ctx.destroy(quarters);
  });
}

TEST(TraceRule6, DestroyingARegionLooks) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 7}, b);
    ctx.fill(cells, b, 0.0);
    for (int round = 0; round < 4; ++round) {
      const auto other = ctx.region(Rect1{0, 7}, a);  // where the one before was
      ctx.fill(other, a, double(round));
      for (int t = 0; t < 5; ++t)
        ctx.trace(step, [&] {
          ctx.launch(add, cells[b], other[a]);
          ctx.launch(add, other[a], cells[b]);
        });
      ctx.destroy(other);
    }
    return std::vector<double>{ctx.launch(sum, cells[b]).get()};
  });
  EXPECT_GE(counters.replays, 8u);
}

TEST(TraceRule6, AttachingAndDetachingLook) {
  expect_same([](Context& ctx, const Cells& cells, std::vector<double>& found) {
    std::vector<double> mine(8, 3.0);
    ctx.attach(cells.region, b, mine.data());
    ctx.launch(add, cells.region[b], cells.region[a]);
    ctx.detach(cells.region, b);
    found.push_back(mine[4]);
    ctx.fill(cells.region, b, 2.0);
  });
}

TEST(TraceRule6, ReducingFuturesLooks) {
  expect_same([](Context& ctx, const Cells& cells, std::vector<double>& found) {
    const auto sums = ctx.launch(sum, 2, cells.halves[b]);
    found.push_back(ctx.reduce(sums, Sum{}).get());
  });
}

TEST(TraceRule6, EvictionKnowsWhatReplaysHaveUsed) {
  // Room for two fields of a region of 64 points; a third one takes the place of what was used least recently.
  SameRun tiny;
  tiny.machine = "emulated:cpus=2,gpus=1,framebuffer=1100B";
  const Counters counters = tiny.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 63}, a, b, c);
    for (const auto& field : {a, b, c}) ctx.fill(cells, field, 1.0);
    for (int round = 0; round < 4; ++round) {
      ctx.launch(move_on, cells[a]);
      ctx.launch(move_on, cells[b]);
      // The trace uses a, which was there first: so it is b that goes.
      for (int t = 0; t < 4; ++t) ctx.trace(step, [&] { ctx.launch(move_on, cells[a]); });
      ctx.launch(move_on, cells[c]);
    }
    std::vector<double> found;
    for (const auto& field : {a, b, c}) found.push_back(ctx.launch(sum, cells[field]).get());
    return found;
  });
  EXPECT_GT(counters.evictions, 0u);
  EXPECT_GE(counters.replays, 4u);
}

TEST(TraceRule6, EvictionKnowsWhatHasPassedByLater) {
  // Room for two: what the trace uses goes, since the launch that passes by has used its own after that.
  SameRun tiny;
  tiny.machine = "emulated:cpus=2,gpus=1,framebuffer=140B";
  const Counters counters = tiny.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx, 1.0);
    const auto use_b = [&] { ctx.launch(move_on, cells[b]); };  // the same launch, so it passes by
    for (int round = 0; round < 4; ++round) {
      ctx.launch(move_on, cells[a]);
      use_b();
      for (int t = 0; t < 4; ++t) ctx.trace(step, [&] { ctx.launch(move_on, cells[a]); });
      use_b();
      ctx.launch(move_on, cells[c]);
    }
    std::vector<double> found;
    for (const auto& field : {a, b, c}) found.push_back(ctx.launch(sum, cells[field]).get());
    return found;
  });
  EXPECT_GT(counters.evictions, 0u);
  EXPECT_GE(counters.replays, 4u);
}

TEST(TraceRule6, EvictionKnowsWhatPartsHaveUsed) {
  // Room for two: what a part of a replay has used stays, since the launch that passed by came before it.
  SameRun tiny;
  tiny.machine = "emulated:cpus=2,gpus=1,framebuffer=140B";
  const Counters counters = tiny.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx, 1.0), on_host = make_cells(ctx, 1.0);
    const auto use_b = [&] { ctx.launch(move_on, cells[b]); };
    for (int round = 0; round < 4; ++round) {
      ctx.launch(move_on, cells[a]);
      use_b();
      for (int t = 0; t < 5; ++t) {
        if (t == 4) use_b();
        ctx.begin_trace(step);
        ctx.launch(move_on, cells[a]);
        if (t < 4) ctx.launch(scale, on_host[c], 0.5);
        ctx.end_trace(step);
      }
      ctx.launch(move_on, cells[c]);
    }
    std::vector<double> found;
    for (const auto& field : {a, b, c}) found.push_back(ctx.launch(sum, cells[field]).get());
    return found;
  });
  EXPECT_GT(counters.evictions, 0u);
  EXPECT_GE(counters.early_exits, 3u);
}

TEST(TraceRule6, EvictionKnowsWhatTheReplayBeforeAPartHasUsed) {
  // Room for three: a launch between recording and replaying has used d. What the last whole replay has used
  // stays, although the part does not use it.
  static constexpr Field<double> d{"d"};
  SameRun tiny;
  tiny.machine = "emulated:cpus=2,gpus=1,framebuffer=200B";
  const Counters counters = tiny.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 7}, a, b, c, d);
    for (const auto& field : {a, b, c, d}) ctx.fill(cells, field, 1.0);
    for (int round = 0; round < 4; ++round) {
      for (int t = 0; t < 5; ++t) {
        if (t == 2) ctx.launch(move_on, cells[d]);
        ctx.begin_trace(step);
        ctx.launch(move_on, cells[a]);
        if (t < 4) ctx.launch(move_on, cells[b]);
        ctx.end_trace(step);
      }
      ctx.launch(move_on, cells[c]);
    }
    std::vector<double> found;
    for (const auto& field : {a, b, c, d}) found.push_back(ctx.launch(sum, cells[field]).get());
    return found;
  });
  EXPECT_GT(counters.evictions, 0u);
  EXPECT_GE(counters.early_exits, 3u);
}

TEST(TraceRule6, EvictionMovesWhatReplaysHaveWritten) {
  // Room for one field: a launch that has none in common with the trace takes the place of what it uses.
  SameRun tiny;
  tiny.machine = "emulated:cpus=2,gpus=1,framebuffer=64B";
  const Counters counters = tiny.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx, 1.0);
    for (int round = 0; round < 4; ++round) {
      for (int t = 0; t < 4; ++t) ctx.trace(step, [&] { ctx.launch(move_on, cells[a]); });
      ctx.launch(move_on, cells[c]);
    }
    std::vector<double> found = values(ctx, cells, a);
    found.push_back(ctx.launch(sum, cells[c]).get());
    return found;
  });
  EXPECT_GT(counters.evictions, 0u);
  EXPECT_GE(counters.replays, 4u);
}

TEST(TraceRule6, DetachingLooks) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx, 1.0);
    std::vector<double> found;
    for (int round = 0; round < 3; ++round) {
      std::vector<double> mine(8, 3.0);
      ctx.attach(cells, b, mine.data());
      for (int t = 0; t < 5; ++t) ctx.trace(step, [&] { ctx.launch(add, cells[b], cells[a]); });
      ctx.detach(cells, b);
      found.insert(found.end(), mine.begin(), mine.end());
    }
    return found;
  });
  EXPECT_GE(counters.replays, 9u);
}

TEST(TraceRule6, ManyFailuresStayWithTheirData) {
  // Beyond some thousand, a scope forgets the failures that it has told. A wait in the middle of a replay comes between.
  const Task refuse{"refuse", [](ReadWrite<double>) { throw std::runtime_error("no"); }};
  for (int rounds = 1; rounds < 9; ++rounds) {
    Options options;
    options.workers = 0;
    Runtime runtime(options);
    const auto program = [&](Context& ctx) {
      const Trace step{"step"};
      const auto cells = ctx.region(Rect1{0, 599}, a, b);
      const auto pieces = ctx.blocks(cells, 600);
      ctx.fill(cells, a, 1.0);
      ctx.fill(cells, b, 1.0);
      for (int t = 0; t <= rounds; ++t) {
        ctx.begin_trace(step);
        const Future<double> total = ctx.launch(sum, cells[a]);
        if (t < rounds) ctx.launch(refuse, 600, pieces[b]);
        else EXPECT_EQ(total.get(), 600.0);
        ctx.end_trace(step);
      }
      EXPECT_THROW(values(ctx, cells, b), TaskFailed) << rounds << " rounds";
    };
    EXPECT_THROW(runtime.run(program), TaskFailed);
  }
}

TEST(TraceRule6, TheEndOfAContextLooks) {
  std::vector<double> mine;
  const Task whole{"whole", [&mine](Context& ctx) {
                     const Trace step{"step"};
                     const auto cells = make_cells(ctx, 1.0);
                     ctx.attach(cells, b, mine.data());
                     for (int t = 0; t < 5; ++t)
                       ctx.trace(step, [&] { ctx.launch(add_0, cells[b], cells[a]); });
                   }};
  const Counters counters = SameRun{}.compare([&](Context& ctx) {
    mine.assign(8, 3.0);
    ctx.launch(whole);
    ctx.fence();
    return mine;
  });
  EXPECT_GE(counters.replays, 3u);
}

TEST(TraceRule6, TheEndLooks) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 7}, a, b);
    ctx.fill(cells, a, 1.0);
    std::vector<double> mine(8, 3.0);
    ctx.attach(cells, b, mine.data());
    for (int t = 0; t < 5; ++t) ctx.trace(step, [&] { ctx.launch(add, cells[b], cells[a]); });
    ctx.destroy(cells);  // detaches
    return mine;
  });
  EXPECT_GE(counters.replays, 3u);
}

}  // namespace
}  // namespace refrain::test::trace_looks_test
