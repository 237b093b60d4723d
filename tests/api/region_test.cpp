// Regions that come and go: names that repeat, work in flight, owners.

#include <optional>
#include <vector>

#include "api/numbers.hpp"
#include "refrain/refrain.hpp"
#include "support/memory_taken.hpp"
#include "support/random.hpp"
#include "support/settings.hpp"

namespace refrain::region_test {
namespace {

class Regions : public test::InEverySetting {};
REFRAIN_IN_EVERY_SETTING(Regions);

constexpr Field<double> real{"real"};

TEST_P(Regions, ATemporaryStartsWithZerosEachTime) {
  run([](Context& ctx) {
    for (Coord i = 0; i < 50; ++i) {
      auto cells = ctx.region(Rect1{0, 7}, number);
      auto blocks = ctx.blocks(cells, 4);
      ctx.launch(add, 4, blocks[number], i);
      const Future<Coord> sum = ctx.launch(total, cells[number]);
      ctx.destroy(cells);
      if (i % 7 == 0) { EXPECT_EQ(sum.get(), 8 * i); }
    }
  });
}

TEST_P(Regions, AnOwnerDestroys) {
  Runtime runtime(options());
  runtime.run([&](Context& ctx) {
    const std::uint64_t before = runtime.counters().regions_alive;
    Future<Coord> sum;
    {
      const Owned<1> cells(ctx, ctx.region(Rect1{0, 7}, number));
      Owned<1> moved(ctx, ctx.region(Rect1{0, 3}, number));
      const Owned<1> to(std::move(moved));
      EXPECT_EQ(runtime.counters().regions_alive, before + 2);
      ctx.launch(add, (*cells)[number], 3);
      ctx.launch(add, (*to)[number], 4);
      EXPECT_EQ(cells->domain().volume(), 8u);
      sum = ctx.launch(total, (*cells)[number]);
    }
    EXPECT_EQ(runtime.counters().regions_alive, before);
    EXPECT_EQ(sum.get(), 24);
  });
}

TEST_P(Regions, OwnersAndAccessesThatOutliveTheirContext) {
  std::optional<Owned<1>> owned;
  std::optional<Access<Read<Coord>>> access;
  Runtime runtime(options());
  for (int round = 0; round < 2; ++round) {
    runtime.run([&](Context& ctx) {
      owned.emplace(ctx, ctx.region(Rect1{0, 7}, number));
      access.emplace(ctx.access<Read>(ctx.region(Rect1{0, 7}, number)[number]));
    });
    EXPECT_EQ(runtime.counters().regions_alive, 0u);
    access.reset();
    owned.reset();
  }
}

TEST_P(Regions, AnOwnersRegionMayBeDestroyedByHand) {
  run([](Context& ctx) {
    const Owned<1> cells(ctx, ctx.region(Rect1{0, 7}, number));
    ctx.destroy(*cells);
  });
}

TEST_P(Regions, ManyAtOnce) {
  run([](Context& ctx) {
    std::vector<Region<1>> all;
    for (Coord i = 0; i < 300; ++i) {
      all.push_back(ctx.region(Rect1{0, i % 10}, number));
      ctx.launch(add, all.back()[number], i);
    }
    for (std::size_t i = 0; i < all.size(); i += 2) ctx.destroy(all[i]);
    for (std::size_t i = 1; i < all.size(); i += 2)
      EXPECT_EQ(ctx.access<Read>(all[i][number])[0], static_cast<Coord>(i));
  });
}

TEST_P(Regions, PartitionsComeAndGo) {
  run([](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 99}, number);
    for (Coord i = 1; i <= 150; ++i) {
      auto blocks = ctx.blocks(cells, 1 + i % 90);
      auto inner = ctx.blocks(blocks(0), 2);
      ctx.launch(add, static_cast<int>(1 + i % 90), blocks[number], 1);
      ctx.launch(add, 2, inner[number], 0);
      ctx.destroy(blocks);
    }
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], 150);
  });
}

TEST_P(Regions, EqualPartitionsAreOne) {
  run([](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 99}, number);
    auto a = ctx.blocks(cells, 4);
    auto b = ctx.blocks(cells, 4);
    EXPECT_EQ(AnyPartition(a), AnyPartition(b));
    ctx.destroy(a);
    ctx.launch(add, 4, b[number], 1);  // made twice, destroyed once
    ctx.destroy(b);
    EXPECT_EQ(ctx.access<Read>(cells[number])[50], 1);
  });
}

