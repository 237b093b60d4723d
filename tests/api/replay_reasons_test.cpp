// Why a call was not replayed: one test for each reason of docs/tracing.md, "Why was this not replayed?".

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "refrain/refrain.hpp"
#include "support/cells.hpp"
#include "support/expect_error.hpp"
#include "support/explained.hpp"
#include "support/settings.hpp"
#include "support/token_program.hpp"

namespace refrain::test::replay_reasons_test {
namespace {

using namespace programs;

Options machine(const std::string& form = "emulated:cpus=2") {
  Options options;
  options.workers = 0;
  options.machine = form;
  return options;
}

/// Of the first trace of the program.
std::vector<std::string> reasons(const std::function<void(Context&)>& program,
                                 const Options& options = machine(),
                                 std::unique_ptr<Mapper> mapper = nullptr) {
  return Explained(options, program, std::move(mapper)).reasons();
}

/// One of the reasons begins with the first of these parts, and has all of them.
testing::AssertionResult has(const std::vector<std::string>& reasons,
                             const std::vector<std::string>& parts) {
  testing::AssertionResult none = testing::AssertionFailure() << "no '" << parts[0] << "' among:";
  for (const std::string& reason : reasons) {
    if (reason.starts_with(parts[0]) && mentions(reason, parts)) return testing::AssertionSuccess();
    none << "\n  " << reason;
  }
  return none;
}

/// Rounds of a trace in which everything is where the trace leaves it.
void loop(Context& ctx, const Trace& step, int rounds, const std::function<void(int)>& body) {
  for (int t = 0; t < rounds; ++t) ctx.trace(step, [&] { body(t); });
}

const char* const kFirst = "it was recorded for the first time";

TEST(ReplayReasons, TheFirstTime) {
  EXPECT_EQ(reasons([](Context& ctx) {
              const Trace step{"step"};
              const auto cells = make_cells(ctx);
              ctx.launch(scale, cells[a], 2.0);
              loop(ctx, step, 4, [&](int) { ctx.launch(scale, cells[a], 2.0); });
            }),
            std::vector<std::string>{kFirst});
}

// --- another call ------------------------------------------------------------------------------------

TEST(ReplayReasons, AnotherCallOfWhichBothLinesAreTold) {
  std::string usual, other, filled, copied;
  const auto told = reasons([&](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    ctx.launch(add, cells[a], cells[b]);
    loop(ctx, step, 8, [&](int t) {
      ctx.launch(scale, cells[a], 0.5);
      if (t == 2) {
        other = next_line();
        ctx.launch(sum, cells[a]);
      } else if (t == 4) {
        copied = next_line();
        ctx.copy(cells[b], cells[a]);
      } else {
        usual = next_line();
        ctx.launch(add, cells[a], cells[b]);
      }
      if (t == 6) {
        filled = next_line();
        ctx.fill(cells, c, 1.0);
      } else {
        ctx.launch(scale, cells[b], 0.5);
      }
    });
  });
  const std::string expected = "another call: expected task 'add' launched at " + usual;
  EXPECT_TRUE(has(told, {expected + ", found task 'sum' launched at " + other}));
  EXPECT_TRUE(has(told, {expected + ", found copy at " + copied}));
  EXPECT_TRUE(
      has(told, {"another call: expected task 'scale' launched at ", ", found fill at " + filled}));
}

TEST(ReplayReasons, ALaunchWhereAnotherKindOfCallWasRecorded) {
  std::string filled, launched;
  const auto told = reasons([&](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    loop(ctx, step, 6, [&](int t) {
      ctx.launch(scale, cells[a], 0.5);
      if (t == 4) {
        launched = next_line();
        ctx.launch(scale, cells[b], 0.5);
      } else {
        filled = next_line();
        ctx.fill(cells, b, 1.0);
      }
    });
  });
  EXPECT_TRUE(has(told, {"another call: expected fill at " + filled +
                         ", found task 'scale' launched at " + launched}));
}

// --- the call has changed ----------------------------------------------------------------------------

/// In what the call of rounds 2 and 3 differs from that of the others, which is made at the same line.
void expect_difference(const std::string& what,
                       const std::function<void(Context&, const Region<1>&, bool)>& call,
                       std::unique_ptr<Mapper> mapper = nullptr) {
  const auto told = reasons(
      [&](Context& ctx) {
        const Trace step{"step"};
        const auto cells = make_cells(ctx);
        ctx.launch(add, cells[a], cells[b]);
        loop(ctx, step, 6, [&](int t) { call(ctx, cells, t == 2 || t == 3); });
      },
      machine(), std::move(mapper));
  EXPECT_TRUE(
      has(told, {"the call has changed: ", " at replay_reasons_test.cpp:", "differs in " + what}));
}

TEST(ReplayReasons, AnotherArgument) {
  expect_difference(
      "argument 0: expected region 0, field 'a', read-write; found region 0, field 'b'",
      [](Context& ctx, const Region<1>& cells, bool now) {
        ctx.launch(scale, cells[now ? b : a], 0.5);
      });
  expect_difference("argument 1: expected region 0, field 'b', read; found region 0, field 'c'",
                    [](Context& ctx, const Region<1>& cells, bool now) {
                      ctx.launch(add, cells[a], cells[now ? c : b]);
                    });
}

TEST(ReplayReasons, AnotherDomain) {
  expect_difference("its domain: expected [0..3]; found [0..1]",
                    [](Context& ctx, const Region<1>& cells, bool now) {
                      ctx.launch(scale, now ? 2 : 4, ctx.blocks(cells, 4)[a], 0.5);
                    });
  // clang-format off
  expect_difference("its domain: expected [0..3]; found a single launch",
                    [](Context& ctx, const Region<1>& cells, bool now) {
                      const auto blocks = ctx.blocks(cells, 4);
                      if (now) ctx.launch(scale, blocks(0)[a], 0.5); else ctx.launch(scale, 4, blocks[a], 0.5);
                    });
  // clang-format on
}

TEST(ReplayReasons, AnotherPriority) {
  expect_difference("its priority", [](Context& ctx, const Region<1>& cells, bool now) {
    ctx.launch(scale.with({.priority = now ? 1 : 0}), cells[a], 0.5);
  });
}

TEST(ReplayReasons, AnotherHint) {
  expect_difference("its hint inline_if_ready", [](Context& ctx, const Region<1>& cells, bool now) {
    ctx.launch(scale.with({.inline_if_ready = now}), cells[a], 0.5);
  });
}

TEST(ReplayReasons, AnotherTaskOfThisName) {
  const auto body = [](ReadWrite<double> x) { x[0] += 1; };
  const Task one{"twin", body}, two{"twin", body};
  expect_difference("its task: another one of this name",
                    [&](Context& ctx, const Region<1>& cells, bool now) {
                      ctx.launch(now ? one : two, cells[a]);
                    });
}

TEST(ReplayReasons, MoreFutures) {
  expect_difference("how many futures it is given",
                    [](Context& ctx, const Region<1>& cells, bool now) {
                      const Future<double> by = ctx.launch(sum, cells[b]);
                      // clang-format off
                      if (now) ctx.launch(scale, cells[a], by); else ctx.launch(scale, cells[a], 0.5);
                      // clang-format on
                    });
}

TEST(ReplayReasons, OtherMakersOfItsFutures) {
  expect_difference("the calls that make its futures",
                    [](Context& ctx, const Region<1>& cells, bool now) {
                      const Future<double> one = ctx.launch(sum, cells[a]);
                      const Future<double> two = ctx.launch(sum, cells[b]);
                      ctx.launch(scale, cells[a], now ? one : two);
                    });
}

TEST(ReplayReasons, WhatAFillOrACopyWorksOn) {
  expect_difference("what it works on", [](Context& ctx, const Region<1>& cells, bool now) {
    ctx.launch(scale, cells[a], 0.5);
    ctx.fill(cells, now ? c : b, 1.0);
  });
  expect_difference("what it works on", [](Context& ctx, const Region<1>& cells, bool now) {
    ctx.copy(cells[now ? c : b], cells[a]);
  });
}

class Forgetful final : public Mapper {
 public:
  explicit Forgetful(bool each_time) : each_time_(each_time) {}
  [[nodiscard]] std::string_view name() const override { return "forgetful"; }
  [[nodiscard]] bool every_launch() const override { return each_time_; }
  void map(const MappingInput&, MappingOutput& output) override { output.priority = priority; }
  int priority = 0;

