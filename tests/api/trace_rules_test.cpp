// The seven rules of docs/tracing.md, "Why it is right": each has tests that fail without it. A program runs
// with and without tracing, and must be the same in what it sees, in its operations and in their order.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include "refrain/refrain.hpp"
#include "support/cells.hpp"
#include "support/same_run.hpp"

namespace refrain::test::trace_rules_test {
namespace {

using namespace programs;

/// A trace that is replayed as a chain of three and more.
void chain(Context& ctx, const Trace& step, const Region<1>& cells, int rounds = 6) {
  for (int t = 0; t < rounds; ++t)
    ctx.trace(step, [&] {
      ctx.launch(add, cells[b], cells[a]);
      ctx.launch(add, cells[a], cells[b]);
    });
}

// --- rule 1: the precondition is an equality ---------------------------------------------------------

TEST(TraceRule1, WhereMoreIsValidThanThenNothingIsCopiedTwice) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 15; ++t) {
      if (t % 3 == 0) ctx.launch(set, cells[a], double(t));  // then valid on the host alone
      ctx.trace(step, [&] { ctx.launch(add_0, cells[b], cells[a]); });
    }
    return values(ctx, cells, b);
  });
  EXPECT_GE(counters.replays, 10u);
}

TEST(TraceRule1, WhereMoreIsValidThanThenCopiesComeFromTheNearest) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 16; ++t) {
      if (t % 2 == 0) ctx.launch(set, cells[a], double(t));
      else ctx.launch(set_0, cells[a], double(t));
      if (t % 4 >= 2) ctx.launch(sum, cells[a]);  // valid on the host, too
      ctx.trace(step, [&] { ctx.launch(add_1, cells[b], cells[a]); });
    }
    return values(ctx, cells, b);
  });
  EXPECT_GE(counters.replays, 8u);
}

TEST(TraceRule1, APendingFillIsNoWrittenValue) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 16; ++t) {
      if (t % 4 < 2) ctx.launch(set, cells[a], double(t));
      else ctx.fill(cells, a, double(t));
      ctx.launch(sum, cells[a]);  // valid on the host in either case
      ctx.trace(step, [&] { ctx.launch(add_0, cells[b], cells[a]); });
    }
    return values(ctx, cells, b);
  });
  EXPECT_GE(counters.replays, 10u);
}

// --- rule 2: entry edges last ------------------------------------------------------------------------

TEST(TraceRule2, EveryReplayComesAfterTheLastWriteBefore) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    std::vector<Future<double>> sums;
    for (int round = 0; round < 3; ++round) {
      ctx.launch(set, cells[a], double(round));
      for (int t = 0; t < 4; ++t)
        ctx.trace(step, [&] { sums.push_back(ctx.launch(sum, cells[a])); });
    }
    return values(sums);
  });
  EXPECT_GE(counters.replays, 10u);
}

TEST(TraceRule2, AFailureFromBeforeIsInheritedForEver) {
  const Task fails{"fails", [](Write<double> x) {
                     x[0] = 1;
                     throw std::runtime_error("no values");
                   }};
  const Counters counters = SameRun{}.compare([&](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    std::vector<double> found;
    for (int round = 0; round < 2; ++round) {
      ctx.launch(set, cells[a], 2.0);
      std::vector<Future<double>> sums;
      for (int t = 0; t < 12; ++t) {
        if (t == 4) ctx.launch(fails, cells[a]);
        ctx.trace(step, [&] {
          sums.push_back(ctx.launch(sum, cells[a]));
          ctx.launch(scale, cells[b], 2.0);
        });
        try {
          if (t % 2 == 1) ctx.fence();  // what failed is complete long before the next replay
        } catch (const TaskFailed&) { found.push_back(t); }
      }
      for (const auto& one : sums) try {
          found.push_back(one.get());
        } catch (const TaskFailed&) { found.push_back(-1); }
    }
    return found;
  });
  EXPECT_GE(counters.replays, 16u);
}

