// Simulations of programs that are made by hand: times that can be worked out on paper.

#include "simulate/simulation.hpp"

#include <gtest/gtest.h>

#include "machine/machine.hpp"
#include "refrain/error.hpp"
#include "support/settings.hpp"
#include "support/temporary_file.hpp"

namespace refrain::test::simulation_test {
namespace {

using capture::Call;
using capture::CallKind;
using capture::Number;
using simulate::Outcome;
using simulate::Simulation;

constexpr double kMillisecond = 1e-3;
/// What the runtime itself takes of the time.
constexpr double kLittle = 0.2 * kMillisecond;

/// A region of `points` points in `pieces` blocks, a field of doubles, and one task that takes a millisecond.
class Hand {
 public:
  explicit Hand(Coord points, Coord pieces, const std::string& machine = "emulated:cpus=2") {
    program_.name = "hand";
    program_.machine = machine::to_json(machine::load(machine));
    program_.fields = {{"x", "double", 8, 8}};
    program_.regions = {{space(0, points - 1), {0}}};
    capture::Partition partition{{0}, space(0, pieces - 1), {}, "blocks"};
    for (Coord piece = 0; piece < pieces; ++piece)
      partition.pieces.push_back(space(points * piece / pieces, points * (piece + 1) / pieces - 1));
    program_.partitions = {partition};
    add({.kind = CallKind::region, .file = "hand.cpp", .line = 1, .region = 0});
    add({.kind = CallKind::partition, .file = "hand.cpp", .line = 2, .partition = 0});
  }

  Number task(const std::string& name, double seconds, std::vector<ProcessorKind> kinds) {
    capture::Task task;
    task.name = name;
    for (const ProcessorKind kind : kinds)
      task.costs[static_cast<std::size_t>(kind)] = {{0, 1, seconds, 0}, {1 << 30, 1, seconds, 0}};
    task.variants = std::move(kinds);
    program_.tasks.push_back(task);
    return static_cast<Number>(program_.tasks.size() - 1);
  }
  /// A group launch over the pieces.
  void launch(Number task, Privilege privilege, std::uint64_t times = 1) {
    capture::Argument argument;
    argument.partition = 0;
    argument.privilege = privilege;
    add({.kind = CallKind::launch,
         .file = "hand.cpp",
         .line = 3,
         .task = task,
         .domain = program_.partitions[0].colours,
         .arguments = {argument}},
        times);
  }
  void add(Call call, std::uint64_t times = 1) {
    program_.calls.push_back(std::move(call));
    uses_.push_back(
        {oracle::Symbol::event(static_cast<std::uint32_t>(program_.calls.size() - 1)), times});
  }
  Number space(Coord first, Coord last) {
    program_.spaces.push_back(data::IndexSpace::dense(Rect1{first, last}));
    return static_cast<Number>(program_.spaces.size() - 1);
  }
  capture::Program& program() {
    program_.stream = oracle::Grammar({uses_});
    return program_;
  }

  Outcome simulate(const Simulation& simulation = {}) {
    return simulate::simulate(program(), simulation);
  }
  Outcome on(const std::string& machine, const std::string& mapping = {}) {
    Simulation simulation;
    simulation.machine = machine::parse_json(machine, "machine");
    simulation.options.mapping = mapping;
    return simulate(simulation);
  }

