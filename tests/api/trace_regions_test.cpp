// Loops that make regions and destroy them in every round are replayed like others: with and without tracing
// they see the same, their operations and the order of these are the same, and what is alive in the end.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

#include "refrain/refrain.hpp"
#include "support/same_run.hpp"

namespace refrain::test::trace_regions_test {
namespace {

constexpr Field<double> a{"a"}, b{"b"}, held{"held"}, more{"more"};

const auto assign = [](Write<double> y, Read<double> x) {
  for (auto p : y.domain()) y[p] = 2 * x[p] + 1;
};
const auto accumulate = [](ReadWrite<double> y, Read<double> x) {
  for (auto p : y.domain()) y[p] = 0.5 * y[p] + x[p] + 1;
};
const Task take{"take", assign};
const Task take_0{"take on 0", on<ProcessorKind::gpu>(assign)};
const Task add{"add", accumulate};
const Task add_0{"add on 0", on<ProcessorKind::gpu>(accumulate)};
const Task add_1{"add on 1", on<ProcessorKind::gpu>(accumulate)};
const auto scale = [](ReadWrite<double> x) {
  for (auto p : x.domain()) x[p] *= 2;
};
const Task scale_0{"scale on 0", on<ProcessorKind::gpu>(scale)};
const Task exact_0{"exact on 0", on<ProcessorKind::gpu>(scale)};
const Task fortran{"fortran", scale};
const Task set{"set", [](Write<double> x, double value) {
                 for (auto p : x.domain()) x[p] = value + static_cast<double>(p);
               }};
const Task shift{"shift", [](ReadWrite<double> y, Read<double> x) {
                   for (auto p : y.domain()) y[p] += x[p + 8];
                 }};
const Task sum{"sum", [](Read<double> x) {
                 double total = 0;
                 for (auto p : x.domain()) total += x[p];
                 return total;
               }};

constexpr Rect1 eight{0, 7};
constexpr std::uint64_t kRounds = 12;

/// Eight cells, 0 to 7 in `a` and 0 in `b`.
Region<1> make_cells(Context& ctx) {
  const auto cells = ctx.region(eight, a, b);
  ctx.launch(set, cells[a], 0.0);
  ctx.fill(cells, b, 0.0);
  return cells;
}

std::vector<double> values(Context& ctx, const Region<1>& cells, const Field<double>& field) {
  std::vector<double> found;
  const auto access = ctx.access<Read>(cells[field]);
  for (auto p : access.domain()) found.push_back(access[p]);
  return found;
}

/// What a round does, as often as there are rounds. From the third on, or later, a round has to be replayed whole.
Counters rounds(const SameRun& run,
                const std::function<void(Context&, const Region<1>&, int round)>& round,
                std::uint64_t analysed = 2) {
  const Counters counters = run.compare([&](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    for (std::uint64_t t = 0; t < kRounds; ++t)
      ctx.trace(step, [&] { round(ctx, cells, static_cast<int>(t)); });
    std::vector<double> found = values(ctx, cells, a);
    for (double value : values(ctx, cells, b)) found.push_back(value);
    return found;
  });
  EXPECT_GE(counters.replays, kRounds - analysed);
  EXPECT_EQ(counters.regions_alive, 0u);
  EXPECT_EQ(counters.instances_alive, 0u);
  return counters;
}

TEST(TraceRegions, ATemporaryIsWrittenAndRead) {
  const Counters counters = rounds({}, [](Context& ctx, const Region<1>& cells, int) {
    const auto temporary = ctx.region(eight, held);
    ctx.launch(take, temporary[held], cells[a]);
    ctx.launch(add, cells[b], temporary[held]);
    ctx.launch(add, cells[a], cells[b]);
    ctx.destroy(temporary);
  });
  EXPECT_EQ(counters.early_exits, 0u);
  EXPECT_LE(counters.catch_ups, 2u);  // they form a chain
}

TEST(TraceRegions, AGroupWorksOnItsPieces) {
  rounds({}, [](Context& ctx, const Region<1>& cells, int) {
    const auto temporary = ctx.region(eight, held, more);
    const auto owned = ctx.blocks(cells, 4), pieces = ctx.blocks(temporary, 4);
    const auto ghosts = ctx.halo(pieces, 1);
    ctx.launch(take, 4, pieces[held], owned[a]);
    ctx.fill(temporary, more, 0.0);
    ctx.launch(add, 4, pieces[more], pieces[held]);
    ctx.launch(sum, 4, ghosts[held]);
    ctx.launch(add, 4, owned[b], pieces[more]);
    ctx.destroy(temporary);
  });
}

TEST(TraceRegions, ATemporaryIsZeroAtFirst) {
  rounds({}, [](Context& ctx, const Region<1>& cells, int) {
    const auto temporary = ctx.region(eight, held);
    ctx.launch(add, temporary[held], cells[a]);  // adds to zeros
    ctx.launch(add, cells[b], temporary[held]);
    ctx.destroy(temporary);
  });
}

TEST(TraceRegions, FillsHaveTheValuesOfTheirRound) {
  rounds({}, [](Context& ctx, const Region<1>& cells, int round) {
    const auto temporary = ctx.region(eight, held);
    ctx.fill(temporary, held, double(round));
    ctx.launch(add, temporary[held], cells[a]);
    ctx.launch(add, cells[b], temporary[held]);
    ctx.fill(temporary, held, 100.0);  // nobody reads it
    ctx.destroy(temporary);
  });
}

TEST(TraceRegions, ASecondOneOfItsShapeIsNew) {
  rounds({}, [](Context& ctx, const Region<1>& cells, int round) {
    for (int i = 0; i < 2; ++i) {
      const auto temporary = ctx.region(eight, held);
      if (i == 0) ctx.fill(temporary, held, 7.0 + round);
      ctx.launch(add, temporary[held], cells[a]);
      ctx.launch(add, cells[b], temporary[held]);
      ctx.destroy(temporary);
    }
  });
}

TEST(TraceRegions, SeveralEndInAnyOrder) {
  const auto round = [](bool other_order) {
    return [other_order](Context& ctx, const Region<1>& cells, int) {
      const auto first = ctx.region(eight, held), second = ctx.region(eight, held);
      ctx.launch(take, first[held], cells[a]);
      ctx.launch(take, second[held], first[held]);
      ctx.launch(add, cells[b], second[held]);
      ctx.destroy(other_order ? first : second);
      ctx.launch(add, cells[a], cells[b]);
      ctx.destroy(other_order ? second : first);
    };
  };
  rounds({}, round(false));
  rounds({}, round(true), 4);  // then names alternate
}

TEST(TraceRegions, DataMovesBetweenMemories) {
  rounds({}, [](Context& ctx, const Region<1>& cells, int) {
    const auto temporary = ctx.region(eight, held);
    ctx.launch(take_0, temporary[held], cells[a]);
    ctx.launch(add_1, temporary[held], cells[a]);
    ctx.launch(add, cells[b], temporary[held]);
    ctx.launch(add_0, temporary[held], cells[b]);
    ctx.launch(add, cells[a], temporary[held]);
    ctx.destroy(temporary);
  });
}

TEST(TraceRegions, RegionsAreCopied) {
  rounds({}, [](Context& ctx, const Region<1>& cells, int) {
    const auto temporary = ctx.region(eight, held), other = ctx.region(Rect1{2, 5}, more);
    ctx.copy(cells[a], temporary[held]);
    ctx.launch(add, temporary[held], cells[b]);
    ctx.copy(temporary[held], other[more]);
    ctx.copy(other[more], ctx.blocks(temporary, 4)(1)[held]);
    ctx.copy(temporary[held], cells[b]);
    ctx.destroy(other);
    ctx.destroy(temporary);
  });
}

TEST(TraceRegions, ReductionsAreFolded) {
  static const Task contribute{"contribute", [](Reduce<Sum, double> y, Read<double> x) {
                                 for (auto p : x.domain()) y[p % 5] += x[p];
                               }};
  for (const bool relaxed : {false, true})
    rounds({.seeds = relaxed ? 0 : 30}, [relaxed](Context& ctx, const Region<1>& cells, int) {
      const auto temporary = ctx.region(eight, held);
      const auto owned = ctx.blocks(cells, 4);
      if (relaxed) ctx.launch(contribute, 4, temporary[held].relaxed(), owned[a]);
      else ctx.launch(contribute, 4, temporary[held], owned[a]);
      ctx.launch(add, cells[b], temporary[held]);
      ctx.destroy(temporary);
    });
}

TEST(TraceRegions, TasksHaveChildrenThatUseThem) {
  static const Task parent{"parent", [](Context& ctx, ReadWrite<double> y, Read<double> x) {
                             const auto inner = ctx.region(eight, more);
                             ctx.launch(take, inner[more], x.region()[a]);
                             ctx.launch(add, y.region()[held], inner[more]);
                             ctx.destroy(inner);
                           }};
  rounds({}, [](Context& ctx, const Region<1>& cells, int) {
    const auto temporary = ctx.region(eight, held);
    ctx.launch(parent, temporary[held], cells[a]);
    ctx.launch(add, cells[b], temporary[held]);
    ctx.destroy(temporary);
  });
}

TEST(TraceRegions, APieceHasNoPoints) {
  rounds({}, [](Context& ctx, const Region<1>& cells, int) {
    const auto temporary = ctx.region(eight, held);
    const auto pieces = ctx.blocks(temporary, 16);  // some of them empty
    ctx.launch(sum, 16, pieces[held]);
    ctx.launch(take, temporary[held], cells[a]);
    ctx.launch(add, cells[b], temporary[held]);
    ctx.destroy(temporary);
  });
}

TEST(TraceRegions, OneMadeBeforeTheTraceEndsInIt) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 12; ++t) {
      const auto temporary = ctx.region(eight, held, more);
      ctx.fill(temporary, more, double(t));
      if (t % 2 == 0) ctx.fill(temporary, held, 3.0);
      ctx.trace(step, [&] {
        ctx.launch(add, temporary[held], cells[a]);
        ctx.launch(add, temporary[held], temporary[more]);
        ctx.launch(add, cells[b], temporary[held]);
        ctx.destroy(temporary);
      });
    }
    return values(ctx, cells, b);
  });
  EXPECT_GE(counters.replays, 9u);
}