 private:
  const bool each_time_;
};

TEST(ReplayReasons, TheMapperHasForgotten) {
  auto mapper = std::make_unique<Forgetful>(false);
  Forgetful& forgetful = *mapper;
  expect_difference(
      "its mapping: the mapper has forgotten what it said",
      [&](Context& ctx, const Region<1>& cells, bool now) {
        if (now) forgetful.forget();
        ctx.launch(scale, cells[a], 0.5);
      },
      std::move(mapper));
}

TEST(ReplayReasons, AMapperThatIsAskedEachTimeSaysSomethingElse) {
  auto mapper = std::make_unique<Forgetful>(true);
  Forgetful& asked = *mapper;
  expect_difference(
      "its arguments, or what the mapper said of it",
      [&](Context& ctx, const Region<1>& cells, bool now) {
        asked.priority = now ? 1 : 0;
        ctx.launch(scale, cells[a], 0.5);
      },
      std::move(mapper));
}

// --- the recording ends before -----------------------------------------------------------------------

TEST(ReplayReasons, TheProgramGoesOnWhereTheTraceEnded) {
  std::string more;
  const auto told = reasons([&](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    loop(ctx, step, 5, [&](int t) {
      ctx.launch(scale, cells[a], 0.5);
      if (t != 3) return;
      more = next_line();
      ctx.launch(scale, cells[b], 0.5);
    });
  });
  EXPECT_TRUE(has(told, {"the recording ends before task 'scale' launched at " + more +
                         ": the trace ended there"}));
}

TEST(ReplayReasons, TheTraceIsLongerThanTheLimit) {
  Options options = machine();
  options.trace_length = 2;
  std::string third;
  const auto told = reasons(
      [&](Context& ctx) {
        const Trace step{"step"};
        const auto cells = make_cells(ctx);
        loop(ctx, step, 5, [&](int) {
          ctx.launch(add, cells[a], cells[b]);
          ctx.launch(add, cells[b], cells[a]);
          third = next_line();
          ctx.launch(add, cells[c], cells[a]);
        });
      },
      options);
  EXPECT_TRUE(has(told, {"the recording ends before task 'add' launched at " + third +
                         ": it reached --refrain:trace-length"}));
}

TEST(ReplayReasons, SomethingThatCannotBeTracedCameBefore) {
  const auto told = reasons([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    ctx.launch(scale, cells[a], 0.5);
    loop(ctx, step, 4, [&](int t) {
      ctx.launch(scale, cells[a], 0.5);
      if (t == 3) static_cast<void>(ctx.access<Read>(cells[a])[0]);
      ctx.launch(scale, cells[a], 0.5);
    });
  });
  EXPECT_TRUE(has(told, {"the replay was left before task 'scale' launched at ",
                         ": the program accessed data itself"}));
}

/// A call in the middle of a trace that cannot be traced.
void expect_end(const std::string& ended_by,
                const std::function<void(Context&, const Region<1>&)>& call,
                const Options& options = machine()) {
  std::string next;
  const auto program = [&](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    loop(ctx, step, 3, [&](int) {
      ctx.launch(scale, cells[a], 0.5);
      call(ctx, cells);
      next = next_line();
      ctx.launch(scale, cells[b], 0.5);
    });
  };
  const auto told = reasons(program, options);
  EXPECT_TRUE(
      has(told, {"the recording ends before task 'scale' launched at " + next + ": " + ended_by}));
}

TEST(ReplayReasons, WhatCannotBeTraced) {
  expect_end("the program accessed data itself", [](Context& ctx, const Region<1>& cells) {
    EXPECT_EQ(ctx.access<Read>(cells[c])[0], 0);
  });
  std::vector<double> mine(8, 1.0);
  expect_end("memory was attached", [&](Context& ctx, const Region<1>& cells) {
    ctx.attach(cells, c, mine.data());
    ctx.detach(cells, c);
  });
  expect_end(
      "a launch failed",
      [](Context& ctx, const Region<1>& cells) {
        EXPECT_THROW(ctx.launch(set_0, cells[a], 1.0), OutOfMemory);
      },
      machine("emulated:cpus=1,gpus=1,framebuffer=8B,pinned=8B"));
}

TEST(ReplayReasons, ATaskThatWaitsForItsChildren) {
  std::string next;
  const Trace step{"step"};
  const Task parent{"parent", [&](Context& ctx, ReadWrite<double> x) {
                      loop(ctx, step, 3, [&](int) {
                        ctx.launch(scale, x.region()[a], 0.5);
                        ctx.fence();
                        next = next_line();
                        ctx.launch(scale, x.region()[a], 2.0);
                      });
                    }};
  const auto told = reasons([&](Context& ctx) { ctx.launch(parent, make_cells(ctx)[a]); });
  EXPECT_TRUE(has(told, {"the recording ends before task 'scale' launched at " + next +
                         ": the task waited for its children"}));
}

// --- where the data is, and what became of recordings ------------------------------------------------

TEST(ReplayReasons, DataThatIsElsewhere) {
  const auto told = reasons(
      [](Context& ctx) {
        const Trace step{"step"};
        const auto cells = make_cells(ctx);
        ctx.launch(set, cells[a], 1.0);
        for (int t = 0; t < 4; ++t) {
          if (t == 2) ctx.launch(set_0, cells[a], 1.0);
          ctx.trace(step, [&] { ctx.launch(scale, cells[a], 0.5); });
        }
      },
      machine("emulated:cpus=1,gpus=1"));
  EXPECT_TRUE(
      has(told, {"the data is not where it was when this was recorded: field 'a' of region",
                 ", points ", ": expected valid in system0", ", found valid in framebuffer0"}));
}

TEST(ReplayReasons, AFillThatIsPending) {
  const auto told = reasons([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    ctx.launch(set, cells[a], 1.0);
    for (int t = 0; t < 4; ++t) {
      if (t == 2) ctx.fill(cells, a, 1.0);
      ctx.trace(step, [&] { ctx.launch(scale, cells[a], 0.5); });
    }
  });
  EXPECT_TRUE(has(told, {"the data is not where it was", "field 'a' of region", "expected valid in",
                         ", found valid nowhere, a fill pending"}));
}

TEST(ReplayReasons, OtherStorageWhereThereWasNone) {
  const auto told = reasons([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 4; ++t) {
      ctx.fill(cells, a, 1.0);
      ctx.trace(step, [&] { ctx.launch(scale, cells[a], 0.5); });
    }
  });
  EXPECT_TRUE(
      has(told, {"the data is not where it was", "field 'a' of region 0 has other storage"}));
}

TEST(ReplayReasons, OtherStorageOfARegionThatEnds) {
  const auto told = reasons(
      [](Context& ctx) {
        const Trace step{"step"};
        const auto cells = make_cells(ctx);
        for (int t = 0; t < 4; ++t) {
          const auto temporary = ctx.region(Rect1{0, 7}, a);
          if (t == 3) ctx.launch(set_0, temporary[a], 1.0);
          ctx.launch(set, temporary[a], 1.0);
          ctx.trace(step, [&] {
            ctx.launch(add, cells[a], temporary[a]);
            ctx.destroy(temporary);
          });
        }
      },
      machine("emulated:cpus=1,gpus=1"));
  EXPECT_TRUE(
      has(told, {"the data is not where it was", "field 'a' of region 1 has other storage"}));
}

TEST(ReplayReasons, NoRoomForWhatAReplayMakes) {
  const auto told = reasons(
      [](Context& ctx) {
        const Trace step{"step"};
        const auto cells = make_cells(ctx);
        ctx.launch(set, cells[a], 1.0);
        for (int t = 0; t < 6; ++t) {
          if (t == 4) ctx.launch(set_0, cells[b], 1.0);  // there is room for one of them
          ctx.trace(step, [&] {
            const auto temporary = ctx.region(Rect1{0, 7}, a);
            ctx.launch(set_0, temporary[a], 1.0);
            ctx.launch(add, cells[a], temporary[a]);
            ctx.destroy(temporary);
          });
        }
      },
      machine("emulated:cpus=1,gpus=1,framebuffer=64B"));
  EXPECT_TRUE(has(told, {"there was no room in framebuffer0 for field 'a' of region 1"}));
  EXPECT_EQ(told.size(), 2u);  // the rest of that round is not recorded
}

TEST(ReplayReasons, StaleSinceAFieldWasCut) {
  const auto told = reasons([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 6; ++t) {
      if (t == 3) ctx.launch(scale, 3, ctx.blocks(cells, 3)[a], 0.5);
      ctx.trace(step, [&] { ctx.launch(scale, cells[a], 0.5); });
    }
  });
  EXPECT_TRUE(has(told, {"what was recorded is stale: field 'a' of region",
                         "was cut into other equivalence sets"}));
}

