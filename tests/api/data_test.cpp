// Fills, copies, inline access, attach and detach, several fields, sparse regions.

#include <cstring>
#include <vector>

#include "refrain/error.hpp"
#include "refrain/refrain.hpp"
#include "support/settings.hpp"

namespace refrain::data_test {
namespace {

class DataCalls : public test::InEverySetting {};
REFRAIN_IN_EVERY_SETTING(DataCalls);

constexpr Field<Coord> number{"number"};
constexpr Field<Coord> other{"other"};
constexpr Field<float> small{"small"};

const Task add{"add", [](ReadWrite<Coord> x, Coord a) {
                 for (auto p : x.domain()) x[p] += a;
               }};
const Task set{"set", [](Write<Coord> x, Coord a) {
                 for (auto p : x.domain()) x[p] = a + p;
               }};

TEST_P(DataCalls, ANewRegionHoldsZeros) {
  struct Odd {
    char text[13];
  };
  constexpr Field<Odd> odd{"odd"};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{-5, 5}, number, odd);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], 0);
    auto y = ctx.access<Read>(cells[odd]);
    for (auto p : y.domain())
      for (char c : y[p].text) EXPECT_EQ(c, 0);
  });
}

TEST_P(DataCalls, FillsByValueAndByFuture) {
  const Task slow{"slow", [](Coord x) { return x * 3; }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 9}, number, other);
    auto blocks = ctx.blocks(cells, 5);
    ctx.fill(cells, number, 1);
    ctx.fill(blocks(2), number, ctx.launch(slow, 5));
    ctx.launch(add, 5, blocks[number], 1);
    ctx.fill(blocks(4), number, 100);
    ctx.fill(cells, other, ctx.launch(slow, 2));
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], p / 2 == 4 ? 100 : p / 2 == 2 ? 16 : 2);
    EXPECT_EQ(ctx.access<Read>(cells[other])[9], 6);
  });
}

TEST_P(DataCalls, CopiesBetweenRegions) {
  run([&](Context& ctx) {
    auto from = ctx.region(Rect1{0, 19}, number);
    auto to = ctx.region(Rect1{5, 12}, other, number);
    auto pieces = ctx.blocks(to, 2);
    ctx.launch(set, from[number], 100);
    ctx.copy(from[number], to[other]);
    ctx.launch(add, from[number], 1000);
    ctx.copy(from[number], pieces(1)[number]);
    {
      auto x = ctx.access<Read>(to[other]);
      auto y = ctx.access<Read>(to[number]);
      for (auto p : x.domain()) {
        EXPECT_EQ(x[p], 100 + p);
        EXPECT_EQ(y[p], p < 9 ? 0 : 1100 + p);
      }
    }
    ctx.copy(to[other], to[number]);       // one field to another
    ctx.copy(from[number], from[number]);  // to itself
    EXPECT_EQ(ctx.access<Read>(to[number])[12], 112);
    EXPECT_EQ(ctx.access<Read>(from[number])[0], 1100);
  });
}

TEST_P(DataCalls, AccessesAreScopes) {
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 9}, number);
    auto blocks = ctx.blocks(cells, 2);
    for (Coord round = 0; round < 5; ++round) {
      ctx.launch(add, 2, blocks[number], 1);
      {
        auto x = ctx.access<ReadWrite>(cells[number]);
        for (auto p : x.domain()) x[p] *= 2;
        // Launches that do not meet the access go on, those that do wait for its end.
        ctx.launch(add, cells[number], 10);
        for (auto p : x.domain()) x[p] += 1;
      }
      auto x = ctx.access<Read>(blocks(0)[number]);
      auto y = ctx.access<Read>(blocks(1)[number]);
      auto again = ctx.access<Read>(cells[number]);
      EXPECT_EQ(x[0], again[9]);
      EXPECT_EQ(y[9], again[0]);
    }
    Coord wanted = 0;
    for (int i = 0; i < 5; ++i) wanted = (wanted + 1) * 2 + 1 + 10;
    EXPECT_EQ(ctx.access<Read>(cells[number])[4], wanted);
  });
}

TEST_P(DataCalls, WorkBesideAnOpenAccess) {
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 9}, number, other);
    auto x = ctx.access<ReadWrite>(cells[number]);
    for (int i = 0; i < 20; ++i) ctx.launch(add, cells[other], 1);
    auto y = ctx.access<Read>(cells[other]);
    for (auto p : x.domain()) x[p] = y[p];
    EXPECT_EQ(x[9], 20);
  });
}

