// The programs in docs/programming.md: mappers, errors, the run-time API, runtimes inside a program.

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "refrain/error.hpp"
#include "refrain/refrain.hpp"

namespace refrain::runtime_test {
namespace {

struct Cell {
  static constexpr Field<double> value{"value"};
};

const Task halve{"halve", [](ReadWrite<double> x) {
  for (auto p : x.domain()) {
    if (x[p] == 0) throw std::runtime_error("nothing to halve");
    x[p] /= 2;
  }
}};

// Everything on the second GPU, in Fortran order; asked once per kind of launch.
class SecondGpu : public Mapper {
 public:
  std::string_view name() const override { return "second gpu"; }
  void map(const MappingInput& input, MappingOutput& output) override {
    ++asked;
    const auto gpus = input.machine->processors(ProcessorKind::gpu);
    output.processor = gpus[1];
    for (ArgumentMapping& argument : output.arguments) {
      argument.memories = input.machine->processor(gpus[1]).memories;
      argument.layout.order = Order::fortran;
    }
  }
  int asked = 0;
};

// Blocks of a grid that lie together run in one process: 2 x 2 processes.
class Quarters : public Mapper {
 public:
  std::string_view name() const override { return "quarters"; }
  void map(const MappingInput&, MappingOutput&) override {}
  Sharding sharding(const ShardingInput& launch) override {
    return launch.dim == 2 ? Sharding::tiled({2, 2, 1}) : Sharding::blocked();
  }
};

// As one of four processes, without the others: this one has the quarter at the bottom on the left.
TEST(DocsRuntime, ShardingByAMapper) {
  Options options;
  options.dry = true;
  options.shard = {2, 4};
  Runtime runtime(options);
  runtime.set_mapper(std::make_unique<Quarters>());
  runtime.run([](Context& ctx) {
    auto grid = ctx.region(Rect2{{0, 0}, {7, 7}}, Cell::value);
    auto blocks = ctx.blocks(grid, {4, 4});
    auto around = ctx.halo(blocks, 1);
    const Task blur{"blur", [](ReadWrite<double, 2>, Read<double, 2>) {}};
    const Task shrink{"shrink", [](ReadWrite<double, 2>) {}};
    auto other = ctx.region(Rect2{{0, 0}, {7, 7}}, Cell::value);
    auto others = ctx.blocks(other, {4, 4});
    ctx.fence();  // the end of set-up
    for (int i = 0; i < 3; ++i) {
      ctx.launch(blur, Rect2{{0, 0}, {3, 3}}, others[Cell::value], around[Cell::value]);
      ctx.launch(shrink, Rect2{{0, 0}, {3, 3}}, blocks[Cell::value]);
    }
    ctx.fence();
  });
  EXPECT_EQ(runtime.counters().tasks, 6U * 4);
  EXPECT_EQ(runtime.counters().messages, 2U * 3);  // to the three other quarters, twice
}

TEST(DocsRuntime, OpenPrograms) {
  Runtime runtime;
  double answer = 0;
  OpenProgram program = runtime.open();
  Context& ctx = program.context();
  auto cells = ctx.region(Rect1{0, 9}, Cell::value);
  ctx.fill(cells, Cell::value, 8.0);
  ctx.launch(halve, cells[Cell::value]);
  answer = ctx.access<Read>(cells[Cell::value])[0];
  program.close();
  EXPECT_EQ(answer, 4.0);
}

TEST(DocsRuntime, Mappers) {
  Options options;
  options.machine = "emulated:gpus=2";
  Runtime runtime(options);
  auto owned = std::make_unique<SecondGpu>();
  SecondGpu& mapper = *owned;
  runtime.set_mapper(std::move(owned));
  const Task negate{"negate", on<ProcessorKind::gpu>([](ReadWrite<double, 2> x) {
    for (auto p : x.domain()) x[p] = -x[p];
  })};
  runtime.run([&](Context& ctx) {
    auto grid = ctx.region(Rect2{{0, 0}, {7, 7}}, Cell::value);
    ctx.fill(grid, Cell::value, 1.0);
    for (int i = 0; i < 5; ++i) ctx.launch(negate, grid[Cell::value]);
    EXPECT_EQ((ctx.access<Read>(grid[Cell::value])[{3, 3}]), -1.0);
  });
  EXPECT_EQ(mapper.asked, 1);
}

TEST(DocsRuntime, FailedTasks) {
  Runtime runtime;
  runtime.run([](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 99}, Cell::value);
    auto blocks = ctx.blocks(cells, 2);
    ctx.fill(blocks(1), Cell::value, 8.0);
    ctx.launch(halve, 2, blocks[Cell::value]);  // point 0 throws
    ctx.launch(halve, 2, blocks[Cell::value]);  // point 0 is not run, point 1 is
    try {
      ctx.fence();
    } catch (const TaskFailed& failed) {
      // "task 'halve' launched at FILE:LINE failed: nothing to halve"
      EXPECT_NE(std::string(failed.what()).find("failed: nothing to halve"), std::string::npos);
      EXPECT_THROW(std::rethrow_exception(failed.original()), std::runtime_error);
    }
    EXPECT_EQ(ctx.access<Read>(blocks(1)[Cell::value])[50], 2.0);
    EXPECT_THROW(ctx.access<Read>(blocks(0)[Cell::value]), TaskFailed);  // poisoned
    ctx.fill(blocks(0), Cell::value, 4.0);                                // and healed
    EXPECT_EQ(ctx.access<Read>(blocks(0)[Cell::value])[0], 4.0);
  });
}

