// Mappers: variants for emulated GPUs, answers that are remembered or asked for, layouts, eviction.

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "refrain/refrain.hpp"
#include "runtime/context_impl.hpp"
#include "support/settings.hpp"

namespace refrain::mapping_test {
namespace {

constexpr const char* gpus = "emulated:cpus=2,gpus=2,framebuffer=64KiB";

class Mapping : public test::InEverySetting {};
REFRAIN_IN_EVERY_SETTING(Mapping);

constexpr Field<Coord> number{"number"};
constexpr Field<Coord> other{"other"};

struct AddOne {
  void operator()(ReadWrite<Coord> x) const {
    for (auto p : x.domain()) x[p] += 1;
  }
};

TEST_P(Mapping, VariantsRunWhereTheirProcessorsAre) {
  std::atomic<int> on_gpu{0}, on_cpu{0};
  const Task both{"both", on<ProcessorKind::gpu>([&](ReadWrite<Coord> x) {
                    ++on_gpu;
                    for (auto p : x.domain()) x[p] = 3 * x[p] + 1;
                  }),
                  on<ProcessorKind::cpu>([&](ReadWrite<Coord> x) {
                    ++on_cpu;
                    for (auto p : x.domain()) x[p] = 3 * x[p] + 1;
                  })};
  const Task host{"host", AddOne{}};
  const auto program = [&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 99}, number);
    auto blocks = ctx.blocks(cells, 4);
    for (int i = 0; i < 5; ++i) {
      ctx.launch(both, 4, blocks[number]);
      ctx.launch(host, blocks(1)[number]);
    }
    Coord plain = 0, touched = 0;
    for (int i = 0; i < 5; ++i) {
      plain = 3 * plain + 1;
      touched = 3 * touched + 2;
    }
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], p / 25 == 1 ? touched : plain);
  };
  Runtime with(options(gpus));
  with.run(program);
  EXPECT_EQ(on_gpu, 20);
  EXPECT_EQ(on_cpu, 0);
  EXPECT_GT(with.counters().copies, 0u);
  Runtime without(options());
  without.run(program);
  EXPECT_EQ(on_cpu, 20);
  EXPECT_EQ(without.counters().copies, 0u);
}

TEST_P(Mapping, ASmallFramebufferIsShared) {
  const Task gpu{"gpu", on<ProcessorKind::gpu>([](ReadWrite<Coord> x, Read<Coord> y) {
                   for (auto p : x.domain()) x[p] += y[p] + 1;
                 })};
  Runtime runtime(options(gpus));
  runtime.run([&](Context& ctx) {
    // 160 KB of each field for two framebuffers of 64 KiB.
    auto cells = ctx.region(Rect1{0, 19999}, number, other);
    auto blocks = ctx.blocks(cells, 10);
    ctx.fill(cells, other, 2);
    for (int i = 0; i < 4; ++i) ctx.launch(gpu, 10, blocks[number], blocks[other]);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) ASSERT_EQ(x[p], 12) << p[0];
  });
  EXPECT_GT(runtime.counters().evictions, 0u);
}

TEST_P(Mapping, NestedTasksOnGpus) {
  const Task leaf{"leaf", on<ProcessorKind::gpu>(AddOne{})};
  const Task parent{"parent", [&](Context& ctx, ReadWrite<Coord> x) {
                      auto halves = ctx.blocks(x.region(), 2);
                      for (int i = 0; i < 3; ++i) ctx.launch(leaf, 2, halves[number]);
                      ctx.fence();
                      for (auto p : x.domain()) x[p] *= 2;
                      ctx.launch(leaf, halves(0)[number]);
                    }};
  Runtime runtime(options(gpus));
  runtime.run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 39}, number);
    ctx.launch(parent, 4, ctx.blocks(cells, 4)[number]);
    ctx.launch(leaf, cells[number]);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], p % 10 < 5 ? 8 : 7);
  });
}

TEST_P(Mapping, ReductionsOnGpus) {
  const Task one{"one", on<ProcessorKind::gpu>([](Reduce<Sum, Coord> x) {
                   for (auto p : x.domain()) x[p] += 1;
                 })};
  const Task host{"host", AddOne{}};
  Runtime runtime(options(gpus));
  runtime.run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 39}, number);
    auto blocks = ctx.blocks(cells, 4);
    auto ghost = ctx.halo(blocks, 2);
    for (int i = 0; i < 3; ++i) {
      ctx.launch(one, 4, ghost[number]);
      ctx.launch(one, cells[number]);
      ctx.launch(host, 4, blocks[number]);
    }
    auto x = ctx.access<Read>(cells[number]);
    EXPECT_EQ(x[0], 9);
    EXPECT_EQ(x[10], 12);
    EXPECT_EQ(x[15], 9);
  });
}