// The first replay's fold joins the folds from before, one of which has failed: it does not come after that one, but the
// fold of the next replay does, since there was a read in between.
TEST(TraceRule2, AFailureAmongTheFoldsThatAReplayJoinsIsInherited) {
  const Task more{"more", [](Reduce<Sum, double> x) {
                    for (auto p : x.domain()) x.reduce(p, 1);
                  }};
  const Task refuse{"refuse",
                    [](Reduce<Sum, double>) { throw std::runtime_error("no contribution"); }};
  for (int folds = 1; folds < 3; ++folds)
    for (int joined = 1; joined < 3; ++joined) {
      const Counters counters = SameRun{}.compare([&](Context& ctx) {
        const Trace step{"step"};
        const auto cells = make_cells(ctx);
        std::vector<Future<double>> sums;
        std::vector<double> found;
        for (int round = 0; round < 3; ++round) {
          ctx.launch(set, cells[a], 2.0);
          if (round > 0) ctx.launch(refuse, cells[a].relaxed());
          if (joined > 1) ctx.launch(more, cells[a].relaxed());
          for (int t = 0; t < 6; ++t) {
            ctx.trace(step, [&] {
              for (int i = 0; i < folds; ++i) ctx.launch(more, cells[a].relaxed());
              sums.push_back(ctx.launch(sum, cells[a]));
            });
            try {
              if (round == 2) ctx.fence();  // what failed is complete long before the next replay
            } catch (const TaskFailed&) { found.push_back(t); }
          }
          try {
            ctx.fence();
          } catch (const TaskFailed&) { found.push_back(-2); }
        }
        for (const auto& one : sums) try {
            found.push_back(one.get());
          } catch (const TaskFailed&) { found.push_back(-1); }
        return found;
      });
      EXPECT_GE(counters.replays, 12u);
    }
}

// --- rule 3: carried edges hold after a whole replay of the same segment -----------------------------

TEST(TraceRule3, AReplayAfterAPartOfOneEntersAnew) {
  for (int length = 0; length < 3; ++length) {
    const Counters counters = SameRun{}.compare([length](Context& ctx) {
      const Trace step{"step"};
      const auto cells = make_cells(ctx);
      for (int t = 0; t < 16; ++t) {
        ctx.begin_trace(step);
        const int launches = t % 4 == 3 ? length : 3;
        if (launches > 0) ctx.launch(add, cells[b], cells[a]);
        if (launches > 1) ctx.launch(add, cells[c], cells[b]);
        if (launches > 2) ctx.launch(add, cells[a], cells[c]);
        ctx.end_trace(step);
      }
      return values(ctx, cells, a);
    });
    EXPECT_GE(counters.replays, 9u);
    EXPECT_EQ(counters.early_exits > 0, length > 0);
  }
}

TEST(TraceRule3, AReplayAfterAnotherSegmentEntersAnew) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace one{"one"}, two{"two"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 20; ++t) {
      if (t % 5 < 3) chain(ctx, one, cells, 1);
      else ctx.trace(two, [&] { ctx.launch(add, cells[c], cells[b]); });
    }
    return values(ctx, cells, c);
  });
  EXPECT_GE(counters.replays, 14u);
}

TEST(TraceRule3, OneThatMovesItsDataDoesNotFollowItself) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    ctx.launch(set, cells[a], 1.0);
    for (int t = 0; t < 12; ++t) {
      if (t % 4 == 0) ctx.launch(set, cells[a], double(t));
      ctx.trace(step, [&] {
        ctx.launch(add_0, cells[b], cells[a]);
        ctx.launch(add_1, cells[c], cells[a]);
      });
    }
    return values(ctx, cells, c);
  });
  EXPECT_GE(counters.replays, 8u);
}

// --- rule 4: the catch-up knows all replays of the chain ---------------------------------------------

