// Compact instances: storage for the points that there are.

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "refrain/refrain.hpp"
#include "support/settings.hpp"

namespace refrain::test::compact_test {
namespace {

constexpr Field<Coord> number{"number"};
constexpr Field<double> real{"real"};

class Compact : public InEverySetting {};
REFRAIN_IN_EVERY_SETTING(Compact);

// Runs of three points, so many, spread over that many points.
IndexSpace<1> scattered(Coord runs, Coord over = 1'000'000'000'000) {
  const Coord apart = over / runs;
  std::vector<Rect1> rects;
  for (Coord i = 0; i < runs; ++i) rects.push_back({i * apart, i * apart + 2});
  return IndexSpace<1>(rects);
}

const Task set_number{"set_number", [](Write<Coord> x) {
                        for (auto p : x.domain()) x[p] = p[0] % 1000;
                      }};
const Task sum_of{"sum_of", [](Read<Coord> x) {
                    Coord sum = 0;
                    for (auto p : x.domain()) sum += x[p];
                    return sum;
                  }};
const Task add_to{"add_to", [](Reduce<Sum, Coord> x) {
                    for (auto p : x.domain()) x[p] += 1;
                  }};

class Rules : public Mapper {
 public:
  using Rule = std::function<void(const MappingInput&, ArgumentMapping&)>;
  explicit Rules(Rule rule) : rule_(std::move(rule)) {}
  std::string_view name() const override { return "rules"; }
  void map(const MappingInput& input, MappingOutput& output) override {
    for (ArgumentMapping& argument : output.arguments) rule_(input, argument);
  }

