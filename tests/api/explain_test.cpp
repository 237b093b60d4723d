// --refrain:explain: what it says of programs.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "refrain/refrain.hpp"
#include "support/explained.hpp"
#include "support/settings.hpp"

namespace refrain::test::explain_test {
namespace {

constexpr Field<double> state{"state"}, flux{"flux"};

const Task add_one{"add_one", [](ReadWrite<double> x) {
                     for (auto p : x.domain()) x[p] += 1;
                   }};
const Task scale{"scale", [](ReadWrite<double> x, double by) {
                   for (auto p : x.domain()) x[p] *= by;
                 }};

std::int64_t number(const JsonNode& of, const char* key) {
  return of.at(key).as_integer(0, 1 << 30);
}

class Explain : public InEverySetting {};
REFRAIN_IN_EVERY_SETTING(Explain);

TEST_P(Explain, ALoop) {
  const Explained told(options(), [](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 7}, state);
    const auto blocks = ctx.blocks(cells, 4);
    ctx.fill(cells, state, 1.0);
    ctx.launch(scale, cells[state], 0.5);
    for (int t = 0; t < 10; ++t)
      ctx.trace(step, [&] {
        ctx.launch(add_one, 4, blocks[state]);
        if (t == 7) ctx.launch(scale, cells[state], 2.0);
        else ctx.launch(add_one, cells[state]);
      });
  });
  EXPECT_TRUE(mentions(
      told.text,
      {"trace 'step', first begun at explain_test.cpp", "10 executions",
       "up to where: the trace ended there", "not replayed",
       "another call: expected task 'add_one' launched at explain_test.cpp",
       "found task 'scale' launched at explain_test.cpp", "task 'add_one'",
       "it was recorded for the first time", "mapped by 'default'", "argument 0, 'state', in",
       "the mapper's first choice", "task 'scale'", "no trace was open, and none was found"}));
  EXPECT_EQ(number(told.trace(), "replayed") + number(told.trace(), "replayed_in_part") +
                number(told.trace(), "analysed"),
            10);
  EXPECT_EQ(number(told.trace(), "replayed_in_part"), 1);
  EXPECT_GE(number(told.trace(), "replayed"), 7);
  EXPECT_EQ(number(told.task("add_one"), "replayed") + number(told.task("add_one"), "analysed"),
            40 + 9);
  EXPECT_EQ(number(told.task("add_one"), "mapper_asked"), 5);
  EXPECT_EQ(number(told.task("scale"), "analysed"), 2);
}

TEST_P(Explain, TimeWithoutWork) {
  const Task one{"one", [] { return 1; }};
  const Explained told(options(), [&](Context& ctx) {
    for (int i = 0; i < 3; ++i) ctx.launch(one).wait();  // nothing is left to run each time
  });
  const bool alone = options().workers == 0;
  EXPECT_EQ(static_cast<bool>(mentions(told.text, {"No thread ran anything for"})), !alone);
  if (alone) return;
  const JsonNode wait = told.json->root().at("idle");
  EXPECT_GT(number(wait, "in_calls_ns") + number(wait, "between_calls_ns"), 0);
  EXPECT_GE(number(wait, "of_ns"), number(wait, "in_calls_ns") + number(wait, "between_calls_ns"));
}

TEST_P(Explain, NamesThatAreNoUtf8) {
  const Task strange{"caf\xe9\x01", [](ReadWrite<double>) {}};
  const ScratchFile timeline("timeline.json");
  Options chosen = options();
  chosen.timeline = timeline.path();
  const Explained told(chosen, [&](Context& ctx) {
    const Trace step{"\xff\n"};
    const auto cells = ctx.region(Rect1{0, 7}, state);
    for (int t = 0; t < 3; ++t) ctx.trace(step, [&] { ctx.launch(strange, cells[state]); });
  });
  EXPECT_GE(number(told.task("caf\xef\xbf\xbd\x01"), "mapper_asked"), 1);
  EXPECT_EQ(told.trace().at("name").as_string(), "\xef\xbf\xbd\n");
  using Json = nlohmann::json;
  const Json events = Json::parse(timeline.text()).at("traceEvents");  // throws what is no JSON
  EXPECT_TRUE(std::ranges::any_of(
      events, [](const Json& event) { return event.at("name") == "caf\xef\xbf\xbd\x01"; }));
}

