// Context::require_replay: who asks for it is told when a trace is not replayed, and why.

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "refrain/refrain.hpp"
#include "support/expect_error.hpp"
#include "support/settings.hpp"

namespace refrain::test::require_replay_test {
namespace {

constexpr Field<double> state{"state"}, flux{"flux"};

const Task add_one{"add_one", [](ReadWrite<double> x) {
                     for (auto p : x.domain()) x[p] += 1;
                   }};
const Task smooth{"smooth", [](ReadWrite<double> y, Read<double> x) {
                    for (auto p : y.domain()) y[p] += 0.5 * (x[p - 1] + x[p + 1]);
                  }};
const Task sum_of{"sum_of", [](Read<double> x) {
                    double sum = 0;
                    for (auto p : x.domain()) sum += x[p];
                    return sum;
                  }};
const Task scale{"scale", [](ReadWrite<double> x, double by) {
                   for (auto p : x.domain()) x[p] *= by;
                 }};

/// A row of cells in tiles, as stencils use it.
struct Row {
  explicit Row(Context& ctx) : cells(ctx.region(Rect1{0, 63}, state, flux)) {
    ctx.fill(cells, state, 1.0);
    ctx.fill(cells, flux, 1.0);
    owned = ctx.blocks(cells, 4);
    inner = ctx.interior(owned, 1);
    ghost = ctx.halo(owned, 1);
  }
  Region<1> cells;
  Partition<1> owned, inner, ghost;
};

class RequiredReplays : public InEverySetting {};
REFRAIN_IN_EVERY_SETTING(RequiredReplays);

TEST_P(RequiredReplays, HoldInALoop) {
  run([](Context& ctx) {
    const Trace step{"step"};
    ctx.require_replay(step);
    const Row row(ctx);
    const auto& cells = row.cells;
    Future<double> last = ctx.launch(sum_of, cells[flux]);
    for (int t = 0; t < 10; ++t) {
      ctx.trace(step, [&] {
        ctx.launch(add_one, 4, row.owned[state]);
        ctx.launch(smooth, 4, row.inner[flux], row.ghost[state]);
        ctx.launch(scale, cells[state], last);
        last = ctx.launch(sum_of, cells[flux]);
        ctx.fill(cells, flux, 0.5 * t);
        ctx.copy(cells[flux], cells[state]);
      });
      const auto seen = ctx.access<Read>(cells[state]);
      EXPECT_EQ(seen[0], seen[63]);
    }
  });
}

// The first uses of pieces cut them, so what was recorded until then is lost; that is no reason to record less of
// what has to be replayed.
TEST_P(RequiredReplays, HoldWhereFieldsTakeTurns) {
  run([](Context& ctx) {
    const Trace step{"step"};
    ctx.require_replay(step);
    const Row row(ctx);
    for (int t = 0; t < 20; ++t)
      ctx.trace(step, [&] {
        if (t % 2 == 0) ctx.launch(smooth, 4, row.inner[flux], row.ghost[state]);
        else ctx.launch(smooth, 4, row.inner[state], row.ghost[flux]);
      });
  });
}

// Two sequences, on other memories than the program's, that begin alike; the second is left early at times.
TEST_P(RequiredReplays, HoldWhereSequencesAlternate) {
  Runtime runtime(options("emulated:cpus=1,gpus=2"));
  runtime.run([](Context& ctx) {
    const Trace step{"step"};
    ctx.require_replay(step);
    const auto a = ctx.region(Rect1{0, 31}, state), b = ctx.region(Rect1{0, 31}, state);
    const auto common = ctx.region(Rect1{0, 31}, flux);
    ctx.fill(common, flux, 1.0);
    ctx.fill(a, state, 1.0);
    ctx.fill(b, state, 1.0);
    for (int t = 0; t < 12; ++t)
      ctx.trace(step, [&] {
        ctx.launch(scale, common[flux], 2.0);
        ctx.launch(add_one, (t % 2 == 0 ? a : b)[state]);
        if (t % 3 == 0) return;
        ctx.launch(scale, common[flux], 0.5);
      });
  });
}

TEST_P(RequiredReplays, AreNotAskedOfWhatAnExceptionEnds) {
  run([](Context& ctx) {
    const Trace step{"step"};
    ctx.require_replay(step);
    const auto cells = ctx.region(Rect1{0, 7}, state);
    ctx.fill(cells, state, 1.0);
    for (int t = 0; t < 4; ++t)
      EXPECT_THROW(ctx.trace(step,
                             [&] {
                               ctx.launch(add_one, cells[state]);
                               throw std::runtime_error("out of here");
                             }),
                   std::runtime_error);
    ctx.begin_trace(step);  // it is not open any more
    ctx.end_trace(step);
  });
}

/// Asks for new answers whenever it is told to.
struct Forgetful final : Mapper {
  [[nodiscard]] std::string_view name() const override { return "forgetful"; }
  void map(const MappingInput&, MappingOutput&) override {}
};

/// What end_trace says in the first round that is not replayed although it should be; -1: none was.
struct Told {
  int round = -1;
  std::string text;
};
Told told_by(Context& ctx, int rounds, const std::function<void(int)>& between,
             const std::function<void(int)>& body) {
  const Trace step{"step"};
  ctx.require_replay(step);
  for (int t = 0; t < rounds; ++t) {
    between(t);
    try {
      ctx.trace(step, [&] { body(t); });
    } catch (const UsageError& error) { return {t, error.what()}; }
  }
  return {};
}

TEST_P(RequiredReplays, SayThatTheMapperHasForgotten) {
  Runtime runtime(options());
  auto mapper = std::make_unique<Forgetful>();
  Forgetful& forgetful = *mapper;
  runtime.set_mapper(std::move(mapper));
  runtime.run([&](Context& ctx) {
    const auto cells = ctx.region(Rect1{0, 7}, state);
    const Told told = told_by(
        ctx, 5, [&](int) { forgetful.forget(); }, [&](int) { ctx.launch(add_one, cells[state]); });
    EXPECT_EQ(told.round, 1);
    expect_words(told.text, {"end_trace('step') at", "begun at", "require_replay at",
                             "require_replay_test.cpp", "1 call was analysed", "task 'add_one'",
                             "its mapping", "has forgotten"});
  });
}

// The data is elsewhere in every round: in the second that is forgiven.
TEST_P(RequiredReplays, SayWhichDataIsElsewhere) {
  run([](Context& ctx) {
    const auto cells = ctx.region(Rect1{0, 31}, state);
    const auto blocks = ctx.blocks(cells, 8);
    ctx.fill(cells, state, 1.0);
    const Told told = told_by(
        ctx, 8, [&](int t) { ctx.fill(blocks(t), state, 2.0); },
        [&](int) { ctx.launch(add_one, 8, blocks[state]); });
    EXPECT_EQ(told.round, 2);
    expect_words(told.text, {"data is not where it was", "field 'state' of region", "points",
                             "expected", "found", "valid in", "a fill pending"});
  });
}

TEST_P(RequiredReplays, SayThatARecordingWasDropped) {
  Options few = options();
  few.trace_memory = 1;
  Runtime runtime(few);
  runtime.run([](Context& ctx) {
    const auto cells = ctx.region(Rect1{0, 7}, state), others = ctx.region(Rect1{0, 7}, state);
    const Trace other{"other"};
    const Told told = told_by(
        ctx, 6, [&](int) { ctx.trace(other, [&] { ctx.launch(add_one, others[state]); }); },
        [&](int) { ctx.launch(add_one, cells[state]); });
    EXPECT_EQ(told.round, 1);
    expect_words(told.text, {"was dropped", "--refrain:trace-memory"});
  });
}

TEST_P(RequiredReplays, HoldOfATraceThatIsCut) {
  Options shorter = options();
  shorter.trace_length = 2;
  Runtime runtime(shorter);
  runtime.run([](Context& ctx) {
    const auto cells = ctx.region(Rect1{0, 7}, state);
    const Told told = told_by(
        ctx, 6, [](int) {},
        [&](int) {
          for (int i = 0; i < 7; ++i) ctx.launch(add_one, cells[state]);
        });
    EXPECT_EQ(told.round, -1) << told.text;
  });
}

// Two fields that do not fit into the memory together.
TEST_P(RequiredReplays, SayThatStorageWasGivenUp) {
  const Task on_gpu{"on_gpu", on<ProcessorKind::gpu>([](ReadWrite<double> x) {
                      for (auto p : x.domain()) x[p] += 1;
                    })};
  Runtime runtime(options("emulated:cpus=1,gpus=1,framebuffer=64KiB"));
  runtime.run([&](Context& ctx) {
    const auto a = ctx.region(Rect1{0, 5999}, state), b = ctx.region(Rect1{0, 5999}, state);
    const Told told = told_by(
        ctx, 6, [](int) {},
        [&](int) {
          ctx.launch(on_gpu, a[state]);
          ctx.launch(on_gpu, b[state]);
        });
    EXPECT_EQ(told.round, 1);
    expect_words(told.text, {"a recording was given up", "storage was given up"});
  });
  EXPECT_GT(runtime.counters().evictions, 0u);
}

// Fills alone are done when somebody reads: there is nothing to replay.
TEST_P(RequiredReplays, HoldWhereThereIsNoOperation) {
  run([](Context& ctx) {
    const auto cells = ctx.region(Rect1{0, 7}, state, flux);
    const auto none = ctx.blocks(cells, 2);
    const Told fills = told_by(
        ctx, 6, [](int) {},
        [&](int t) {
          ctx.fill(cells, state, double(t));
          ctx.fill(cells, flux, 1.0);
        });
    EXPECT_EQ(fills.round, -1) << fills.text;
    EXPECT_EQ(ctx.access<Read>(cells[state])[3], 5);
    const Told nothing = told_by(
        ctx, 4, [](int) {}, [](int) {});
    EXPECT_EQ(nothing.round, -1) << nothing.text;
    const Told no_points = told_by(
        ctx, 4, [](int) {}, [&](int) { ctx.launch(add_one, 0, none[state]); });
    EXPECT_EQ(no_points.round, -1) << no_points.text;
  });
}

// After what is replayed, and behind a cut.
TEST_P(RequiredReplays, HoldWhereFillsComeLast) {
  Options shorter = options();
  shorter.trace_length = 2;
  Runtime runtime(shorter);
  runtime.run([](Context& ctx) {
    const auto cells = ctx.region(Rect1{0, 7}, state, flux);
    const Told told = told_by(
        ctx, 6, [](int) {},
        [&](int) {
          ctx.launch(add_one, cells[state]);
          ctx.launch(add_one, cells[state]);
          ctx.fill(cells, flux, 1.0);
        });
    EXPECT_EQ(told.round, -1) << told.text;
  });
  EXPECT_GE(runtime.counters().replays, 3u);
}

// What could be replayed is missed as before, and counted alone.
TEST_P(RequiredReplays, SayWhatIsMissedBesideFills) {
  Options shorter = options();
  shorter.trace_length = 1;
  Runtime runtime(shorter);
  auto mapper = std::make_unique<Forgetful>();
  Forgetful& forgetful = *mapper;
  runtime.set_mapper(std::move(mapper));
  runtime.run([&](Context& ctx) {
    const auto cells = ctx.region(Rect1{0, 7}, state, flux);
    const Told told = told_by(
        ctx, 5, [&](int) { forgetful.forget(); },
        [&](int) {
          ctx.launch(add_one, cells[state]);
          ctx.fill(cells, flux, 1.0);
        });
    EXPECT_EQ(told.round, 1);
    expect_words(told.text, {"1 call was analysed", "has forgotten"});
  });
}

TEST_P(RequiredReplays, AreNotAskedOfWhatIsNotTraced) {
  Options off = options();
  off.tracing = false;
  Runtime runtime(off);
  runtime.run([](Context& ctx) {
    const auto cells = ctx.region(Rect1{0, 7}, state);
    const Told told = told_by(
        ctx, 4, [](int) {}, [&](int) { ctx.launch(add_one, cells[state]); });
    EXPECT_EQ(told.round, -1) << told.text;
  });
}

TEST(RequiredReplay, IsSaidBeforeTheTraceBegins) {
  expect_error<UsageError>(small_machine(), {"require_replay('step')", "begun at", "is open"},
                           [](Context& ctx) {
                             const Trace step{"step"};
                             ctx.begin_trace(step);
                             ctx.require_replay(step);
                           });
}

// Where something comes that cannot be traced is part of a sequence.
TEST_P(RequiredReplays, AreAskedOfSequencesWithTheSameAccesses) {
  run([](Context& ctx) {
    const Trace step{"step"};
    ctx.require_replay(step);
    const auto cells = ctx.region(Rect1{0, 31}, state);
    ctx.fill(cells, state, 0.0);
    ctx.launch(add_one, cells[state]);
    for (int t = 0; t < 12; ++t)
      ctx.trace(step, [&] {
        ctx.launch(add_one, cells[state]);
        if (t % 4 < 2) ctx.launch(add_one, cells[state]);
        static_cast<void>(ctx.access<Read>(cells[state])[0]);
        ctx.launch(add_one, cells[state]);
        if (t % 4 >= 2) ctx.launch(add_one, cells[state]);
      });
  });
}

}  // namespace
}  // namespace refrain::test::require_replay_test
