// Runtime and refrain::run: several times in a process, one after the other, side by side, with flags.

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "refrain/error.hpp"
#include "refrain/refrain.hpp"
#include "runtime/runtime_impl.hpp"
#include "support/arguments.hpp"
#include "support/settings.hpp"

namespace refrain::runtime_test {
namespace {

class Runtimes : public test::InEverySetting {};
REFRAIN_IN_EVERY_SETTING(Runtimes);

constexpr Field<Coord> number{"number"};

const Task add{"add", [](ReadWrite<Coord> x, Coord a) {
                 for (auto p : x.domain()) x[p] += a;
               }};

Coord work(Context& ctx, Coord rounds) {
  auto cells = ctx.region(Rect1{0, 15}, number);
  auto blocks = ctx.blocks(cells, 4);
  for (Coord i = 0; i < rounds; ++i) ctx.launch(add, 4, blocks[number], i);
  return ctx.access<Read>(cells[number])[15];
}

TEST_P(Runtimes, SeveralRunsOfOne) {
  Runtime runtime(options());
  for (Coord i = 1; i < 6; ++i) {
    Coord found = -1;
    runtime.run([&](Context& ctx) { found = work(ctx, i); });
    EXPECT_EQ(found, i * (i - 1) / 2);
  }
  EXPECT_EQ(runtime.counters().launches, 15u);
  EXPECT_EQ(runtime.counters().tasks, 60u);
}

TEST(Runtime, TheWindowIsTheOneAskedFor) {
  for (const std::size_t asked : {1u, 7u, 1'000'000'000u}) {
    Options options;
    options.workers = 0;
    options.window = asked;
    Runtime runtime(options);
    EXPECT_EQ(runtime.impl().window(), asked);
  }
}

TEST_P(Runtimes, OneAfterTheOther) {
  for (int i = 0; i < 3; ++i) {
    Runtime runtime(options());
    runtime.run([](Context& ctx) { EXPECT_EQ(work(ctx, 10), 45); });
  }
}

// Has several threads also where each runtime has one.
TEST(RuntimesOfOneProcess, SideBySide) {
  for (const auto& setting : test::all_settings()) {
    const auto go = [&] {
      Runtime runtime(setting.options());
      for (int i = 0; i < 3; ++i) runtime.run([](Context& ctx) { EXPECT_EQ(work(ctx, 10), 45); });
    };
    std::thread one(go), two(go);
    go();
    one.join();
    two.join();
  }
}

TEST_P(Runtimes, InsideATaskOfAnother) {
  const Task host{"host", [this](ReadWrite<Coord> x) {
                    Runtime inner(options());
                    inner.run([&](Context& ctx) { x[0] = work(ctx, 5); });
                  }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 0}, number);
    for (int i = 0; i < 3; ++i) ctx.launch(host, cells[number]);
    EXPECT_EQ(ctx.access<Read>(cells[number])[0], 10);
    EXPECT_EQ(work(ctx, 3), 3);
  });
}

TEST_P(Runtimes, AnExceptionOfTheProgramPassesThrough) {
  Runtime runtime(options());
  std::atomic<int> runs{0};
  const Task slow{"slow", [&](ReadWrite<Coord> x) {
                    ++runs;
                    x[0] += 1;
                  }};
  EXPECT_THROW(runtime.run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 0}, number);
    for (int i = 0; i < 20; ++i) ctx.launch(slow, cells[number]);
    const auto open = ctx.access<Read>(cells[number]);
    ctx.launch(slow, cells[number]);
    throw std::out_of_range("mine");
  }),
               std::out_of_range);
  EXPECT_EQ(runs, 21);  // what was launched has finished
  runtime.run([](Context& ctx) { EXPECT_EQ(work(ctx, 4), 6); });
  EXPECT_EQ(runtime.counters().instances_alive, 0u);
}

TEST(RefrainRun, TakesItsFlagsAndLeavesTheRest) {
  test::Arguments args{"--refrain:workers=0", "mine", "--refrain:window", "16", "--verbose"};
  bool ran = false;
  EXPECT_EQ(refrain::run(args.count, args.values(),
                         [&](Context& ctx) {
                           ran = true;
                           EXPECT_EQ(work(ctx, 10), 45);
                         }),
            0);
  EXPECT_TRUE(ran);
  EXPECT_EQ(args.left(), (std::vector<std::string>{"mine", "--verbose"}));
}

TEST(RefrainRun, TheExitStatusTellsOfErrors) {
  const Task fails{"fails", [] { throw std::runtime_error("no luck"); }};
  const auto status = [](std::initializer_list<const char*> words, auto program) {
    test::Arguments args(words);
    testing::internal::CaptureStderr();
    const int result = refrain::run(args.count, args.values(), program);
    return std::to_string(result) + " " + testing::internal::GetCapturedStderr();
  };
  EXPECT_TRUE(test::mentions(
      status({}, [&](Context& ctx) { ctx.launch(fails); }),
      {"1 refrain: task 'fails' launched at runtime_test.cpp:", " failed: no luck"}));
  EXPECT_EQ(status({}, [](Context&) { throw std::runtime_error("mine"); }), "1 refrain: mine\n");
  EXPECT_TRUE(test::mentions(status({"--refrain:worker=1"}, [](Context&) { FAIL(); }),
                             {"1 refrain: argv: unknown flag '--refrain:worker'"}));
  EXPECT_TRUE(test::mentions(status({"--refrain:machine=/nowhere.json"}, [](Context&) { FAIL(); }),
                             {"1 refrain: ", "/nowhere.json"}));
}

TEST(RefrainRun, HelpRunsNothing) {
  test::Arguments args{"--refrain:help"};
  testing::internal::CaptureStdout();
  EXPECT_EQ(refrain::run(args.count, args.values(), [](Context&) { FAIL(); }), 0);
  EXPECT_TRUE(test::mentions(testing::internal::GetCapturedStdout(),
                             {"--refrain:workers", "--refrain:graph"}));
}

TEST(RefrainRun, SchedulesAreTheSameEveryTime) {
  const auto order_of = [](std::uint64_t seed) {
    std::vector<Coord> order;
    const Task note{"note", [&](Point<1> p) { order.push_back(p); }};
    Options options;
    options.machine = "emulated:cpus=2";
    options.schedule = seed;
    Runtime(options).run([&](Context& ctx) {
      ctx.launch(note, 20);
      ctx.launch(note, 20);
    });
    return order;
  };
  bool differ = false;
  for (std::uint64_t seed = 1; seed < 10; ++seed) {
    EXPECT_EQ(order_of(seed), order_of(seed));
    differ = differ || order_of(seed) != order_of(seed + 1);
  }
  EXPECT_TRUE(differ);
}

}  // namespace
}  // namespace refrain::runtime_test
