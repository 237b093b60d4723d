// Reductions: every operator, a user's own, the order of folding, mixed with other uses.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "refrain/refrain.hpp"
#include "support/settings.hpp"

namespace refrain::reduction_test {
namespace {

class Reductions : public test::InEverySetting {};
REFRAIN_IN_EVERY_SETTING(Reductions);

constexpr Field<double> real{"real"};
constexpr Field<Coord> number{"number"};
constexpr Field<std::uint8_t> byte{"byte"};

template <class Op, class T>
const auto& contribute() {
  static const Task task{"contribute", [](Reduce<Op, T> x, Point<1> at) {
                           for (auto p : x.domain())
                             if ((p + at) % 3 != 0)
                               x.reduce(p, static_cast<T>(2 + (p * 7 + at * 5) % 11));
                         }};
  return task;
}

/// What every point task contributes, folded one after the other.
template <class Op, class T>
std::vector<T> expected(std::vector<T> values, int points, int launches) {
  for (int l = 0; l < launches; ++l)
    for (Coord at = 0; at < points; ++at)
      for (Coord p = 0; p < static_cast<Coord>(values.size()); ++p) {
        T accumulated = Op::template identity<T>();
        if ((p + at) % 3 != 0)
          accumulated = Op::fold(accumulated, static_cast<T>(2 + (p * 7 + at * 5) % 11));
        T& v = values[static_cast<std::size_t>(p)];
        v = Op::fold(v, accumulated);
      }
  return values;
}

template <class Op, class T>
void check(Context& ctx, const Field<T>& field) {
  auto cells = ctx.region(Rect1{0, 19}, field);
  ctx.fill(cells, field, T(5));
  ctx.launch(contribute<Op, T>(), 4, cells[field]);
  ctx.launch(contribute<Op, T>(), 4, cells[field]);
  const std::vector<T> wanted = expected<Op, T>(std::vector<T>(20, T(5)), 4, 2);
  auto x = ctx.access<Read>(cells[field]);
  for (auto p : x.domain())
    EXPECT_EQ(std::memcmp(&x[p], &wanted[static_cast<std::size_t>(p[0])], sizeof(T)), 0)
        << x[p] << " instead of " << wanted[static_cast<std::size_t>(p[0])];
}

TEST_P(Reductions, EveryOperator) {
  run([](Context& ctx) {
    check<Sum>(ctx, real);
    check<Product>(ctx, real);
    check<Min>(ctx, real);
    check<Max>(ctx, real);
    check<Sum>(ctx, number);
    check<Product>(ctx, number);
    check<Min>(ctx, number);
    check<Max>(ctx, number);
    check<Sum>(ctx, byte);
    check<Product>(ctx, byte);
  });
}

/// Keeps the two largest numbers, and a count.
struct Best {
  double first, second;
  std::int64_t count;
};
struct Merge {
  static constexpr std::string_view name = "merge";
  template <class T>
  static constexpr T identity() {
    return {-1e300, -1e300, 0};
  }
  template <class T>
  static constexpr T fold(T a, T b) {
    double all[] = {a.first, a.second, b.first, b.second};
    std::sort(all, all + 4);
    return {all[3], all[2], a.count + b.count};
  }
};

TEST_P(Reductions, AUsersOwnOperator) {
  constexpr Field<Best> best{"best"};
  const Task offer{"offer", [](Reduce<Merge, Best> x, Point<1> at) {
                     for (auto p : x.domain())
                       x.reduce(p, {static_cast<double>((at * 37 + p) % 101), -1e300, 1});
                   }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 2}, best);
    ctx.fill(cells, best, Best{-1e300, -1e300, 0});
    ctx.launch(offer, 50, cells[best]);
    auto x = ctx.access<Read>(cells[best]);
    for (auto p : x.domain()) {
      std::vector<double> offers;
      for (Coord at = 0; at < 50; ++at) offers.push_back(static_cast<double>((at * 37 + p) % 101));
      std::sort(offers.rbegin(), offers.rend());
      EXPECT_EQ(x[p].first, offers[0]);
      EXPECT_EQ(x[p].second, offers[1]);
      EXPECT_EQ(x[p].count, 50);
    }
  });
}