TEST_P(DataCalls, AttachedMemoryIsNotCopied) {
  std::vector<Coord> mine(10, 7);
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{10, 19}, number);
    auto blocks = ctx.blocks(cells, 2);
    ctx.attach(cells, number, mine.data());
    ctx.launch(add, 2, blocks[number], 1);
    EXPECT_EQ(ctx.access<Read>(cells[number]).pointer(10), mine.data());
    ctx.launch(add, 2, blocks[number], 1);
    ctx.detach(cells, number);
    for (Coord v : mine) EXPECT_EQ(v, 9);
    mine[0] = -1;
    ctx.launch(set, cells[number], 3);
    EXPECT_EQ(ctx.access<Read>(cells[number])[10], 13);
    EXPECT_EQ(mine[0], -1);
  });
}

TEST_P(DataCalls, AttachedMemoryWithStrides) {
  struct Pair {
    Coord a, b;
  };
  std::vector<Pair> mine(12);
  for (std::size_t i = 0; i < 12; ++i) mine[i] = {static_cast<Coord>(i), -1};
  const Task tenfold{"tenfold", [](ReadWrite<Coord, 2> x) {
                       for (auto p : x.domain()) x[p] = 10 * x[p] + p[0];
                     }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect2{{1, 0}, {3, 3}}, number);
    // Fortran order, every other number.
    ctx.attach(cells, number, &mine[0].a, {{sizeof(Pair), 3 * sizeof(Pair), 0}});
    auto blocks = ctx.blocks(cells, {3, 2});
    ctx.launch(tenfold, Rect2{{0, 0}, {2, 1}}, blocks[number]);
    ctx.detach(cells, number);
  });
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(mine[i].a, static_cast<Coord>(10 * i + i % 3 + 1));
    EXPECT_EQ(mine[i].b, -1);
  }
}

TEST_P(DataCalls, AttachedPieces) {
  std::vector<Coord> mine(4, 5);
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 11}, number);
    auto blocks = ctx.blocks(cells, 3);
    ctx.attach(blocks(1), number, mine.data());
    ctx.launch(add, 3, blocks[number], 2);
    ctx.launch(add, cells[number], 1);
    {
      auto x = ctx.access<Read>(cells[number]);
      for (auto p : x.domain()) EXPECT_EQ(x[p], p / 4 == 1 ? 8 : 3);
    }
    ctx.launch(add, cells[number], 1);
    ctx.detach(blocks(1), number);
    EXPECT_EQ(mine, (std::vector<Coord>{9, 9, 9, 9}));
    EXPECT_EQ(ctx.access<Read>(blocks(0)[number])[0], 4);
  });
}

TEST_P(DataCalls, TheEndOfTheProgramDetaches) {
  std::vector<Coord> mine(8, 1), ours(8, 1);
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    auto halves = ctx.blocks(cells, 2);
    ctx.attach(halves(0), number, mine.data());
    auto destroyed = ctx.region(Rect1{0, 7}, number);
    ctx.attach(destroyed, number, ours.data());
    ctx.launch(add, cells[number], 4);  // where the whole region is, which is not where `mine` is
    ctx.launch(add, destroyed[number], 5);
    ctx.destroy(destroyed);
    EXPECT_EQ(ours[7], 6);
  });
  EXPECT_EQ(mine[0], 5);
  EXPECT_EQ(mine[3], 5);
}

TEST_P(DataCalls, SeveralFields) {
  const Task mix{"mix", [](ReadWrite<Coord> x, Read<Coord> y, Write<float> z) {
                   for (auto p : x.domain()) {
                     x[p] += y[p];
                     z[p] = static_cast<float>(x[p]) / 2;
                   }
                 }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 9}, number, other, small);
    auto blocks = ctx.blocks(cells, 3);
    ctx.fill(cells, other, 3);
    for (int i = 0; i < 4; ++i) ctx.launch(mix, 3, blocks[number], blocks[other], blocks[small]);
    EXPECT_EQ(ctx.access<Read>(cells[number])[0], 12);
    EXPECT_EQ(ctx.access<Read>(cells[small])[9], 6.0f);
    EXPECT_EQ(ctx.access<Read>(cells[other])[5], 3);
  });
}

TEST_P(DataCalls, SparseRegionsAndTheirRows) {
  const Task number_points{"number_points", [](Write<Coord, 2> x) {
                             Coord n = 0;
                             for (auto p : x.domain()) x[p] = n++;
                           }};
  run([&](Context& ctx) {
    const IndexSpace<2> points(
        std::vector<Rect2>{{{0, 0}, {1, 1}}, {{5, 5}, {6, 7}}, {{1, 1}, {1, 3}}});
    auto cells = ctx.region(points, number);
    EXPECT_EQ(cells.domain().volume(), 4u + 6u + 2u);
    ctx.launch(number_points, cells[number]);
    auto x = ctx.access<Read>(cells[number]);
    Coord n = 0;
    for (auto p : x.domain()) EXPECT_EQ(x[p], n++);
    EXPECT_EQ(n, 12);
    EXPECT_FALSE(x.domain().contains({2, 2}));
    EXPECT_TRUE(x.domain().contains({5, 6}));
  });
}

