// Whole programs in the run-time API alone, as a library or another language writes them: no type of a field,
// region or task is known at compile time, and no name of the runtime's inside is needed.

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <vector>

#include "refrain/refrain.hpp"
#include "support/settings.hpp"

namespace refrain::dynamic_test {
namespace {

class RunTimeApi : public test::InEverySetting {};
REFRAIN_IN_EVERY_SETTING(RunTimeApi);

const ValueType real{sizeof(double), alignof(double), "real"};
const ValueType index{sizeof(Coord), alignof(Coord), "index"};
const ResultType real_result{sizeof(double), alignof(double), nullptr};

double& real_at(const PhysicalArgument& a, const Point<3>& p) {
  return *reinterpret_cast<double*>(a.at(p));
}
Coord& index_at(const PhysicalArgument& a, const Point<3>& p) {
  return *reinterpret_cast<Coord*>(a.at(p));
}

/// Calls f for each point of an argument.
template <class F>
void each_point(const PhysicalArgument& a, F&& f) {
  const std::size_t count = a.points->rects != nullptr ? a.points->rect_count : 1;
  for (std::size_t i = 0; i < count; ++i) {
    const Rect<3>& r = a.points->rects != nullptr ? a.points->rects[i] : *a.points->bounds;
    Point<3> p;
    for (p[0] = r.lo[0]; p[0] <= r.hi[0]; ++p[0])
      for (p[1] = r.lo[1]; p[1] <= r.hi[1]; ++p[1])
        for (p[2] = r.lo[2]; p[2] <= r.hi[2]; ++p[2]) f(p);
  }
}

void add_reals(void* values, std::ptrdiff_t stride, const void* contributions,
               std::ptrdiff_t contribution_stride, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    double value = 0, contribution = 0;
    auto* to = static_cast<std::byte*>(values) + at * stride;
    std::memcpy(&value, to, sizeof value);
    std::memcpy(&contribution,
                static_cast<const std::byte*>(contributions) + at * contribution_stride,
                sizeof contribution);
    value += contribution;
    std::memcpy(to, &value, sizeof value);
  }
}
void no_reals(void* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) static_cast<double*>(values)[i] = -0.0;
}
const ReductionOp add{"add", &real, no_reals, add_reals};

/// A launch with everything that it refers to.
struct Call {
  Call(const DynamicTask& task, std::vector<Requirement> needs)
      : requirements(std::move(needs)), request(task) {
    request.requirements = requirements;
    request.wants_future = true;
  }
  std::vector<Requirement> requirements;
  LaunchRequest request;
};

// A stencil: the points of `next` become the mean of their neighbours in `now`, then they change places.
TEST_P(RunTimeApi, AStencil) {
  const DynamicTask relax("relax", [](const TaskFrame& frame) {
    each_point(frame.arguments[0], [&](const Point<3>& p) {
      real_at(frame.arguments[0], p) = 0.5 * (real_at(frame.arguments[1], {p[0] - 1, p[1], 0}) +
                                              real_at(frame.arguments[1], {p[0] + 1, p[1], 0}));
    });
  });
  const DynamicTask total(
      "total",
      [](const TaskFrame& frame) {
        double sum = 0;
        each_point(frame.arguments[0],
                   [&](const Point<3>& p) { sum += real_at(frame.arguments[0], p); });
        *static_cast<double*>(frame.result) = sum;
      },
      real_result);
  const DynamicTask scale("scale", [](const TaskFrame& frame) {
    const double by = *static_cast<const double*>(frame.futures[0].value());
    const double times = *static_cast<const double*>(frame.values);
    each_point(frame.arguments[0],
               [&](const Point<3>& p) { real_at(frame.arguments[0], p) *= by * times; });
  });
  run([&](Context& ctx) {
    const AnyField fields[] = {{"now", real}, {"next", real}};
    const AnyRegion grid =
        ctx.make_region(AnyIndexSpace(2, Rect<3>{{0, 0, 0}, {15, 3, 0}}), fields);
    const AnyPartition tiles = ctx.make_blocks(grid, {4, 2, 1});
    const AnyPartition inner = ctx.make_interior(tiles, {1, 0, 0});
    const AnyPartition ghost = ctx.make_halo(inner, {1, 0, 0});
    EXPECT_TRUE(tiles.is_complete());
    EXPECT_EQ(ghost.piece({1, 0, 0}).points().bounds(), (Rect<3>{{3, 0, 0}, {8, 1, 0}}));
    const double zero = 0, one = 1;
    for (const AnyField& field : fields) ctx.fill_bytes(grid, field, &zero);
    const AnyPartition edge = ctx.make_explicit(
        grid,
        {AnyIndexSpace(2, std::vector<Rect<3>>{{{0, 0, 0}, {0, 3, 0}}, {{15, 0, 0}, {15, 3, 0}}})});
    for (const AnyField& field : fields) ctx.fill_bytes(edge.piece({0, 0, 0}), field, &one);
    const AnyIndexSpace colours = tiles.colours();
    const LaunchDomain everywhere(colours);
    for (int step = 0; step < 100; ++step) {
      Call call(relax, {Requirement::of(inner, fields[(step + 1) % 2], Privilege::write),
                        Requirement::of(ghost, fields[step % 2], Privilege::read)});
      call.request.domain = &everywhere;
      ctx.launch(call.request);
    }
    Call sums(total, {Requirement::of(tiles, fields[0], Privilege::read)});
    sums.request.domain = &everywhere;
    const AnyFuture parts = ctx.launch(sums.request);
    EXPECT_EQ(parts.points(), 8u);
    const AnyFuture sum = ctx.reduce_futures(parts, add);
    double by_hand = 0;
    for (std::size_t i = 0; i < 8; ++i) by_hand += *static_cast<const double*>(parts.value(i));
    EXPECT_NEAR(*static_cast<const double*>(sum.value()), by_hand, 1e-9);
    EXPECT_GT(by_hand, 30);
    EXPECT_LT(by_hand, 64);

    const auto state = sum.state();
    Call last(scale, {Requirement::of(grid, fields[1], Privilege::read_write)});
    double times = 2;
    last.request.values = &times;
    last.request.value_ops = &value_ops<double>;
    last.request.futures = {&state, 1};
    ctx.launch(last.request);
    PhysicalArgument physical;
    const std::uint64_t ticket = ctx.begin_access(grid, fields[1], Privilege::read, physical);
    EXPECT_EQ(real_at(physical, {0, 3, 0}), 2 * *static_cast<const double*>(sum.value()));
    ctx.end_access(ticket);
    ctx.destroy(grid);
  });
}

