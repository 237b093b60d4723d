// The programs in docs/programming.md: launches, futures, reductions, children of tasks.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "refrain/error.hpp"
#include "refrain/refrain.hpp"

namespace refrain::launch_test {
namespace {

struct Cell {
  static constexpr Field<double> value{"value"}, next{"next"};
};
struct Bin {
  static constexpr Field<std::uint32_t> seen{"seen"};
};

void run(const std::function<void(Context&)>& program, const std::string& machine = {}) {
  Options options;
  options.workers = 2;
  options.machine = machine;
  Runtime(options).run(program);
}

const Task scale{"scale", [](ReadWrite<double> x, double factor) {
  for (auto p : x.domain()) x[p] *= factor;
}};
const Task copy_in{"copy_in", [](Write<double> to, Read<double> from) {
  const Coord shift = from.domain().bounds().lo - to.domain().bounds().lo;
  for (auto p : to.domain()) to[p] = from[p + shift];
}};

TEST(DocsLaunch, DomainsAndProjections) {
  run([](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 79}, Cell::value, Cell::next);
    auto blocks = ctx.blocks(cells, 8);
    ctx.fill(cells, Cell::value, 1.0);
    ctx.launch(scale, cells[Cell::value], 2.0);            // once, on the whole region
    ctx.launch(scale, blocks(3)[Cell::value], 2.0);        // once, on one piece
    ctx.launch(scale, 8, blocks[Cell::value], 2.0);        // eight points, a piece each
    ctx.launch(scale, Rect1{4, 7}, blocks[Cell::value], 2.0);  // points 4 .. 7
    const IndexSpace<1> some(std::vector<Point1>{0, 2, 5});
    ctx.launch(scale, some, blocks[Cell::value], 2.0);     // three points

    // Point p writes piece p and reads piece p + 1.
    ctx.launch(copy_in, 7, blocks[Cell::next], blocks.at(shift(1))[Cell::value]);

    auto value = ctx.access<Read>(cells[Cell::value]);
    EXPECT_EQ(value[0], 8);
    EXPECT_EQ(value[30], 8);
    EXPECT_EQ(value[50], 16);
    auto next = ctx.access<Read>(cells[Cell::next]);
    EXPECT_EQ(next[20], value[30]);
  });
}

TEST(DocsLaunch, SeveralFields) {
  run([](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 79}, Cell::value, Cell::next);
    auto blocks = ctx.blocks(cells, 8);
    ctx.fill(cells, Cell::value, 2.0);
    const Task advance{"advance", [](Fields<Write<double>, Read<double>> piece, double dt) {
      const auto& [next, value] = piece;
      for (auto p : next.domain()) next[p] = value[p] * (1 + dt);
    }};
    ctx.launch(advance, 8, blocks[fields(Cell::next, Cell::value)], 0.1);
    EXPECT_EQ(ctx.access<Read>(cells[Cell::next])[42], 2.0 * 1.1);
  });
}

TEST(DocsLaunch, ListsOfFields) {
  run([](Context& ctx) {
    const int number = 12;
    std::vector<Field<double>> species;
    for (int k = 0; k < number; ++k) species.emplace_back("species " + std::to_string(k));
    auto cells = ctx.region(Rect1{0, 79}, Cell::value, species);
    auto blocks = ctx.blocks(cells, 8);
    const Task react{"react", [](FieldList<ReadWrite<double>> species, Read<double> heat) {
      for (const auto x : species)
        for (auto p : x.domain()) x[p] += heat[p];
    }};
    ctx.fill(cells, Cell::value, 0.5);
    ctx.launch(react, 8, blocks[species], blocks[Cell::value]);
    EXPECT_EQ(ctx.access<Read>(cells[species[11]])[42], 0.5);
  });
}

TEST(DocsLaunch, PureProjections) {
  run([](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 79}, Cell::value, Cell::next);
    auto blocks = ctx.blocks(cells, 8);
    ctx.launch(scale, 8, blocks[Cell::value], 0.0);
    // The neighbour on a ring of `key` pieces. Name and key are its identity.
    const auto ring = Projection::function(
        "ring", [](const Point<3>& p, std::uint64_t key) {
          return Point<3>{(p[0] + 1) % static_cast<Coord>(key), 0, 0};
        }, 8);
    ctx.launch(copy_in, 8, blocks[Cell::next], blocks.at(ring)[Cell::value]);
    EXPECT_EQ(ctx.access<Read>(cells[Cell::next])[75], 0);
  });
}

TEST(DocsLaunch, RandomNumbers) {
  run([](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 79}, Cell::value, Cell::next);
    auto blocks = ctx.blocks(cells, 8);
    const std::uint64_t seed = 42, step = 3;
    const Task scatter{"scatter", [](Write<double> x, RandomStream numbers) {
      for (auto p : x.domain()) x[p] = numbers.uniform(p, -1, 1);
    }};
    ctx.launch(scatter, 8, blocks[Cell::value], RandomStream(seed, step));
    auto value = ctx.access<Read>(cells[Cell::value]);
    EXPECT_EQ(value[33], RandomStream(42, 3).uniform(33, -1, 1));
  });
}

TEST(DocsLaunch, ByValueArguments) {
  run([](Context& ctx) {
    const Task label{"label", [](Point<1> at, const std::string& name, int size) {
      return name + std::to_string(at[0]) + ":" + std::to_string(size);
    }};
    auto labels = ctx.launch(label, 3, "tile ", per_point([](Point<1> p) { return 10 * int(p); }));
    EXPECT_EQ(labels.get(2), "tile 2:20");
  });
}

