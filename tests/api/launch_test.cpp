// Launches: arguments by value, per point, points, hints.

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "refrain/refrain.hpp"
#include "support/settings.hpp"

namespace refrain::launch_test {
namespace {

class Launches : public test::InEverySetting {};
REFRAIN_IN_EVERY_SETTING(Launches);

constexpr Field<Coord> number{"number"};
constexpr Field<double> real{"real"};

/// Counts what happens to its objects.
struct Counted {
  static std::atomic<int> alive, copies;
  int value = 0;

  explicit Counted(int v) : value(v) { ++alive; }
  Counted(const Counted& other) : value(other.value) {
    ++alive;
    ++copies;
  }
  Counted(Counted&& other) noexcept : value(std::exchange(other.value, -1)) { ++alive; }
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --alive; }
};
std::atomic<int> Counted::alive{0}, Counted::copies{0};

TEST_P(Launches, ValuesAreMovedInAndDestroyedOnce) {
  Counted::copies = 0;
  const Task add{"add", [](ReadWrite<Coord> x, const Counted& c) {
                   for (auto p : x.domain()) x[p] += c.value;
                 }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    auto blocks = ctx.blocks(cells, 4);
    ctx.launch(add, cells[number], Counted(3));
    EXPECT_EQ(Counted::copies, 0);
    const Counted kept(5);
    ctx.launch(add, 4, blocks[number], kept);
    EXPECT_EQ(Counted::copies, 1);
    ctx.fence();
    EXPECT_EQ(Counted::alive, 1);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], 8);
  });
  EXPECT_EQ(Counted::alive, 0);
}

TEST_P(Launches, SeveralFieldsOfOneArgument) {
  const Task mix{"mix", [](const Fields<ReadWrite<Coord>, Read<double>>& pieces, Coord factor,
                           Fields<Write<double>> halves) {
                   const auto& [n, x] = pieces;
                   const auto& [half] = halves;
                   for (auto p : n.domain()) n[p] += factor * static_cast<Coord>(x[p]);
                   for (auto p : half.domain()) half[p] = 0.5;
                 }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number, real);
    auto others = ctx.region(Rect1{0, 3}, real);
    auto blocks = ctx.blocks(cells, 4);
    ctx.fill(cells, real, 2.0);
    ctx.launch(mix, cells[fields(number, real)], 10, others[fields(real)]);
    ctx.launch(mix, 4, blocks.at(shift(0))[fields(number, real)], 100,
               ctx.blocks(others, 4)[fields(real)]);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], 220);
    EXPECT_EQ(ctx.access<Read>(others[real])[3], 0.5);
  });
}

TEST_P(Launches, ListsOfFields) {
  const Task mix{"mix", [](FieldList<ReadWrite<Coord>> sums, Read<double> x, Coord factor,
                           const FieldList<Read<Coord>>& terms) {
                   for (const auto sum : sums)
                     for (auto p : sum.domain())
                       for (std::size_t k = 0; k < terms.size(); ++k)
                         sum[p] += factor * terms[k][p] + static_cast<Coord>(x[p]);
                   return sums.size() * 100 + terms.size();
                 }};
  // As a program does that reads how many there are from its input: their names do not outlive the loop.
  std::vector<Field<Coord>> sums, terms;
  for (int k = 0; k < 9; ++k) {
    terms.emplace_back("term " + std::to_string(k));
    sums.emplace_back(std::string("a sum with a long name, number ") + std::to_string(k));
  }
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, real, sums);
    auto others = ctx.region(Rect1{0, 7}, terms);
    auto blocks = ctx.blocks(cells, 4);
    auto other_blocks = ctx.blocks(others, 4);
    ctx.fill(cells, real, 1.0);
    for (std::size_t k = 0; k < terms.size(); ++k)
      ctx.fill(others, terms[k], static_cast<Coord>(k));
    for (int round = 0; round < 6; ++round)
      EXPECT_EQ(ctx.launch(mix, 4, blocks[sums], blocks[real], 2, other_blocks.at(shift(0))[terms])
                    .get(3),
                909u);
    const std::vector<Field<Coord>> few{terms[1], terms[4]};
    EXPECT_EQ(ctx.launch(mix, cells[sums], cells[real], 1, others[few]).get(), 902u);
    EXPECT_EQ(
        ctx.launch(mix, cells[std::vector<Field<Coord>>{}], cells[real], 1, others[few]).get(), 2u);
    const Coord expected = 6 * (2 * 36 + 9) + 5 + 2;
    EXPECT_EQ(ctx.access<Read>(cells[sums[8]])[7], expected);
    EXPECT_EQ(ctx.access<Read>(cells[Field<Coord>("a sum with a long name, number 0")])[0],
              expected);
  });
}

TEST_P(Launches, TwentyArguments) {
  const Task add{"add", [](int a, int b, int c, int d, int e, int f, int g, int h, int i, int j,
                           int k, int l, int m, int n, int o, int p, int q, int r, int s, int t) {
                   return a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r +
                          s + t;
                 }};
  run([&](Context& ctx) {
    EXPECT_EQ(ctx.launch(add, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)
                  .get(),
              210);
  });
}

