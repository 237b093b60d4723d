// Tasks that launch tasks: on pieces of their arguments, with partitions, regions and futures of their own,
// to some depth, while the program goes on and destroys what it gave.

#include <vector>

#include "api/numbers.hpp"
#include "refrain/refrain.hpp"
#include "support/settings.hpp"

namespace refrain::nested_test {
namespace {

class NestedTasks : public test::InEverySetting {};
REFRAIN_IN_EVERY_SETTING(NestedTasks);

constexpr Field<Coord> other{"other"};

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

constexpr Field<double> real{"real"};

const Task add_real{"add_real", [](Reduce<Sum, double> x, double a) {
                      for (auto p : x.domain()) x[p] += a;
                    }};

// Both arguments have the child's points and its operator: the first in the order of the parameters counts.
TEST_P(NestedTasks, AChildFoldsIntoTheFirstArgumentThatHasItsPoints) {
  const Task parent{"parent", [](Context& ctx, Reduce<Sum, double> a, Reduce<Sum, double> b) {
                      a[7] += 1e16;
                      b[7] += 1;
                      ctx.launch(add_real, b.region()[real], 1.0);
                    }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, real);
    auto halves = ctx.blocks(cells, 2);
    ctx.launch(parent, cells[real], halves(1)[real]);
    ASSERT_NE((1e16 + 1.0) + 1.0, 1e16 + (1.0 + 1.0));
    EXPECT_EQ(ctx.access<Read>(cells[real])[7], (1e16 + 1.0) + 1.0);
    ctx.fill(cells, real, 0.0);
    ctx.launch(parent, halves(1)[real], cells[real]);  // b has points that a has not
    EXPECT_EQ(ctx.access<Read>(cells[real])[7], 1e16 + (1.0 + 1.0));
  });
}

TEST_P(NestedTasks, AChildMayReadWhatItsParentOnlyWrites) {
  const Task parent{"parent", [](Context& ctx, Write<Coord> x) {
                      for (auto p : x.domain()) x[p] = p;
                      const Coord own = ctx.launch(total, x.region()[number]).get();
                      ctx.launch(add, x.region()[number], own);
                      ctx.launch(add, x.region()[number], ctx.launch(total, x.region()[number]));
                    }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 3}, number);
    ctx.fill(cells, number, -1);
    ctx.launch(parent, cells[number]);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], p + 6 + (6 + 4 * 6));
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

// The parent touches its argument again without a fence.
TEST_P(NestedTasks, TheParentWaitsForAFuture) {
  const Task bump{"bump", [](ReadWrite<Coord> x, Coord a) {
                    for (auto p : x.domain()) x[p] += a;
                    return a;
                  }};
  const Task parent{"parent", [&](Context& ctx, ReadWrite<Coord> x) {
                      auto pieces = ctx.blocks(x.region(), 3);
                      const Future<Coord> one = ctx.launch(bump, x.region()[number], 1);
                      EXPECT_EQ(one.get(), 1);
                      x[0] += 10;
                      const FutureMap<Coord> group = ctx.launch(bump, 3, pieces[number], 100);
                      for (std::size_t i = 0; i < group.size(); ++i) EXPECT_EQ(group.get(i), 100);
                      x[0] += 1000;
                      ctx.launch(bump, 3, pieces[number], 10000).wait();
                      ctx.launch(add, 3, pieces[number], 100000);
                      // Reads the whole after what wrote the pieces.
                      EXPECT_EQ(ctx.launch(total, x.region()[number]).get(), 6 * 110101 + 1010);
                      x[0] += 1000000;
                      EXPECT_EQ(ctx.reduce(ctx.launch(total, 3, pieces[number]), Sum{}).get(),
                                6 * 110101 + 1001010);
                      x[0] += 10000000;
                    }};
  run_checked([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 5}, number);
    ctx.launch(parent, cells[number]);
    auto x = ctx.access<Read>(cells[number]);
    EXPECT_EQ(x[0], 11111111);
    for (Coord p = 1; p < 6; ++p) EXPECT_EQ(x[p], 110101);
  });
}

