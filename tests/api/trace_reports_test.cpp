// What people are shown of traces: recordings in graph calculus, and a timeline.

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <sstream>
#include <thread>

#include "base/json.hpp"
#include "support/recordings.hpp"
#include "support/settings.hpp"

namespace refrain::test::trace_reports_test {
namespace {

constexpr Field<double> state{"state"}, flux{"flux"};

const Task add_one{"add_one", [](ReadWrite<double> x) {
                     for (auto p : x.domain()) x[p] += 1;
                   }};
const Task add_up{"add_up", [](Reduce<Sum, double> into, Read<double> x) {
                    for (auto p : x.domain()) into[p] += x[p];
                  }};

TEST(PrintedRecordings, NameFillsFoldsAndRegions) {
  const Trace step{"step"};
  const RecordedRun run = record({{"add_up", {"aa", "aa"}}}, [&](Context& ctx, PlacedMapper&) {
    const auto cells = ctx.region(Rect1{0, 3}, state, flux);
    const auto others = ctx.region(Rect1{0, 0}, state);
    const auto owned = ctx.blocks(cells, 2);
    ctx.launch(add_one, cells[state]);
    ctx.launch(add_one, others[state]);
    ctx.trace(step, [&] {
      ctx.fill(cells, flux, 0.0);
      ctx.launch(add_up, 2, owned[flux], owned[state]);
      ctx.launch(add_one, others[state]);
    });
  });
  ASSERT_EQ(run.traces.size(), 1U);
  EXPECT_EQ(run.traces[0].propagated(),
            "e1 := fence;\n"
            "e2 := op(add_up(+ flux[0..1], state@0[0..1]^a), e1);\n"
            "e3 := op(fill(flux[0..1]^a), e1);\n"
            "e4 := merge(e2, e3);\n"
            "e5 := op(fold(flux[0..1]^a), e4);\n"
            "e6 := op(add_up(+ flux[2..3], state@0[2..3]^a), e1);\n"
            "e7 := op(fill(flux[2..3]^a), e1);\n"
            "e8 := merge(e6, e7);\n"
            "e9 := op(fold(flux[2..3]^a), e8);\n"
            "e10 := op(add_one(state@1^a), e1);\n"
            "e11 := merge(e5, e9, e10);\n"
            "e12 := op(T_summary(state@0^a, flux^a, state@1^a), e11);\n");
  const std::string states =
      "state@0[0..1] -> state@0[0..1]^a\n"
      "state@0[2..3] -> state@0[2..3]^a\n"
      "state@1 -> state@1^a\n";
  EXPECT_EQ(run.traces[0].precondition, "flux[2..3] -> fill\nflux[0..1] -> fill\n" + states);
  EXPECT_EQ(run.traces[0].postcondition,
            "flux[2..3] -> flux[2..3]^a\nflux[0..1] -> flux[0..1]^a\n" + states);
}

TEST(PrintedRecordings, OfPartsOfATrace) {
  const Trace step{"step"};
  const RecordedRun run = record({}, [&](Context& ctx, PlacedMapper&) {
    const auto cells = ctx.region(Rect1{0, 3}, state, flux);
    ctx.launch(add_one, cells[state]);
    ctx.launch(add_one, cells[flux]);
    for (int t = 0; t < 4; ++t)
      ctx.trace(step, [&] {
        ctx.launch(add_one, cells[state]);
        if (t == 2) ctx.launch(add_one, cells[flux]);
        ctx.launch(add_one, cells[state]);
      });
  });
  ASSERT_EQ(run.traces.size(), 2U);
  EXPECT_TRUE(run.traces[0].title.starts_with("trace step, trace_reports_test.cpp:"))
      << run.traces[0].title;
  EXPECT_EQ(run.traces[1].title, run.traces[0].title + ", from call 2 on");
  EXPECT_EQ(run.traces[1].recorded(),
            "e1 := fence;\n"
            "e2 := op(add_one(flux^a), e1);\n"
            "e3 := op(add_one(state^a), e1);\n"
            "e4 := merge(e2, e3);\n"
            "e5 := op(T_summary(flux^a, state^a), e4);\n");
}

// While bodies of several replays are in the middle of their work, and others have not begun.
TEST(PrintedRecordings, WhileTheyAreReplayed) {
  std::atomic<bool> hold{false}, held{false};
  const Task slow{"slow", [&](ReadWrite<double> x) {
                    for (auto p : x.domain()) x[p] += 1;
                    if (!hold) return;
                    held = true;
                    while (hold) std::this_thread::yield();
                  }};
  Options options;
  options.workers = 1;
  Runtime runtime(options);
  runtime.run([&](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 3}, state);
    const auto owned = ctx.blocks(cells, 2);
    const auto iteration = [&] {
      ctx.trace(step, [&] {
        ctx.launch(slow, 2, owned[state]);
        ctx.launch(slow, cells[state]);
      });
    };
    ctx.launch(slow, 2, owned[state]);
    iteration();
    ctx.fence();
    std::ostringstream before, meanwhile, after;
    ctx.print_recordings(before);
    hold = true;
    for (int t = 0; t < 3; ++t) iteration();
    while (!held) std::this_thread::yield();
    ctx.print_recordings(meanwhile);
    hold = false;
    for (int t = 0; t < 3; ++t) iteration();
    ctx.print_recordings(after);
    EXPECT_EQ(take_apart(before.str()).size(), 1U);
    EXPECT_EQ(meanwhile.str(), before.str());
    EXPECT_EQ(after.str(), before.str());
    const auto access = ctx.access<Read>(cells[state]);
    for (auto p : access.domain()) EXPECT_EQ(access[p], 15);
  });
  EXPECT_EQ(runtime.counters().replays, 6U);
}