 private:
  capture::Program program_;
  std::vector<oracle::Use> uses_;
};

TEST(Simulation, TasksThatAreIndependentShareTheProcessors) {
  Hand hand(1000, 8);
  hand.launch(hand.task("work", kMillisecond, {ProcessorKind::cpu}), Privilege::write);
  const Outcome outcome = hand.simulate();  // the program's thread helps while it waits
  EXPECT_NEAR(outcome.seconds, 4 * kMillisecond, kLittle);
  EXPECT_EQ(outcome.tasks, 8U);
  ASSERT_EQ(outcome.processors.size(), 2U);
  EXPECT_NEAR(outcome.processors[1].seconds, 4 * kMillisecond, kLittle);
}

TEST(Simulation, WithoutWorkersTheProgramsThreadDoesEverything) {
  Hand hand(1000, 8);
  hand.launch(hand.task("work", kMillisecond, {ProcessorKind::cpu}), Privilege::write);
  Simulation simulation;
  simulation.options.workers = 0;
  EXPECT_NEAR(hand.simulate(simulation).seconds, 8 * kMillisecond, kLittle);
}

TEST(Simulation, TasksThatDependOnEachOtherCometInTurn) {
  Hand hand(1000, 1);
  hand.launch(hand.task("work", kMillisecond, {ProcessorKind::cpu}), Privilege::read_write, 10);
  const Outcome outcome = hand.simulate();
  EXPECT_NEAR(outcome.seconds, 10 * kMillisecond, kLittle);
  EXPECT_EQ(outcome.loop.value_or(simulate::Loop{}).times, 10U);
  EXPECT_NEAR(outcome.iteration_seconds().value_or(0), kMillisecond, kLittle);
}

TEST(Simulation, AnAccessOfTheProgramWaitsAndTakesItsTime) {
  Hand hand(1000, 1);
  const Number work = hand.task("work", kMillisecond, {ProcessorKind::cpu});
  hand.launch(work, Privilege::read_write);
  hand.add({.kind = CallKind::access, .field = 0, .place = {0}, .seconds = 5 * kMillisecond});
  hand.add({.kind = CallKind::end_access, .back = 1});
  hand.launch(work, Privilege::read_write);
  EXPECT_NEAR(hand.simulate().seconds, 7 * kMillisecond, kLittle);
}

TEST(Simulation, EqualSimulationsAreEqual) {
  Hand hand(1000, 8);
  hand.launch(hand.task("work", kMillisecond, {ProcessorKind::cpu}), Privilege::read_write, 100);
  EXPECT_EQ(to_json(hand.simulate()), to_json(hand.simulate()));
}

/// Two cores and a GPU that is not emulated; 1 GB/s between their memories.
constexpr const char* kWithGpu = R"({"name": "with gpu",
  "memories": [{"name": "sys", "kind": "system", "capacity": "1GB"},
               {"name": "fb", "kind": "framebuffer", "capacity": "12MB"}],
  "processors": [{"name": "core", "kind": "cpu", "memories": ["sys"], "count": 2},
                 {"name": "gpu", "kind": "gpu", "memories": ["fb"]}],
  "links": [{"between": ["sys", "fb"], "bandwidth": "1GB/s", "latency": "1ms"}]})";

TEST(Simulation, CopiesToAGpuTakeTheLinkOneAfterTheOther) {
  // 8 MB in 4 pieces are written on the cores, and read on the GPU: each piece takes 2 ms and the latency of 1 ms.
  Hand hand(1'000'000, 4);
  hand.launch(hand.task("write", kMillisecond, {ProcessorKind::cpu}), Privilege::write);
  hand.launch(hand.task("read", kMillisecond, {ProcessorKind::gpu}), Privilege::read);
  const Outcome outcome = hand.on(kWithGpu);
  ASSERT_EQ(outcome.links.size(), 1U);
  EXPECT_EQ(outcome.links[0].from, "sys");
  EXPECT_EQ(outcome.links[0].copies, 4U);
  EXPECT_EQ(outcome.links[0].bytes, 8'000'000U);
  EXPECT_NEAR(outcome.links[0].seconds, 12 * kMillisecond, 1e-9);
  // Two are written after 1 ms; four times 3 ms on the link, and the last task.
  EXPECT_NEAR(outcome.seconds, (1 + 4 * 3 + 1) * kMillisecond, 0.2 * kMillisecond);
}