TEST(ReplayReasons, StaleSinceARegionWasDestroyed) {
  const auto told = reasons([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    const auto others = make_cells(ctx);
    ctx.launch(set, others[a], 1.0);
    loop(ctx, step, 3, [&](int) { ctx.launch(add, cells[a], others[a]); });
    ctx.destroy(others);
    loop(ctx, step, 3, [&](int) { ctx.launch(add, cells[a], cells[b]); });
  });
  EXPECT_TRUE(has(told, {"what was recorded is stale: region 1 was destroyed"}));
}

TEST(ReplayReasons, StaleSinceStorageWasGivenUp) {
  const auto told = reasons(
      [](Context& ctx) {
        const Trace step{"step"};
        const auto cells = make_cells(ctx);
        ctx.launch(set_0, cells[a], 0.0);
        for (int t = 0; t < 6; ++t) {
          if (t == 3) ctx.launch(set_0, cells[b], 1.0);  // there is room for one of them
          ctx.trace(step, [&] { ctx.launch(set_0, cells[a], 0.5); });
        }
      },
      machine("emulated:cpus=1,gpus=1,framebuffer=64B"));
  EXPECT_TRUE(has(told, {"what was recorded is stale: storage of field 'a' of region",
                         "was given up, or came"}));
}

TEST(ReplayReasons, FewerAreMadeWhereTheyGoStale) {
  const auto told = reasons([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 6; ++t) {
      ctx.trace(step, [&] { ctx.launch(scale, cells[a], 0.5); });
      ctx.launch(scale, t + 2, ctx.blocks(cells, t + 2)[a], 0.5);
    }
  });
  EXPECT_TRUE(has(told, {"what was recorded is stale: field 'a' of region",
                         "was cut into other equivalence sets",
                         "so were others before they were replayed, and fewer are made"}));
}