/// Notes how often it is asked, and answers what it is told.
class Asked final : public Mapper {
 public:
  struct Plan {
    int asked = 0;
    Layout layout;
    bool every_launch = false;
    Asked* mapper = nullptr;
  };
  explicit Asked(Plan& plan) : plan_(plan) { plan.mapper = this; }
  [[nodiscard]] std::string_view name() const override { return "asked"; }
  [[nodiscard]] bool every_launch() const override { return plan_.every_launch; }
  void map(const MappingInput& input, MappingOutput& output) override {
    ++plan_.asked;
    last_task = input.task;
    for (ArgumentMapping& argument : output.arguments) argument.layout = plan_.layout;
  }
  std::string last_task;

 private:
  Plan& plan_;
};

TEST_P(Mapping, AnswersAreRememberedUntilForgotten) {
  Asked::Plan plan;
  const Task add{"add", AddOne{}};
  Runtime runtime(options());
  runtime.set_mapper(std::make_unique<Asked>(plan));
  runtime.run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number, other);
    auto blocks = ctx.blocks(cells, 4);
    for (int i = 0; i < 10; ++i) ctx.launch(add, 4, blocks[number]);
    EXPECT_EQ(plan.asked, 4);
    ctx.launch(add, 4, blocks[other]);
    EXPECT_EQ(plan.asked, 8);
    plan.mapper->forget();
    for (int i = 0; i < 10; ++i) ctx.launch(add, 4, blocks[number]);
    EXPECT_EQ(plan.asked, 12);
    EXPECT_EQ(plan.mapper->last_task, "add");
    EXPECT_EQ(ctx.access<Read>(cells[number])[7], 20);
  });
}

TEST_P(Mapping, AMapperForEveryLaunch) {
  Asked::Plan plan;
  plan.every_launch = true;
  const Task add{"add", AddOne{}};
  Runtime runtime(options());
  runtime.set_mapper(std::make_unique<Asked>(plan));
  runtime.run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 7}, number);
    auto blocks = ctx.blocks(cells, 4);
    for (int i = 0; i < 10; ++i) {
      plan.layout.extent = i % 3 == 0 ? Extent::exact : Extent::whole;
      ctx.launch(add, 4, blocks[number]);
    }
    EXPECT_EQ(plan.asked, 40);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], 10);
  });
}

/// Answers with one memory and the other in turn, launch by launch.
class Alternating final : public Mapper {
 public:
  [[nodiscard]] std::string_view name() const override { return "alternating"; }
  [[nodiscard]] bool every_launch() const override { return true; }
  void map(const MappingInput& input, MappingOutput& output) override {
    if (input.rank == 0) ++launches_;
    auto& memories = output.arguments[0].memories;
    if (launches_ % 2 == 0) std::reverse(memories.begin(), memories.end());
  }

 private:
  int launches_ = 0;
};

TEST_P(Mapping, AskingEachTimePlansOncePerAnswer) {
  const Task step{"step", on<ProcessorKind::gpu>(AddOne{})};
  Runtime runtime(options(gpus));
  runtime.set_mapper(std::make_unique<Alternating>());
  runtime.run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 39}, number);
    auto blocks = ctx.blocks(cells, 4);
    for (int i = 0; i < 21; ++i) ctx.launch(step, 4, blocks[number]);
    EXPECT_EQ(ctx.impl().plans(), 1U + 2U);  // without a mapping, and with each
    for (int i = 0; i < 21; ++i) ctx.launch(step, blocks(2)[number]);
    EXPECT_EQ(ctx.impl().plans(), 2U + 4U);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], p / 10 == 2 ? 42 : 21);
  });
  // From one memory to the other at each launch but the first, which fills, and to the program.
  EXPECT_EQ(runtime.counters().copies, 20U * 4 + 1 + 20 + 4);
}

/// Everything that an answer may say differs from point to point and from argument to argument, but for some neighbours.
class Varied final : public Mapper {
 public:
  explicit Varied(bool every_launch) : every_launch_(every_launch) {}
  [[nodiscard]] std::string_view name() const override { return "varied"; }
  [[nodiscard]] bool every_launch() const override { return every_launch_; }
  void map(const MappingInput& input, MappingOutput& output) override {
    const std::size_t rank = input.rank;
    output.priority = 4 - static_cast<int>(rank);
    for (std::size_t i = 0; i < output.arguments.size(); ++i) {
      ArgumentMapping& argument = output.arguments[i];
      const std::size_t way = rank / 2 + i;  // the same for two neighbours
      if (way % 2 == 1) std::ranges::reverse(argument.memories);
      if (way % 3 == 1) argument.memories.resize(1);
      argument.layout = {.order = way % 3 == 0 ? Order::fortran : Order::c,
                         .extent = way % 5 < 2 ? Extent::exact : Extent::whole,
                         .sparse = way % 2 == 0 ? Sparse::by_density : Sparse::box};
      argument.when_full = way % 4 == 0 ? WhenFull::next : WhenFull::evict;
    }
    answers[std::string(input.task)].resize(input.points);
    answers[std::string(input.task)][rank] = output;
  }
  std::map<std::string, std::vector<MappingOutput>, std::less<>> answers;