TEST_P(Launches, ValuesOfAnEmptyGroupAreDestroyed) {
  const Task never{"never", [](ReadWrite<Coord>, const Counted&) { FAIL(); }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    auto blocks = ctx.blocks(cells, 4);
    ctx.launch(never, 0, blocks[number], Counted(3));
    EXPECT_EQ(Counted::alive, 0);
  });
}

TEST_P(Launches, LargeAndSharedValues) {
  struct Large {
    std::array<double, 100> numbers;
  };
  const Task use{"use", [](Write<double> x, std::string text, const Large& large,
                           const std::shared_ptr<const int>& shared) {
                   for (auto p : x.domain())
                     x[p] = static_cast<double>(text.size()) + large.numbers[99] + *shared;
                 }};
  const auto shared = std::make_shared<const int>(1000);
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 3}, real);
    Large large{};
    large.numbers[99] = 0.5;
    ctx.launch(use, cells[real], "a text that does not fit into a short string", large, shared);
    auto x = ctx.access<Read>(cells[real]);
    EXPECT_EQ(x[3], 44 + 0.5 + 1000);
  });
  EXPECT_EQ(shared.use_count(), 1);
}

TEST_P(Launches, MoveOnlyValues) {
  const Task use{"use", [](Write<Coord> x, const std::unique_ptr<int>& p) { x[0] = *p; }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 0}, number);
    ctx.launch(use, cells[number], std::make_unique<int>(17));
    EXPECT_EQ(ctx.access<Read>(cells[number])[0], 17);
  });
}

TEST_P(Launches, PerPointArguments) {
  const Task set{"set", [](Write<Coord, 2> x, Point<2> at, Coord given, std::string text) {
                   for (auto p : x.domain())
                     x[p] = at[0] * 100 + at[1] * 10 + given + static_cast<Coord>(text.size());
                 }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect2{{0, 0}, {3, 3}}, number);
    auto blocks = ctx.blocks(cells, {2, 2});
    std::vector<Point<2>> asked;
    ctx.launch(set, Rect2{{0, 0}, {1, 1}}, blocks[number], per_point([&](Point<2> p) {
                 asked.push_back(p);
                 return p[0] + p[1];
               }),
               "four");
    EXPECT_EQ(asked, (std::vector<Point<2>>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
    auto x = ctx.access<Read>(cells[number]);
    EXPECT_EQ((x[{0, 0}]), 4);
    EXPECT_EQ((x[{0, 3}]), 10 + 1 + 4);
    EXPECT_EQ((x[{3, 0}]), 100 + 1 + 4);
    EXPECT_EQ((x[{3, 3}]), 110 + 2 + 4);
  });
}

// std::vector<bool> has no elements that one could refer to.
TEST_P(Launches, TruthValues) {
  const Task set{"set", [](Write<Coord> x, bool given, const bool& one) {
                   for (auto p : x.domain()) x[p] = given == one ? 1 : 2;
                 }};
  const Task is_odd{"is_odd", [](Point<1> p) { return p[0] % 2 == 1; }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    auto blocks = ctx.blocks(cells, 8);
    ctx.launch(set, 8, blocks[number], per_point([](Point<1> p) { return p[0] % 3 == 0; }), true);
    auto odd = ctx.launch(is_odd, 3);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(odd.get(i), i == 1);
    auto x = ctx.access<Read>(cells[number]);
    for (Coord i = 0; i < 8; ++i) EXPECT_EQ(x[i], i % 3 == 0 ? 1 : 2);
  });
}

TEST_P(Launches, DomainsOfPoints) {
  const Task mark{"mark", [](ReadWrite<Coord> x, Point<1> at) {
                    for (auto p : x.domain()) x[p] += at + 1;
                  }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 5}, number);
    auto blocks = ctx.blocks(cells, 6);
    ctx.launch(mark, Rect1{2, 3}, blocks[number]);
    ctx.launch(mark, IndexSpace<1>(std::vector<Point<1>>{5, 0, 3}), blocks[number]);
    ctx.launch(mark, 1, blocks[number]);
    auto x = ctx.access<Read>(cells[number]);
    const Coord expected[] = {2, 0, 3, 8, 0, 6};
    for (auto p : x.domain()) EXPECT_EQ(x[p], expected[p]) << p[0];
  });
}