TEST(ReplayReasons, GivenUpSinceStorageWas) {
  const auto told = reasons(
      [](Context& ctx) {
        const Trace step{"step"};
        const auto cells = make_cells(ctx);
        loop(ctx, step, 3, [&](int) {
          ctx.launch(set_0, cells[a], 1.0);
          ctx.launch(set_0, cells[b], 1.0);
        });
      },
      machine("emulated:cpus=1,gpus=1,framebuffer=64B"));
  EXPECT_TRUE(has(told, {"a recording was given up: storage was given up"}));
}

TEST(ReplayReasons, GivenUpSinceMemoryWasShort) {
  const auto told = reasons(
      [](Context& ctx) {
        const Trace step{"step"};
        const auto cells = make_cells(ctx);
        loop(ctx, step, 3, [&](int) {
          const auto temporary = ctx.region(Rect1{0, 7}, a);
          ctx.launch(add_0, cells[a], temporary[a]);  // there is room for one of them
          ctx.destroy(temporary);
        });
      },
      machine("emulated:cpus=1,gpus=1,framebuffer=64B"));
  EXPECT_TRUE(has(told, {"a recording was given up: memory was short"}));
}

TEST(ReplayReasons, GivenUpSinceMemoryWasShortOnceARegionHadEnded) {
  const auto told = reasons(
      [](Context& ctx) {
        const Trace step{"step"};
        const auto cells = make_cells(ctx);
        auto temporary = ctx.region(Rect1{0, 7}, a);
        ctx.launch(set, temporary[a], 1.0);
        loop(ctx, step, 3, [&](int) {
          ctx.destroy(temporary);
          temporary = ctx.region(Rect1{0, 7}, a);
          ctx.launch(add_0, cells[a], temporary[a]);  // there is room for one of them
        });
      },
      machine("emulated:cpus=1,gpus=1,framebuffer=64B"));
  EXPECT_TRUE(has(told, {"a recording was given up: memory was short"}));
}