TEST(DocsLaunch, FuturesOfGroups) {
  run([](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 79}, Cell::value);
    auto blocks = ctx.blocks(cells, 8);
    ctx.fill(cells, Cell::value, 0.5);
    const Task sum{"sum", [](Read<double> x) {
      double total = 0;
      for (auto p : x.domain()) total += x[p];
      return total;
    }};
    FutureMap<double> parts = ctx.launch(sum, 8, blocks[Cell::value]);
    Future<double> total = ctx.reduce(parts, Sum{});
    ctx.launch(scale, 8, blocks[Cell::value], total);      // waits for nothing: the tasks do
    EXPECT_EQ(parts.get(7), 5.0);                          // position 7 of the launch domain
    EXPECT_EQ(total.get(), 40.0);
    EXPECT_TRUE(total.ready());
    EXPECT_EQ(ctx.access<Read>(cells[Cell::value])[0], 20.0);
  });
}

struct BitOr {
  static constexpr std::string_view name = "|";
  template <class T>
  static constexpr T identity() { return T{0}; }
  template <class T>
  static constexpr T fold(T a, T b) { return a | b; }  // fold(x, identity()) is x, bit for bit
};

TEST(DocsLaunch, Reductions) {
  run([](Context& ctx) {
    auto bins = ctx.region(Rect1{0, 3}, Bin::seen);
    const Task mark{"mark", [](Point<1> p, Reduce<BitOr, std::uint32_t> seen) {
      seen.reduce(p % 4, 1u << p);
    }};
    ctx.launch(mark, 8, bins[Bin::seen]);  // all points reduce into the same region
    auto seen = ctx.access<Read>(bins[Bin::seen]);
    EXPECT_EQ(seen[1], 1u << 1 | 1u << 5);
  });
}

TEST(DocsLaunch, RelaxedReductions) {
  run([](Context& ctx) {
    auto bins = ctx.region(Rect1{0, 3}, Bin::seen);
    const Task mark{"mark", [](Point<1> p, Reduce<BitOr, std::uint32_t> seen) {
      seen.reduce(p % 4, 1u << p);
    }};
    ctx.launch(mark, 8, bins[Bin::seen].relaxed());  // bits are set in any order
    auto seen = ctx.access<Read>(bins[Bin::seen]);
    EXPECT_EQ(seen[3], 1u << 3 | 1u << 7);
  });
}

const Task fill_half{"fill_half", [](Write<double> x, double with) {
  for (auto p : x.domain()) x[p] = with;
}};

TEST(DocsLaunch, Children) {
  const Task parent{"parent", [](ReadWrite<double> x, Context& ctx) {
    auto halves = ctx.blocks(x.region(), 2);
    ctx.launch(fill_half, halves(0)[Cell::value], 1.0);
    ctx.launch(fill_half, halves(1)[Cell::value], 2.0);
    ctx.fence();  // from here on x may be touched again
    x[x.domain().bounds().lo] += 10;
  }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 79}, Cell::value);
    ctx.launch(parent, 8, ctx.blocks(cells, 8)[Cell::value]);
    auto value = ctx.access<Read>(cells[Cell::value]);
    EXPECT_EQ(value[10], 11);
    EXPECT_EQ(value[19], 2);
  });
}

TEST(DocsLaunch, NoMoreThanTheParentHas) {
  const Task greedy{"greedy", [](Read<double> x, Context& ctx) {
    ctx.launch(scale, x.region()[Cell::value], 2.0);
  }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 79}, Cell::value);
    ctx.launch(greedy, cells[Cell::value]);
    EXPECT_THROW(ctx.fence(), TaskFailed);
  });
}

TEST(DocsLaunch, VariantsAndGangs) {
  const Task work{"work",
                  on<ProcessorKind::cpu>([](ReadWrite<double> x) { x[x.domain().bounds().lo] += 1; }),
                  on<ProcessorKind::gpu>([](ReadWrite<double> x) { x[x.domain().bounds().lo] += 1; })};
  const Task many{"many", [](ReadWrite<double> x, Gang& gang) {
    const Rect1 all = x.domain().bounds();
    gang.parallel_for(static_cast<std::int64_t>(all.volume()), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) x[all.lo + i] = std::sqrt(x[all.lo + i]);
    });
  }};
  run(
      [&](Context& ctx) {
        auto cells = ctx.region(Rect1{0, 79}, Cell::value);
        ctx.launch(work, 8, ctx.blocks(cells, 8)[Cell::value]);
        ctx.launch(many, cells[Cell::value]);
        EXPECT_EQ(ctx.access<Read>(cells[Cell::value])[70], 1);
      },
      "emulated:gpus=2,framebuffer=64MiB");
}

TEST(DocsLaunch, Traces) {
  run([](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 79}, Cell::value, Cell::next);
    auto blocks = ctx.blocks(cells, 8);
    ctx.fill(cells, Cell::value, 1024.0);
    const Trace step{"step"};
    for (int t = 0; t < 10; ++t)
      ctx.trace(step, [&] {
        ctx.launch(scale, 8, blocks[Cell::value], 0.5);
        ctx.launch(copy_in, 8, blocks[Cell::next], blocks[Cell::value]);
      });
    EXPECT_EQ(ctx.access<Read>(cells[Cell::next])[7], 1.0);
  });
}

TEST(DocsLaunch, Hints) {
  run([](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 79}, Cell::value);
    ctx.launch(scale.with({.priority = 10}), cells[Cell::value], 2.0);  // before others that are ready
    ctx.launch(scale.with({.inline_if_ready = true}), cells[Cell::value], 2.0);
    ctx.fence();
  });
}

}  // namespace
}  // namespace refrain::launch_test
