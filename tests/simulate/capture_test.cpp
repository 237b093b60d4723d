// Captured programs: what is in them, and what wrong files say.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>

#include "capture/captured_program.hpp"
#include "refrain/refrain.hpp"
#include "report/capture.hpp"
#include "simulate/simulation.hpp"
#include "support/settings.hpp"
#include "support/temporary_folder.hpp"
#include "support/test_budget.hpp"

namespace refrain::test::capture_test {
namespace {

constexpr Field<double> kX{"x"};
constexpr Field<int> kY{"y"};

/// A program with one of each thing, captured: the text of the file.
std::string captured(int iterations) {
  const TemporaryFolder folder;
  Options options;
  options.machine = "emulated:cpus=2";
  options.capture = folder.path("program.json");
  {
    Runtime runtime(options);
    runtime.run([&](Context& ctx) {
      const auto region = ctx.region(Rect1{0, 99}, kX, kY);
      const auto blocks = ctx.blocks(region, 4);
      const auto halo = ctx.halo(blocks, 1);
      const Task fill{"set", [](Write<double> x, int value) {
                        for (auto p : x.domain()) x[p] = value;
                      }};
      const Task step{"step", [](Read<double> near, ReadWrite<int> y) {
                        for (auto p : y.domain()) y[p] += static_cast<int>(near[p]);
                        return 1.0;
                      }};
      const Task add{"add", [](Reduce<Sum, double> x) {
                       for (auto p : x.domain()) x[p] += 1;
                     }};
      const Trace trace{"loop"};
      ctx.launch(fill, 4, blocks[kX], 7);
      ctx.fill(region, kY, 0);
      for (int i = 0; i < iterations; ++i)
        ctx.trace(trace, [&] {
          const auto sums =
              ctx.launch(step, 4,
                         halo.at(Projection::function(
                             "same", [](const Point<3>& p, std::uint64_t) { return p; }))[kX],
                         blocks[kY]);
          ctx.reduce(sums, Sum{}).wait();
          ctx.launch(add, 4, halo[kX]);
        });
      ctx.fence();
      {
        auto x = ctx.access<Read>(region[kX]);
        EXPECT_GT(x[0], 0);
      }
      ctx.destroy(region);
    });
    runtime.write_reports();
  }
  std::stringstream text;
  text << std::ifstream(options.capture).rdbuf();
  return text.str();
}

TEST(Capture, HasAllCallsAndTheTimesOfTasks) {
  const capture::Program program = capture::parse(captured(100), "program.json");
  ASSERT_EQ(program.tasks.size(), 3U);
  const capture::Task& step = program.tasks[1];
  EXPECT_EQ(step.name, "step");
  EXPECT_EQ(step.result_size, sizeof(double));
  std::uint64_t runs = 0;
  for (const capture::Durations& each : step.costs[0]) runs += each.count;
  EXPECT_EQ(runs, 400U);
  EXPECT_EQ(program.regions.size(), 1U);
  EXPECT_EQ(program.partitions.size(), 2U);
  EXPECT_FALSE(program.folds.empty());
  std::uint64_t waits = 0, launches = 0;
  program.stream.unfold([&](std::uint32_t event) {
    waits += program.calls[event].kind == capture::CallKind::wait;
    launches += program.calls[event].kind == capture::CallKind::launch;
  });
  EXPECT_EQ(waits, 100U);
  EXPECT_EQ(launches, 201U);
}

// One task may do more here than there, under a name and with arguments that are alike.
TEST(Capture, HasTheTimesOfEachCall) {
  const TemporaryFolder folder;
  Options options;
  options.machine = "emulated:cpus=2";
  options.capture = folder.path("program.json");
  constexpr double kLong = 3e-3;
  constexpr int kTimes = 20;
  {
    Runtime runtime(options);
    runtime.run([&](Context& ctx) {
      const auto region = ctx.region(Rect1{0, 9}, kX);
      const Task pass{"pass", [](ReadWrite<double> x, double seconds) {
                        x[0] += 1;
                        std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
                      }};
      const Trace trace{"loop"};
      ctx.fill(region, kX, 0.0);
      for (int i = 0; i < kTimes; ++i)
        ctx.trace(trace, [&] {
          ctx.launch(pass, region[kX], 0.0);
          ctx.launch(pass, region[kX], kLong);
        });
    });
    runtime.write_reports();
  }
  capture::Program program = capture::load(options.capture);
  const auto runs = [&] {
    std::vector<capture::Durations> found;
    for (const capture::Call& call : program.calls)
      if (call.kind == capture::CallKind::launch) found.push_back(call.costs[0].at(0));
    return found;
  };
  ASSERT_EQ(runs().size(), 2U);
  EXPECT_LT(runs()[0].mean, kLong / 2);
  EXPECT_GE(runs()[1].mean, kLong);
  for (const capture::Durations& each : runs()) EXPECT_EQ(each.count, kTimes);
  EXPECT_EQ(program.tasks[0].costs[0].at(0).count, 2U * kTimes);
  const std::vector<capture::Program> again{program};
  add_times(program, again);
  EXPECT_EQ(runs()[1].count, 2U * kTimes);
}

TEST(Capture, OfSeveralRunsTakesTheMedian) {
  const auto run = [](std::uint64_t count, double mean) {
    capture::Program program;
    program.copies = {{.bytes = 8, .count = count, .mean = mean, .variance = 0}};
    return program;
  };
  const auto merged = [&](const std::vector<capture::Program>& others) {
    capture::Program program = run(10, 1);
    add_times(program, others);
    return program.copies.at(0);
  };
  EXPECT_EQ(merged({}).mean, 1);
  EXPECT_EQ(merged({run(10, 3)}).mean, 2);
  EXPECT_EQ(merged({run(10, 100), run(10, 3)}).mean, 3);  // one was disturbed
  EXPECT_EQ(merged({run(1, 100)}).mean, 1);
  EXPECT_EQ(merged({run(1, 100)}).count, 11U);
  EXPECT_EQ(merged({run(10, 3)}).variance, 1);
}

// What the program does after it has waited, or after an access, is its own.
TEST(Capture, HasTheTimesBetweenCalls) {
  const TemporaryFolder folder;
  Options options;
  options.machine = "emulated:cpus=2";
  options.capture = folder.path("program.json");
  constexpr auto pause = std::chrono::milliseconds(5);
  {
    Runtime runtime(options);
    runtime.run([&](Context& ctx) {
      const auto region = ctx.region(Rect1{0, 9}, kX);
      const Task after_wait{"after_wait", [](Read<double> x) { return x[0]; }};
      const Task after_access{"after_access", [](Read<double> x) { return x[0]; }};
      ctx.launch(after_access, region[kX]).wait();
      std::this_thread::sleep_for(pause);
      ctx.launch(after_wait, region[kX]).wait();
      { ctx.access<Write>(region[kX])[0] = 1; }
      std::this_thread::sleep_for(pause);
      ctx.launch(after_access, region[kX]).wait();
    });
    runtime.write_reports();
  }
  const capture::Program program = capture::load(options.capture);
  const double least = std::chrono::duration<double>(pause).count();
  for (const std::string name : {"after_wait", "after_access"})
    EXPECT_TRUE(std::ranges::any_of(program.calls, [&](const capture::Call& call) {
      return call.kind == capture::CallKind::launch && program.tasks[call.task].name == name &&
             call.pause >= least;
    })) << name;
}

TEST(Capture, ALoopTakesAsManyBytesHoweverOftenItRuns) {
  EXPECT_LT(captured(2000).size(), captured(100).size() + 400);
}

TEST(Capture, IsReadBackAsItWasWritten) {
  const std::string text = captured(10);
  EXPECT_EQ(to_json(capture::parse(text, "program.json")), text);
}

TEST(Capture, IsShownToPeople) {
  EXPECT_TRUE(mentions(to_text(capture::parse(captured(10), "program.json")),
                       {"3 tasks", "task step (cpu)", "on a cpu:", "4 points, launched at",
                        "read       x", "read-write y", "stream", "step reduce wait add"}));
}

// Tasks of one name may do different things. What something else has held up does not count.
TEST(Capture, TimesOfTwoKindsBothCount) {
  runtime::DurationSamples samples;
  for (int i = 0; i < 60; ++i) samples.add(8, 1'000 + i);
  for (int i = 0; i < 40; ++i) samples.add(8, 30'000 + i);
  samples.add(8, 10'000'000);
  const capture::Costs costs = samples.costs();
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_NEAR(costs[0].mean, 12.6e-6, 0.1e-6);
}

TEST(Capture, TimesBetweenVolumesAreBetweenTimes) {
  const capture::Costs costs{{100, 1, 1.0, 0}, {200, 1, 3.0, 0}};
  EXPECT_EQ(capture::seconds_for(costs, 100), 1.0);
  EXPECT_EQ(capture::seconds_for(costs, 150), 2.0);
  EXPECT_EQ(capture::seconds_for(costs, 50), 0.5);
  EXPECT_EQ(capture::seconds_for(costs, 400), 6.0);
}

TEST(Capture, WrongFilesSayWhereAndWhy) {
  const std::string text = captured(10);
  const auto wrong = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    return error_of<InputError>([&] { capture::parse(changed, "p.json"); });
  };
  EXPECT_TRUE(mentions(wrong("\"refrain_capture\": 1", "\"refrain_capture\": 2"),
                       {"p.json:2:", "version 2 of captured programs is not known"}));
  EXPECT_TRUE(mentions(wrong("\"task\":0", "\"task\":17"), {"p.json:", "there is no task 17"}));
  EXPECT_TRUE(
      mentions(wrong("\"call\":\"fence\"", "\"call\":\"fnce\""), {"'fnce' is no kind of call"}));
  EXPECT_TRUE(mentions(wrong("\"tasks\": [", "\"tsks\": ["),
                       {"unknown name 'tsks'; did you mean 'tasks'"}));
  EXPECT_TRUE(mentions(wrong("\"stream\": [\n    [", "\"stream\": [\n    [[-99, 5],"),
                       {"p.json:", "stream"}));
  EXPECT_TRUE(mentions(wrong("\"pieces\":[", "\"pieces\":[0,"), {"p.json:"}));
}

// Whatever is done to a file, it is read, or refused with its place; and simulated, or refused.
TEST(Capture, DamagedFilesAreRefused) {
  const std::string text = captured(5);
  std::mt19937_64 random(7);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::string pieces[] = {"0",     "-1",    "[",           "]",     "{",    "}",
                                "\"",    ",",     "99999999999", "1e300", "null", "true",
                                "[0,1]", "\"x\"", "4",           "0.5"};
  std::uint64_t simulated = 0;
  for (TestBudget budget(20'000, 60); budget.more(); budget.next()) {
    std::string changed = text;
    for (std::size_t change = 0; change <= below(3); ++change) {
      const std::size_t at = below(changed.size() + 1);
      switch (below(4)) {
        case 0: changed.resize(at); break;
        case 1: changed.erase(at, 1 + below(20)); break;
        case 2: changed.insert(at, pieces[below(std::size(pieces))]); break;
        default: {
          // A number becomes another one.
          const std::size_t digit = changed.find_first_of("0123456789", at);
          if (digit != std::string::npos) changed[digit] = static_cast<char>('0' + below(10));
        }
      }
    }
    try {
      const capture::Program program = capture::parse(changed, "p.json");
      if (program.stream.length(0) > 10'000) continue;
      ++simulated;
      simulate::simulate(program, {});
    } catch (const InputError& error) {
      const std::string what = error.what();
      ASSERT_TRUE(what.starts_with("p.json:") ||
                  what.starts_with("the machine of the captured run:"))
          << what;
    } catch (const Error&) {}  // it cannot be simulated
  }
  EXPECT_GT(simulated, 0U);
}

}  // namespace
}  // namespace refrain::test::capture_test