TEST(TraceRule4, AWriteComesAfterTheReadersOfAllReplays) {
  for (const bool part : {false, true}) {
    const Counters counters = SameRun{}.compare([part](Context& ctx) {
      const Trace step{"step"};
      const auto cells = make_cells(ctx);
      std::vector<Future<double>> sums;
      for (int round = 0; round < 4; ++round) {
        ctx.launch(set, cells[a], double(round));
        for (int t = 0; t < 5; ++t) {
          ctx.begin_trace(step);
          sums.push_back(ctx.launch(sum, cells[a]));
          if (t < 4 || !part) ctx.launch(scale, cells[b], 2.0);
          ctx.end_trace(step);
        }
      }
      return values(sums);
    });
    EXPECT_GE(counters.replays, 14u);
    EXPECT_EQ(counters.early_exits > 0, part);
  }
}

TEST(TraceRule4, APartComesOnTopOfTheLastWholeReplay) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    std::vector<double> found;
    for (int t = 0; t < 20; ++t) {
      ctx.begin_trace(step);
      ctx.launch(scale, cells[a], 0.5);
      if (t % 5 == 4) {
        // Made by the replay before, and not touched by the part of this one.
        found.push_back(ctx.launch(sum, cells[b]).get());
        ctx.fill(cells, c, double(t));
      } else {
        ctx.launch(add, cells[b], cells[a]);
        ctx.launch(add, cells[c], cells[b]);
      }
      ctx.end_trace(step);
    }
    found.push_back(ctx.launch(sum, cells[c]).get());
    return found;
  });
  EXPECT_GE(counters.replays, 12u);
  EXPECT_GE(counters.early_exits, 3u);
}

TEST(TraceRule4, APartLeavesThePendingFillOfTheReplayBefore) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    std::vector<Future<double>> sums;
    for (int t = 0; t < 20; ++t) {
      ctx.begin_trace(step);
      ctx.launch(scale, cells[a], 0.5);
      if (t % 5 != 4) ctx.fill(cells, c, double(t));
      ctx.end_trace(step);
      if (t % 5 == 4) sums.push_back(ctx.launch(sum, cells[c]));
    }
    return values(sums);
  });
  EXPECT_GE(counters.replays, 10u);
  EXPECT_GE(counters.early_exits, 3u);
}

TEST(TraceRule4, APartLeavesItsOwnOutcome) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    std::vector<double> found;
    for (int t = 0; t < 20; ++t) {
      ctx.begin_trace(step);
      ctx.launch(add_0, cells[b], cells[a]);
      if (t % 5 != 4) ctx.launch(add_1, cells[c], cells[b]);
      ctx.end_trace(step);
      if (t % 5 == 4) ctx.launch(add, cells[b], cells[c]);  // b comes from gpu 0 alone
    }
    return values(ctx, cells, b);
  });
  EXPECT_GE(counters.replays, 6u);
}

TEST(TraceRule4, StorageStaysForThoseThatLookAtNothing) {
  // Tasks without points have an instance, too. They are ordered by nothing.
  static constexpr Field<double> held{"held"};
  const Task look{"look", [](Read<double> x, double t) {
                    EXPECT_EQ(x.domain().volume(), 0);
                    EXPECT_EQ(x.stride(0), static_cast<Coord>(sizeof(double)));
                    return t;
                  }};
  for (const int late : {2, 4}) {  // in the middle of the chain, and in its last replay
    const Counters counters = SameRun{.seeds = 60}.compare([&](Context& ctx) {
      const Trace step{"step"};
      const auto cells = make_cells(ctx);
      std::vector<Future<double>> looks;
      for (int round = 0; round < 3; ++round) {
        const auto held_cells = ctx.region(Rect1{0, 7}, held);
        ctx.fill(held_cells, held, 1.0);
        const auto pieces = ctx.blocks(held_cells, 16);  // some of them empty
        const Future<double> soon = ctx.launch(sum, cells[a]);
        for (int i = 0; i < 60; ++i) ctx.launch(scale, cells[c], 0.5);
        const Future<double> at_last = ctx.launch(sum, cells[c]);
        for (int t = 0; t < 5; ++t)
          ctx.trace(step, [&] {
            ctx.launch(scale, cells[b], 2.0);
            looks.push_back(ctx.launch(look, pieces(0)[held], t == late ? at_last : soon));
          });
        ctx.destroy(held_cells);
        for (int i = 0; i < 40; ++i) {  // now and then, what nobody uses any more is given up
          const auto cell = ctx.region(Rect1{0, 0}, held);
          ctx.launch(set, cell[held], 1.0);
          ctx.destroy(cell);
        }
      }
      return values(looks);
    });
    EXPECT_GE(counters.replays, 6u);
  }
}