TEST_P(Reductions, OrderOfFoldingIsThatOfTheProgram) {
  const Task add{"add", [](Reduce<Sum, double> x, Point<1> at, double scale) {
                   for (auto p : x.domain()) x[p] += scale / static_cast<double>(3 * at + p + 1);
                 }};
  const Task halve{"halve", [](ReadWrite<double> x) {
                     for (auto p : x.domain()) x[p] *= 0.7;
                   }};
  std::vector<double> wanted(16, 0.1);
  for (int step = 0; step < 5; ++step) {
    for (int at = 0; at < 7; ++at)
      for (std::size_t p = 0; p < 16; ++p)
        wanted[p] += -0.0 + 1e3 / static_cast<double>(3 * at + static_cast<int>(p) + 1);
    for (std::size_t p = 0; p < 8; ++p) wanted[p] *= 0.7;
    for (int at = 0; at < 7; ++at)
      for (std::size_t p = 0; p < 16; ++p)
        wanted[p] += -0.0 + 1e-3 / static_cast<double>(3 * at + static_cast<int>(p) + 1);
  }
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 15}, real);
    auto halves = ctx.blocks(cells, 2);
    ctx.fill(cells, real, 0.1);
    for (int step = 0; step < 5; ++step) {
      ctx.launch(add, 7, cells[real], 1e3);
      ctx.launch(halve, halves(0)[real]);
      ctx.launch(add, 7, cells[real], 1e-3);
    }
    auto x = ctx.access<Read>(cells[real]);
    for (auto p : x.domain())
      EXPECT_EQ(std::memcmp(&x[p], &wanted[static_cast<std::size_t>(p[0])], sizeof(double)), 0);
  });
}

TEST_P(Reductions, OfPiecesThatOverlap) {
  const Task one{"one", [](Reduce<Sum, Coord> x) {
                   for (auto p : x.domain()) x[p] += 1;
                 }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 19}, number);
    auto owned = ctx.blocks(cells, 4);
    auto ghost = ctx.halo(owned, 2);
    for (int i = 0; i < 10; ++i) ctx.launch(one, 4, ghost[number]);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) {
      const Coord near = p % 5;
      const bool edge = (near < 2 && p >= 5) || (near > 2 && p < 15);
      EXPECT_EQ(x[p], edge ? 20 : 10) << p[0];
    }
  });
}

TEST_P(Reductions, TwoArgumentsOfOneTaskOnTheSameData) {
  const Task both{"both", [](Reduce<Sum, Coord> x, Reduce<Sum, Coord> y) {
                    for (auto p : x.domain()) x[p] += 1;
                    for (auto p : y.domain()) y[p] += 10;
                  }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    auto halves = ctx.blocks(cells, 2);
    for (int i = 0; i < 3; ++i) ctx.launch(both, cells[number], halves(1)[number]);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], p < 4 ? 3 : 33);
  });
}

TEST_P(Reductions, RelaxedOnesGiveTheSameIntegers) {
  const Task one{"one", [](Reduce<Sum, Coord> x, Point<1> at) { x[at % 5] += at; }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 4}, number);
    auto all = ctx.blocks(cells, 1);
    ctx.launch(one, 20, cells[number].relaxed());
    ctx.launch(one, Rect1{0, 0}, all[number].relaxed());
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], 4 * p + 5 + 10 + 15);
  });
}

TEST_P(Reductions, RelaxedOnesLoseNothing) {
  const Task add{"add", [](Reduce<Sum, Coord, 2> x, Point<1> at) {
                   for (auto p : x.domain()) x[p] += at + 1;
                 }};
  const Task twice{"twice", [](ReadWrite<Coord, 2> x) {
                     for (auto p : x.domain()) x[p] *= 2;
                   }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect2{{0, 0}, {49, 99}}, number);
    auto tiles = ctx.halo(ctx.blocks(cells, {2, 2}), 100);  // each tile is the whole
    for (int round = 0; round < 3; ++round) {
      ctx.launch(add, 10, cells[number].relaxed());
      ctx.launch(add, Rect1{0, 9}, cells[number].relaxed());
      ctx.launch(add, Rect1{0, 0}, tiles({1, 0})[number].relaxed());
      ctx.launch(twice, cells[number]);
    }
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) ASSERT_EQ(x[p], 111 * (2 + 4 + 8));
  });
}