TEST_P(Regions, TreesOfThreeLevels) {
  run([](Context& ctx) {
    auto cells = ctx.region(Rect2{{0, 0}, {15, 15}}, number);
    const Task add2{"add2", [](ReadWrite<Coord, 2> x, Coord a) {
                      for (auto p : x.domain()) x[p] += a;
                    }};
    auto outer = ctx.blocks(cells, {2, 2});
    auto middle = ctx.blocks(outer({1, 0}), {2, 2});
    auto inner = ctx.halo(ctx.blocks(middle({0, 1}), {2, 2}), 1);
    for (int i = 0; i < 3; ++i) {
      ctx.launch(add2, cells[number], 1000);
      ctx.launch(add2, Rect2{{0, 0}, {1, 1}}, outer[number], 100);
      ctx.launch(add2, Rect2{{0, 0}, {1, 1}}, middle[number], 10);
      ctx.launch(add2, inner({1, 1})[number], 1);
      ctx.launch(add2, inner({0, 0})[number], 1);
    }
    auto x = ctx.access<Read>(cells[number]);
    EXPECT_EQ((x[{0, 0}]), 3300);
    EXPECT_EQ((x[{8, 0}]), 3330);
    EXPECT_EQ((x[{8, 4}]), 3333);
    EXPECT_EQ((x[{9, 5}]), 3336);
  });
}

TEST_P(Regions, BlocksOfASize) {
  run([](Context& ctx) {
    auto grid = ctx.region(Rect2{{-3, 5}, {6, 11}}, number);
    auto tiles = ctx.blocks_of_size(grid, {4, 7});
    EXPECT_EQ(tiles.pieces(), 3u);
    EXPECT_TRUE(tiles.is_disjoint());
    EXPECT_TRUE(tiles.is_complete());
    EXPECT_EQ(tiles({0, 0}).domain().bounds(), (Rect2{{-3, 5}, {0, 11}}));
    EXPECT_EQ(tiles({2, 0}).domain().bounds(), (Rect2{{5, 5}, {6, 11}}));
    EXPECT_EQ(ctx.blocks_of_size(grid, {1000, 1000}).pieces(), 1u);
  });
}

// Rows of a sparse matrix: each row points to a range of the entries.
TEST_P(Regions, PartitionsThroughRectangles) {
  constexpr Field<Rect1> range{"range"};
  constexpr Field<Rect2> window{"window"};
  run([&](Context& ctx) {
    auto rows = ctx.region(Rect1{0, 5}, range, window);
    auto entries = ctx.region(Rect1{0, 19}, number);
    auto grid = ctx.region(Rect2{{0, 0}, {9, 9}}, number);
    {
      auto r = ctx.access<Write>(rows[range]);
      auto w = ctx.access<Write>(rows[window]);
      const Rect1 ranges[] = {{0, 2}, {3, 3}, {4, 3}, {4, 9}, {10, 25}, {-5, -1}};
      for (Coord p = 0; p < 6; ++p) {
        r[p] = ranges[p];
        w[p] = Rect2{{p, p}, {p + 1, p + 2}};
      }
    }
    auto blocks = ctx.blocks(rows, 3);
    auto of_rows = ctx.image(entries, blocks, range);
    EXPECT_EQ(of_rows(0).domain().bounds(), (Rect1{0, 3}));
    EXPECT_EQ(of_rows(1).domain().bounds(), (Rect1{4, 9}));
    EXPECT_EQ(of_rows(2).domain().bounds(), (Rect1{10, 19}));
    auto seen = ctx.image(grid, blocks, window);
    EXPECT_EQ(seen(0).domain().volume(), 6u + 6u - 2u);
    auto back = ctx.preimage(rows, ctx.blocks(entries, 2), range);
    EXPECT_EQ(back(0).domain().volume(), 3u);
    EXPECT_EQ(back(1).domain().bounds(), (Rect1{4, 4}));
  });
}