// --- rule 5: who makes a future is found when it is used ---------------------------------------------

TEST(TraceRule5, TheMakerWithinAReplayIsTheOneOfThen) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    ctx.launch(set, cells[a], 1.0);
    ctx.launch(set, cells[b], 0.5);
    for (int t = 0; t < 18; ++t)
      ctx.trace(step, [&] {
        const Future<double> first = ctx.launch(sum, cells[a]), second = ctx.launch(sum, cells[b]);
        ctx.launch(scale, cells[c], t % 6 == 5 ? second : first);
        ctx.launch(add, cells[c], cells[a]);
        ctx.launch(scale, cells[a], 0.25);
      });
    return values(ctx, cells, c);
  });
  EXPECT_GE(counters.replays, 10u);
}

TEST(TraceRule5, MakersOutsideAReplayAreLookedUp) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    ctx.launch(set, cells[a], 1.0);
    std::vector<Future<double>> made;
    for (int i = 0; i < 3; ++i) made.push_back(ctx.launch(sum, cells[a]));
    for (int t = 0; t < 18; ++t) {
      ctx.trace(step, [&] {
        ctx.launch(scale, cells[c], made[made.size() - 1 - static_cast<std::size_t>(t % 3)]);
        ctx.launch(add, cells[c], cells[a]);
        made.push_back(ctx.launch(sum, cells[a]));
        ctx.launch(scale, cells[a], 0.5);
      });
    }
    return values(ctx, cells, c);
  });
  EXPECT_GE(counters.replays, 14u);
}

TEST(TraceRule5, WhatIsAnalysedComesAfterItsMakersInReplays) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    ctx.launch(set, cells[a], 1.0);
    ctx.launch(set, cells[c], 1.0);
    for (int t = 0; t < 12; ++t) {
      Future<double> made;
      ctx.trace(step, [&] {
        made = ctx.launch(sum, cells[a]);
        ctx.launch(scale, cells[a], 0.5);
      });
      ctx.launch(scale, cells[c], made);
    }
    return values(ctx, cells, c);
  });
  EXPECT_GE(counters.replays, 10u);
}

TEST(TraceRule5, WhoIsGivenWhatFailedLongAgoFailsToo) {
  const Task fails{"fails", [](Read<double>) -> double { throw std::runtime_error("no value"); }};
  const Counters counters = SameRun{}.compare([&](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    const Future<double> good = ctx.launch(sum, cells[a]), bad = ctx.launch(fails, cells[a]);
    EXPECT_THROW(ctx.fence(), TaskFailed);
    std::vector<Future<double>> sums;
    for (int t = 0; t < 12; ++t) {
      ctx.launch(set, cells[c], 1.0);
      ctx.trace(step, [&] {
        ctx.launch(scale, cells[c], t % 4 == 2 ? bad : good);
        sums.push_back(ctx.launch(sum, cells[c]));
      });
    }
    std::vector<double> found;
    for (const auto& one : sums) try {
        found.push_back(one.get());
      } catch (const TaskFailed&) { found.push_back(-1); }
    EXPECT_EQ(std::ranges::count(found, -1), 3);
    return found;
  });
  EXPECT_GE(counters.replays, 10u);
}

TEST(TraceRule5, AFillTakesTheFutureOfNow) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    ctx.launch(set, cells[a], 1.0);
    Future<double> last = ctx.launch(sum, cells[a]);
    for (int t = 0; t < 12; ++t)
      ctx.trace(step, [&] {
        ctx.fill(cells, c, last);
        last = ctx.launch(sum, cells[a]);
        ctx.launch(add, cells[a], cells[c]);
      });
    return values(ctx, cells, a);
  });
  EXPECT_GE(counters.replays, 8u);
}