TEST(TraceRegions, OneMadeInATraceEndsInTheNext) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    auto now = ctx.region(eight, held);
    ctx.launch(set, now[held], 1.0);
    for (int t = 0; t < 16; ++t)
      ctx.trace(step, [&] {
        const auto next = ctx.region(eight, held);
        ctx.launch(take, next[held], now[held]);
        ctx.launch(add_0, next[held], now[held]);
        ctx.destroy(now);
        now = next;
      });
    return values(ctx, now, held);
  });
  EXPECT_GE(counters.replays, 10u);
  EXPECT_EQ(counters.early_exits, 0u);
}

// What a round leaves pending in a region ends with it in the next one.
TEST(TraceRegions, AFillFromTheRoundBeforeEndsWithItsRegion) {
  for (const bool left : {false, true})
    (void)SameRun{}.compare([left](Context& ctx) {
      const Trace step{"step"};
      const auto cells = make_cells(ctx);
      auto temporary = ctx.region(eight, held);
      const auto next = [&] {
        ctx.destroy(temporary);
        temporary = ctx.region(eight, held);
      };
      for (int t = 0; t < 12; ++t)
        ctx.trace(step, [&] {
          next();
          ctx.launch(add, cells[a], cells[b]);
          if (left && t == 9) return;
          ctx.launch(add, cells[b], temporary[held]);  // zeros
          next();
          ctx.fill(temporary, held, 5.0 + t);
        });
      if (left) ctx.launch(add, cells[b], temporary[held]);
      return values(ctx, cells, b);
    });
}