 private:
  const bool every_launch_;
};

/// Compares each plan that is issued with the mapper's answers.
class PlansAsAnswered final : public runtime::Listener {
 public:
  explicit PlansAsAnswered(const Varied& mapper) : mapper_(mapper) {}
  void launched(runtime::LaunchPlan& plan, const std::string&) override {
    const std::vector<MappingOutput>& answers = mapper_.answers.find(plan.info.name)->second;
    for (std::size_t rank = 0; rank < plan.own.points.size(); ++rank) {
      SCOPED_TRACE(std::string(plan.info.name) + ", point " + std::to_string(rank));
      EXPECT_EQ(plan.own.points[rank].processor, answers[rank].processor);
      EXPECT_EQ(plan.own.points[rank].priority, answers[rank].priority);
      std::vector<ArgumentMapping> mappings;
      for (const runtime::PlannedArgument& argument : plan.arguments_of(rank))
        mappings.push_back(plan.own.mappings[argument.mapping]);
      EXPECT_EQ(mappings, answers[rank].arguments);
    }
    ++launches;
  }
  int launches = 0;

 private:
  const Varied& mapper_;
};

TEST_P(Mapping, PlansSayWhatTheMapperAnswered) {
  const Task two{"two", on<ProcessorKind::gpu>([](ReadWrite<Coord>, Read<Coord>) {})};
  const Task none{"none", on<ProcessorKind::gpu>([] {})};
  for (const bool every_launch : {false, true}) {
    Runtime runtime(options(gpus));
    auto mapper = std::make_unique<Varied>(every_launch);
    PlansAsAnswered plans(*mapper);
    runtime.set_mapper(std::move(mapper));
    runtime.impl().listeners().add(plans, {runtime::Events::decisions});
    runtime.run([&](Context& ctx) {
      auto cells = ctx.region(Rect1{0, 39}, number, other);
      auto blocks = ctx.blocks(cells, 10);
      for (int i = 0; i < 3; ++i) {
        ctx.launch(two, 10, blocks[number], blocks[other]);
        ctx.launch(none, 10);
      }
    });
    runtime.impl().listeners().remove(plans);
    EXPECT_EQ(plans.launches, 6);
  }
}

TEST_P(Mapping, Layouts) {
  Asked::Plan plan;
  plan.every_launch = true;
  const Task lay{"lay", [](ReadWrite<Coord, 2> x, Coord wanted) {
                   EXPECT_EQ(x.contiguous_rows(), wanted == 0);
                   EXPECT_EQ(x.stride(0) == static_cast<Coord>(sizeof(Coord)), wanted == 1);
                   for (auto p : x.domain()) x[p] += 10 * p[0] + p[1];
                 }};
  Runtime runtime(options());
  runtime.set_mapper(std::make_unique<Asked>(plan));
  runtime.run([&](Context& ctx) {
    auto cells = ctx.region(Rect2{{0, 0}, {5, 6}}, number, other);
    plan.layout.order = Order::c;
    ctx.launch(lay, cells[number], 0);
    plan.layout.order = Order::fortran;
    ctx.launch(lay, cells[number], 1);
    ctx.launch(lay, cells[other], 1);
    plan.layout.extent = Extent::exact;
    plan.layout.order = Order::c;
    auto blocks = ctx.blocks(cells, {2, 2});
    ctx.launch(lay, Rect2{{0, 0}, {1, 1}}, blocks[number], 0);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) EXPECT_EQ(x[p], 3 * (10 * p[0] + p[1]));
  });
}

TEST_P(Mapping, MemoriesAreTriedInOrder) {
  /// Framebuffer first, pinned memory when it is full.
  const Task large{"large", on<ProcessorKind::gpu>([](ReadWrite<Coord> x) {
                     for (auto p : x.domain()) x[p] += 1;
                   })};
  Runtime runtime(options(gpus));
  runtime.run([&](Context& ctx) {
    auto cells = ctx.region(Rect1{0, 19999}, number);  // does not fit into any framebuffer
    ctx.launch(large, cells[number]);
    ctx.launch(large, 40, ctx.blocks(cells, 40)[number]);
    auto x = ctx.access<Read>(cells[number]);
    for (auto p : x.domain()) ASSERT_EQ(x[p], 2);
  });
}

}  // namespace
}  // namespace refrain::mapping_test
