// --refrain:record and --refrain:warm-start: what is recorded of a program's calls, and what a later run makes of it.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "oracle/run_reader.hpp"
#include "refrain/refrain.hpp"
#include "support/autotrace_settings.hpp"
#include "support/settings.hpp"
#include "support/temporary_file.hpp"
#include "support/token_program.hpp"

namespace refrain::test::warm_start_test {
namespace {

const Task nothing{"nothing", [] {}};
const Task other{"other", [] {}};

/// The names of a program's calls, without their tokens.
std::vector<std::string> calls_in(const std::string& file, std::size_t program = 0) {
  const oracle::RunRecord run = oracle::read_run(file);
  std::vector<std::string> calls;
  if (program >= run.threads.size()) return calls;
  run.threads[program].grammar.unfold([&](std::uint32_t event) {
    std::string name = run.threads[program].names[event];
    const std::size_t token = name.find(" 0x");
    if (token != std::string::npos) name.erase(token, 3 + 16);
    calls.push_back(name);
  });
  return calls;
}

using Names = std::vector<std::string>;

/// A loop of so many calls.
void run_loop(Runtime& runtime, int iterations, std::uint64_t calls, Bits& values) {
  runtime.run([&](Context& ctx) {
    const TokenData data(ctx);
    for (int i = 0; i < iterations; ++i)
      for (std::uint64_t letter = 0; letter < calls; ++letter) data.launch(ctx, letter);
    values = data.values(ctx);
  });
}

class WarmStart : public InEverySetting {
 protected:
  [[nodiscard]] Options recording() const {
    Options chosen = options();
    chosen.record = file_.path();
    return chosen;
  }
  [[nodiscard]] Options warm() const {
    Options chosen = options();
    chosen.warm_start = file_.path();
    return chosen;
  }
  const TemporaryFile file_{"calls"};
};

TEST_P(WarmStart, RecordsAllCallsInOrder) {
  const Trace trace{"trace"};
  {
    Runtime runtime(recording());
    runtime.run([&](Context& ctx) {
      const auto cells = ctx.region(Rect1{0, 3}, bits);
      ctx.fill(cells, bits, std::uint64_t{1});
      for (int i = 0; i < 3; ++i) {
        ctx.launch(nothing);
        ctx.trace(trace, [&] { ctx.launch(other); });
      }
      EXPECT_EQ(ctx.access<Read>(cells[bits])[0], 1u);
      ctx.destroy(cells);
    });
  }
  EXPECT_EQ(calls_in(file_.path()),
            (Names{"fill", "nothing", "other, marked", "nothing", "other, marked", "nothing",
                   "other, marked", "access", "destroy"}));
}

// These are not told apart: what cannot be traced is no candidate.
TEST_P(WarmStart, RecordsCallsThatCannotBeTracedByTheirNames) {
  {
    Runtime runtime(recording());
    runtime.run([&](Context& ctx) {
      const Field<std::uint64_t> more{"more"};
      std::vector<std::uint64_t> memory(4);
      const auto cells = ctx.region(Rect1{0, 3}, bits, more);
      const auto others = ctx.region(Rect1{0, 3}, bits);
      ctx.attach(cells, more, memory.data());
      ctx.fill(cells, bits, std::uint64_t{1});
      (void)ctx.access<Read>(cells[bits]);
      (void)ctx.access<Read>(cells[more]);
      (void)ctx.access<ReadWrite>(cells[bits]);
      ctx.detach(cells, more);
      ctx.attach(others, bits, memory.data());
      ctx.detach(others, bits);
      ctx.destroy(cells);
      ctx.destroy(others);
    });
  }
  EXPECT_EQ(calls_in(file_.path()), (Names{"attach", "fill", "access", "access", "access", "detach",
                                           "attach", "detach", "destroy", "destroy"}));
}

TEST_P(WarmStart, RecordsProgramsAsThreads) {
  {
    Runtime runtime(recording());
    runtime.run([&](Context& ctx) { ctx.launch(nothing); });
    runtime.run([&](Context& ctx) { ctx.launch(other); });
    runtime.write_reports();
    EXPECT_EQ(calls_in(file_.path(), 0), Names{"nothing"});
  }
  EXPECT_EQ(calls_in(file_.path(), 1), Names{"other"});
}

TEST_P(WarmStart, LeavesOutTheCallsOfTasks) {
  const Task parent{"parent", [](Context& ctx) {
                      for (int i = 0; i < 50; ++i) ctx.launch(nothing);
                    }};
  {
    Runtime runtime(recording());
    runtime.run([&](Context& ctx) { ctx.launch(parent); });
  }
  EXPECT_EQ(calls_in(file_.path()), Names{"parent"});
}

TEST_P(WarmStart, AReplayIsRecordedAsTheAnalysis) {
  Bits values;
  Options analysed = recording();
  analysed.tracing = false;
  {
    Runtime runtime(analysed);
    run_loop(runtime, 100, 20, values);
  }
  const oracle::RunRecord without = oracle::read_run(file_.path());
  {
    Runtime runtime(recording());
    run_loop(runtime, 100, 20, values);
  }
  const oracle::RunRecord with = oracle::read_run(file_.path());
  EXPECT_EQ(with.threads[0].names, without.threads[0].names);
  EXPECT_EQ(with.threads[0].grammar, without.threads[0].grammar);
}

TEST_P(WarmStart, ReplaysFromTheSecondIterationOn) {
  constexpr std::uint64_t calls = 40;
  Bits cold, warm_values;
  {
    Runtime runtime(recording());
    run_loop(runtime, 30, calls, cold);
  }
  Runtime runtime(warm());
  run_loop(runtime, 30, calls, warm_values);
  EXPECT_EQ(warm_values, cold);
  const AutotraceCounters found = runtime.counters().autotrace;
  EXPECT_GE(found.replayed, 28 * calls);
}

// The next run, too, records: what it then reads is what there was before.
TEST_P(WarmStart, TheSameFileForBoth) {
  Options both = recording();
  both.warm_start = both.record;
  Bits values;
  testing::internal::CaptureStderr();
  {
    Runtime runtime(recording());
    run_loop(runtime, 30, 40, values);
  }
  for (int i = 0; i < 2; ++i) {
    Runtime runtime(both);
    run_loop(runtime, 30, 40, values);
    EXPECT_GE(runtime.counters().autotrace.replayed, 28u * 40u);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_P(WarmStart, AFileOfAnotherProgramChangesNothing) {
  Bits values, cold, warm_values;
  {
    Runtime runtime(recording());
    run_loop(runtime, 30, 40, values);
  }
  const auto run_other = [](Runtime& runtime, Bits& seen) {
    runtime.run([&](Context& ctx) {
      const TokenData data(ctx);
      for (std::uint64_t i = 0; i < 2000; ++i) data.launch(ctx, i % 39 * (i % 7));
      seen = data.values(ctx);
    });
  };
  {
    Runtime runtime(options());
    run_other(runtime, cold);
  }
  {
    Runtime runtime(warm());
    run_other(runtime, warm_values);
  }
  EXPECT_EQ(warm_values, cold);
}

TEST_P(WarmStart, DecidesTheSameInEveryRun) {
  Bits values;
  {
    Runtime runtime(recording());
    run_loop(runtime, 30, 40, values);
  }
  std::vector<std::uint64_t> replayed;
  for (int i = 0; i < 3; ++i) {
    Runtime runtime(warm());
    run_loop(runtime, 50, 39, values);  // another size
    replayed.push_back(runtime.counters().autotrace.replayed);
  }
  EXPECT_EQ(replayed, std::vector<std::uint64_t>(3, replayed[0]));
}

TEST_P(WarmStart, NothingIsReadWhereNothingIsLookedFor) {
  testing::internal::CaptureStderr();
  for (const bool tracing : {false, true}) {
    Options chosen = warm();
    chosen.warm_start = "/nowhere/calls";
    chosen.tracing = tracing;
    chosen.autotrace = false;
    const Runtime runtime(chosen);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

REFRAIN_IN_EVERY_SETTING(WarmStart);

TEST(CallRecord, OfAKilledRunMostIsThere) {
  const TemporaryFile file("killed");
  const pid_t child = fork();
  if (child == 0) {
    Options chosen;
    chosen.workers = 0;
    chosen.record = file.path();
    Runtime runtime(chosen);
    runtime.run([&](Context& ctx) {
      for (int i = 0; i < 100'000; ++i)
        if (i % 50 == 0) ctx.launch(other);
        else ctx.launch(nothing);
      kill(getpid(), SIGKILL);
    });
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  const std::vector<std::string> calls = calls_in(file.path());
  EXPECT_GE(calls.size(), 75'000u);
  for (std::size_t i = 0; i < calls.size(); ++i)
    ASSERT_EQ(calls[i], i % 50 == 0 ? "other" : "nothing") << i;
}

}  // namespace
}  // namespace refrain::test::warm_start_test