TEST(ReplayReasons, GivenUpSincePiecesWereCut) {
  const auto told = reasons(
      [](Context& ctx) {
        const Trace step{"step"};
        const auto cells = make_cells(ctx);
        ctx.launch(set, cells[a], 1.0);
        loop(ctx, step, 3, [&](int) {
          ctx.launch(add_0, cells[b], cells[a]);
          ctx.launch(scale, 4, ctx.blocks(cells, 4)[a], 0.5);
        });
      },
      machine("emulated:cpus=1,gpus=1"));
  EXPECT_TRUE(
      has(told,
          {"a recording was given up: an equivalence set was cut that values had been moved to"}));
}

TEST(ReplayReasons, NoOperationToRecord) {
  const auto told = reasons([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    loop(ctx, step, 3, [&](int) { ctx.fill(cells, a, 1.0); });
  });
  EXPECT_TRUE(has(told, {"there was no operation to record: the trace ended there"}));
}

TEST(ReplayReasons, DroppedForLackOfMemory) {
  Options options = machine();
  options.trace_memory = 1;
  const auto told = reasons(
      [](Context& ctx) {
        const Trace step{"step"}, other{"other"};
        const auto cells = make_cells(ctx);
        for (int t = 0; t < 4; ++t) {
          ctx.trace(step, [&] { ctx.launch(scale, cells[a], 0.5); });
          ctx.trace(other, [&] { ctx.launch(scale, cells[b], 0.5); });
        }
      },
      options);
  EXPECT_TRUE(has(told, {"what was recorded was dropped", "--refrain:trace-memory"}));
}