TEST(TraceRegions, TheEndOfAPartitionIsAnotherCall) {
  (void)SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    const auto end = [&](const auto& what) { ctx.destroy(what); };
    for (int t = 0; t < 12; ++t) {
      const auto temporary = ctx.region(eight, held);
      const auto pieces = ctx.blocks(temporary, 4);
      const bool whole = t % 4 < 2;
      ctx.trace(step, [&] {
        ctx.launch(take, temporary[held], cells[a]);
        ctx.launch(add, cells[b], temporary[held]);
        if (whole) end(temporary);
        else end(pieces);
        ctx.launch(add, cells[a], cells[b]);
      });
      if (!whole) {
        ctx.launch(add, cells[b], temporary[held]);
        ctx.destroy(temporary);
      }
    }
    return values(ctx, cells, b);
  });
}

// What it found of a region is alike: as many instances, in the same memories, with the same room.
TEST(TraceRegions, StorageThatIsFoundIsAlike) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 24; ++t) {
      const auto temporary = ctx.region(eight, held);
      const auto pieces = ctx.blocks(temporary, 2);
      const int way = t % 6;
      if (way == 1) ctx.launch(scale_0, temporary[held]);
      if (way == 2) ctx.launch(add_1, temporary[held], cells[a]);
      if (way == 3) ctx.launch(exact_0, pieces(0)[held]);
      if (way == 4) ctx.launch(exact_0, pieces(1)[held]);
      if (way == 5) ctx.launch(fortran, temporary[held]);
      else ctx.launch(set, temporary[held], 1.0 * t);
      ctx.trace(step, [&] {
        ctx.launch(exact_0, pieces(0)[held]);
        ctx.launch(add, cells[b], temporary[held]);
        ctx.destroy(temporary);
      });
    }
    return values(ctx, cells, b);
  });
  EXPECT_EQ(counters.recordings, 7u);  // one for each way, and one for the first round
  EXPECT_EQ(counters.replays, 17u);
}