// A body sees values where its launch has some, and only there; also of a task launched with and without.
TEST_P(RunTimeApi, ValuesAreThoseOfTheLaunch) {
  const DynamicTask values_or_not("values_or_not", [](const TaskFrame& frame) {
    const auto* given = static_cast<const double*>(frame.values);
    real_at(frame.arguments[0], {0, 0, 0}) += given != nullptr ? *given : 100;
  });
  run([&](Context& ctx) {
    const AnyField field("value", real);
    const AnyRegion cell =
        ctx.make_region(AnyIndexSpace(1, Rect<3>{{0, 0, 0}, {0, 0, 0}}), {&field, 1});
    const Trace trace{"values"};
    for (int i = 0; i < 8; ++i)
      ctx.trace(trace, [&] {
        for (const bool with : {true, false}) {
          Call call(values_or_not, {Requirement::of(cell, field, Privilege::read_write)});
          double value = i;
          if (with) {
            call.request.values = &value;
            call.request.value_ops = &value_ops<double>;
          }
          ctx.launch(call.request);
        }
      });
    PhysicalArgument physical;
    const std::uint64_t ticket = ctx.begin_access(cell, field, Privilege::read, physical);
    EXPECT_EQ(real_at(physical, {0, 0, 0}), 28 + 800);
    ctx.end_access(ticket);
  });
}

// Replays of a reader run at the same time, and each is checked for itself: every second one begins and ends
// while the one before is in its body.
TEST(ReplaysOfReaders, AreCheckedEachForItself) {
  constexpr int kReplays = 24;
  std::mutex mutex;
  std::condition_variable changed;
  int begun = 0, ended = 0;
  const DynamicTask reads("reads", [&](const TaskFrame& frame) {
    const auto* const watched_by = frame.arguments[0].info;
    std::unique_lock lock(mutex);
    const int number = begun++;
    if (number % 2 == 0) changed.wait(lock, [&] { return ended > number; });
    lock.unlock();
    EXPECT_NE(watched_by, nullptr);
    EXPECT_EQ(frame.arguments[0].info, watched_by);
    double sum = 0;
    each_point(frame.arguments[0],
               [&](const Point<3>& p) { sum += real_at(frame.arguments[0], p); });
    EXPECT_EQ(sum, 8.0);
    lock.lock();
    ++ended;
    changed.notify_all();
  });
  Options options;
  options.check = true;
  options.workers = 2;
  options.machine = "emulated:cpus=2";
  Runtime runtime(options);
  runtime.run([&](Context& ctx) {
    const AnyField field("value", real);
    const AnyRegion cells =
        ctx.make_region(AnyIndexSpace(1, Rect<3>{{0, 0, 0}, {7, 0, 0}}), {&field, 1});
    const double one = 1;
    ctx.fill_bytes(cells, field, &one);
    const Trace readers{"readers"};
    for (int i = 0; i < kReplays; ++i)
      ctx.trace(readers, [&] {
        Call call(reads, {Requirement::of(cells, field, Privilege::read)});
        call.request.wants_future = false;
        ctx.launch(call.request);
      });
  });
  EXPECT_GE(runtime.counters().replays, kReplays - 4u);
}