// Integers in place of points of one dimension.
template <class I>
void expect_pointers(Context& ctx, I nowhere) {
  constexpr Field<I> next{"next"};
  auto from = ctx.region(Rect1{0, 5}, next);
  auto to = ctx.region(Rect1{0, 9}, number);
  {
    auto p = ctx.access<Write>(from[next]);
    const I pointers[] = {I{3}, I{4}, I{3}, nowhere, I{9}, I{0}};
    for (Coord i = 0; i < 6; ++i) p[i] = pointers[i];
  }
  auto thirds = ctx.blocks(from, 3);
  auto reached = ctx.image(to, thirds, next);
  EXPECT_EQ(reached(0).domain().bounds(), (Rect1{3, 4}));
  EXPECT_EQ(reached(1).domain().bounds(), (Rect1{3, 3}));
  EXPECT_EQ(reached(2).domain().volume(), 2u);
  auto reaching = ctx.preimage(from, ctx.blocks(to, 2), next);
  EXPECT_EQ(reaching(0).domain().volume(), 4u);
  EXPECT_EQ(reaching(1).domain().bounds(), (Rect1{4, 4}));
  auto coloured = ctx.by_colour(from, next, 4);
  EXPECT_EQ(coloured(3).domain().volume(), 2u);
}

TEST_P(Regions, PointersMayBeIntegers) {
  run([](Context& ctx) {
    expect_pointers<std::int32_t>(ctx, -1);
    expect_pointers<std::uint32_t>(ctx, 4'000'000'000u);
    expect_pointers<Coord>(ctx, -1);
  });
}

TEST_P(Regions, PiecesMayBeRectangles) {
  run([](Context& ctx) {
    auto line = ctx.region(Rect1{0, 9}, number);
    const std::vector<Rect1> pieces{{0, 3}, {4, 9}};
    EXPECT_EQ(ctx.partition(line, pieces), ctx.partition(line, {Rect1{0, 3}, Rect1{4, 9}}));
  });
}

// Bodies ask which neighbours their ghosts are of. Beside the pieces, point by point, whatever they overlap.
TEST_P(Regions, BodiesFindTheOwnersOfRectangles) {
  run([](Context& ctx) {
    test::Random random(7);
    auto cells = ctx.region(Rect2{{0, 0}, {11, 11}}, number);
    std::vector<IndexSpace<2>> pieces;
    for (int piece = 0; piece < 6; ++piece) {
      std::vector<Point2> points;
      for (int i = 0; i < 20; ++i)
        points.push_back({Coord(random.below(12)), Coord(random.below(12))});
      pieces.emplace_back(points);
    }
    pieces.emplace_back(Rect2{});
    const Partition<2> scattered = ctx.partition(cells, pieces);
    const Partition<2> tiles = ctx.blocks(cells, {2, 3});
    const Task find{"find", [](Read<Coord, 2> ghosts, Partition<2> scattered, Partition<2> tiles) {
                      Coord points = 0;
                      for (std::size_t i = 0; i < ghosts.domain().rect_count(); ++i) {
                        const Rect2 rect = ghosts.domain().rect(i);
                        for (const auto& [colour, part] : scattered.owners_of(rect)) {
                          EXPECT_FALSE(part.empty());
                          for (auto p : Domain<2>(part)) {
                            EXPECT_TRUE(rect.contains(p));
                            EXPECT_TRUE(scattered(colour).domain().contains(p));
                            ++points;
                          }
                        }
                        Coord shared = 0;
                        for (const auto& [colour, part] : tiles.owners_of<2>(rect)) {
                          EXPECT_EQ(part, intersection(part, tiles(colour).domain().bounds()));
                          shared += static_cast<Coord>(part.volume());
                        }
                        EXPECT_EQ(shared, static_cast<Coord>(rect.volume()));
                      }
                      return points;
                    }};
    const auto found = ctx.launch(find, 7, scattered[number], scattered, tiles);
    for (Coord piece = 0; piece < 7; ++piece) {
      Coord expected = 0;
      for (Coord other = 0; other < 7; ++other)
        for (auto p : scattered(piece).domain()) expected += scattered(other).domain().contains(p);
      EXPECT_EQ(found.get(piece), expected);
    }
    EXPECT_TRUE(scattered.owners_of(Rect2{}).empty());
    const auto corner = tiles.owners_of<2>({{5, 3}, {6, 4}});
    EXPECT_EQ(corner, (std::vector<Owner<2, 2>>{{{0, 0}, {{5, 3}, {5, 3}}},
                                                {{0, 1}, {{5, 4}, {5, 4}}},
                                                {{1, 0}, {{6, 3}, {6, 3}}},
                                                {{1, 1}, {{6, 4}, {6, 4}}}}));
  });
}

TEST_P(Regions, CountersReturnToZero) {
  const std::uint64_t futures_before = Runtime(options()).counters().futures_alive;
  Runtime runtime(options());
  for (int repeat = 0; repeat < 3; ++repeat) {
    runtime.run([&](Context& ctx) {
      EXPECT_EQ(runtime.counters().regions_alive, 0u);
      EXPECT_EQ(runtime.counters().instances_alive, 0u);
      auto cells = ctx.region(Rect1{0, 7}, number);
      auto temporary = ctx.region(Rect1{0, 7}, number, real);
      ctx.launch(add, temporary[number], 1);
      for (int i = 0; i < 20; ++i) ctx.launch(total, 2, ctx.blocks(cells, 2)[number]);
      EXPECT_EQ(runtime.counters().regions_alive, 2u);
      ctx.destroy(temporary);
      ctx.fence();
      EXPECT_EQ(runtime.counters().regions_alive, 1u);
      EXPECT_EQ(runtime.counters().nodes_alive, 0u);
      EXPECT_EQ(runtime.counters().futures_alive, futures_before);
      EXPECT_EQ(runtime.counters().instances_alive, 1u);
    });
    const Counters after = runtime.counters();
    EXPECT_EQ(after.regions_alive, 0u);
    EXPECT_EQ(after.instances_alive, 0u);
    EXPECT_EQ(after.nodes_alive, 0u);
    EXPECT_EQ(after.futures_alive, futures_before);
  }
  EXPECT_GT(runtime.counters().launches, 60u);
}

// Each making counts, whatever made them.
TEST_P(Regions, EqualPartitionsAreOneUntilTheLastIsDestroyed) {
  run([](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    auto halves = ctx.blocks(cells, 2);
    auto same = ctx.partition(cells, std::vector<IndexSpace<1>>{Rect1{0, 3}, Rect1{4, 7}});
    ctx.destroy(halves);
    ctx.launch(add, 2, same[number], 1);
    ctx.launch(add, 2, halves[number], 1);
    ctx.launch(add, halves(1)[number], 1);
    ctx.destroy(halves);  // the last of two
    EXPECT_THROW(ctx.launch(add, 2, same[number], 1), UsageError);
    EXPECT_THROW(ctx.launch(add, 2, halves[number], 1), UsageError);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], p < 4 ? 2 : 3);
  });
}