TEST(ReplayReasons, ReplayingTookLonger) {
  const auto told = reasons([](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    for (int t = 0; t < 400; ++t) {
      ctx.trace(step, [&] { ctx.launch(scale, cells[a], 0.5); });
      ctx.launch(sum, cells[a]);
    }
  });
  EXPECT_TRUE(has(told, {"replaying took longer than the analysis", "too short"}));
}

// --- outside of traces -------------------------------------------------------------------------------

TEST(ReplayReasons, NoTraceWasOpen) {
  const Explained told(machine(), [](Context& ctx) {
    const auto cells = make_cells(ctx);
    ctx.launch(scale, cells[a], 0.5);
  });
  EXPECT_EQ(Explained::reasons(told.task("scale")),
            std::vector<std::string>{"no trace was open, and none was found"});
}

TEST(ReplayReasons, NoTraceWasOpenAndNoneIsLookedFor) {
  const auto told = [](const Options& options) {
    const Explained explained(options, [](Context& ctx) {
      const auto cells = make_cells(ctx);
      ctx.launch(scale, cells[a], 0.5);
    });
    return Explained::reasons(explained.task("scale"));
  };
  Options options = machine();
  options.autotrace = false;
  EXPECT_EQ(told(options),
            std::vector<std::string>{"no trace was open, and --refrain:autotrace is off"});
  options.tracing = false;
  EXPECT_EQ(told(options),
            std::vector<std::string>{"no trace was open, and --refrain:tracing is off"});
}

