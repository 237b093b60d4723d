// Traces that follow each other round after round are joined (docs/tracing.md, "Rounds"). Everything must be as
// if there were no traces: what the program sees, its operations, and their order. The seven rules once more,
// where the replays of a chain are of several recordings.

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "refrain/refrain.hpp"
#include "support/same_run.hpp"

namespace refrain::test::trace_rounds_test {
namespace {

constexpr Field<double> a{"a"}, b{"b"}, c{"c"}, d{"d"};

const auto accumulate = [](ReadWrite<double> y, Read<double> x) {
  for (auto p : y.domain()) y[p] = 0.5 * y[p] + x[p] + 1;
};
const Task add{"add", accumulate};
const Task add_0{"add on 0", on<ProcessorKind::gpu>(accumulate)};
const auto assign = [](Write<double> x, double value) {
  for (auto p : x.domain()) x[p] = value + static_cast<double>(p);
};
const Task set{"set", assign};
const Task set_0{"set on 0", on<ProcessorKind::gpu>(assign)};
const Task scale{"scale", [](ReadWrite<double> x, double by) {
                   for (auto p : x.domain()) x[p] *= by;
                 }};
const Task sum{"sum", [](Read<double> x) {
                 double total = 0;
                 for (auto p : x.domain()) total += x[p];
                 return total;
               }};

Region<1> make_cells(Context& ctx) {
  const auto cells = ctx.region(Rect1{0, 7}, a, b, c, d);
  for (const auto& field : {a, b, c, d}) ctx.fill(cells, field, 0.0);
  return cells;
}

std::vector<double> values(Context& ctx, const Region<1>& cells) {
  std::vector<double> found;
  for (const auto& field : {a, b, c, d}) {
    const auto access = ctx.access<Read>(cells[field]);
    for (auto p : access.domain()) found.push_back(access[p]);
  }
  return found;
}

TEST(TraceRounds, TheStateIsNotLookedAtInBetween) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace one{"one"}, two{"two"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 30; ++t) {
      ctx.trace(one, [&] { ctx.launch(add, cells[b], cells[a]); });
      ctx.trace(two, [&] { ctx.launch(add, cells[a], cells[b]); });
    }
    return values(ctx, cells);
  });
  EXPECT_EQ(counters.rounds, 1u);
  EXPECT_GE(counters.replays, 52u);
  EXPECT_LE(counters.catch_ups, 8u);
}

// Alone, neither leaves its precondition behind.
TEST(TraceRounds, DataMayMoveToAndFro) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace one{"one"}, two{"two"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 14; ++t) {
      ctx.trace(one, [&] {
        ctx.launch(set_0, cells[a], double(t));
        ctx.launch(add_0, cells[b], cells[a]);
      });
      ctx.trace(two, [&] {
        ctx.launch(add, cells[c], cells[a]);
        ctx.launch(add, cells[a], cells[b]);
      });
    }
    return values(ctx, cells);
  });
  EXPECT_EQ(counters.rounds, 1u);
  EXPECT_GE(counters.replays, 20u);
}

TEST(TraceRounds, PartsMayHaveNothingInCommon) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace one{"one"}, two{"two"}, three{"three"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 14; ++t) {
      ctx.trace(one, [&] { ctx.launch(add, cells[a], cells[b]); });
      ctx.trace(two, [&] { ctx.launch(scale, cells[d], 1.0 + t); });
      ctx.trace(three, [&] { ctx.launch(add, cells[b], cells[c]); });
    }
    return values(ctx, cells);
  });
  EXPECT_EQ(counters.rounds, 1u);
}

TEST(TraceRounds, ATraceMayComeMoreThanOnce) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace one{"one"}, two{"two"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 40; ++t) {
      if (t % 4 < 3) ctx.trace(one, [&] { ctx.launch(add, cells[b], cells[a]); });
      else ctx.trace(two, [&] { ctx.launch(add, cells[a], cells[b]); });
    }
    return values(ctx, cells);
  });
  EXPECT_EQ(counters.rounds, 1u);
  EXPECT_LE(counters.catch_ups, 8u);
}

// The body of one trace alternates: what it begins with is recorded once, so the second part is a prefix.
TEST(TraceRounds, ABodyMayAlternate) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 30; ++t)
      ctx.trace(step, [&] {
        ctx.launch(add, cells[b], cells[a]);
        if (t % 2 == 0) ctx.launch(add, cells[c], cells[b]);
        else ctx.launch(add, cells[a], cells[b]);
        if (t % 2 == 0) ctx.launch(scale, cells[c], double(t));
      });
    return values(ctx, cells);
  });
  EXPECT_EQ(counters.rounds, 1u);
  EXPECT_LE(counters.catch_ups, 12u);
}

TEST(TraceRounds, ATraceMayAlwaysEndEarlierThanItDid) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 20; ++t)
      ctx.trace(step, [&] {
        ctx.launch(add, cells[b], cells[a]);
        if (t < 4) ctx.launch(add, cells[c], cells[b]);
      });
    return values(ctx, cells);
  });
  EXPECT_EQ(counters.rounds, 1u);
  EXPECT_LE(counters.early_exits, 3u);
}