TEST(TraceRule5, AFillComesAfterTheMakerOfNow) {
  // The task that made the future of then fails, and has nothing to do with the one of now.
  const Task make{"make", [](int t) {
                    if (t == 7) throw std::runtime_error("seven");
                    return double(t);
                  }};
  for (const bool then :
       {true, false}) {  // recorded with one of the trace, or with one from outside
    const Counters counters = SameRun{}.compare([&](Context& ctx) {
      const Trace step{"step"};
      const auto cells = make_cells(ctx);
      const Future<double> outside = ctx.launch(sum, cells[a]);
      std::vector<double> found;
      for (int t = 0; t < 12; ++t) {
        ctx.trace(step, [&] {
          const Future<double> inside = ctx.launch(make, t);
          ctx.fill(cells, b, (t < 4) == then ? inside : outside);
          ctx.launch(scale, cells[b], 2.0);
        });
        if (t != 7) continue;
        try {
          found = values(ctx, cells, b);
        } catch (const TaskFailed&) { found = {-1}; }
      }
      try {
        ctx.fence();
      } catch (const TaskFailed&) { found.push_back(-2); }
      return found;
    });
    EXPECT_GE(counters.replays, 6u);
  }
}

TEST(TraceRule5, AFillFromTheReplayBeforeTakesItsFuture) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    ctx.launch(set, cells[a], 1.0);
    ctx.fill(cells, c, 2.0);
    for (int t = 0; t < 12; ++t)
      ctx.trace(step, [&] {
        ctx.launch(add, cells[a], cells[c]);  // is what fills
        ctx.fill(cells, c, ctx.launch(sum, cells[a]));
      });
    return values(ctx, cells, a);
  });
  EXPECT_GE(counters.replays, 10u);
}

// --- rule 7: changing to another segment is entering it ----------------------------------------------

TEST(TraceRule7, WhatOnlyTheOtherSegmentTouchesMayHaveMoved) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 24; ++t) {
      // The first segment does not touch c, so it is replayed wherever that is.
      if (t % 4 == 1) ctx.launch(set_0, cells[c], double(t));
      if (t % 4 == 3) ctx.launch(set_1, cells[c], double(t));
      ctx.trace(step, [&] {
        ctx.launch(add, cells[b], cells[a]);
        if (t % 2 == 1) ctx.launch(add_0, cells[b], cells[c]);
        else ctx.launch(add, cells[a], cells[b]);
      });
    }
    return values(ctx, cells, a);
  });
  EXPECT_GE(counters.replays, 15u);
}

TEST(TraceRule7, WhatOnlyASegmentInTheMiddleTouchesMayHaveMoved) {
  const Task sum_0{"sum on 0", on<ProcessorKind::gpu>([](Read<double> x) {
                     double total = 0;
                     for (auto p : x.domain()) total += x[p];
                     return total;
                   })};
  const Counters counters = SameRun{}.compare([&](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    std::vector<Future<double>> sums;
    for (int t = 0; t < 24; ++t) {
      if (t % 4 == 1) ctx.launch(set_0, cells[c], double(t));
      if (t % 4 == 3) ctx.launch(set_1, cells[c], double(t));
      ctx.trace(step, [&] {
        ctx.launch(add, cells[b], cells[a]);
        // Where the segment of the other rounds is left, c is here or there.
        if (t % 2 == 1) sums.push_back(ctx.launch(sum_0, cells[c]));
        else ctx.launch(add, cells[a], cells[b]);
      });
    }
    return values(sums);
  });
  EXPECT_GE(counters.preconditions_failed, 1u);
  EXPECT_GE(counters.early_exits, 10u);
}

TEST(TraceRule7, ItIsComparedWithTheStateAfterThePart) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 24; ++t)
      ctx.trace(step, [&] {
        ctx.launch(add_0, cells[b], cells[a]);
        if (t % 3 == 2) ctx.launch(add, cells[c], cells[b]);
        else ctx.launch(add_1, cells[c], cells[b]);
      });
    return values(ctx, cells, c);
  });
  // Once everything has been everywhere, nothing is analysed any more.
  EXPECT_GE(counters.replays, 16u);
}

}  // namespace
}  // namespace refrain::test::trace_rules_test
