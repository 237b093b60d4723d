#pragma once
// Runs a program with and without tracing, and compares everything: what it sees, the operations, and the
// order of these, closed under transitivity. So a test of what tracing must not change needs no list of
// what is right.
//
// The logged runs tell of every edge, whether its operation was complete or not. Without a log the runtime
// takes shorter ways, so the same program also runs under many seeded schedules, where an order that is
// lacking shows in the values.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "refrain/refrain.hpp"
#include "runtime/runtime_impl.hpp"
#include "support/judge.hpp"

namespace refrain::test {

/// A task whose name ends with a digit runs on the gpu of this number, others where the default rules say. One that
/// begins with 'exact' or 'fortran' has instances of this kind.
class ByName final : public Mapper {
 public:
  explicit ByName(bool every_launch = false) : every_launch_(every_launch) {}
  [[nodiscard]] std::string_view name() const override { return "by_name"; }
  [[nodiscard]] bool every_launch() const override { return every_launch_; }
  void map(const MappingInput& input, MappingOutput& output) override {
    for (ArgumentMapping& argument : output.arguments) {
      if (input.task.starts_with("exact")) argument.layout.extent = Extent::exact;
      if (input.task.starts_with("fortran")) argument.layout.order = Order::fortran;
    }
    const char last = input.task.back();
    if (last < '0' || last > '9') return;
    const auto number = static_cast<std::size_t>(last - '0');
    output.processor = input.machine->processors(ProcessorKind::gpu)[number];
    const auto memory = input.machine->nearest(output.processor, MemoryKind::framebuffer);
    if (!memory) throw std::logic_error("a GPU without a framebuffer");
    for (ArgumentMapping& argument : output.arguments) argument.memories = {*memory};
  }

 private:
  bool every_launch_;
};

struct SameRun {
  using Program = std::function<std::vector<double>(Context&)>;
  std::string machine = "emulated:cpus=2,gpus=2";
  bool every_launch = false;
  std::size_t window = 8192;
  std::size_t trace_length = Options{}.trace_length;
  int seeds = 30;
  /// Of all runs.
  std::function<void(Options&)> change = [](Options&) {};

  /// Complains of every difference. Returns the counters of the logged run with tracing.
  [[nodiscard]] Counters compare(const Program& program) const {
    Options options;
    options.workers = 0;
    options.machine = machine;
    options.window = window;
    options.trace_length = trace_length;
    change(options);
    options.tracing = false;
    const Outcome plain = run(options, program, true);
    options.tracing = true;
    const Outcome traced = run(options, program, true);
    EXPECT_EQ(plain.values, traced.values);
    EXPECT_EQ(difference(plain.graph, traced.graph), "");
    EXPECT_EQ(run(options, program, false).values, plain.values);
    for (int seed = 0; seed < seeds && !testing::Test::HasFailure(); ++seed) {
      options.schedule = static_cast<std::uint64_t>(seed);
      EXPECT_EQ(run(options, program, false).values, plain.values) << "seed " << seed;
    }
    return traced.counters;
  }

 private:
  struct Outcome {
    std::vector<double> values;
    ContextLog graph;
    Counters counters;
  };
  [[nodiscard]] Outcome run(const Options& options, const Program& program, bool logged) const {
    Outcome outcome;
    GraphRecorder graph;
    Runtime runtime(options);
    runtime.set_mapper(std::make_unique<ByName>(every_launch));
    if (logged) runtime.impl().listeners().add(graph, {runtime::Events::graph});
    runtime.run([&](Context& ctx) { outcome.values = program(ctx); });
    if (logged) outcome.graph = graph.log_of(nullptr);
    outcome.counters = runtime.counters();
    return outcome;
  }
};

}  // namespace refrain::test
