// What is recorded: how often, and for how long it stays.

#include <gtest/gtest.h>

#include <deque>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "refrain/refrain.hpp"
#include "support/random.hpp"

namespace refrain::test::trace_recordings_test {
namespace {

constexpr Field<double> state{"state"};

const Task add_one{"add_one", [](ReadWrite<double> x) {
                     for (auto p : x.domain()) x[p] += 1;
                   }};

// Where recordings are of no use, fewer and fewer executions are recorded, and those from their first call.
TEST(TraceRecordings, BecomeFewerWhereTheyAreOfNoUse) {
  Options options;
  options.workers = 0;
  Runtime runtime(options);
  std::string recordings;
  runtime.run([&](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 3}, state);
    std::vector<double> mine(4, 1.0);
    for (int t = 0; t < 400; ++t) {
      ctx.attach(cells, state, mine.data());
      ctx.trace(step, [&] {
        for (int i = 0; i < 100; ++i) ctx.launch(add_one, cells[state]);
      });
      std::ostringstream out;
      ctx.print_recordings(out);
      EXPECT_EQ(out.str().find("from call"), std::string::npos);
      ctx.detach(cells, state);
    }
  });
  EXPECT_LE(runtime.counters().recordings, 20u);
  EXPECT_EQ(runtime.counters().replays, 0u);
}

// What is recorded is dropped before it comes again.
TEST(TraceRecordings, BecomeFewerWhereThereIsNoRoomForThem) {
  Options options;
  options.workers = 0;
  options.trace_memory = 1;
  Runtime runtime(options);
  runtime.run([&](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 3}, state);
    for (int t = 0; t < 400; ++t) {
      ctx.trace(step, [&] {
        for (int i = 0; i < 100; ++i) ctx.launch(add_one, cells[state]);
      });
      static_cast<void>(ctx.access<Read>(cells[state])[0]);
    }
  });
  EXPECT_LE(runtime.counters().recordings, 20u);
}

// How many replays are in flight is timing, and what each has of its own is counted all the same.
TEST(TraceRecordings, AreDroppedInLaunchOrder) {
  const auto counted = [](int workers) {
    Options options;
    options.machine = "emulated:cpus=4";
    options.workers = workers;
    options.trace_memory = 200'000;
    Runtime runtime(options);
    runtime.run([](Context& ctx) {
      std::deque<Trace> traces;
      for (int i = 0; i < 12; ++i) traces.emplace_back("step");
      const auto cells = ctx.region(Rect1{0, 3}, state);
      ctx.fill(cells, state, 0.0);
      for (int round = 0; round < 4; ++round)
        for (const Trace& trace : traces)
          for (int t = 0; t < 20; ++t)
            ctx.trace(trace, [&] {
              for (int i = 0; i < 5; ++i) ctx.launch(add_one, cells[state]);
            });
    });
    const Counters counters = runtime.counters();
    return std::tuple(counters.recordings, counters.replays, counters.replayed_tasks);
  };
  const auto alone = counted(0);
  EXPECT_GT(std::get<0>(alone), 12u) << "some have to be dropped";
  for (const int workers : {1, 3}) EXPECT_EQ(counted(workers), alone) << workers << " workers";
}

// Each access ends a segment, and the next begins in it: they are many deep, and end without end.
TEST(TraceRecordings, MayBeginInEachOther) {
  for (const std::size_t memory : {std::size_t{1} << 20, Options{}.trace_memory}) {
    Options options;
    options.workers = 0;
    options.trace_memory = memory;
    Runtime runtime(options);
    runtime.run([&](Context& ctx) {
      const Trace whole{"whole"};
      for (int round = 0; round < 2; ++round) {
        const auto cells = ctx.region(Rect1{0, 3}, state);
        ctx.fill(cells, state, 0.0);
        constexpr int kDeep = 20000;
        ctx.trace(whole, [&] {
          for (int i = 0; i < kDeep; ++i) {
            ctx.launch(add_one, cells[state]);
            static_cast<void>(ctx.access<Read>(cells[state])[0]);
          }
        });
        EXPECT_EQ(ctx.access<Read>(cells[state])[0], kDeep);
        ctx.destroy(cells);
      }
    });
  }
}

// Each task writes one piece and reads three, at random: far and wide.
TEST(TraceRecordings, CountTheEdgesThatTheOptimiserLeftUnexamined) {
  const Task mix{"mix", [](ReadWrite<double>, Read<double>, Read<double>, Read<double>) {}};
  const auto unexamined = [&](int pieces, int tasks) {
    Options options;
    options.workers = 0;
    Runtime runtime(options);
    runtime.run([&](Context& ctx) {
      const Trace step{"step"};
      const auto cells = ctx.region(Rect1{0, pieces - 1}, state);
      const auto owned = ctx.blocks(cells, pieces);
      for (int t = 0; t < 4; ++t)
        ctx.trace(step, [&] {
          Random random(1);
          for (int i = 0; i < tasks; ++i) {
            const int first = random.below(pieces);
            const auto piece = [&](int number) { return owned((first + number) % pieces)[state]; };
            ctx.launch(mix, piece(0), piece(1 + random.below(pieces / 4)),
                       piece(pieces / 4 + 1 + random.below(pieces / 4)),
                       piece(pieces / 2 + 1 + random.below(pieces / 4)));
          }
        });
    });
    EXPECT_GE(runtime.counters().replays, 1u);
    return runtime.counters().unexamined_edges;
  };
  EXPECT_EQ(unexamined(64, 1000), 0u);
  EXPECT_GT(unexamined(4096, 12000), 0u);
}

}  // namespace
}  // namespace refrain::test::trace_recordings_test