// A child has contributed when its future is there and its turn to be folded has come.
TEST_P(NestedTasks, TheParentWaitsForAReducingChild) {
  const Task give{"give", [](Reduce<Sum, Coord> x, Coord a) {
                    for (auto p : x.domain()) x[p] += a;
                    return a;
                  }};
  const Task parent{"parent", [&](Context& ctx, ReadWrite<Coord> x) {
                      for (Coord i = 1; i <= 50; ++i) {
                        ctx.launch(give, 4, x.region()[number], 1);
                        EXPECT_EQ(ctx.launch(give, x.region()[number], i).get(), i);
                        EXPECT_EQ(x[3], i * (i + 1) / 2 + 5 * i - i);
                        x[3] += 0;
                      }
                    }};
  run_checked([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 5}, number);
    ctx.launch(parent, cells[number]);
    EXPECT_EQ(ctx.access<Read>(cells[number])[5], 51 * 25 + 200);
  });
}

TEST_P(NestedTasks, WhatChildrenDidOnAGpuComesHomeWithTheFuture) {
  const auto body = [](ReadWrite<Coord> x, Coord a) {
    for (auto p : x.domain()) x[p] = 2 * x[p] + a;
    return a;
  };
  const Task on_gpu{"on_gpu", on<ProcessorKind::gpu>(body)};
  const Task parent{"parent", [&](Context& ctx, ReadWrite<Coord> x) {
                      auto halves = ctx.blocks(x.region(), 2);
                      for (Coord i = 0; i < 10; ++i) {
                        ctx.launch(on_gpu, 2, halves[number], i).wait();
                        x[0] += 1;
                        ctx.launch(on_gpu, halves(1)[number], i).wait();
                        x[5] += 1;
                      }
                    }};
  run_checked(options("emulated:cpus=4,gpus=2,framebuffer=64MiB"), [&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 5}, number);
    ctx.launch(parent, cells[number]);
    Coord first = 0, last = 0;
    for (Coord i = 0; i < 10; ++i) {
      first = 2 * first + i + 1;
      last = 2 * (2 * last + i) + i + 1;
    }
    auto x = ctx.access<Read>(cells[number]);
    EXPECT_EQ(x[0], first);
    EXPECT_EQ(x[5], last);
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
  run([&](Context& ctx) {
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

TEST_P(NestedTasks, RegionsMayBeDroppedMeanwhile) {
  const Task parent{"parent", [](Context& ctx, ReadWrite<Coord> x, Partition<1> pieces) {
                      EXPECT_EQ(x.region().domain().volume(), 6 + pieces.pieces());
                      ctx.launch(add, 2, ctx.blocks(x.region(), 2)[number], 1);
                      ctx.launch(add, static_cast<Coord>(pieces.pieces()), pieces[number], 10);
                      EXPECT_EQ(pieces(1).domain().bounds().lo,
                                x.region().domain().bounds().lo + 1);
                    }};
  run([&](Context& ctx) {
    std::vector<Future<Coord>> sums;
    for (Coord i = 0; i < 150; ++i) {
      auto cells = ctx.region(Rect1{i, 2 * i + 7}, number);
      auto blocks = ctx.blocks_of_size(cells, 1);
      std::vector<IndexSpace<1>> some;
      for (Coord p = 0; p < i + 2; ++p) some.emplace_back(Rect1{i + p, i + p});
      auto pieces = ctx.partition(cells, some);
      ctx.launch(parent, cells[number], pieces);
      sums.push_back(ctx.launch(total, cells[number]));
      if (i % 3 != 0) ctx.destroy(blocks);
      ctx.destroy(cells);
    }
    for (Coord i = 0; i < 150; ++i)
      EXPECT_EQ(sums[static_cast<std::size_t>(i)].get(), i + 8 + 10 * (i + 2));
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

struct FloatCell {
  static constexpr Field<double> value{"value"};
};

/// Splits what it contributes to until single points are left; each level adds something itself.
struct Spread {
  void operator()(Context& ctx, Reduce<Sum, double> x, double amount) const;
};
const Task<Spread> spread{"spread", Spread{}};
void Spread::operator()(Context& ctx, Reduce<Sum, double> x, double amount) const {
  const Rect1 all = x.domain().bounds();
  x[all.lo] += amount;
  if (all.volume() == 1) return;
  auto halves = ctx.blocks(x.region(), 2);
  ctx.launch(spread, 2, halves[FloatCell::value], amount / 3);
  ctx.launch(spread, halves(1)[FloatCell::value], amount / 7);
  ctx.fence();
  x[all.hi] += amount * 1e-9;
}

/// The same, plainly: what a launch of `spread` adds to the values of [lo, hi].
void spread_plainly(std::vector<double>& values, Coord lo, Coord hi, double amount) {
  std::vector<double> mine(values.size(), -0.0);
  mine[static_cast<std::size_t>(lo)] += amount;
  if (hi > lo) {
    const Coord middle = lo + (hi - lo + 1) / 2;
    spread_plainly(mine, lo, middle - 1, amount / 3);
    spread_plainly(mine, middle, hi, amount / 3);
    spread_plainly(mine, middle, hi, amount / 7);
    mine[static_cast<std::size_t>(hi)] += amount * 1e-9;
  }
  for (Coord p = lo; p <= hi; ++p)
    values[static_cast<std::size_t>(p)] += mine[static_cast<std::size_t>(p)];
}

TEST_P(NestedTasks, ReducingTasksWithReducingChildren) {
  std::vector<double> expected(23, 0.1);
  for (int i = 0; i < 3; ++i) {
    spread_plainly(expected, 0, 22, 1.0 + i);
    spread_plainly(expected, 0, 22, 0.7);
    spread_plainly(expected, 0, 22, 0.7);
  }
  run_checked([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 22}, FloatCell::value);
    ctx.fill(cells, FloatCell::value, 0.1);
    for (int i = 0; i < 3; ++i) {
      ctx.launch(spread, cells[FloatCell::value], 1.0 + i);
      ctx.launch(spread, 2, cells[FloatCell::value], 0.7);
    }
    auto x = ctx.access<Read>(cells[FloatCell::value]);
    for (Coord p = 0; p < 23; ++p) EXPECT_EQ(x[p], expected[static_cast<std::size_t>(p)]);
  });
}

// Most of a large region is never touched, by parent or child; rows of children begin in the middle of a
// parent's chunk.
TEST_P(NestedTasks, ReducingChildrenOfSparseAndWideArguments) {
  const Task mark{"mark", [](Reduce<Max, Coord, 2> x, Coord a) {
                    std::size_t n = 0;
                    for (auto p : x.domain())
                      if (n++ % 97 == 0) x.reduce(p, a + p[0] * 1000 + p[1]);
                  }};
  const Task parent{"parent", [&](Context& ctx, Reduce<Max, Coord, 2> x) {
                      auto tiles = ctx.blocks(x.region(), {3, 5});
                      ctx.launch(mark, Rect2{{0, 0}, {2, 4}}, tiles[number], 7);
                      ctx.launch(mark, tiles({1, 2})[number], 9);
                    }};
  run([&](Context& ctx) {
    auto plain = ctx.region(Rect2{{-10, 3}, {89, 722}}, number);
    auto nested = ctx.region(Rect2{{-10, 3}, {89, 722}}, number);
    auto tiles = ctx.blocks(plain, {3, 5});
    ctx.launch(mark, Rect2{{0, 0}, {2, 4}}, tiles[number], 7);
    ctx.launch(mark, tiles({1, 2})[number], 9);
    ctx.launch(parent, nested[number]);
    auto x = ctx.access<Read>(plain[number]);
    auto y = ctx.access<Read>(nested[number]);
    for (auto p : x.domain()) ASSERT_EQ(x[p], y[p]);
  });
}

}  // namespace
}  // namespace refrain::nested_test