TEST_P(Launches, Projections) {
  const Task take{"take", [](Write<Coord> x, Read<Coord> y) {
                    for (auto p : x.domain()) x[p] = y[y.domain().bounds().lo];
                  }};
  constexpr Field<Coord> other{"other"};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 4}, number, other);
    auto blocks = ctx.blocks(cells, 5);
    {
      auto x = ctx.access<Write>(cells[number]);
      for (auto p : x.domain()) x[p] = 10 * p;
    }
    ctx.launch(take, 4, blocks[other], blocks.at(shift(1))[number]);
    const auto mirror = Projection::function(
        "mirror",
        [](const Point<3>& p, std::uint64_t key) {
          return Point<3>{static_cast<Coord>(key) - p[0], 0, 0};
        },
        4);
    const Task add{"add", [](ReadWrite<Coord> x, Read<Coord> y) {
                     for (auto p : x.domain()) x[p] += y[y.domain().bounds().lo];
                   }};
    ctx.launch(add, 5, blocks[other], blocks.at(mirror)[number]);
    auto x = ctx.access<Read>(cells[other]);
    const Coord expected[] = {10 + 40, 20 + 30, 30 + 20, 40 + 10, 0};
    for (auto p : x.domain()) EXPECT_EQ(x[p], expected[p]);
  });
}

TEST_P(Launches, HintsDoNotChangeResults) {
  const Task twice{"twice", [](ReadWrite<Coord> x, Coord add) {
                     for (auto p : x.domain()) x[p] = 2 * x[p] + add;
                   }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    auto blocks = ctx.blocks(cells, 4);
    for (Coord i = 0; i < 6; ++i) {
      ctx.launch(twice.with({.priority = static_cast<int>(i % 3) - 1}), 4, blocks[number], i);
      ctx.launch(twice.with({.inline_if_ready = true}), 4, blocks[number], 1);
      ctx.launch(twice.with({.inline_if_ready = true}), cells[number], 3);
    }
    Coord expected = 0;
    for (Coord i = 0; i < 6; ++i) expected = 2 * (2 * (2 * expected + i) + 1) + 3;
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], expected);
  });
}

TEST_P(Launches, GangsRunLoopsOnSeveralCores) {
  const Task sum{"sum", [](Write<Coord> x, Gang& gang) {
                   const Coord count = static_cast<Coord>(x.domain().volume());
                   gang.parallel_for(count, [&](std::int64_t begin, std::int64_t end) {
                     for (auto i = begin; i < end; ++i) x[i] = 3 * i;
                   });
                   gang.parallel_for(0, [](std::int64_t, std::int64_t) { FAIL(); });
                 }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 999}, number);
    for (int i = 0; i < 5; ++i) ctx.launch(sum, cells[number]);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) ASSERT_EQ(x[p], 3 * p);
  });
}

TEST_P(Launches, GangsMayReduce) {
  const Task count{"count", [](Reduce<Sum, Coord> x, Gang& gang) {
                     gang.parallel_for(5000, [&](std::int64_t begin, std::int64_t end) {
                       for (auto i = begin; i < end; ++i) x[i] += i;
                     });
                   }};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 4999}, number);
    for (int i = 0; i < 3; ++i) ctx.launch(count, cells[number]);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) ASSERT_EQ(x[p], 3 * p);
  });
}

TEST_P(Launches, TasksWithoutArguments) {
  std::atomic<int> runs{0};
  const Task tick{"tick", [&runs] { ++runs; }};
  run([&](Context& ctx) {
    ctx.launch(tick);
    ctx.launch(tick, 5);
    ctx.fence();
    EXPECT_EQ(runs, 6);
  });
}

TEST_P(Launches, TasksMayEndBeforeTheirLaunches) {
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 3}, number);
    for (int i = 0; i < 20; ++i) {
      const auto kept = std::make_shared<Coord>(i);
      const Task add{"add", [kept](ReadWrite<Coord> x) { x[0] += *kept; }};
      ctx.launch(add, cells[number]);
    }
    EXPECT_EQ(ctx.access<Read>(cells[number])[0], 190);
  });
}

TEST_P(Launches, TheRunTimeApi) {
  const DynamicTask scale{"scale",
                          [](const TaskFrame& frame) {
                            const auto x = frame.get<ReadWrite<Coord>>(0);
                            const auto y = frame.get<Read<double>>(1);
                            const auto& factor = *static_cast<const Coord*>(frame.values);
                            for (auto p : x.domain())
                              x[p] = x[p] * factor + static_cast<Coord>(y[p]);
                            *static_cast<Coord*>(frame.result) = static_cast<Coord>(frame.rank);
                          },
                          {sizeof(Coord), alignof(Coord), nullptr}};
  run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number, real);
    auto blocks = ctx.blocks(cells, 4);
    ctx.fill(cells, number, 2);
    ctx.fill(cells, real, 0.5 + 1);
    Coord factor = 5;
    const Requirement requirements[] = {Requirement::of(blocks, number, Privilege::read_write),
                                        Requirement::of(cells, real, Privilege::read)};
    const LaunchDomain domain = LaunchDomain(4);
    LaunchRequest request;
    request.task = scale.record().get();
    request.domain = &domain;
    request.requirements = requirements;
    request.values = &factor;
    request.value_ops = &value_ops<Coord>;
    request.where = std::source_location::current();
    request.wants_future = true;
    const FutureMap<Coord> ranks(ctx.launch(request));
    EXPECT_EQ(ranks.get(3), 3);
    EXPECT_EQ(ranks.size(), 4u);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], 11);
  });
}

}  // namespace
}  // namespace refrain::launch_test