 private:
  Rule rule_;
};

TEST_P(Compact, PointsFarApart) {
  run([](Context& ctx) {
    const Coord runs = 3000;
    const auto cells = ctx.region(scattered(runs), number, real);
    const auto pieces = ctx.blocks(cells, 7);
    ctx.fill(cells, real, 0.5);
    ctx.launch(set_number, 7, pieces[number]);
    Coord expected = 0;
    for (Coord i = 0; i < runs; ++i)
      for (Coord j = 0; j < 3; ++j) expected += (i * (1'000'000'000'000 / runs) + j) % 1000;
    EXPECT_EQ(ctx.launch(sum_of, cells[number]).get(), expected);
    const auto all = ctx.access<Read>(cells[real]);
    EXPECT_TRUE(all.is_compact());
    for (auto p : all.domain()) ASSERT_EQ(all[p], 0.5);
    EXPECT_EQ(all.row(0, 3)[2], 0.5);
    EXPECT_EQ(all.stride(0), 8);
  });
}

// Contributions take room for the points alone, too, and children fold theirs into their parent's.
TEST_P(Compact, Contributions) {
  static const Task add_by_children{"add_by_children", [](Context& ctx, Reduce<Sum, Coord> x) {
                                      for (auto p : x.domain()) x.reduce(p, 1);
                                      ctx.launch(add_to, 3, ctx.blocks(x.region(), 3)[number]);
                                      ctx.launch(add_to, x.region()[number]);
                                    }};
  run([](Context& ctx) {
    const auto cells = ctx.region(scattered(300), number);
    const auto pieces = ctx.blocks(cells, 7);
    ctx.launch(set_number, cells[number]);
    const Coord before = ctx.launch(sum_of, cells[number]).get();
    for (int round = 0; round < 4; ++round) {
      ctx.launch(add_to, 7, pieces[number]);
      ctx.launch(add_to, cells[number]);
      ctx.launch(add_by_children, cells[number]);
    }
    EXPECT_EQ(ctx.launch(sum_of, cells[number]).get(), before + 4 * 300 * 3 * 5);
  });
}

TEST_P(Compact, ContributionsInTwoDimensions) {
  static const Task add_here{"add_here", [](Reduce<Sum, Coord, 2> x) {
                               for (auto p : x.domain()) x[p] += p[1] % 100;
                             }};
  run([](Context& ctx) {
    std::vector<Rect2> rects;
    for (Coord i = 0; i < 30; ++i)
      rects.push_back({{i * 1'000'000, i}, {i * 1'000'000 + 2, i + 2}});
    const auto cells = ctx.region(IndexSpace<2>(rects), number);
    ctx.launch(add_here, 5, ctx.blocks(cells, {5, 1})[number]);
    ctx.launch(add_here, cells[number]);
    const auto all = ctx.access<Read>(cells[number]);
    for (auto p : all.domain()) ASSERT_EQ(all[p], 2 * (p[1] % 100));
  });
}

TEST_P(Compact, Positions) {
  run([](Context& ctx) {
    static const Task number_them{"number_them", [](Write<Coord> x, Read<double> other) {
                                    for (auto p : x.domain())
                                      x[p] = static_cast<Coord>(other.position(p));
                                    return other.values() != nullptr;
                                  }};
    static const Task are_counted{"are_counted", [](Read<Coord> x) {
                                    Coord next = 0;
                                    for (auto p : x.domain())
                                      if (x[p] != next || x.values()[next++] != x[p]) return false;
                                    return true;
                                  }};
    const auto far = ctx.region(scattered(50), number, real);
    const auto near = ctx.region(Rect1{-5, 20}, number, real);
    for (const auto& cells : {far, near}) {
      ctx.launch(number_them, cells[number], cells[real]);
      EXPECT_TRUE(ctx.launch(are_counted, cells[number]).get());
      const auto halves = ctx.blocks(cells, 2);
      ctx.launch(number_them, halves(1)[number], halves(1)[real]);
      EXPECT_TRUE(ctx.launch(are_counted, halves(1)[number]).get());
    }
  });
}

// 10,000 points of 8 bytes are 80 kB, whatever is between them.
TEST_P(Compact, CapacityIsThatOfThePoints) {
  Runtime runtime(options("emulated:cpus=2,system=200KiB"));
  runtime.run([](Context& ctx) {
    const auto cells = ctx.region(scattered(3333), number, real);
    ctx.launch(set_number, cells[number]);
    ctx.fill(cells, real, 1.0);
    EXPECT_EQ(ctx.access<Read>(cells[real])[2], 1.0);
    EXPECT_EQ(ctx.access<Read>(cells[number])[1], 1);
  });
}

TEST_P(Compact, TwoDimensions) {
  const auto program = [](Context& ctx, bool compact) {
    std::vector<Rect2> rects;
    for (Coord i = 0; i < 20; ++i) rects.push_back({{i, 2 * i}, {i + 3, 2 * i + 4}});
    const IndexSpace<2> stairs(rects);
    const auto cells = ctx.region(stairs, number);
    static const Task set{"set", [](Write<Coord, 2> x) {
                            for (auto p : x.domain()) x[p] = 100 * p[0] + p[1];
                          }};
    static const Task check{"check", [](Read<Coord, 2> x) {
                              for (std::size_t k = 0; k < x.domain().rect_count(); ++k) {
                                const Rect2 r = x.domain().rect(k);
                                const auto width = static_cast<std::size_t>(r.hi[1] - r.lo[1] + 1);
                                for (Coord i = r.lo[0]; i <= r.hi[0]; ++i) {
                                  Coord expected = 100 * i + r.lo[1];
                                  for (const Coord value : x.row({i, r.lo[1]}, width))
                                    if (value != expected++) return 1;
                                }
                              }
                              return x.is_compact() ? 2 : 0;
                            }};
    ctx.launch(set, cells[number]);
    EXPECT_EQ(ctx.launch(check, cells[number]).get(), compact ? 2 : 0);
  };
  for (const bool compact : {false, true}) {
    Runtime runtime(options());
    runtime.set_mapper(std::make_unique<Rules>([&](const MappingInput&, ArgumentMapping& argument) {
      argument.layout.sparse = compact ? Sparse::compact : Sparse::box;
    }));
    runtime.run([&](Context& ctx) { program(ctx, compact); });
  }
}

// Both instances are there, and values move between them.
TEST_P(Compact, BesideAffineOnes) {
  Runtime runtime(options());
  runtime.set_mapper(
      std::make_unique<Rules>([](const MappingInput& input, ArgumentMapping& argument) {
        argument.layout.sparse = input.task == "set_number" ? Sparse::compact : Sparse::box;
      }));
  runtime.run([&](Context& ctx) {
    const std::vector<Rect1> rects{{0, 4}, {9, 12}, {30, 40}, {90, 90}};
    const auto cells = ctx.region(IndexSpace<1>(rects), number);
    for (int i = 0; i < 3; ++i) {
      ctx.launch(set_number, cells[number]);
      Coord expected = 0;
      for (const Rect1& r : rects)
        for (Coord p = r.lo[0]; p <= r.hi[0]; ++p) expected += p;
      EXPECT_EQ(ctx.launch(sum_of, cells[number]).get(), expected);
    }
  });
}

}  // namespace
}  // namespace refrain::test::compact_test