TEST(Simulation, WhatDoesNotFitIsEvictedOrRefused) {
  // 8 MB fit the framebuffer of 12 MB once.
  Hand hand(1'000'000, 2);
  hand.add({.kind = CallKind::region, .file = "hand.cpp", .line = 9, .region = 1});
  hand.program().regions.push_back(hand.program().regions[0]);
  capture::Partition other = hand.program().partitions[0];
  other.of = {1};
  hand.program().partitions.push_back(other);
  hand.add({.kind = CallKind::partition, .file = "hand.cpp", .line = 10, .partition = 1});
  const Number work = hand.task("work", kMillisecond, {ProcessorKind::gpu});
  hand.launch(work, Privilege::write);
  Call second = hand.program().calls.back();
  second.arguments[0].partition = 1;
  hand.add(second);
  const Outcome outcome = hand.on(kWithGpu);
  EXPECT_GT(outcome.counters.evictions, 0U);
  ASSERT_EQ(outcome.memories.size(), 2U);
  EXPECT_LE(outcome.memories[1].bytes, 12'000'000U);

  Hand large(3'000'000, 1);
  large.launch(large.task("work", kMillisecond, {ProcessorKind::gpu}), Privilege::write);
  EXPECT_TRUE(
      mentions(error_of<OutOfMemory>([&] { large.on(kWithGpu); }), {"work", "hand.cpp:3", "fb"}));
}

TEST(Simulation, AMappingFileDecides) {
  Hand hand(1000, 4);
  hand.launch(hand.task("work", kMillisecond, {ProcessorKind::cpu, ProcessorKind::gpu}),
              Privilege::write);
  const TemporaryFile to_cpu("to_cpu.json", R"({"refrain_mapping": 1,
    "rules": [{"task": "work", "processor": "cpu"}]})");
  EXPECT_NEAR(hand.on(kWithGpu).seconds, 4 * kMillisecond, kLittle);
  EXPECT_NEAR(hand.on(kWithGpu, to_cpu.path()).seconds, 2 * kMillisecond, kLittle);
}

TEST(Simulation, ACallsOwnTimesComeFirst) {
  Hand hand(1000, 1);
  const Number work = hand.task("work", kMillisecond, {ProcessorKind::cpu, ProcessorKind::gpu});
  hand.launch(work, Privilege::read_write, 3);
  Call slow = hand.program().calls.back();
  slow.line = 4;
  slow.costs[static_cast<std::size_t>(ProcessorKind::cpu)] = {{8000, 1, 10 * kMillisecond, 0}};
  hand.add(std::move(slow), 2);
  EXPECT_NEAR(hand.simulate().seconds, 23 * kMillisecond, kLittle);
  // On another kind of processor there are those of its task.
  const std::string machine = "emulated:cpus=2,gpus=1";
  EXPECT_NEAR(hand.on(machine::to_json(machine::load(machine))).seconds, 5 * kMillisecond, kLittle);
}

TEST(Simulation, WhatAnotherCoreHasReadTakesLongerToWrite) {
  constexpr std::uint64_t kBytes = 8000;
  const auto milliseconds = [](double shared, double waits, bool both_on_one) {
    Hand hand(1000, 1, "emulated:cpus=1,gpus=1");
    hand.program().shared_writes = {{kBytes, 1, shared * kMillisecond, 0},
                                    {2 * kBytes, 1, 2 * shared * kMillisecond, 0}};
    const Number make = hand.task("make", kMillisecond, {ProcessorKind::cpu, ProcessorKind::gpu});
    const Number look = hand.task("look", kMillisecond, {ProcessorKind::cpu});
    auto& costs = hand.program().tasks[make].costs[static_cast<std::size_t>(ProcessorKind::gpu)];
    for (capture::Durations& each : costs) each.waits = waits * kMillisecond;
    for (int time = 0; time < 10; ++time) {
      hand.launch(make, Privilege::write);
      hand.launch(look, Privilege::read);
    }
    // In one memory: nothing is copied.
    const TemporaryFile mapping("mapping.json", R"({"refrain_mapping": 1, "rules": [
      {"task": "*", "arguments": [{"argument": 0, "memories": "pinned"}]},
      {"task": "make", "processor": ")" + std::string(both_on_one ? "cpu" : "gpu") +
                                                    R"("}]})");
    const std::string machine = "emulated:cpus=1,gpus=1";
    const Outcome outcome = hand.on(machine::to_json(machine::load(machine)), mapping.path());
    return outcome.seconds / kMillisecond;
  };
  EXPECT_NEAR(milliseconds(3, 0, true), 20, 1) << "no other core";
  EXPECT_NEAR(milliseconds(0, 0, false), 20, 1);
  EXPECT_NEAR(milliseconds(3, 0, false), 20 + 9 * 3, 1) << "each write but the first";
  EXPECT_NEAR(milliseconds(3, 2, false), 20 + 9, 1) << "two were in the measured time";
  EXPECT_NEAR(milliseconds(3, 5, false), 20, 1) << "a body takes no less than was measured";
}

