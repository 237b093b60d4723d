// A process analyses its own points of a launch (launch/launch_plan.hpp). Today these are all; here a function chooses
// fewer. What a task is told, and what a program asks for, goes by the whole launch all the same.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "refrain/refrain.hpp"
#include "runtime/runtime_impl.hpp"

namespace refrain::test {
namespace {

constexpr Field<Coord> number{"number"};

data::IndexSpaceRef odd_points(const data::IndexSpaceRef& domain) {
  std::vector<data::BoxPoint> points;
  domain->for_each_point([&](const data::BoxPoint& p) {
    if (p[0] % 2 != 0) points.push_back(p);
  });
  return data::IndexSpace::from_points(domain->dim(), points);
}

struct Odd {
  Odd() : runtime(options()) { runtime.impl().own_points = odd_points; }
  static Options options() {
    Options chosen;
    chosen.machine = "emulated:cpus=2";
    chosen.workers = 0;
    return chosen;
  }
  Runtime runtime;
};

TEST(OwnPoints, ArePlannedAndRunAlone) {
  Odd odd;
  const Task mark{"mark", [](ReadWrite<Coord> x, Point<1> p) {
                    for (auto q : x.domain()) x[q] = 100 + p[0];
                  }};
  odd.runtime.run([&](Context& ctx) {
    const auto cells = ctx.region(Rect1{0, 5}, number);
    const auto blocks = ctx.blocks(cells, 6);
    ctx.fill(cells, number, Coord{7});
    ctx.launch(mark, 6, blocks[number]);
    const auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], p % 2 != 0 ? 100 + p : 7);
  });
  EXPECT_EQ(odd.runtime.counters().tasks, 3U);
}

TEST(OwnPoints, AreToldTheirRanksInTheLaunch) {
  Odd odd;
  std::vector<std::size_t> ranks;
  const DynamicTask note("note", [&](const TaskFrame& frame) { ranks.push_back(frame.rank); });
  odd.runtime.run([&](Context& ctx) {
    const LaunchDomain domain(Rect1{2, 7});
    LaunchRequest request(note);
    request.domain = &domain;
    ctx.launch(request);
    ctx.fence();
  });
  std::ranges::sort(ranks);  // tasks without order among them
  EXPECT_EQ(ranks, (std::vector<std::size_t>{1, 3, 5}));
}

// Values that differ from point to point, and those that points return, are asked for by the whole launch's ranks; also
// where the launch is replayed.
TEST(OwnPoints, HaveTheirValuesAndFutures) {
  Odd odd;
  const Task twice{"twice", [](Coord value) { return 2 * value; }};
  const Trace step{"step"};
  odd.runtime.run([&](Context& ctx) {
    for (int i = 0; i < 5; ++i) {
      ctx.begin_trace(step);
      const FutureMap<Coord> doubled =
          ctx.launch(twice, 6, per_point([i](Point<1> p) { return p[0] + i; }));
      ctx.end_trace(step);
      EXPECT_EQ(doubled.size(), 6U);
      for (std::size_t rank = 1; rank < 6; rank += 2)
        EXPECT_EQ(doubled.get(rank), 2 * (static_cast<Coord>(rank) + i));
      EXPECT_EQ(doubled.get({3}), 2 * (3 + i));
      EXPECT_THROW((void)doubled.get(0), UsageError);
      EXPECT_THROW((void)doubled.get({2}), UsageError);
      EXPECT_THROW((void)doubled.get(6), UsageError);
    }
  });
  EXPECT_GE(odd.runtime.counters().replays, 3U);
}

TEST(OwnPoints, MayBeNone) {
  Odd odd;
  int runs = 0;
  const Task count{"count", [&] { return ++runs; }};
  odd.runtime.run([&](Context& ctx) {  // the one point of a single launch is 0
    const Future<int> elsewhere = ctx.launch(count);
    EXPECT_THROW((void)elsewhere.get(), UsageError);
    ctx.launch(count, 1);
    ctx.fence();
  });
  EXPECT_EQ(runs, 0);
}

TEST(OwnPoints, AreWhatAMapperIsAskedAbout) {
  struct Asked final : Mapper {
    explicit Asked(std::vector<std::size_t>& told) : ranks(told) {}
    [[nodiscard]] std::string_view name() const override { return "asked"; }
    void map(const MappingInput& input, MappingOutput&) override {
      EXPECT_EQ(input.points, 6U);
      EXPECT_EQ(input.point[0], static_cast<Coord>(input.rank));
      ranks.push_back(input.rank);
    }
    std::vector<std::size_t>& ranks;
  };
  Odd odd;
  std::vector<std::size_t> ranks;
  odd.runtime.set_mapper(std::make_unique<Asked>(ranks));
  const Task nothing{"nothing", [] {}};
  odd.runtime.run([&](Context& ctx) { ctx.launch(nothing, 6); });
  EXPECT_EQ(ranks, (std::vector<std::size_t>{1, 3, 5}));
}

// What a call is does not depend on who analyses which part of it.
TEST(OwnPoints, ChangeNoToken) {
  class Log final : public runtime::Listener {
   public:
    void called(const Call& call) override { tokens.push_back(call.token); }
    std::vector<std::uint64_t> tokens;
  };
  const auto tokens_of = [](Runtime& runtime) {
    Log log;
    runtime.impl().listeners().add(log, {runtime::Events::calls});
    const Task touch{"touch", [](ReadWrite<Coord>) {}};
    runtime.run([&](Context& ctx) {
      const auto cells = ctx.region(Rect1{0, 5}, number);
      const auto blocks = ctx.blocks(cells, 6);
      ctx.launch(touch, 6, blocks[number]);
      ctx.launch(touch, blocks(1)[number]);
      ctx.destroy(cells);
    });
    runtime.impl().listeners().remove(log);
    return log.tokens;
  };
  Odd odd;
  Runtime all(Odd::options());
  EXPECT_EQ(tokens_of(odd.runtime), tokens_of(all));
}

}  // namespace
}  // namespace refrain::test