TEST_P(Explain, WhatIsWaitedFor) {
  const Explained told(options(), [](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 7}, state, flux);
    ctx.fill(cells, state, 1.0);
    const Task slow{"slow", [](ReadWrite<double> x) {
                      for (int i = 0; i < 20000; ++i)
                        for (auto p : x.domain()) x[p] = 0.5 * x[p] + 1;
                    }};
    for (int t = 0; t < 6; ++t)
      ctx.trace(step, [&] {
        ctx.launch(slow, cells[state]);
        ctx.launch(add_one, cells[state]);
      });
  });
  // Which of the tasks are done before the next is issued depends on the threads: but not with none.
  if (GetParam().workers > 0 || GetParam().seed || GetParam().window < 100) return;
  EXPECT_TRUE(mentions(told.text, {"task 'add_one'", "waited for slow", "times", "task 'slow'"}));
}

struct Asked final : Mapper {
  [[nodiscard]] std::string_view name() const override { return "asked"; }
  void map(const MappingInput&, MappingOutput&) override {}
  [[nodiscard]] bool every_launch() const override { return true; }
};

TEST_P(Explain, NestedTasksAndAMapperThatIsAskedEachTime) {
  Options chosen = options();
  const Task parent{"parent", [](Context& ctx, ReadWrite<double> x) {
                      const Trace inner{"inner"};
                      const auto mine = ctx.region(Rect1{0, 3}, flux);
                      for (int t = 0; t < 4; ++t)
                        ctx.trace(inner, [&] { ctx.launch(add_one, mine[flux]); });
                      ctx.fence();
                      for (auto p : x.domain()) x[p] += 1;
                    }};
  const Explained told(chosen, [&](Context& ctx) {
    const auto cells = ctx.region(Rect1{0, 7}, state);
    ctx.launch(parent, 2, ctx.blocks(cells, 2)[state]);
  });
  EXPECT_TRUE(mentions(told.text, {"task 'add_one'", "task 'parent'"}));
  EXPECT_EQ(number(told.task("add_one"), "replayed") + number(told.task("add_one"), "analysed"), 8);
  EXPECT_GE(number(told.task("add_one"), "replayed"), 4);
}

TEST_P(Explain, WhenTracingIsOff) {
  Options chosen = options();
  chosen.tracing = false;
  const Explained told(chosen, [](Context& ctx) {
    const Trace step{"step"};
    const auto cells = ctx.region(Rect1{0, 7}, state);
    for (int t = 0; t < 3; ++t) ctx.trace(step, [&] { ctx.launch(add_one, cells[state]); });
  });
  EXPECT_TRUE(mentions(told.text, {"task 'add_one'", "--refrain:tracing is off"}));
}

// Two loops of the same task at the same line.
TEST(ExplainFound, NamesTellFoundTracesApart) {
  Options chosen;
  chosen.workers = 0;
  const Explained told(chosen, [](Context& ctx) {
    const auto cells = ctx.region(Rect1{0, 7}, state, flux);
    for (const int pieces : {4, 2}) {
      const auto blocks = ctx.blocks(cells, pieces);
      for (int t = 0; t < 400; ++t) ctx.launch(add_one, pieces, blocks[state]);
    }
  });
  for (const char* name : {"'found 1, from add_one'", "'found 2, from add_one'"})
    EXPECT_NE(told.text.find(name), std::string::npos) << name << " in\n" << told.text;
}

}  // namespace
}  // namespace refrain::test::explain_test