TEST(DocsRuntime, NestedFailuresNameBoth) {
  const Task outer{"outer", [](ReadWrite<double> x, Context& ctx) {
    ctx.launch(halve, x.region()[Cell::value]);
  }};
  Runtime runtime;
  std::string text;
  try {
    runtime.run([&](Context& ctx) {
      ctx.launch(outer, ctx.region(Rect1{0, 9}, Cell::value)[Cell::value]);
    });
  } catch (const TaskFailed& failed) { text = failed.what(); }
  EXPECT_NE(text.find("task 'outer'"), std::string::npos) << text;
  EXPECT_NE(text.find("task 'halve'"), std::string::npos) << text;
}

TEST(DocsRuntime, RunTimeApi) {
  const DynamicTask axpy("axpy", [](const TaskFrame& frame) {
    auto y = frame.get<ReadWrite<double>>(0);
    auto x = frame.get<Read<double>>(1);
    const double a = *static_cast<const double*>(frame.values);
    for (auto p : y.domain()) y[p] += a * x[p];
  });
  Runtime runtime;
  runtime.run([&](Context& ctx) {
    constexpr Field<double> fx{"x"}, fy{"y"};
    auto cells = ctx.region(Rect1{0, 99}, fx, fy);
    auto blocks = ctx.blocks(cells, 4);
    ctx.fill(cells, fx, 1.0);

    const std::vector<Requirement> requirements{
        Requirement::of(blocks, fy, Privilege::read_write),
        Requirement::of(blocks, fx, Privilege::read)};
    const LaunchDomain domain(4);  // points 0 .. 3
    double a = 2.0;
    LaunchRequest request(axpy);
    request.domain = &domain;
    request.requirements = requirements;
    request.values = &a;
    request.value_ops = &value_ops<double>;
    ctx.launch(request);

    EXPECT_EQ(ctx.access<Read>(cells[fy])[99], 2.0);
  });
}

TEST(DocsRuntime, InsideAForeignMain) {
  Options options;
  options.workers = 1;
  options.window = 1000;
  Runtime runtime(options);
  double answer = 0;
  for (int round = 0; round < 2; ++round)
    runtime.run([&](Context& ctx) {
      auto cells = ctx.region(Rect1{0, 9}, Cell::value);
      ctx.fill(cells, Cell::value, 8.0);
      ctx.launch(halve, cells[Cell::value]);
      answer = ctx.access<Read>(cells[Cell::value])[0];
    });
  EXPECT_EQ(answer, 4.0);
  EXPECT_EQ(runtime.counters().tasks, 2u);
  EXPECT_EQ(runtime.counters().regions_alive, 0u);
}

}  // namespace
}  // namespace refrain::runtime_test
