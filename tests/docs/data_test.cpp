// The programs in docs/programming.md: regions, partitions, and the program's own use of data.

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "refrain/error.hpp"
#include "refrain/refrain.hpp"

namespace refrain::data_test {
namespace {

struct Cell {
  static constexpr Field<double> mass{"mass"}, heat{"heat"};
  static constexpr Field<Point1> next{"next"};
  static constexpr Field<Coord> team{"team"};
};

const Task add{"add", [](ReadWrite<double> x, double amount) {
  for (auto p : x.domain()) x[p] += amount;
}};

void run(const std::function<void(Context&)>& program) {
  Options options;
  options.workers = 2;
  Runtime(options).run(program);
}

TEST(DocsData, Regions) {
  run([](Context& ctx) {
    auto line = ctx.region(Rect1{0, 99}, Cell::mass, Cell::heat);
    auto grid = ctx.region(Rect2{{0, 0}, {63, 31}}, Cell::mass);  // 64 x 32 points
    const IndexSpace<1> runs(std::vector<Rect1>{{0, 9}, {20, 29}});
    auto sparse = ctx.region(runs, Cell::mass);  // 20 points

    EXPECT_EQ(line.domain().volume(), 100u);
    EXPECT_EQ(grid.domain().volume(), 64u * 32u);
    EXPECT_EQ(sparse.domain().volume(), 20u);
    auto mass = ctx.access<Read>(line[Cell::mass]);
    EXPECT_EQ(mass[99], 0);
  });
}

TEST(DocsData, Ends) {
  Runtime runtime;
  runtime.run([&](Context& ctx) {
    {
      Owned scratch(ctx, ctx.region(Rect1{0, 9}, Cell::mass));
      ctx.launch(add, (*scratch)[Cell::mass], 1.0);
    }  // destroyed here; the launch still finishes with it

    auto line = ctx.region(Rect1{0, 99}, Cell::mass);
    ctx.destroy(line);
    EXPECT_THROW(ctx.launch(add, line[Cell::mass], 1.0), UsageError);
  });
}

TEST(DocsData, Partitions) {
  run([](Context& ctx) {
    auto line = ctx.region(Rect1{0, 11}, Cell::mass, Cell::next, Cell::team);
    auto grid = ctx.region(Rect2{{0, 0}, {7, 7}}, Cell::mass);
    {
      auto next = ctx.access<Write>(line[Cell::next]);
      auto team = ctx.access<Write>(line[Cell::team]);
      for (auto p : line.domain()) next[p] = p == 11 ? 0 : p + 1, team[p] = p % 3;
    }
    auto thirds = ctx.blocks(line, 3);         // [0..3] [4..7] [8..11]
    auto fives = ctx.blocks_of_size(line, 5);  // [0..4] [5..9] [10..11]
    auto tiles = ctx.blocks(grid, {2, 4});     // 4 x 2 points each, colours (0, 0) .. (1, 3)
    auto near = ctx.halo(tiles, {1, 0});       // one row more above and below, clipped to the grid
    auto inner = ctx.interior(tiles, 1);       // without the grid's outermost points
    auto teams = ctx.by_colour(line, Cell::team, 3);            // by the values of a field
    auto reached = ctx.image(line, thirds, Cell::next);         // where the pointers lead
    auto reaching = ctx.preimage(line, thirds, Cell::next);     // whose pointers lead there
    auto foreign = ctx.subtract(reached, thirds);               // unite, intersect: likewise
    auto halves = ctx.partition(line, {Rect1{0, 5}, Rect1{6, 11}});  // given explicitly
    // Colour c: 4 c + [-1..4], clipped to the region.
    auto padded = ctx.restrict_to(line, IndexSpace<1>(Rect1{0, 2}),
                                  Projection::affine({{{4, 0, 0}}}, {}), Rect1{-1, 4});

    EXPECT_EQ(fives(2).domain().bounds(), (Rect1{10, 11}));
    EXPECT_EQ(tiles({1, 3}).domain().bounds(), (Rect2{{4, 6}, {7, 7}}));
    EXPECT_EQ(near({0, 0}).domain().bounds(), (Rect2{{0, 0}, {4, 1}}));
    EXPECT_EQ(inner({0, 0}).domain().bounds(), (Rect2{{1, 1}, {3, 1}}));
    EXPECT_EQ(teams(1).domain().volume(), 4u);
    EXPECT_EQ(reached(0).domain().bounds(), (Rect1{1, 4}));
    EXPECT_EQ(reaching(0).domain().volume(), 4u);
    EXPECT_EQ(foreign(0).domain().bounds(), (Rect1{4, 4}));
    EXPECT_EQ(halves(1).domain().bounds(), (Rect1{6, 11}));
    EXPECT_EQ(padded(1).domain().bounds(), (Rect1{3, 8}));
    EXPECT_TRUE(thirds.is_disjoint() && thirds.is_complete());
    EXPECT_FALSE(padded.is_disjoint());
    EXPECT_FALSE(foreign.is_complete());
    EXPECT_TRUE(ctx.blocks(line, 3) == thirds);
    EXPECT_EQ(thirds(1).name(), "region 0[blocks 1]");
  });
}

TEST(DocsData, FillsAndCopies) {
  const Task answer{"answer", [] { return 42.0; }};
  run([&](Context& ctx) {
    auto line = ctx.region(Rect1{0, 99}, Cell::mass, Cell::heat);
    auto blocks = ctx.blocks(line, 4);
    ctx.fill(line, Cell::mass, 1.0);
    ctx.fill(blocks(3), Cell::mass, ctx.launch(answer));          // a future's value
    ctx.copy(blocks(3)[Cell::mass], blocks(3)[Cell::heat]);       // at the points of the target

    auto heat = ctx.access<Read>(line[Cell::heat]);
    EXPECT_EQ(heat[74], 0);
    EXPECT_EQ(heat[75], 42);
  });
}

TEST(DocsData, Accesses) {
  run([](Context& ctx) {
    auto line = ctx.region(Rect1{0, 99}, Cell::mass);
    {
      auto mass = ctx.access<Write>(line[Cell::mass]);  // waits for what uses the field
      for (auto p : mass.domain()) mass[p] = static_cast<double>(p);
    }  // from here on tasks have it again
    ctx.launch(add, line[Cell::mass], 0.5);
    auto mass = ctx.access<Read>(line[Cell::mass]);  // waits for add

    EXPECT_EQ(mass[7], 7.5);
  });
}

TEST(DocsData, AttachedMemory) {
  run([](Context& ctx) {
    std::vector<double> mine(100, 1.0);
    auto line = ctx.region(Rect1{0, 99}, Cell::mass);
    ctx.attach(line, Cell::mass, mine.data());
    ctx.launch(add, 4, ctx.blocks(line, 4)[Cell::mass], 2.0);
    ctx.detach(line, Cell::mass);  // waits; mine holds the field's values
    EXPECT_EQ(mine[99], 3.0);

    EXPECT_THROW(ctx.access<Read>(line[Cell::mass]), UsageError);  // no values until it is written
    ctx.fill(line, Cell::mass, 0.0);
    EXPECT_EQ(ctx.access<Read>(line[Cell::mass])[0], 0);
  });
}

TEST(DocsData, AttachedPieces) {
  run([](Context& ctx) {
    auto line = ctx.region(Rect1{0, 99}, Cell::mass);
    auto parts = ctx.blocks(line, 4);
    std::map<Coord, std::vector<double>> mine;  // of this process, by part
    ctx.attach(parts, Cell::mass, [&](Point1 part) {
      return mine.try_emplace(part[0], 25, 1.0).first->second.data();
    });
    ctx.launch(add, 4, parts[Cell::mass], 2.0);
    ctx.detach(parts, Cell::mass);  // waits; mine holds the values of its parts
    EXPECT_EQ(mine.size(), 4u);
    EXPECT_EQ(mine[3][24], 3.0);
  });
}

TEST(DocsData, AttachedRows) {
  run([](Context& ctx) {
    // The first 3 of 5 columns of a matrix stored by columns, 4 rows high.
    std::vector<double> matrix(5 * 4);
    auto part = ctx.region(Rect2{{0, 0}, {3, 2}}, Cell::mass);
    ctx.attach(part, Cell::mass, matrix.data(), {.stride = {sizeof(double), 4 * sizeof(double)}});
    ctx.fill(part, Cell::mass, 1.0);
    ctx.detach(part, Cell::mass);
    EXPECT_EQ(matrix[2 * 4 + 3], 1.0);
    EXPECT_EQ(matrix[3 * 4], 0.0);
  });
}

TEST(DocsData, Domains) {
  const Task smooth{"smooth", [](ReadWrite<double, 2> x) {
    for (std::size_t i = 0; i < x.domain().rect_count(); ++i) {
      const Rect2 r = x.domain().rect(i);  // one for a dense argument
      const auto width = static_cast<std::size_t>(r.hi[1] - r.lo[1] + 1);
      for (Coord row = r.lo[0]; row <= r.hi[0]; ++row)
        for (double& value : x.row({row, r.lo[1]}, width)) value *= 0.5;
    }
  }};
  run([&](Context& ctx) {
    auto grid = ctx.region(Rect2{{0, 0}, {7, 7}}, Cell::mass);
    ctx.fill(grid, Cell::mass, 2.0);
    ctx.launch(smooth, Rect2{{0, 0}, {1, 1}}, ctx.blocks(grid, {2, 2})[Cell::mass]);
    auto mass = ctx.access<Read>(grid[Cell::mass]);
    EXPECT_EQ((mass[{7, 7}]), 1.0);
  });
}

}  // namespace
}  // namespace refrain::data_test