TEST(TraceRounds, ATraceMayBeCut) {
  const Counters counters = SameRun{.trace_length = 3}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 16; ++t)
      ctx.trace(step, [&] {
        for (int i = 0; i < 4; ++i) {
          ctx.launch(add, cells[b], cells[a]);
          ctx.launch(add, cells[a], cells[b]);
        }
      });
    return values(ctx, cells);
  });
  EXPECT_GE(counters.rounds, 1u);
  EXPECT_LE(counters.catch_ups, 24u);
}

// --- rules 1 and 7: what is entered is compared --------------------------------------------------------

TEST(TraceRounds, WhatOnlyALaterPartTouchesMayHaveMoved) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace one{"one"}, two{"two"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 48; ++t) {
      if (t % 8 == 7) {
        if (t % 16 == 7) ctx.launch(set_0, cells[c], double(t));
        else ctx.launch(set, cells[c], double(t));
      }
      ctx.trace(one, [&] { ctx.launch(add, cells[b], cells[a]); });
      ctx.trace(two, [&] { ctx.launch(add, cells[a], cells[c]); });
    }
    return values(ctx, cells);
  });
  EXPECT_GE(counters.replays, 70u);
}

// --- rules 2 and 4: what is only read ------------------------------------------------------------------

TEST(TraceRounds, EveryRoundComesAfterTheLastWriteBeforeAndBeforeTheNext) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace one{"one"}, two{"two"};
    const auto cells = make_cells(ctx);
    std::vector<Future<double>> sums;
    for (int t = 0; t < 32; ++t) {
      if (t % 8 == 0) ctx.launch(set, cells[c], double(t));
      ctx.trace(one, [&] { sums.push_back(ctx.launch(sum, cells[c])); });
      ctx.trace(two, [&] { ctx.launch(add, cells[b], cells[c]); });
    }
    std::vector<double> found = values(ctx, cells);
    for (const auto& one_sum : sums) found.push_back(one_sum.get());
    return found;
  });
  EXPECT_GE(counters.rounds, 1u);
}

TEST(TraceRounds, FailuresAreInherited) {
  const Task fails{"fails", [](ReadWrite<double> x, int t) {
                     x[0] += t;
                     if (t == 8) throw std::runtime_error("no values");
                   }};
  const Counters counters = SameRun{}.compare([&](Context& ctx) {
    const Trace one{"one"}, two{"two"};
    const auto cells = make_cells(ctx);
    std::vector<Future<double>> sums;
    for (int t = 0; t < 16; ++t) {
      ctx.trace(one, [&] {
        if (t % 12 == 11) ctx.launch(set, cells[b], 1.0);
        else ctx.launch(fails, cells[a], t);
      });
      ctx.trace(two, [&] {
        ctx.launch(add, cells[b], cells[a]);
        sums.push_back(ctx.launch(sum, cells[b]));
        sums.push_back(ctx.launch(sum, cells[c]));
      });
    }
    std::vector<double> found;
    for (const auto& one_sum : sums) try {
        found.push_back(one_sum.get());
      } catch (const TaskFailed&) { found.push_back(-1); }
    try {
      ctx.fence();
    } catch (const TaskFailed&) { found.push_back(-2); }
    return found;
  });
  EXPECT_GE(counters.rounds, 1u);
}

// --- rules 3, 4 and 6: a round may be left anywhere ----------------------------------------------------

/// Rounds of two traces with three calls each. In some of them something else happens after the first calls.
void leaving(const std::function<void(Context&, const Region<1>&)>& something) {
  for (int calls = 0; calls <= 6; ++calls) {
    SCOPED_TRACE("after " + std::to_string(calls) + " calls");
    const Counters counters = SameRun{.seeds = 10}.compare([&](Context& ctx) {
      const Trace one{"one"}, two{"two"};
      const auto cells = make_cells(ctx);
      for (int t = 0; t < 24; ++t) {
        int left = t % 9 == 7 ? calls : -1;
        const auto then = [&] {
          if (left-- == 0) something(ctx, cells);
        };
        ctx.trace(one, [&] {
          ctx.launch(add, cells[b], cells[a]);
          then();
          ctx.fill(cells, d, double(t));
          then();
          ctx.launch(add_0, cells[c], cells[b]);
          then();
        });
        if (calls == 3) then();
        ctx.trace(two, [&] {
          ctx.launch(add, cells[a], cells[c]);
          then();
          ctx.launch(add, cells[b], cells[d]);
          then();
          ctx.launch(scale, cells[a], 0.25);
          then();
        });
        if (calls == 6) then();
      }
      return values(ctx, cells);
    });
    EXPECT_GE(counters.rounds, 1u);
  }
}

TEST(TraceRounds, MayBeLeftForALaunch) {
  leaving([](Context& ctx, const Region<1>& cells) { ctx.launch(add, cells[c], cells[a]); });
}

