// Tasks that launch tasks: on pieces of their arguments, with partitions, regions and futures of their own,
// to some depth, while the program goes on and destroys what it gave.

#include <vector>

#include "refrain/refrain.hpp"
#include "support/settings.hpp"

namespace refrain {
namespace {

class NestedTasks : public test::InEverySetting {};
REFRAIN_IN_EVERY_SETTING(NestedTasks);

constexpr Field<Coord> number{"number"};
constexpr Field<Coord> other{"other"};

const Task add{"add", [](ReadWrite<Coord> x, Coord a) {
                 for (auto p : x.domain()) x[p] += a;
               }};
const Task total{"total", [](Read<Coord> x) {
                   Coord sum = 0;
                   for (auto p : x.domain()) sum += x[p];
                   return sum;
                 }};
const Task contribute{"contribute", [](Reduce<Sum, Coord> x, Coord a) {
                        for (auto p : x.domain()) x[p] += a;
                      }};
const Task copy{"copy", [](Read<Coord> x, Write<Coord> y) {
                  for (auto p : x.domain()) y[p] = x[p];
                }};

/// Adds 1 to every point, by splitting down to single points.
struct Divide {
  void operator()(Context& ctx, ReadWrite<Coord> x) const;
};
const Task<Divide> divide{"divide", Divide{}};
void Divide::operator()(Context& ctx, ReadWrite<Coord> x) const {
  if (x.domain().volume() <= 2) {
    for (auto p : x.domain()) x[p] += 1;
    return;
  }
  auto halves = ctx.blocks(x.region(), 2);
  ctx.launch(divide, 2, halves[number]);
}

TEST_P(NestedTasks, DivideAndConquer) {
  run([](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 31}, number);
    for (int i = 0; i < 3; ++i) ctx.launch(divide, cells[number]);
    ctx.launch(divide, 4, ctx.blocks(cells, 4)[number]);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], 4);
  });
}

TEST_P(NestedTasks, TheParentSeesWhatItsChildrenDid) {
  const Task parent{"parent", [](Context& ctx, ReadWrite<Coord> x) {
                      for (auto p : x.domain()) x[p] = 10;
                      auto pieces = ctx.blocks(x.region(), 3);
                      ctx.launch(add, 3, pieces[number], 5);
                      const Future<Coord> sum = ctx.launch(total, x.region()[number]);
                      const Coord before = sum.get();
                      ctx.fence();
                      for (auto p : x.domain()) x[p] += before;
                      ctx.launch(add, x.region()[number], 1);
                    }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 5}, number);
    ctx.launch(parent, cells[number]);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], 15 + 90 + 1);
  });
}

TEST_P(NestedTasks, RegionsOfTheirOwn) {
  const Task parent{"parent", [](Context& ctx, ReadWrite<Coord> x, Coord rounds) {
                      Coord sum = 0;
                      for (Coord i = 0; i < rounds; ++i) {
                        auto mine = ctx.region(Rect1{0, 9}, other);
                        auto pieces = ctx.blocks(mine, 2);
                        ctx.launch(add, 2, pieces[other], i);
                        ctx.launch(contribute, mine[other], 1);
                        sum += ctx.launch(total, mine[other]).get();
                        if (i % 2 == 0) ctx.destroy(mine);
                      }
                      x[x.domain().bounds().lo] = sum;
                    }};
  Runtime runtime(options());
  runtime.run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 3}, number);
    ctx.launch(parent, 4, ctx.blocks(cells, 4)[number], 6);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], 10 * (15 + 6));
  });
}