// Storage that is found is given up: what follows directly finds none, though the values are the same.
TEST(TraceRegions, WhatIsFoundIsNotFoundAgain) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    auto temporary = ctx.region(eight, held);
    for (int t = 0; t < 12; ++t) {
      if (t % 4 == 0) {
        ctx.launch(set, temporary[held], 1.0);
        ctx.fill(temporary, held, 3.0);
      }
      ctx.trace(step, [&] {
        ctx.launch(add, cells[b], temporary[held]);
        ctx.destroy(temporary);
        temporary = ctx.region(eight, held);
      });
    }
    return values(ctx, cells, b);
  });
  EXPECT_GE(counters.replays, 6u);
}

// Instances that stay are no replay's own, though the first round has made them.
TEST(TraceRegions, FieldsThatKeepTheirInstancesAreRecordedOnce) {
  EXPECT_EQ(SameRun{}
                .compare([](Context& ctx) {
                  const Trace step{"step"};
                  const auto cells = make_cells(ctx);
                  ctx.launch(take, cells[b], cells[a]);
                  for (int t = 0; t < 8; ++t)
                    ctx.trace(step, [&] {
                      ctx.launch(add_0, cells[b], cells[a]);
                      ctx.launch(take, cells[b], cells[a]);
                      ctx.launch(set, cells[a], 2.0);
                    });
                  return values(ctx, cells, b);
                })
                .recordings,
            1u);
  EXPECT_EQ(SameRun{}
                .compare([](Context& ctx) {
                  const Trace step{"step"};
                  const auto cells = make_cells(ctx), others = ctx.region(eight, held);
                  for (int t = 0; t < 8; ++t)
                    ctx.trace(step, [&] {
                      ctx.launch(take, others[held], cells[a]);
                      ctx.fill(others, held, 1.0);
                    });
                  return values(ctx, others, held);
                })
                .recordings,
            1u);
}

