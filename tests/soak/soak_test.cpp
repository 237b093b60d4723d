// Programs that go on and on: what they make and end must not add up. A million launches in full, fewer
// where REFRAIN_TEST_SECONDS bounds the tests.

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>

#include "refrain/error.hpp"
#include "refrain/refrain.hpp"
#include "support/memory_taken.hpp"
#include "support/test_budget.hpp"

namespace refrain {
namespace {

constexpr Field<Coord> number{"number"};

const Task add{"add", [](ReadWrite<Coord> x) {
                 for (auto p : x.domain()) x[p] += 1;
               }};
const Task contribute{"contribute", [](Reduce<Sum, Coord> x) { x[x.domain().bounds().lo] += 1; }};
const Task first{"first", [](Read<Coord> x) { return x[x.domain().bounds().lo]; }};
const Task fail{"fail", [](ReadWrite<Coord>) { throw std::runtime_error("again"); }};
const Task parent{"parent", [](Context& ctx, ReadWrite<Coord> x) {
                    auto halves = ctx.blocks(x.region(), 2);
                    ctx.launch(add, 2, halves[number]);
                    auto mine = ctx.region(Rect1{0, 3}, number);
                    ctx.launch(add, mine[number]);
                  }};

/// Repeats `round`, `launches` launches each time, until a million. When a tenth is done nothing may grow
/// any more, by more than 8 MiB.
template <class Round>
void repeat(const char* machine, std::uint64_t launches, Round&& round) {
  Options options;
  options.machine = machine;
  options.workers = 1;
  Runtime runtime(options);
  const std::uint64_t rounds = 1'000'000 / launches;
  const std::uint64_t warm = rounds / 10 + 1;
  runtime.run([&](Context& ctx) {
    std::uint64_t done = 0;
    long settled = 0;
    for (test::TestBudget budget(rounds, warm + 1); budget.more(); budget.next()) {
      round(ctx, budget.seed());
      if (++done != warm) continue;
      ctx.fence();
      settled = test::resident();
    }
    ctx.fence();
    EXPECT_LE(test::resident(), settled + 8 * 1024) << "after " << done << " rounds";
    EXPECT_LE(runtime.counters().regions_alive, 1u);
    EXPECT_LE(runtime.counters().instances_alive, 8u);
    EXPECT_EQ(runtime.counters().nodes_alive, 0u);
  });
  EXPECT_EQ(runtime.counters().regions_alive, 0u);
  EXPECT_EQ(runtime.counters().instances_alive, 0u);
}

TEST(Soak, RegionsThatComeAndGo) {
  repeat("emulated:cpus=2", 10, [](Context& ctx, std::uint64_t) {
    auto cells = ctx.region(Rect1{0, 15}, number);
    auto blocks = ctx.blocks(cells, 4);
    for (int i = 0; i < 8; ++i) ctx.launch(add, 4, blocks[number]);
    ctx.launch(contribute, cells[number]);
    (void)ctx.launch(first, cells[number]);
    ctx.destroy(cells);
  });
}

TEST(Soak, RegionsOfEverOtherShapes) {
  repeat("emulated:cpus=2", 10, [](Context& ctx, std::uint64_t round) {
    const auto low = static_cast<Coord>(round);
    auto cells = ctx.region(Rect1{low, low + 15}, number);
    auto blocks = ctx.blocks(cells, 4);
    for (int i = 0; i < 8; ++i) ctx.launch(add, 4, blocks[number]);
    ctx.launch(contribute, cells[number]);
    EXPECT_EQ(ctx.launch(first, cells[number]).get(), 9);
    ctx.destroy(cells);
  });
}

TEST(Soak, PartitionsThatComeAndGo) {
  Region<1> cells;
  repeat("emulated:cpus=2", 10, [&](Context& ctx, std::uint64_t round) {
    if (round == 1) cells = ctx.region(Rect1{0, 999}, number);
    auto blocks = ctx.blocks(cells, static_cast<Coord>(5 + round % 300));
    for (int i = 0; i < 10; ++i)
      ctx.launch(add, 4, blocks.at(shift(static_cast<Coord>(round % 2)))[number]);
    ctx.destroy(blocks);
  });
}

TEST(Soak, NestedTasks) {
  Region<1> cells;
  repeat("emulated:cpus=2", 120, [&](Context& ctx, std::uint64_t round) {
    if (round == 1) cells = ctx.region(Rect1{0, 31}, number);
    auto blocks = ctx.blocks(cells, 4);
    for (int i = 0; i < 10; ++i) ctx.launch(parent, 4, blocks[number]);
    ctx.destroy(blocks);
  });
}

TEST(Soak, Failures) {
  Region<1> cells;
  repeat("emulated:cpus=2", 20, [&](Context& ctx, std::uint64_t round) {
    if (round == 1) cells = ctx.region(Rect1{0, 31}, number);
    ctx.fill(cells, number, 0);
    ctx.launch(fail, cells[number]);
    for (int i = 0; i < 19; ++i) ctx.launch(add, cells[number]);
    EXPECT_THROW(ctx.fence(), TaskFailed);
  });
}

TEST(Soak, AFramebufferThatIsTooSmall) {
  const Task gpu{"gpu", on<ProcessorKind::gpu>([](ReadWrite<Coord> x) {
                   for (auto p : x.domain()) x[p] += 1;
                 })};
  Region<1> cells;
  repeat("emulated:cpus=2,gpus=1,framebuffer=4KiB", 100, [&](Context& ctx, std::uint64_t round) {
    if (round == 1) cells = ctx.region(Rect1{0, 1023}, number);
    auto eighths = ctx.blocks(cells, 8), halves = ctx.blocks(cells, 2);
    ctx.launch(gpu, 8, eighths[number]);
    for (int i = 0; i < 99; ++i) ctx.launch(add, 2, halves[number]);
    ctx.destroy(eighths);
    ctx.destroy(halves);
  });
}

}  // namespace
}  // namespace refrain