TEST(PrintedRecordings, InATask) {
  const Task parent{"parent", [](Context& ctx, ReadWrite<double> x) {
                      const Trace inner{"inner"};
                      for (int t = 0; t < 3; ++t)
                        ctx.trace(inner, [&] { ctx.launch(add_one, x.region()[state]); });
                    }};
  const RecordedRun run = record({}, [&](Context& ctx, PlacedMapper&) {
    const auto cells = ctx.region(Rect1{0, 3}, state);
    ctx.launch(parent, cells[state]);
  });
  ASSERT_EQ(run.traces.size(), 1U);
  EXPECT_NE(run.traces[0].title.find(", in task 'parent' launched at "), std::string::npos)
      << run.traces[0].title;
}

class TraceTimeline : public InEverySetting {};
REFRAIN_IN_EVERY_SETTING(TraceTimeline);

TEST_P(TraceTimeline, TellsAnalysingRecordingAndReplaying) {
  const ScratchFile file("timeline.json");
  Options chosen = options();
  chosen.timeline = file.path();
  Counters counters;
  {
    Runtime runtime(chosen);
    runtime.run([&](Context& ctx) {
      const Trace step{"step"};
      const auto cells = ctx.region(Rect1{0, 3}, state, flux);
      ctx.launch(add_one, cells[state]);
      ctx.launch(add_one, cells[flux]);
      for (int t = 0; t < 10; ++t)
        ctx.trace(step, [&] {
          ctx.launch(add_one, cells[state]);
          if (t != 8) ctx.launch(add_one, cells[flux]);
        });
      ctx.launch(add_one, cells[state]);
    });
    runtime.write_reports();
    counters = runtime.counters();
  }
  std::map<std::string, int> count;
  std::map<std::string, std::string> colours;
  std::vector<std::int64_t> calls;
  const JsonFile json(file.text(), "timeline");
  for (const JsonNode& event : json.root().at("traceEvents").as_array()) {
    if (event.at("ph").as_string() != "X") continue;
    const std::string category(event.at("cat").as_string());
    ++count[category];
    const JsonNode& about = event.at("args");
    if (event.find("cname")) colours[category] = event.at("cname").as_string();
    if (category == "analysing") {
      EXPECT_EQ(event.at("name").as_string(), category);
      EXPECT_EQ(about.at("call").as_string(), "add_one");
    } else if (category == "recording" || category == "replaying") {
      EXPECT_EQ(event.at("name").as_string(), category);
      EXPECT_EQ(about.at("trace").as_string(), "step");
      EXPECT_TRUE(about.at("begun at").as_string().starts_with("trace_reports_test.cpp:"));
      if (category == "replaying") calls.push_back(about.at("calls").as_integer(0, 9));
    }
  }
  EXPECT_EQ(count["recording"], 1);
  // Whole replays, and one that was left after its first call.
  EXPECT_EQ(calls, (std::vector<std::int64_t>{2, 2, 2, 2, 2, 2, 2, 1, 2}));
  EXPECT_EQ(counters.replays, 8U);
  EXPECT_EQ(count["analysing"], 5);
  EXPECT_EQ(count["task"], 22);
  EXPECT_EQ(colours.size(), 3U);
  EXPECT_NE(colours["analysing"], colours["recording"]);
  EXPECT_NE(colours["analysing"], colours["replaying"]);
  EXPECT_NE(colours["recording"], colours["replaying"]);
}

TEST_P(TraceTimeline, TellsEveryCallThatIsAnalysed) {
  const Task give{"give", [](Read<double> x) { return x[x.domain().bounds().lo]; }};
  const ScratchFile file("timeline.json");
  Options chosen = options();
  chosen.timeline = file.path();
  {
    Runtime runtime(chosen);
    runtime.run([&](Context& ctx) {
      const Trace step{"step"};
      const auto cells = ctx.region(Rect1{0, 3}, state, flux);
      const auto owned = ctx.blocks(cells, 2);
      const auto round = [&] {
        ctx.fill(cells, flux, 1.0);
        ctx.launch(add_one, cells[flux]);
        ctx.copy(cells[flux], cells[state]);
        ctx.reduce(ctx.launch(give, 2, owned[state]), Sum{});
      };
      round();
      for (int t = 0; t < 5; ++t) ctx.trace(step, round);  // recorded once, and replayed
    });
    runtime.write_reports();
  }
  std::map<std::string, int> analysed;
  const JsonFile json(file.text(), "timeline");
  for (const JsonNode& event : json.root().at("traceEvents").as_array()) {
    if (event.at("ph").as_string() == "M") {
      // Recordings begin and end between calls, so that one row shows all.
      const auto name = event.at("args").find("name");
      EXPECT_TRUE(GetParam().seed || !name || !name->as_string().ends_with("(2)"));
    } else if (event.at("cat").as_string() == "analysing") {
      ++analysed[std::string(event.at("args").at("call").as_string())];
      EXPECT_TRUE(
          event.at("args").at("called at").as_string().starts_with("trace_reports_test.cpp:"));
    }
  }
  EXPECT_EQ(analysed, (std::map<std::string, int>{
                          {"fill", 2}, {"add_one", 2}, {"copy", 2}, {"give", 2}, {"reduce", 2}}));
}

}  // namespace
}  // namespace refrain::test::trace_reports_test