// Where there was no room for it, another time there may be.
TEST(TraceRegions, WhatWasMadeWhereMemoryWasShortIsNotMadeAgain) {
  Options options;
  options.machine = "emulated:cpus=1,gpus=1,framebuffer=64B";
  Runtime runtime(options);
  runtime.run([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 8; ++t) {
      const auto temporary = ctx.region(eight, held);
      ctx.trace(step, [&] { ctx.launch(add_0, cells[a], temporary[held]); });
      ctx.destroy(temporary);
    }
  });
  EXPECT_EQ(runtime.counters().replays, 0u);
}

// All are remembered when they have ended.
TEST(TraceRegions, ARoundHasManyShapes) {
  const Counters counters = rounds({.seeds = 1}, [](Context& ctx, const Region<1>& cells, int) {
    for (int i = 0; i < 80; ++i) {
      const auto temporary = ctx.region(Rect1{0, 7 + i}, held);
      const auto part = ctx.blocks_of_size(temporary, 8)(0);
      if (i % 2 == 0) ctx.copy(cells[a], part[held]);
      else ctx.launch(take, part[held], cells[a]);
      if (i % 20 == 19) ctx.launch(add, cells[b], part[held]);
      ctx.destroy(temporary);
    }
  });
  EXPECT_EQ(counters.early_exits, 0u);
}

// A task without points looks at storage: that is not given to others before.
TEST(TraceRegions, WhoLooksIsAwaited) {
  for (int seed = -1; seed < 30; ++seed) {
    Options options;
    options.machine = "emulated:cpus=2,gpus=1,framebuffer=64B";
    options.workers = 0;
    if (seed >= 0) options.schedule = static_cast<std::uint64_t>(seed);
    std::vector<int> looked, taken;
    bool late = false;
    const Task look{"look",
                    on<ProcessorKind::gpu>([&](Read<double>, int t) { looked.push_back(t); })};
    const Task first{"first", on<ProcessorKind::gpu>([&](Write<double> x, int t) {
                       late |=
                           std::ranges::count_if(looked, [t](int of) { return of < t; }) != 2 * t;
                       for (auto p : x.domain()) x[p] = t;
                     })};
    Runtime runtime(options);
    runtime.run([&](Context& ctx) {
      const Trace step{"step"};
      for (int t = 0; t < 12; ++t)
        ctx.trace(step, [&] {
          const auto temporary = ctx.region(eight, held);
          const auto pieces = ctx.blocks(temporary, 16);
          ctx.launch(first, temporary[held], t);
          ctx.launch(look, pieces(14)[held], t);  // one of these has no points
          ctx.launch(look, pieces(15)[held], t);
          ctx.destroy(temporary);
        });
    });
    EXPECT_FALSE(late) << "seed " << seed;
    EXPECT_GE(runtime.counters().replays, 9u);
  }
}

// What was found is gone before the recording is made, and its address may be that of something else.
TEST(TraceRegions, WhatWasFoundIsNotTakenForWhatCameLater) {
  SameRun run;
  run.machine = "emulated:cpus=2,gpus=1,framebuffer=64B";
  const Counters counters = run.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 12; ++t) {
      auto temporary = ctx.region(eight, held);
      ctx.launch(scale_0, temporary[held]);
      ctx.trace(step, [&] {
        ctx.launch(add, cells[b], temporary[held]);
        ctx.destroy(temporary);
        for (int i = 0; i < 4; ++i) {
          temporary = ctx.region(eight, held);
          ctx.launch(scale_0, temporary[held]);
          ctx.launch(add, cells[b], temporary[held]);
          ctx.destroy(temporary);
        }
      });
    }
    return values(ctx, cells, b);
  });
  EXPECT_GE(counters.replays, 9u);
}