TEST(Simulation, AFileOfCostsDecides) {
  Hand hand(1000, 4);
  hand.launch(hand.task("work", kMillisecond, {ProcessorKind::cpu}), Privilege::write);
  const auto seconds = [&](const std::string& tasks) {
    const TemporaryFile file("costs.json", R"({"refrain_costs": 1, "tasks": [)" + tasks + "]}");
    Simulation simulation;
    simulation.costs = file.path();
    return hand.simulate(simulation).seconds;
  };
  EXPECT_NEAR(seconds(R"({"task": "w*", "factor": 3})"), 6 * kMillisecond, kLittle);
  EXPECT_NEAR(seconds(R"({"task": "work", "processor": "gpu", "factor": 3})"), 2 * kMillisecond,
              kLittle);
  EXPECT_NEAR(seconds(R"({"task": "work", "seconds": 0.01})"), 20 * kMillisecond, kLittle);
  EXPECT_NEAR(seconds(R"({"task": "work", "seconds_per_byte": 1e-6})"), 4 * kMillisecond, kLittle);
  EXPECT_TRUE(
      mentions(error_of<InputError>([&] { seconds(R"({"task": "wrok"})"); }),
               {"costs.json:1:", "no task of 'hand' is called 'wrok'; did you mean 'work'"}));
}

TEST(Simulation, WhatCannotBeModelledIsRefusedByName) {
  {
    Hand hand(1000, 1);
    const Number work = hand.task("parent", kMillisecond, {ProcessorKind::cpu});
    hand.program().tasks[work].launches = true;
    hand.launch(work, Privilege::write);
    EXPECT_TRUE(mentions(error_of<UsageError>([&] { hand.simulate(); }),
                         {"task 'parent' launched at hand.cpp:3", "launches tasks"}));
  }
  {
    Hand hand(1000, 1);
    const Number work = hand.task("unknown", kMillisecond, {ProcessorKind::cpu});
    hand.program().tasks[work].costs = {};
    hand.launch(work, Privilege::write);
    EXPECT_TRUE(mentions(error_of<UsageError>([&] { hand.simulate(); }),
                         {"task 'unknown' launched at hand.cpp:3", "its time is not known"}));
  }
  {
    Hand hand(1000, 1);
    hand.add({.kind = CallKind::attach, .file = "hand.cpp", .line = 7, .field = 0, .place = {0}});
    EXPECT_TRUE(
        mentions(error_of<UsageError>([&] { hand.simulate(); }), {"attached at hand.cpp:7"}));
  }
  {
    Hand hand(1000, 1);
    hand.launch(hand.task("work", kMillisecond, {ProcessorKind::cpu}), Privilege::write,
                std::uint64_t{1} << 62);
    EXPECT_TRUE(mentions(error_of<UsageError>([&] { hand.simulate(); }), {"can be simulated"}));
  }
}

}  // namespace
}  // namespace refrain::test::simulation_test