// A graph: nodes give to those that they point to, by reductions; children do the work.
TEST_P(RunTimeApi, AGraph) {
  const DynamicTask give("give", [](const TaskFrame& frame) {
    each_point(frame.arguments[0], [&](const Point<3>& p) {
      const Point<3> target{index_at(frame.arguments[0], p), 0, 0};
      *reinterpret_cast<double*>(frame.arguments[1].contribution(target)) += 1;
    });
  });
  const DynamicTask parent("parent", [&give](const TaskFrame& frame) {
    Context& ctx = frame.context();
    const AnyRegion nodes = frame.arguments[0].points->region,
                    target = frame.arguments[1].points->region;
    const AnyField to("to", index), weight("weight", real);
    const AnyPartition halves = ctx.make_blocks(nodes, {2, 1, 1});
    const AnyPartition reached = ctx.make_image(target, halves, to);
    const LaunchDomain both(2);
    Call call(give, {Requirement::of(halves, to, Privilege::read),
                     Requirement::of(reached, weight, Privilege::reduce, &add)});
    call.request.domain = &both;
    ctx.launch(call.request);
  });
  run([&](Context& ctx) {
    const AnyField fields[] = {{"to", index}, {"weight", real}};
    const std::vector<Point<3>> points{{1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {10, 0, 0}, {11, 0, 0}};
    const AnyRegion nodes = ctx.make_region(AnyIndexSpace(1, points), fields);
    EXPECT_EQ(nodes.points().volume(), 5u);
    EXPECT_EQ(nodes.points().rects().size(), 2u);
    PhysicalArgument physical;
    std::uint64_t ticket = ctx.begin_access(nodes, fields[0], Privilege::write, physical);
    for (const Point<3>& p : points) index_at(physical, p) = p[0] < 10 ? 10 : 2;
    ctx.end_access(ticket);
    for (int i = 0; i < 3; ++i)
      ctx.launch(Call(parent, {Requirement::of(nodes, fields[0], Privilege::read),
                               Requirement::of(nodes, fields[1], Privilege::reduce, &add)})
                     .request);
    const AnyPartition back = ctx.make_preimage(
        nodes, ctx.make_explicit(nodes, {AnyIndexSpace(1, Rect<3>{{2, 0, 0}, {2, 0, 0}})}),
        fields[0]);
    EXPECT_EQ(back.piece({0, 0, 0}).points().bounds(), (Rect<3>{{10, 0, 0}, {11, 0, 0}}));
    ticket = ctx.begin_access(nodes, fields[1], Privilege::read, physical);
    EXPECT_EQ(real_at(physical, {10, 0, 0}), 9);
    EXPECT_EQ(real_at(physical, {2, 0, 0}), 6);
    EXPECT_EQ(real_at(physical, {1, 0, 0}), 0);
    ctx.end_access(ticket);
  });
}

TEST_P(RunTimeApi, GangsCopiesAndMemoryOfTheProgram) {
  const DynamicTask count("count", {{ProcessorKind::gang, [](const TaskFrame& frame) {
                                       const PhysicalArgument& x = frame.arguments[0];
                                       frame.parallel_for(
                                           100, [&](std::int64_t begin, std::int64_t end) {
                                             for (std::int64_t i = begin; i < end; ++i)
                                               index_at(x, {i, 0, 0}) += i;
                                           });
                                     }}});
  run([&](Context& ctx) {
    const AnyField field("number", index);
    const AnyIndexSpace line(1, Rect<3>{{0, 0, 0}, {99, 0, 0}});
    const AnyRegion mine = ctx.make_region(line, {&field, 1});
    const AnyRegion other = ctx.make_region(line, {&field, 1});
    std::vector<Coord> memory(100, 7), received(100);
    ctx.attach_memory(mine, field, memory.data());
    ctx.attach_memory(other, field, received.data());
    ctx.launch(Call(count, {Requirement::of(mine, field, Privilege::read_write)}).request);
    ctx.copy_fields(mine, field, other, field);
    ctx.detach_memory(other, field);
    EXPECT_EQ(received[99], 7 + 99);
    const AnyPartition a = ctx.make_blocks_of_size(mine, {30, 1, 1});
    const AnyPartition b = ctx.make_halo(a, {1, 0, 0});
    EXPECT_EQ(ctx.make_combination(b, a, SetOperation::subtract).piece({1, 0, 0}).points().volume(),
              2u);
    EXPECT_EQ(ctx.make_combination(b, a, SetOperation::intersect), a);
    EXPECT_EQ(ctx.make_combination(b, a, SetOperation::unite), b);
  });
}

}  // namespace
}  // namespace refrain::dynamic_test