TEST(ReplayReasons, NoneIsLookedForOutsideOfMarksWhereAutotraceIsOff) {
  Options options = machine();
  options.autotrace = false;
  const Explained told(options, [](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    loop(ctx, step, 3, [&](int) { ctx.launch(scale, cells[a], 0.5); });
    ctx.launch(sum, cells[a]);
  });
  EXPECT_EQ(Explained::reasons(told.task("sum")),
            std::vector<std::string>{"no trace was open, and --refrain:autotrace is off"});
}

TEST(ReplayReasons, TheFirstLaunchesOfATask) {
  static const Task parent{"parent", [](Context& ctx) {
                             const auto cells = make_cells(ctx);
                             for (int i = 0; i < 32; ++i) ctx.launch(scale, cells[a], 0.5);
                             ctx.launch(sum, cells[a]);
                           }};
  const Explained told(machine(), [](Context& ctx) { ctx.launch(parent); });
  EXPECT_EQ(Explained::reasons(told.task("scale")),
            std::vector<std::string>{
                "no trace was open, and the first launches of a task are not looked at"});
  EXPECT_EQ(Explained::reasons(told.task("sum")),
            std::vector<std::string>{"no trace was open, and none was found"});
}

// --- traces that were found ----------------------------------------------------------------------------

/// Why launches of a stream were analysed.
std::vector<std::string> reasons_of_stream(
    const std::function<void(Context&, const TokenData&)>& program,
    const Options& options = machine()) {
  const Explained told(options, [&](Context& ctx) { program(ctx, TokenData(ctx)); });
  return Explained::reasons(told.task("mix in"));
}

TEST(ReplayReasons, FoundToRepeat) {
  EXPECT_TRUE(has(reasons_of_stream([](Context& ctx, const TokenData& data) {
                    for (std::uint64_t i = 0; i < 200; ++i) data.launch(ctx, i % 20);
                  }),
                  {"it was found to repeat, and recorded"}));
}

TEST(ReplayReasons, FoundAndOftenLeftEarly) {
  EXPECT_TRUE(has(reasons_of_stream([](Context& ctx, const TokenData& data) {
                    for (std::uint64_t i = 0; i < 600; ++i) data.launch(ctx, i % 20);
                    // Wherever what was recorded begins, it is left after a few calls.
                    for (std::uint64_t i = 0; i < 400; ++i) {
                      data.launch(ctx, i % 20);
                      if (i % 3 == 0) (void)data.values(ctx);
                    }
                  }),
                  {"what begins with it was often left early: it is watched"}));
}

TEST(ReplayReasons, FoundAndNotComeToItsEnd) {
  EXPECT_TRUE(has(reasons_of_stream([](Context& ctx, const TokenData& data) {
                    for (std::uint64_t i = 0; i < 400; ++i) {
                      data.launch(ctx, i % 20);
                      if (i > 60 && i % 7 == 0) (void)data.values(ctx);
                    }
                  }),
                  {"what was found did not come to its end"}));
}

TEST(ReplayReasons, FoundAndDroppedForOthers) {
  const auto told = reasons_of_stream([](Context& ctx, const TokenData& data) {
    for (std::uint64_t i = 0; i < 64; ++i) data.launch(ctx, i);  // cuts all pieces
    // More loops than recordings are kept, and the first ones again.
    for (std::uint64_t i = 0; i < 700; ++i)
      for (std::uint64_t j = 0; j < 400; ++j) data.launch(ctx, 4 * (i % 600) + j % 4);
  });
  EXPECT_TRUE(
      has(told, {"what was recorded was dropped: much else was found since it was of use"}));
}

// --- where nothing is traced ---------------------------------------------------------------------------

TEST(ReplayReasons, TracingIsOff) {
  Options options = machine();
  options.tracing = false;
  const Explained told(options, [](Context& ctx) {
    const Trace step{"step"};
    const auto cells = make_cells(ctx);
    loop(ctx, step, 3, [&](int) { ctx.launch(scale, cells[a], 0.5); });
  });
  EXPECT_EQ(Explained::reasons(told.task("scale")),
            std::vector<std::string>{"--refrain:tracing is off"});
}

}  // namespace
}  // namespace refrain::test::replay_reasons_test