TEST_P(Reductions, RelaxedAndOrderedOnesMix) {
  const Task add{"add", [](Reduce<Sum, double> x, Point<1> at) {
                   for (auto p : x.domain()) x[p] += 1.0 + 2.0 * static_cast<double>(at);
                 }};
  const Task scale{"scale", [](Reduce<Product, double> x) {
                     for (auto p : x.domain()) x[p] *= 2;
                   }};
  const Task some{"some", [](Reduce<Sum, double> x) { x[x.domain().bounds().lo] += 1; }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 9}, real);
    auto halves = ctx.blocks(cells, 2);
    for (int i = 0; i < 5; ++i) {
      ctx.launch(add, 4, cells[real].relaxed());  // 16
      ctx.launch(some, halves(1)[real]);
      ctx.launch(add, 2, cells[real].relaxed());  // 4
      ctx.launch(scale, cells[real].relaxed());
    }
    auto x = ctx.access<Read>(cells[real]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], (p == 5 ? 21 : 20) * (2 + 4 + 8 + 16 + 32));
  });
}

TEST_P(Reductions, RelaxedOnesOfChildren) {
  const Task one{"one", [](Reduce<Sum, Coord> x) {
                   for (auto p : x.domain()) x[p] += 1;
                 }};
  const Task parent{"parent", [&one](Context& ctx, ReadWrite<Coord> x) {
                      auto mine = x.region();
                      for (int i = 0; i < 20; ++i) ctx.launch(one, mine[number].relaxed());
                      ctx.fence();
                      for (auto p : x.domain()) x[p] *= 10;
                      for (int i = 0; i < 20; ++i) ctx.launch(one, mine[number].relaxed());
                    }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 9}, number);
    auto halves = ctx.blocks(cells, 2);
    ctx.launch(parent, 2, halves[number]);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], 220);
  });
}

// What children contribute goes into their parents' accumulators, in any order too.
TEST_P(Reductions, RelaxedOnesOfReducers) {
  const Task one{"one", [](Reduce<Sum, Coord> x, Point<1> at) {
                   for (auto p : x.domain()) x[p] += at + 1;
                 }};
  const Task parent{"parent", [&one](Context& ctx, Reduce<Sum, Coord> x) {
                      for (auto p : x.domain()) x[p] += 1000;
                      auto mine = x.region();
                      for (int i = 0; i < 4; ++i) ctx.launch(one, 5, mine[number].relaxed());
                    }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 2999}, number);
    for (int i = 0; i < 6; ++i) ctx.launch(parent, cells[number].relaxed());
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) ASSERT_EQ(x[p], 6 * (1000 + 4 * 15));
  });
}

/// Numbers whose sum depends on the order in which they are added.
double ragged(Coord i) {
  return std::ldexp(1.0 / static_cast<double>(3 + i), static_cast<int>(i * 7 % 40));
}

// The order in which a program visits the domain, not that of the rectangles it consists of.
TEST_P(Reductions, AreFoldedInTheOrderOfASparseDomain) {
  const Task add{"add",
                 [](Point<2> p, Reduce<Sum, double> x) { x[0] += ragged(10 * p[0] + p[1]); }};
  run([&](Context& ctx) {
    auto cell = ctx.region(Rect1{0, 0}, real);
    const IndexSpace<2> some(
        std::vector<Rect2>{{{0, 0}, {3, 1}}, {{0, 3}, {3, 3}}, {{2, 5}, {5, 7}}, {{7, 0}, {7, 0}}});
    ctx.launch(add, some, cell[real]);
    double sum = 0, otherwise = 0;
    for (const Point<2>& p : some.domain()) sum += ragged(10 * p[0] + p[1]);
    for (std::size_t i = 0; i < some.domain().rect_count(); ++i)
      for (const Point<2>& p : Domain<2>(some.domain().rect(i)))
        otherwise += ragged(10 * p[0] + p[1]);
    ASSERT_NE(sum, otherwise);
    EXPECT_EQ(ctx.access<Read>(cell[real])[0], sum);
  });
}