// The regions of the round before end, and those of this round are made, where the allocator puts them: one may have the
// address of another that has ended.
TEST(TraceRegions, WhatHasEndedIsNotTakenForWhatIsMadeThere) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    std::vector<Region<1>> found;
    for (int i = 0; i < 64; ++i) {
      found.push_back(ctx.region(eight, held));
      ctx.launch(set, found.back()[held], double(i));
    }
    for (int t = 0; t < 12; ++t)
      ctx.trace(step, [&] {
        for (const auto& region : found) ctx.launch(add, cells[b], region[held]);
        for (auto& region : found) {
          ctx.destroy(region);
          region = ctx.region(eight, held);
          ctx.launch(take, region[held], cells[b]);
          ctx.launch(add, cells[a], region[held]);
        }
      });
    return values(ctx, cells, a);
  });
  EXPECT_GE(counters.replays, 8u);
}

// That memory is attached to a region is the program's to end, and what follows is traced again.
TEST(TraceRegions, AttachedMemoryEndsASegment) {
  const Counters counters = SameRun{}.compare([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    std::vector<double> mine(8, 1.0);
    ctx.launch(add, cells[a], cells[b]);
    for (int t = 0; t < 12; ++t) {
      const auto temporary = ctx.region(eight, held);
      ctx.attach(temporary, held, mine.data());
      ctx.launch(add, temporary[held], cells[b]);
      ctx.trace(step, [&] {
        ctx.launch(add, cells[a], cells[b]);
        ctx.destroy(temporary);
        ctx.launch(add, cells[b], cells[a]);
      });
    }
    std::vector<double> found = values(ctx, cells, b);
    found.insert(found.end(), mine.begin(), mine.end());
    return found;
  });
  EXPECT_GE(counters.replays, 20u);  // what comes before, and what comes after
}

/// A trace that is left after each number of its calls, also while a region of its own is alive.
TEST(TraceRegions, ARoundIsLeftAnywhere) {
  for (int calls = 0; calls < 8; ++calls)
    (void)SameRun{.seeds = 10}.compare([calls](Context& ctx) {
      const Trace step{"step"};
      const auto cells = make_cells(ctx);
      std::vector<double> found;
      for (int t = 0; t < 12; ++t) {
        const int until = t % 4 == 3 ? calls : 8;
        ctx.trace(step, [&] {
          const auto temporary = ctx.region(eight, held, more);
          const auto pieces = ctx.blocks(temporary, 4);
          if (until > 0) ctx.launch(take_0, temporary[held], cells[a]);
          if (until > 1) ctx.launch(add, temporary[held], cells[a]);
          if (until > 2) ctx.launch(take, 4, pieces[more], pieces[held]);
          if (until > 3) ctx.launch(add_1, 4, pieces[held], pieces[more]);
          if (until > 4) ctx.copy(temporary[more], temporary[held]);
          if (until > 5) ctx.launch(add, cells[b], temporary[held]);
          if (until == 3) ctx.launch(add, cells[b], temporary[held]);  // another call
          if (until > 6) ctx.destroy(temporary);
          if (until > 7) ctx.launch(add, cells[a], cells[b]);
          if (until == 6) found = values(ctx, temporary, held);
        });
      }
      for (double value : values(ctx, cells, b)) found.push_back(value);
      return found;
    });
}

// What finds room, what is evicted, and from where copies come then is as with the analysis.
TEST(TraceRegions, MemoryIsShortNowAndThen) {
  SameRun run;
  run.machine = "emulated:cpus=2,gpus=1,framebuffer=1100B";
  const Counters counters = run.compare([](Context& ctx) {
    const Trace step{"step"};
    const Rect1 many{0, 44};
    const auto cells = ctx.region(many, a, b), others = ctx.region(many, a);
    ctx.launch(set, cells[a], 0.0);
    ctx.launch(set, others[a], 1.0);
    for (int t = 0; t < 20; ++t) {
      ctx.trace(step, [&] {
        const auto temporary = ctx.region(many, held);
        ctx.launch(take_0, temporary[held], cells[a]);
        ctx.launch(add_0, temporary[held], cells[a]);
        ctx.launch(add, cells[b], temporary[held]);
        ctx.destroy(temporary);
      });
      if (t % 6 == 5) ctx.launch(add_0, others[a], cells[a]);  // needs the room, too
      if (t % 6 == 0) ctx.launch(add, others[a], cells[b]);
    }
    return values(ctx, cells, b);
  });
  EXPECT_GE(counters.replays, 8u);
  EXPECT_GE(counters.evictions, 1u);
}

