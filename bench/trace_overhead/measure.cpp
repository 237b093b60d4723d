#include "trace_overhead/measure.hpp"

#include <optional>
#include <vector>

#include "support/clock.hpp"
#include "support/gate.hpp"
#include "support/statistics.hpp"

namespace refrain::bench {

double ns_per_occurrence(Runtime& runtime, const MakeProgram& make, bool traced, int occurrences) {
  double ns = 0;
  runtime.run([&](Context& context) {
    const std::unique_ptr<Program> program = make(context);
    const Trace trace{"occurrence"};
    const auto repeat = [&](int times) {
      for (int i = 0; i < times; ++i) {
        if (traced) context.trace(trace, [&] { program->occurrence(); });
        else program->occurrence();
        program->between();
      }
      context.fence();
    };
    repeat(32);  // plans, recordings, and the slots of their replays
    const std::int64_t start = now_ns();
    repeat(occurrences);
    ns = static_cast<double>(now_ns() - start) / occurrences;
  });
  return ns;
}

namespace {

void launch(Context& context, Program& program, bool recorded) {
  if (!recorded) return program.occurrence();
  const Trace trace{"new"};
  context.trace(trace, [&] { program.occurrence(); });
}

}  // namespace

double ns_to_launch(Runtime& runtime, const MakeProgram& make, bool recorded) {
  std::vector<double> samples;
  runtime.run([&](Context& context) {
    Gate gate;
    const Task hold{"hold", [&gate] { gate.pass(); }};
    const std::unique_ptr<Program> program = make(context);
    for (int i = 0; i < 4; ++i) program->occurrence();
    while (samples.size() < 9) {
      context.fence();
      gate.close();
      context.launch(hold);
      const bool parked = gate.wait_until_held();
      const std::int64_t start = now_ns();
      launch(context, *program, recorded);
      const std::int64_t end = now_ns();
      gate.open();
      if (parked) samples.push_back(static_cast<double>(end - start));
    }
  });
  return spread(samples).median;
}

}  // namespace refrain::bench