TEST(TraceRounds, MayBeLeftForAnAccess) {
  leaving([](Context& ctx, const Region<1>& cells) { ctx.access<ReadWrite>(cells[b])[0] += 1; });
}

TEST(TraceRounds, MayBeLeftForAPartitionAndItsPieces) {
  leaving([](Context& ctx, const Region<1>& cells) {
    ctx.launch(scale, 2, ctx.blocks(cells, 2)[a], 0.5);
  });
}

TEST(TraceRounds, OneTraceMayBeLeftOutOrComeTwice) {
  for (const int times : {0, 2}) {
    const Counters counters = SameRun{}.compare([times](Context& ctx) {
      const Trace one{"one"}, two{"two"};
      const auto cells = make_cells(ctx);
      for (int t = 0; t < 40; ++t) {
        for (int n = t % 7 == 6 ? times : 1; n > 0; --n)
          ctx.trace(one, [&] {
            ctx.launch(add, cells[b], cells[a]);
            ctx.launch(add_0, cells[c], cells[b]);
          });
        for (int n = t % 11 == 10 ? times : 1; n > 0; --n)
          ctx.trace(two, [&] { ctx.launch(add, cells[a], cells[c]); });
      }
      return values(ctx, cells);
    });
    EXPECT_GE(counters.rounds, 1u);
    EXPECT_GE(counters.replays, 60u);
  }
}

// A launch that has nothing in common with what is replayed: after a round, or in the middle of it.
TEST(TraceRounds, ALaunchMayPassBy) {
  for (const bool middle : {false, true}) {
    const Counters counters = SameRun{}.compare([middle](Context& ctx) {
      const Trace one{"one"}, two{"two"};
      const auto cells = make_cells(ctx), others = make_cells(ctx);
      for (int t = 0; t < 30; ++t) {
        ctx.trace(one, [&] { ctx.launch(add, cells[b], cells[a]); });
        if (middle) ctx.launch(add, others[b], others[a]);
        ctx.trace(two, [&] { ctx.launch(add, cells[a], cells[b]); });
        if (!middle) ctx.launch(add, others[b], others[a]);
      }
      std::vector<double> found = values(ctx, cells);
      for (const double value : values(ctx, others)) found.push_back(value);
      return found;
    });
    EXPECT_EQ(counters.rounds, 1u);
    EXPECT_LE(counters.catch_ups, 8u);
  }
}

// --- rule 5: futures and fills -------------------------------------------------------------------------

TEST(TraceRounds, FuturesAreTakenFromOneTraceToTheNext) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace one{"one"}, two{"two"};
    const auto cells = make_cells(ctx);
    ctx.launch(set, cells[a], 1.0);
    std::vector<Future<double>> made{ctx.launch(sum, cells[a])};
    for (int t = 0; t < 20; ++t) {
      ctx.trace(one, [&] {
        made.push_back(ctx.launch(sum, cells[a]));
        ctx.launch(scale, cells[c], made[made.size() - (t % 5 == 4 ? 2 : 1)]);
      });
      ctx.trace(two, [&] {
        ctx.launch(scale, cells[a], 0.125);
        ctx.launch(scale, cells[b], made.back());
        ctx.fill(cells, d, made[made.size() - 2]);
        ctx.launch(add, cells[a], cells[d]);
      });
    }
    return values(ctx, cells);
  });
  EXPECT_GE(counters.rounds, 1u);
  EXPECT_GE(counters.replays, 24u);
}

TEST(TraceRounds, AFillIsTakenByTheNextTrace) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace one{"one"}, two{"two"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 16; ++t) {
      ctx.trace(one, [&] {
        ctx.launch(add_0, cells[b], cells[c]);  // the value of the round before
        ctx.fill(cells, a, double(t));
      });
      ctx.trace(two, [&] {
        ctx.launch(add, cells[b], cells[a]);
        ctx.fill(cells, c, double(2 * t));
      });
    }
    return values(ctx, cells);
  });
  EXPECT_GE(counters.rounds, 1u);
}

TEST(TraceRounds, ReductionsGoOnFromOneTraceToTheNext) {
  const Task more{"more", [](Reduce<Sum, double> x) {
                    for (auto p : x.domain()) x[p] += 2;
                  }};
  for (const bool closed : {true, false}) {
    const Counters counters = SameRun{}.compare([&, closed](Context& ctx) {
      const Trace one{"one"}, two{"two"};
      const auto cells = make_cells(ctx);
      const auto owned = ctx.blocks(cells, 2);
      for (int t = 0; t < 16; ++t) {
        ctx.trace(one, [&] {
          ctx.launch(more, cells[a].relaxed());
          ctx.launch(more, 2, owned[a].relaxed());
        });
        ctx.trace(two, [&] {
          ctx.launch(more, cells[a].relaxed());
          if (closed) ctx.launch(add, cells[b], cells[a]);
        });
      }
      return values(ctx, cells);
    });
    EXPECT_EQ(counters.rounds, closed ? 1u : 0u);
  }
}

}  // namespace
}  // namespace refrain::test::trace_rounds_test
