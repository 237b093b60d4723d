// Programs that are opened and closed: what runs in between is what Runtime::run would run.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

#include "refrain/error.hpp"
#include "refrain/refrain.hpp"
#include "support/settings.hpp"

namespace refrain::open_test {
namespace {

class OpenPrograms : public test::InEverySetting {};
REFRAIN_IN_EVERY_SETTING(OpenPrograms);

constexpr Field<Coord> number{"number"};

const Task add{"add", [](ReadWrite<Coord> x, Coord a) {
                 for (auto p : x.domain()) x[p] += a;
               }};
const Task last{"last", [](Read<Coord> x) { return x[x.domain().bounds().hi]; }};
const Task parent{"parent", [](Context& ctx, ReadWrite<Coord> x) {
                    auto inner = ctx.region(Rect1{0, 0}, number);
                    ctx.fill(inner, number, 1);
                    x[0] += ctx.launch(last, inner[number]).get();
                  }};

TEST_P(OpenPrograms, AreProgramsLikeOthers) {
  for (const bool check : {false, true}) {
    Options chosen = options();
    chosen.check = check;
    Runtime runtime(chosen);
    for (int again = 0; again < 3; ++again) {
      OpenProgram program = runtime.open();
      Context& ctx = program.context();
      auto cells = ctx.region(Rect1{0, 15}, number);
      auto blocks = ctx.blocks(cells, 4);
      const Trace step{"step"};
      for (Coord i = 0; i < 20; ++i)
        ctx.trace(step, [&] { ctx.launch(add, 4, blocks[number], i); });
      EXPECT_EQ(ctx.launch(last, cells[number]).get(), 190);
      ctx.launch(parent, blocks(0)[number]);
      EXPECT_EQ(ctx.access<Read>(cells[number])[0], 191);
      EXPECT_EQ(runtime.counters().regions_alive, 1u);
      program.close();
      EXPECT_EQ(runtime.counters().regions_alive, 0u);
      runtime.run([](Context& other) { other.region(Rect1{0, 3}, number); });
    }
    EXPECT_EQ(runtime.counters().launches, 3u * 23u);
  }
}

TEST_P(OpenPrograms, CloseWaitsAndThrowsWhatNobodyHasSeen) {
  Runtime runtime(options());
  std::atomic<int> runs{0};
  const Task fails{"fails", [&] {
                     ++runs;
                     throw std::runtime_error("no luck");
                   }};
  OpenProgram program = runtime.open();
  for (int i = 0; i < 5; ++i) program.context().launch(fails);
  EXPECT_THROW(program.close(), TaskFailed);
  EXPECT_EQ(runs, 5);
  EXPECT_THROW(program.close(), UsageError);  // it is closed all the same
  OpenProgram second = runtime.open();
  second.context().launch(fails);
  EXPECT_THROW(second.context().fence(), TaskFailed);
  second.close();
}

TEST_P(OpenPrograms, WhatIsNotClosedIsAbandoned) {
  Runtime runtime(options());
  std::atomic<int> runs{0};
  const Task counts{"counts", [&](ReadWrite<Coord>) {
                      ++runs;
                      throw std::runtime_error("nobody is told");
                    }};
  try {
    const OpenProgram program = runtime.open();
    auto cells = program.context().region(Rect1{0, 3}, number);
    program.context().launch(counts, cells[number]);
    throw std::out_of_range("mine");
  } catch (const std::out_of_range&) {}
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(runtime.counters().instances_alive, 0u);
  runtime.open().close();
}

TEST_P(OpenPrograms, MayBeMovedAndOutliveTheRuntime) {
  std::optional<OpenProgram> kept;
  {
    Runtime runtime(options());
    OpenProgram program = runtime.open();
    kept.emplace(std::move(program));
  }
  Context& ctx = kept->context();
  auto cells = ctx.region(Rect1{0, 3}, number);
  ctx.launch(add, cells[number], Coord{5});
  EXPECT_EQ(ctx.access<Read>(cells[number])[3], 5);
  kept->close();
}

TEST_P(OpenPrograms, OneOnEachOfSeveralThreads) {
  const auto go = [this] {
    Runtime runtime(options());
    OpenProgram program = runtime.open();
    auto cells = program.context().region(Rect1{0, 3}, number);
    for (int i = 0; i < 10; ++i) program.context().launch(add, cells[number], Coord{i});
    EXPECT_EQ(program.context().access<Read>(cells[number])[3], 45);
    program.close();
  };
  std::thread one(go), two(go);
  go();
  one.join();
  two.join();
}

}  // namespace
}  // namespace refrain::open_test