// Each round's storage is given up before the next one's is needed: there is room for two.
TEST(TraceRegions, StorageIsUsedAgain) {
  SameRun run;
  run.machine = "emulated:cpus=2,gpus=1,framebuffer=1100B";
  const Counters counters = rounds(run, [](Context& ctx, const Region<1>& cells, int) {
    for (int i = 0; i < 4; ++i) {
      const auto temporary = ctx.region(Rect1{0, 63}, held);
      const auto part = ctx.blocks(temporary, 8)(1);
      ctx.fill(temporary, held, double(i));
      ctx.launch(scale_0, temporary[held]);
      ctx.launch(shift, cells[b], part[held]);
      ctx.destroy(temporary);
    }
  });
  EXPECT_EQ(counters.evictions, 0u);
}

TEST(TraceRegions, AFailureStaysInItsRound) {
  struct Oops : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  static const Task may_fail{"may fail", [](ReadWrite<double> x, int round) {
                               if (round % 5 == 4) throw Oops("round");
                               for (auto p : x.domain()) x[p] += round;
                             }};
  for (int seed = -1; seed < 20; ++seed) {
    Options options;
    options.workers = 2;
    if (seed >= 0) options.schedule = static_cast<std::uint64_t>(seed);
    Runtime runtime(options);
    runtime.run([](Context& ctx) {
      const Trace step{"step"};
      std::vector<Future<double>> sums;
      for (int t = 0; t < 15; ++t)
        ctx.trace(step, [&] {
          const auto temporary = ctx.region(eight, held);
          ctx.launch(may_fail, temporary[held], t);
          sums.push_back(ctx.launch(sum, temporary[held]));
          ctx.destroy(temporary);
        });
      for (int t = 0; t < 15; ++t) {
        if (t % 5 == 4) EXPECT_THROW((void)sums[static_cast<std::size_t>(t)].get(), Error);
        else EXPECT_EQ(sums[static_cast<std::size_t>(t)].get(), 8 * t);
      }
    });
    EXPECT_GE(runtime.counters().replays, 12u);
  }
}

// A fill that nobody reads is gone before a new field has its zeros, perhaps at the same address: what is read there
// are zeros, also when that is replayed.
TEST(TracedRegions, ReadZerosAfterFillsThatAreGone) {
  Options options;
  options.workers = 0;
  Runtime runtime(options);
  runtime.run([](Context& ctx) {
    constexpr Coord kMost = 24;
    const auto cells = ctx.region(Rect1{0, kMost - 1}, a, b);
    const auto each = ctx.blocks(cells, kMost);
    const Task add_first{"add first", [](ReadWrite<double> y, Read<double> x) { y[0] += x[0]; }};
    ctx.fill(cells, a, 0.0);
    ctx.fill(cells, b, 0.0);
    ctx.launch(set, kMost, each[a], 0.0);
    for (Coord fills = 0; fills <= kMost; ++fills) {
      const Trace step{"step"};
      for (int t = 0; t < 3; ++t)
        ctx.trace(step, [&] {
          for (Coord i = 0; i < fills; ++i) ctx.fill(each(i), a, 100.0);
          for (Coord i = 0; i < fills; ++i) ctx.launch(set, each(i)[a], 0.0);
          const auto fresh = ctx.region(Rect1{0, fills + 8}, held);  // of a shape that no other has
          ctx.launch(add_first, cells[b], fresh[held]);
          ctx.destroy(fresh);
        });
      ASSERT_EQ(ctx.access<Read>(cells[b])[0], 0) << fills << " fills";
    }
  });
}

}  // namespace
}  // namespace refrain::test::trace_regions_test