TEST_P(DataCalls, RowsAndStrides) {
  const Task rows{"rows", [](ReadWrite<Coord, 3> x) {
                    const Rect3 box = x.domain().bounds();
                    ASSERT_TRUE(x.contiguous_rows());
                    for (Coord i = box.lo[0]; i <= box.hi[0]; ++i)
                      for (Coord j = box.lo[1]; j <= box.hi[1]; ++j) {
                        auto row = x.row({i, j, box.lo[2]},
                                         static_cast<std::size_t>(box.hi[2] - box.lo[2] + 1));
                        for (Coord& v : row) v += 100 * i + 10 * j;
                      }
                  }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect3{{0, 0, 0}, {2, 3, 4}}, number);
    auto blocks = ctx.blocks(cells, {2, 2, 2});
    ctx.launch(rows, Rect3{{0, 0, 0}, {1, 1, 1}}, blocks[number]);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], 100 * p[0] + 10 * p[1]);
    EXPECT_EQ(x.pointer({0, 0, 1}), x.pointer({0, 0, 0}) + 1);
    EXPECT_EQ(x.stride(2), static_cast<Coord>(sizeof(Coord)));
  });
}

TEST_P(DataCalls, EmptyRegionsAndPieces) {
  run([&](Context& ctx) {
    auto nothing = ctx.region(Rect1{}, number);
    ctx.fill(nothing, number, 3);
    ctx.launch(add, nothing[number], 1);
    auto cells = ctx.region(Rect1{0, 2}, number);
    auto blocks = ctx.blocks(cells, 7);  // most pieces are empty
    ctx.launch(add, 7, blocks[number], 1);
    ctx.copy(cells[number], nothing[number]);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], 1);
    EXPECT_EQ(ctx.access<Read>(nothing[number]).domain().volume(), 0u);
    ctx.destroy(nothing);
  });
}

TEST_P(DataCalls, PartitionsThatDependOnData) {
  constexpr Field<Point<1>> pointer{"pointer"};
  run([&](Context& ctx) {
    auto edges = ctx.region(Rect1{0, 11}, pointer, other);
    auto nodes = ctx.region(Rect1{0, 5}, number);
    {
      auto p = ctx.access<Write>(edges[pointer]);
      for (auto e : p.domain()) p[e] = Point<1>{(e * 5) % 6};
    }
    ctx.launch(set, edges[other], 0);
    const Task colour{"colour", [](ReadWrite<Coord> x) {
                        for (auto p : x.domain()) x[p] %= 3;
                      }};
    ctx.launch(colour, edges[other]);
    auto coloured = ctx.by_colour(edges, other, 3);
    EXPECT_TRUE(coloured.is_disjoint());
    EXPECT_TRUE(coloured.is_complete());
    auto reached = ctx.image(nodes, coloured, pointer);
    const Task visit{"visit", [](Reduce<Sum, Coord> x, Read<Point<1>> p) {
                       for (auto e : p.domain()) x[p[e]] += 1;
                     }};
    ctx.launch(visit, 3, reached[number], coloured[pointer]);
    auto x = ctx.access<Read>(nodes[number]);
    for (auto n : x.domain()) EXPECT_EQ(x[n], 2);
    auto from = ctx.preimage(edges, ctx.blocks(nodes, 2), pointer);
    EXPECT_EQ(from(0).domain().volume() + from(1).domain().volume(), 12u);
  });
}

TEST_P(DataCalls, OriginOfAScatteredPiece) {
  run_checked([](Context& ctx) {
    static const Task gather{"gather", [](Read<Coord> x) {
                               const Coord* at = x.origin();
                               Coord sum = 0;
                               for (auto p : x.domain()) sum += at[p[0]];
                               return sum;
                             }};
    auto cells = ctx.region(Rect1{-50, 99}, number);
    ctx.fill(cells, number, 2);
    const IndexSpace<1> some(std::vector{Rect1{-7, -3}, Rect1{20, 21}, Rect1{90, 90}});
    auto piece = ctx.partition(cells, std::vector{some});
    EXPECT_EQ(ctx.launch(gather, piece(0)[number]).get(), 16);
  });
}

}  // namespace
}  // namespace refrain::data_test