TEST_P(Regions, TheInteriorOfASparseOneIsAwayFromItsHoles) {
  run([](Context& ctx) {
    const IndexSpace<1> runs(std::vector<Rect1>{{0, 9}, {11, 12}, {20, 24}});
    auto cells = ctx.region(runs, number);
    auto inner = ctx.interior(ctx.blocks(cells, 1), 1);
    std::vector<Coord> points;
    for (const auto p : inner(0).domain()) points.push_back(p);
    EXPECT_EQ(points, (std::vector<Coord>{1, 2, 3, 4, 5, 6, 7, 8, 21, 22, 23}));
  });
}

TEST_P(Regions, APartitionMayHaveNoColours) {
  run([](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    auto none = ctx.by_colour(cells, number, 0);
    EXPECT_EQ(none.pieces(), 0u);
    EXPECT_TRUE(none.is_disjoint());
    EXPECT_FALSE(none.is_complete());
    ctx.launch(add, none.colours(), none[number], 1);
    EXPECT_EQ(ctx.launch(total, cells[number]).get(), 0);
    EXPECT_THROW((void)ctx.by_colour(cells, number, -1), UsageError);
    EXPECT_THROW((void)ctx.blocks(cells, 0), UsageError);
  });
}

/// Bytes for each of so many partitions that overlap, each of which a launch has used once.
double bytes_per_partition(int partitions) {
  const Task look{"look", [](Read<double>) {}};
  Options options;
  options.machine = "emulated:cpus=1";
  options.workers = 0;
  Runtime runtime(options);
  double bytes = 0;
  runtime.run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 999'999}, real);
    test::Random random(5);
    const std::size_t before = test::allocated();
    for (int i = 0; i < partitions; ++i) {
      std::vector<IndexSpace<1>> pieces;
      for (int k = 0; k < 8; ++k) {
        const Coord low = random.between(0, 989'999);
        pieces.emplace_back(Rect1{low, low + random.below(10'000)});
      }
      ctx.launch(look, 8, ctx.partition(cells, pieces)[real]);
    }
    ctx.fence();
    bytes = static_cast<double>(test::allocated()) - static_cast<double>(before);
  });
  return bytes / partitions;
}

TEST(OverlappingPartitions, CostTheSameHoweverManyThereAre) {
  EXPECT_LE(bytes_per_partition(1500), 1.2 * bytes_per_partition(100));
}

}  // namespace
}  // namespace refrain::region_test