// Point after point, and of each point argument after argument.
TEST_P(Reductions, TwoArgumentsOfOneTaskAreFoldedInTurn) {
  const Task both{"both", [](Point<1> p, Reduce<Sum, double> a, Reduce<Sum, double> b) {
                    b[0] += ragged(2 * p + 1);
                    a[0] += ragged(2 * p);
                  }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 1}, real);
    auto first = ctx.partition(cells, std::vector<IndexSpace<1>>{Rect1{0, 0}});
    ctx.launch(both, 9, cells[real], first(0)[real]);
    double in_turn = 0, apart = 0;
    for (Coord i = 0; i < 18; ++i) in_turn += ragged(i);
    for (Coord i = 0; i < 18; ++i) apart += ragged(i % 2 == 0 ? i + 1 : i - 1);
    ASSERT_NE(in_turn, apart);
    EXPECT_EQ(ctx.access<Read>(cells[real])[0], in_turn);
  });
}

// The first half of the values, rounded down, with the rest.
TEST_P(Reductions, OfFuturesHaveThePromisedTree) {
  const Task value{"value", [](Point<1> p) { return ragged(p); }};
  run([&](Context& ctx) {
    const auto v = [](Coord i) { return ragged(i); };
    EXPECT_EQ(ctx.reduce(ctx.launch(value, 7), Sum{}).get(),
              (v(0) + (v(1) + v(2))) + ((v(3) + v(4)) + (v(5) + v(6))));
    EXPECT_EQ(ctx.reduce(ctx.launch(value, 1), Sum{}).get(), v(0));
    EXPECT_EQ(ctx.reduce(ctx.launch(value, 0), Product{}).get(), 1);
  });
}

TEST_P(Reductions, ManyMoreReducersThanAccumulators) {
  const Task one{"one", [](Reduce<Sum, Coord> x) { x[0] += 1; }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 1}, number);
    for (int i = 0; i < 1000; ++i) ctx.launch(one, cells[number]);
    EXPECT_EQ(ctx.access<Read>(cells[number])[0], 1000);
  });
}

TEST_P(Reductions, InTwoAndThreeDimensionsAndSparse) {
  const Task plane{"plane", [](Reduce<Max, Coord, 2> x, Point<1> at) {
                     for (auto p : x.domain()) x.reduce(p, p[0] * 10 + p[1] * at);
                   }};
  const Task cube{"cube", [](Reduce<Sum, Coord, 3> x) {
                    for (auto p : x.domain()) x[p] += p[0] * 100 + p[1] * 10 + p[2];
                  }};
  run([&](Context& ctx) {
    auto flat =
        ctx.region(IndexSpace<2>(std::vector<Rect2>{{{-3, 0}, {-1, 4}}, {{2, 7}, {2, 9}}}), number);
    ctx.launch(plane, 3, flat[number]);
    {
      auto x = ctx.access<Read>(flat[number]);
      for (auto p : x.domain()) EXPECT_EQ(x[p], std::max<Coord>(0, p[0] * 10 + p[1] * 2));
    }
    auto block = ctx.region(Rect3{{0, 0, 0}, {2, 3, 4}}, number);
    auto pieces = ctx.blocks(block, {1, 2, 2});
    ctx.launch(cube, Rect3{{0, 0, 0}, {0, 1, 1}}, pieces[number]);
    ctx.launch(cube, block[number]);
    auto x = ctx.access<Read>(block[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], 2 * (p[0] * 100 + p[1] * 10 + p[2]));
  });
}

}  // namespace
}  // namespace refrain::reduction_test