TEST_P(NestedTasks, FillsCopiesAndAccessesInside) {
  const Task parent{"parent", [](Context& ctx, ReadWrite<Coord> x, Read<Coord> y, Write<Coord> z) {
                      ctx.fill(x.region(), number, 7);
                      ctx.copy(y.region()[other], z.region()[number]);
                      auto local = ctx.region(Rect1{0, 9}, other);
                      ctx.copy(y.region()[other], local[other]);
                      ctx.launch(add, local[other], 100);
                      Coord sum = 0;
                      {
                        auto a = ctx.access<Read>(local[other]);
                        for (auto p : a.domain()) sum += a[p];
                        auto b = ctx.access<ReadWrite>(x.region()[number]);
                        for (auto p : b.domain()) b[p] += 1;
                      }
                      ctx.fence();
                      x[0] += sum;
                    }};
  run([&](Context& ctx) {
    auto a = ctx.region(Rect1{0, 9}, number, other);
    auto b = ctx.region(Rect1{0, 9}, number);
    ctx.fill(a, other, 2);
    ctx.launch(parent, a[number], a[other], b[number]);
    auto x = ctx.access<Read>(a[number]);
    EXPECT_EQ(x[0], 8 + 1020);
    EXPECT_EQ(x[9], 8);
    EXPECT_EQ(ctx.access<Read>(b[number])[9], 2);
  });
}

TEST_P(NestedTasks, OfGroupsAtOnce) {
  const Task parent{"parent", [](Context& ctx, ReadWrite<Coord> x, Read<Coord> ghost, Point<1> at) {
                      const Coord seen = ctx.launch(total, ghost.region()[other]).get();
                      auto pieces = ctx.blocks(x.region(), 2);
                      for (int i = 0; i < 4; ++i) ctx.launch(add, 2, pieces[number], seen + at);
                    }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 39}, number, other);
    ctx.fill(cells, other, 1);
    auto owned = ctx.blocks(cells, 8);
    auto ghost = ctx.halo(owned, 1);
    for (int i = 0; i < 3; ++i) ctx.launch(parent, 8, owned[number], ghost[other]);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) {
      const Coord at = p / 5;
      EXPECT_EQ(x[p], 12 * ((at == 0 || at == 7 ? 6 : 7) + at));
    }
  });
}

TEST_P(NestedTasks, WhatTheyWereGivenMayBeDestroyedMeanwhile) {
  const Task parent{"parent",
                    [](Context& ctx, ReadWrite<Coord> x, Write<Coord> y, Partition<1> pieces) {
                      EXPECT_EQ(x.region().domain().volume(), 8u);
                      auto halves = ctx.blocks(x.region(), 2);
                      ctx.launch(add, 2, halves[number], 1);
                      ctx.launch(add, 4, pieces[number], 10);
                      ctx.launch(add, pieces(3)[number], 100);
                      EXPECT_EQ(pieces.pieces(), 4u);
                      ctx.launch(copy, x.region()[number], y.region()[other]);
                    }};
  run([&](Context& ctx) {
    auto results = ctx.region(Rect1{0, 7}, other);
    for (Coord i = 0; i < 20; ++i) {
      auto cells = ctx.region(Rect1{0, 7}, number);
      auto pieces = ctx.blocks(cells, 4);
      ctx.fill(cells, number, i);
      ctx.launch(parent, cells[number], results[other], pieces);
      if (i % 2 == 0) ctx.destroy(pieces);
      ctx.destroy(cells);
      if (i % 5 != 0) continue;
      auto x = ctx.access<Read>(results[other]);
      for (auto p : x.domain()) EXPECT_EQ(x[p], i + 11 + (p > 5 ? 100 : 0));
    }
  });
}

TEST_P(NestedTasks, PartitionsMayBeDroppedMeanwhile) {
  const Task parent{"parent", [](Context& ctx, ReadWrite<Coord> x) {
                      auto halves = ctx.blocks(x.region(), 2);
                      for (int i = 0; i < 3; ++i) ctx.launch(add, 2, halves[number], 1);
                    }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 99}, number);
    for (int i = 0; i < 120; ++i) {
      auto blocks = ctx.blocks(cells, 2 + i);
      ctx.launch(parent, 2 + i, blocks[number]);
      ctx.destroy(blocks);
    }
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], 360);
  });
}

TEST_P(NestedTasks, ReductionsInside) {
  const Task parent{"parent", [](Context& ctx, ReadWrite<Coord> x) {
                      auto halves = ctx.blocks(x.region(), 2);
                      ctx.launch(contribute, 6, x.region()[number], 1);
                      ctx.launch(contribute, 2, halves[number], 10);
                    }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    for (int i = 0; i < 4; ++i) {
      ctx.launch(parent, cells[number]);
      ctx.launch(contribute, cells[number], 100);
    }
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], 4 * 116);
  });
}

}  // namespace
}  // namespace refrain
