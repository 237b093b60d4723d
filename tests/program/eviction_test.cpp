// What a full and fragmented memory holds follows from the order of launches: the same operations, copies of
// what is evicted among them, and the same edges, however far operations have come when room is wanted.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "data/index_space.hpp"
#include "refrain/refrain.hpp"
#include "runtime/runtime_impl.hpp"
#include "support/judge.hpp"
#include "support/random.hpp"
#include "support/test_budget.hpp"

namespace refrain::test::eviction_test {
namespace {

constexpr Field<Coord> number{"number"};

const Task add{"add", on<ProcessorKind::gpu>([](ReadWrite<Coord> to, Read<Coord> from) {
                 for (auto p : from.domain()) to[0] += from[p] + 1;
               })};
const Task set{"set", on<ProcessorKind::gpu>([](Write<Coord> x) {
                 for (auto p : x.domain()) x[p] = p[0];
               })};

class Next final : public Mapper {
 public:
  [[nodiscard]] std::string_view name() const override { return "next"; }
  void map(const MappingInput&, MappingOutput& output) override {
    for (ArgumentMapping& argument : output.arguments) argument.when_full = WhenFull::next;
  }
};

/// Regions of many sizes come, are used on the GPU and go. Returns the sum of what was left.
Coord come_and_go(Context& ctx, std::uint64_t seed) {
  Random random(seed);
  std::vector<Region<1>> regions;
  const auto any = [&]() -> Region<1>& {
    return regions[static_cast<std::size_t>(random.below(static_cast<int>(regions.size())))];
  };
  for (int step = 0; step < 150; ++step) {
    regions.push_back(ctx.region(Rect1{0, random.between(0, 60)}, number));
    ctx.launch(set, regions.back()[number]);
    for (int uses = 0; uses < 2; ++uses) {
      const Region<1> to = any(), from = any();
      if (to != from) ctx.launch(add, to[number], from[number]);
    }
    while (!regions.empty() && (regions.size() > 8 || random.percent(25))) {
      std::swap(any(), regions.back());
      ctx.destroy(regions.back());
      regions.pop_back();
    }
  }
  Coord sum = 0;
  for (const Region<1>& region : regions) {
    auto x = ctx.access<Read>(region[number]);
    for (auto p : x.domain()) sum += x[p];
  }
  return sum;
}

struct Outcome {
  Coord sum = 0;
  std::uint64_t evictions = 0;
  std::vector<std::string> graph;
};

std::vector<std::string> to_text(const ContextLog& log) {
  std::vector<std::string> lines = log.complaints;
  for (const analysis::LoggedOperation& o : log.operations)
    lines.push_back(
        fmt::format("{} kind {} call {} rank {} argument {} {} from {} to {}, {} points", o.seq,
                    static_cast<int>(o.kind), o.call, o.rank, o.argument, o.field, o.source,
                    o.target, o.points ? o.points->volume() : 0));
  for (const ContextLog::Edge& e : log.edges)
    lines.push_back(fmt::format("{} -> {}", e.from, e.to));
  return lines;
}

Outcome run(std::uint64_t program, int workers, std::optional<std::uint64_t> schedule) {
  Options options;
  options.machine = "emulated:cpus=4,gpus=1,framebuffer=2KiB,pinned=2KiB";
  options.workers = workers;
  options.schedule = schedule;
  Runtime runtime(options);
  if (program % 2 == 1) runtime.set_mapper(std::make_unique<Next>());
  GraphRecorder graph;
  runtime.impl().listeners().add(graph, {runtime::Events::graph});
  Outcome outcome;
  runtime.run([&](Context& ctx) { outcome.sum = come_and_go(ctx, program); });
  runtime.impl().listeners().remove(graph);
  outcome.evictions = runtime.counters().evictions;
  outcome.graph = to_text(graph.log_of(nullptr));
  return outcome;
}

TEST(Eviction, FollowsLaunchOrder) {
  for (TestBudget budget(10, 2); budget.more(); budget.next()) {
    const std::uint64_t program = budget.seed();
    const Outcome first = run(program, 0, {});
    EXPECT_GT(first.evictions, 0U);
    const auto expect_same = [&](const Outcome& other, const std::string& how) {
      SCOPED_TRACE(fmt::format("program {}, {}", program, how));
      EXPECT_EQ(other.sum, first.sum);
      EXPECT_EQ(other.evictions, first.evictions);
      const auto [a, b] = std::ranges::mismatch(first.graph, other.graph);
      EXPECT_TRUE(a == first.graph.end() && b == other.graph.end())
          << (a == first.graph.end() ? "the end" : *a) << "\nis now\n"
          << (b == other.graph.end() ? "the end" : *b);
    };
    for (const int workers : {1, 2, 4})
      expect_same(run(program, workers, {}), fmt::format("{} workers", workers));
    for (std::uint64_t schedule = 1; schedule <= 8; ++schedule)
      expect_same(run(program, 0, schedule), fmt::format("schedule {}", schedule));
  }
}

// A launch that passes by a chain of replays comes after them, though the analysis has not seen them yet.
TEST(Eviction, KnowsWhatWasReplayedBefore) {
  const Task bump{"bump", on<ProcessorKind::gpu>([](ReadWrite<Coord> x) {
                    for (auto p : x.domain()) x[p] += 1;
                  })};
  Options options;
  options.machine = "emulated:cpus=2,gpus=1,framebuffer=2KiB";  // room for two regions
  Runtime runtime(options);
  runtime.run([&](Context& ctx) {
    const Trace step{"step"};
    const auto replayed = ctx.region(Rect1{0, 99}, number),
               passing = ctx.region(Rect1{0, 99}, number), third = ctx.region(Rect1{0, 99}, number);
    const auto use = [&](const Region<1>& region) { ctx.launch(bump, region[number]); };
    use(passing);
    for (int t = 0; t < 5; ++t) ctx.trace(step, [&] { use(replayed); });
    use(passing);
    use(third);    // in the place of what was replayed,
    use(passing);  // since this has been used later
  });
  EXPECT_GE(runtime.counters().replays, 3U);
  EXPECT_EQ(runtime.counters().evictions, 1U);
}

// With WhenFull::next what is valid elsewhere gives way, but nothing that would have to be copied out.
TEST(Eviction, MayComeAfterTheNextMemory) {
  const Task look{"look", on<ProcessorKind::gpu>([](Read<Coord> x) { return x[99]; })};
  Options options;
  options.machine = "emulated:cpus=2,gpus=1,framebuffer=1KiB,pinned=1KiB";  // each: one region
  Runtime runtime(options);
  runtime.set_mapper(std::make_unique<Next>());
  runtime.run([&](Context& ctx) {
    const auto region = [&] { return ctx.region(Rect1{0, 99}, number); };
    const auto host = region(), first = region(), second = region(), third = region();
    ctx.access<Write>(host[number])[99] = 7;
    EXPECT_EQ(ctx.launch(look, host[number]).get(), 7);
    EXPECT_EQ(runtime.counters().evictions, 0U);
    ctx.launch(set, first[number]);  // in the place of a copy
    EXPECT_EQ(runtime.counters().evictions, 1U);
    const std::uint64_t copies = runtime.counters().copies;
    ctx.launch(set, second[number]);  // in pinned memory
    for (int i = 0; i < 3; ++i) {
      ctx.launch(set, first[number]);
      ctx.launch(set, second[number]);
    }
    EXPECT_EQ(runtime.counters().evictions, 1U);
    EXPECT_EQ(runtime.counters().copies, copies);
    // Nothing gives way to what is in pinned memory: it would come back, and something else would go, for ever.
    EXPECT_EQ(ctx.access<Read>(first[number])[99], 99);
    EXPECT_EQ(ctx.launch(look, second[number]).get(), 99);
    EXPECT_EQ(runtime.counters().evictions, 1U);
    ctx.launch(set, first[number]);
    ctx.launch(set, third[number]);  // all are full
    EXPECT_EQ(runtime.counters().evictions, 2U);
    for (const auto& each : {first, second, third})
      EXPECT_EQ(ctx.access<Read>(each[number])[99], 99);
  });
}

}  // namespace
}  // namespace refrain::test::eviction_test
