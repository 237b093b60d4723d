// Waits that cannot end: the report leads from the waiter to what is held open, and is the same whether the
// operations on the way are analysed or replayed.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/expect_error.hpp"
#include "support/settings.hpp"

namespace refrain::test::deadlock_test {
namespace {

constexpr Field<double> mass{"mass"}, charge{"charge"}, total{"total"};

const Task push{"push", [](ReadWrite<double>) {}};
const Task charge_up{"charge_up", [](Read<double>, ReadWrite<double>) {}};
/// After `charge_up`, and so after `push`: that edge is left out of a replay.
const Task settle{"settle", [](Read<double>, ReadWrite<double>) {}};
const Task add{"add", [](Reduce<Sum, double> into, Read<double>) { into[0] += 1; }};
const Task ask{"ask", [](Read<double>) { return 1.0; }};
const Task look{"look", [](Read<double>, Read<double>) {}};

struct World {
  Context& ctx;
  Region<1> cells;
  const Trace step{"step"};
  Future<double> asked;

  explicit World(Context& context)
      : ctx(context), cells(ctx.region(Rect1{0, 15}, mass, charge, total)) {
    ctx.fill(cells, mass, 0.0);
    ctx.fill(cells, charge, 0.0);
    ctx.fill(cells, total, 0.0);
  }
  void iterate() {
    ctx.trace(step, [&] {
      ctx.launch(push, cells[mass]);
      ctx.launch(charge_up, cells[mass], cells[charge]);
      ctx.launch(settle, cells[charge], cells[mass]);
      ctx.launch(add, cells[total], cells[mass]);
      asked = ctx.launch(ask, cells[total]);
    });
  }
};

struct Case {
  const char* name;
  std::function<void(World&)> wait;
  std::vector<std::string> chain;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"a fence",
       [](World& world) { world.ctx.fence(); },
       {"fence at", "waits for task 'push'", "the inline access 'access'", "which is still open"}},
      {"a value of a replay",
       [](World& world) { (void)world.asked.get(); },
       {"the program waits for task 'ask'", "waits for operation 'fold'", "waits for task 'add'",
        "waits for task 'settle'", "waits for task 'charge_up'", "waits for task 'push'",
        "waits for task 'add'", "waits for task 'settle'", "waits for task 'charge_up'",
        "waits for task 'push'", "waits for the inline access 'access' opened at",
        " with privilege read-write to field 'mass' of region 0, which is still open"}},
      {"what is analysed after replays",
       [](World& world) {
         world.ctx.launch(push, world.cells[charge]);
         (void)world.ctx.launch(ask, world.cells[charge]).get();
       },
       {"the program waits for task 'ask'", "waits for task 'push'", "waits for task 'settle'",
        "waits for task 'charge_up'", "the inline access 'access'", ", which is still open"}},
      {"a replay that was left",
       [](World& world) {
         world.ctx.begin_trace(world.step);
         world.ctx.launch(push, world.cells[mass]);
         world.ctx.launch(charge_up, world.cells[mass], world.cells[charge]);
         world.ctx.end_trace(world.step);
         (void)world.ctx.launch(ask, world.cells[charge]).get();
       },
       {"the program waits for task 'ask'", "waits for task 'charge_up'", "waits for task 'push'",
        "waits for task 'settle'", "the inline access 'access'", ", which is still open"}},
      {"an access that is opened",
       [](World& world) { (void)world.ctx.access<ReadWrite>(world.cells[charge]); },
       {"waits for the inline access 'access' opened at deadlock_test.cpp:",
        " with privilege read-write to field 'charge' of region 0, which waits for task 'settle'",
        "waits for task 'charge_up'", "the inline access 'access' opened at deadlock_test.cpp:",
        " with privilege read-write to field 'mass' of region 0, which is still open"}},
  };
  return all;
}

/// What the program is told whose `wait` comes after `iterations` of the trace that cannot begin.
std::string deadlock(Options options, bool tracing, bool nested, int iterations,
                     const std::function<void(World&)>& wait) {
  options.tracing = tracing;
  Runtime runtime(options);
  std::string text = "no error";
  const auto program = [&](Context& ctx) {
    World world(ctx);
    for (int i = 0; i < 4; ++i) world.iterate();
    const auto held = ctx.access<ReadWrite>(world.cells[mass]);
    for (int i = 0; i < iterations; ++i) world.iterate();
    text = error_of<Deadlock>([&] { wait(world); });
  };
  const Task parent{"parent", [&](Context& ctx) { program(ctx); }};
  runtime.run([&](Context& ctx) {
    if (nested) {
      ctx.launch(parent);
    } else {
      program(ctx);
    }
  });
  // Two at least are replayed before the access is opened, and all after.
  const std::uint64_t least = 2 + static_cast<std::uint64_t>(iterations);
  EXPECT_TRUE(!tracing || runtime.counters().replays >= least);
  expect_usable(runtime);
  return text;
}

class Deadlocks : public InEverySetting {};

TEST_P(Deadlocks, NameTheChainThroughReplays) {
  if (GetParam().window < 100) return;  // the window is full before the program gets to the wait
  for (const Case& each : cases()) {
    for (const bool nested : {false, true}) {
      SCOPED_TRACE(each.name + std::string(nested ? " in a task" : ""));
      const std::string analysed = deadlock(options(), false, nested, 2, each.wait);
      const std::string replayed = deadlock(options(), true, nested, 2, each.wait);
      EXPECT_EQ(replayed, analysed);
      EXPECT_TRUE(nested || mentions(replayed, each.chain));
      EXPECT_NE(replayed.find("deadlock_test.cpp"), std::string::npos);
    }
  }
}

// What a long chain comes to is what matters.
TEST_P(Deadlocks, NameTheEndOfALongChain) {
  if (GetParam().window < 100) return;
  const auto wait = [](World& world) { (void)world.asked.get(); };
  const std::string analysed = deadlock(options(), false, false, 20, wait);
  const std::string replayed = deadlock(options(), true, false, 20, wait);
  EXPECT_EQ(replayed, analysed);
  EXPECT_TRUE(mentions(replayed, {", and so on, up to the inline access 'access' opened at",
                                  ", which is still open"}));
}

REFRAIN_IN_EVERY_SETTING(Deadlocks);

}  // namespace
}  // namespace refrain::test::deadlock_test
