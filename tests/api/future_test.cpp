// Futures: values of single and group launches, as arguments, reduced, outliving what made them.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "refrain/error.hpp"
#include "refrain/refrain.hpp"
#include "support/settings.hpp"

namespace refrain::future_test {
namespace {

class Futures : public test::InEverySetting {};
REFRAIN_IN_EVERY_SETTING(Futures);

constexpr Field<Coord> number{"number"};

const Task square{"square", [](Coord x) { return x * x; }};
const Task of_point{"of_point", [](Point<1> p, Coord add) { return p * p + add; }};
const Task plus{"plus", [](Coord a, const Coord& b) { return a + b; }};

TEST_P(Futures, ValuesAndChains) {
  run([](Context& ctx) {
    Future<Coord> f = ctx.launch(square, 3);
    for (int i = 0; i < 10; ++i) f = ctx.launch(plus, f, i);
    const Future<Coord> twice = ctx.launch(plus, f, f);
    EXPECT_EQ(twice.get(), 2 * (9 + 45));
    EXPECT_TRUE(twice.ready());
    EXPECT_TRUE(f.ready());
    EXPECT_EQ(f.get(), 54);
  });
}

TEST_P(Futures, GroupsAndTheirValues) {
  run([](Context& ctx) {
    const Future<Coord> base = ctx.launch(square, 10);
    const FutureMap<Coord> values = ctx.launch(of_point, 6, base);
    ASSERT_EQ(values.size(), 6u);
    for (std::size_t i = 6; i-- > 0;) EXPECT_EQ(values.get(i), static_cast<Coord>(i * i + 100));
    EXPECT_EQ(ctx.reduce(values, Sum{}).get(), 55 + 600);
    EXPECT_EQ(ctx.reduce(values, Min{}).get(), 100);
    EXPECT_EQ(ctx.reduce(values, Max{}).get(), 125);
    const Future<Coord> product = ctx.reduce(ctx.launch(of_point, 3, 1), Product{});
    EXPECT_EQ(ctx.launch(plus, product, 0).get(), 1 * 2 * 5);
  });
}

const Task code_of{"code_of", [](Point<3> p) { return 100 * p[0] + 10 * p[1] + p[2]; }};
const Task code_in_plane{"code_in_plane", [](Point<2> p) { return 10 * p[0] + p[1]; }};

TEST_P(Futures, OfASparseDomainByPointAndByPosition) {
  run([](Context& ctx) {
    // Rectangles that take turns: (0, 1, *) is in one, (0, 0, *) and (1, 0, *) in another.
    const IndexSpace<3> some(std::vector<Rect3>{{{0, 0, 0}, {1, 0, 3}},
                                                {{0, 1, 1}, {0, 1, 2}},
                                                {{0, 3, 0}, {1, 3, 1}},
                                                {{2, 2, 2}, {2, 2, 2}}});
    ASSERT_EQ(some.volume(), 15u);
    const FutureMap<Coord> codes = ctx.launch(code_of, some);
    std::size_t rank = 0;
    for (const Point<3>& p : some.domain()) {
      const Coord expected = 100 * p[0] + 10 * p[1] + p[2];
      EXPECT_EQ(codes.get(rank++), expected);
      EXPECT_EQ(codes.get(p), expected);
      EXPECT_EQ(*static_cast<const Coord*>(codes.value_at(p, 3)), expected);
    }
    EXPECT_EQ(codes.get({1, 3, 1}), 131);
    const FutureMap<Coord> line = ctx.launch(of_point, Rect1{4, 7}, 0);
    EXPECT_EQ(line.get(2), 36);  // a position
    EXPECT_EQ(line.get(Point1{6}), 36);
    EXPECT_EQ(line.get({6}), 36);
    const FutureMap<Coord> plane = ctx.launch(code_in_plane, Rect2{{1, 1}, {2, 3}});
    EXPECT_EQ(plane.get({2, 1}), 21);
  });
}

TEST_P(Futures, OfNoPoints) {
  run([](Context& ctx) {
    const FutureMap<Coord> none = ctx.launch(of_point, 0, 0);
    EXPECT_EQ(none.size(), 0u);
    EXPECT_TRUE(none.ready());
    none.wait();
    EXPECT_EQ(ctx.reduce(none, Sum{}).get(), 0);
    EXPECT_EQ(ctx.reduce(none, Product{}).get(), 1);
    EXPECT_THROW(static_cast<void>(none.get(0)), UsageError);
  });
}

TEST_P(Futures, NontrivialResultsAreDestroyedOnce) {
  static std::atomic<int> alive{0};
  struct Result {
    std::string text;
    explicit Result(std::string t) : text(std::move(t)) { ++alive; }
    Result(const Result& other) : text(other.text) { ++alive; }
    ~Result() { --alive; }
  };
  const Task make{"make", [](Point<1> p) {
                    return Result("a long text that is allocated " + std::to_string(p[0]));
                  }};
  std::unique_ptr<FutureMap<Result>> kept;
  {
    Runtime runtime(options());
    runtime.run([&](Context& ctx) {
      ctx.launch(make, 8);
      kept = std::make_unique<FutureMap<Result>>(ctx.launch(make, 4));
      const Future<Result> one = ctx.launch(make);
      EXPECT_EQ(one.get().text, "a long text that is allocated 0");
    });
    EXPECT_EQ(alive, 4);
    EXPECT_EQ(kept->get(2).text, "a long text that is allocated 2");
  }
  EXPECT_EQ(kept->get(3).text, "a long text that is allocated 3");
  kept.reset();
  EXPECT_EQ(alive, 0);
}

TEST_P(Futures, ReductionsAreOneFixedTree) {
  const Task tiny{"tiny", [](Point<1> p) { return 1.0 / static_cast<double>(p + 1); }};
  double first = 0;
  for (int repeat = 0; repeat < 3; ++repeat)
    run([&](Context& ctx) {
      const double sum = ctx.reduce(ctx.launch(tiny, 1000), Sum{}).get();
      if (repeat == 0) first = sum;
      EXPECT_EQ(sum, first);
    });
}

TEST_P(Futures, FromTheDataOfARegion) {
  const Task total{"total", [](Read<Coord> x) {
                     Coord sum = 0;
                     for (auto p : x.domain()) sum += x[p];
                     return sum;
                   }};
  const Task add{"add", [](ReadWrite<Coord> x, Coord a) {
                   for (auto p : x.domain()) x[p] += a;
                 }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    auto blocks = ctx.blocks(cells, 4);
    ctx.fill(cells, number, 1);
    for (int i = 0; i < 4; ++i)
      ctx.launch(add, 4, blocks[number], ctx.reduce(ctx.launch(total, 4, blocks[number]), Sum{}));
    EXPECT_EQ(ctx.launch(total, cells[number]).get(), 8 * 9 * 9 * 9 * 9);
  });
}

TEST_P(Futures, OfAnEarlierRunAndOfAnotherRuntime) {
  std::optional<Future<Coord>> kept;
  std::optional<FutureMap<Coord>> many;
  Runtime runtime(options());
  runtime.run([&](Context& ctx) {
    kept = ctx.launch(square, 4);
    many = ctx.launch(of_point, 3, 0);
  });
  runtime.run([&](Context& ctx) {
    EXPECT_EQ(kept->get(), 16);
    EXPECT_EQ(ctx.launch(plus, *kept, 1).get(), 17);
    EXPECT_EQ(ctx.reduce(*many, Sum{}).get(), 5);
    auto cells = ctx.region(Rect1{0, 3}, number);
    ctx.fill(cells, number, *kept);
    EXPECT_EQ(ctx.access<Read>(cells[number])[2], 16);
  });
  run([&](Context& ctx) { EXPECT_EQ(ctx.launch(plus, *kept, 2).get(), 18); });
}

TEST_P(Futures, MadeByChildrenOfATask) {
  const Task parent{"parent", [](Context& ctx, Coord given) {
                      const Future<Coord> a = ctx.launch(square, given);
                      const Future<Coord> b = ctx.launch(plus, a, given);
                      return b.get() + ctx.reduce(ctx.launch(of_point, 3, b), Sum{}).get();
                    }};
  run([&](Context& ctx) {
    const Future<Coord> five = ctx.launch(plus, 2, 3);
    EXPECT_EQ(ctx.launch(parent, five).get(), 30 + (5 + 90));
  });
}

TEST_P(Futures, GivenToTheChildrenOfATask) {
  const Task user{"user", [](Context& ctx, const Future<Coord>& given) {
                    return ctx.launch(plus, given, 1).get();
                  }};
  run([&](Context& ctx) {
    const Future<Coord> made = ctx.launch(square, 7);
    made.wait();
    EXPECT_EQ(ctx.launch(user, made).get(), 50);
  });
}

}  // namespace
}  // namespace refrain::future_test
