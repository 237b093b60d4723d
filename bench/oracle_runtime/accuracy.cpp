#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "oracle/assessment.hpp"
#include "oracle/names.hpp"
#include "oracle/reduction.hpp"
#include "oracle/run_reader.hpp"
#include "oracle/stream.hpp"
#include "oracle_runtime/measure.hpp"
#include "refrain/refrain.hpp"
#include "support/clock.hpp"
#include "support/forked.hpp"
#include "support/rounds.hpp"
#include "support/temporary_file.hpp"

namespace refrain::bench {

namespace {

constexpr const char* sets[] = {"small", "medium", "large"};

/// An application as it is shipped, and its flags for the three working sets: problems of other sizes, and other
/// numbers of iterations.
struct Program {
  std::string name;
  std::string flags;
  std::string sizes[3];
};

const std::vector<Program> programs = {
    {"stencil",
     "--no-sequential --tiles 8 1",
     {"--n 128 --iterations 100", "--n 512 --iterations 300", "--n 1024 --iterations 1000"}},
    {"circuit",
     "--no-sequential --pieces 8",
     {"--nodes 20 --wires 80 --steps 50", "--nodes 100 --wires 400 --steps 150",
      "--nodes 500 --wires 2000 --steps 500"}},
    {"s3d-like",
     "--no-sequential --tiles 8 1",
     {"--n 32 --iterations 30", "--n 64 --iterations 90", "--n 128 --iterations 300"}},
    {"jacobi",
     "--no-sequential --blocks 8",
     {"--n 64 --iterations 100", "--n 256 --iterations 300", "--n 512 --iterations 1000"}},
    {"jacobi-arrays",
     "--no-check",
     {"--n 64 --iterations 100", "--n 256 --iterations 300", "--n 512 --iterations 1000"}},
    {"black-scholes",
     "--no-check",
     {"--n 1000 --iterations 60", "--n 10000 --iterations 180", "--n 100000 --iterations 600"}},
    {"cfd",
     "--no-check",
     {"--n 21 --iterations 20", "--n 41 --iterations 60", "--n 81 --iterations 200"}},
    {"conjugate-gradient",
     "--no-check",
     {"--n 32 --iterations 200", "--n 64 --iterations 600", "--n 128 --iterations 2000"}},
    {"logistic-regression",
     "--no-check",
     {"--n 500 --iterations 100", "--n 2000 --iterations 300", "--n 10000 --iterations 1000"}},
    {"shallow-water",
     "--no-check",
     {"--n 32 --iterations 40", "--n 64 --iterations 120", "--n 128 --iterations 400"}}};

/// Seconds of a run. `flags`: also those of the runtime.
double run(const Program& program, int set, const Options& options, const std::string& flags) {
  const std::string command = options.peers + "/" + program.name + " " + program.flags + " " +
                              program.sizes[set] + " --refrain:workers 1 " + flags +
                              " >/dev/null 2>&1";
  const std::int64_t begin = now_ns();
  // NOLINTNEXTLINE(cert-env33-c): the applications beside the benchmark
  if (std::system(command.c_str()) != 0) throw std::runtime_error("this failed: " + command);
  return static_cast<double>(now_ns() - begin) * 1e-9;
}

/// The same run with one event for all calls of a name: tokens depend on the sizes of arrays.
oracle::ThreadRecord by_name(const oracle::ThreadRecord& run) {
  oracle::Names names;
  std::vector<std::uint32_t> numbers;
  for (const std::string& name : run.names)
    numbers.push_back(names.number(name.substr(0, name.rfind(" 0x"))));
  oracle::Reduction reduction;
  run.grammar.unfold([&](std::uint32_t event) { reduction.add(numbers[event]); });
  oracle::ThreadRecord made;
  for (std::uint32_t i = 0; i < names.size(); ++i) made.names.push_back(names[i]);
  made.grammar = reduction.grammar();
  return made;
}

oracle::ThreadRecord recorded(const Program& program, int set, const Options& options) {
  const TemporaryFile file;
  run(program, set, options, "--refrain:record " + file.path());
  return by_name(oracle::read_run(file.path()).threads.at(0));
}

/// Follows a run by the reference, and predicts at each of its calls.
oracle::Assessment followed(const oracle::ThreadRecord& reference,
                            const oracle::ThreadRecord& run) {
  oracle::Stream stream(reference, nullptr);
  std::vector<std::uint32_t> numbers;
  for (const std::string& name : run.names) numbers.push_back(stream.event(name));
  oracle::Assessment assessment;
  run.grammar.unfold([&](std::uint32_t event) {
    assessment.submit(numbers[event], [&] { return stream.submit(numbers[event], 0); });
    assessment.predict(stream);
  });
  return assessment;
}

/// ns that a call takes longer when it is recorded: launches of tasks that do nothing, in a loop of 6.
Spread ns_per_call(const Options& options) {
  constexpr int calls = 300'000;
  const auto seconds = [](const std::string& record) {
    refrain::Options chosen;
    chosen.workers = 0;
    chosen.record = record;
    return forked([&] {
             const std::int64_t begin = now_ns();
             {
               static const Task often{"often", [] {}};
               static const Task seldom{"seldom", [] {}};
               Runtime runtime(chosen);
               runtime.run([&](Context& context) {
                 for (int i = 0; i < calls; ++i) {
                   if (i % 6 == 0) context.launch(seldom);
                   else context.launch(often);
                 }
               });
             }
             return std::vector<double>{static_cast<double>(now_ns() - begin) * 1e-9};
           })
        .at(0);
  };
  const TemporaryFile file;
  std::vector<double> ns;
  for (int i = 0; i < options.reps; ++i) {
    const double alone = seconds({});
    ns.push_back((seconds(file.path()) - alone) * 1e9 / calls);
  }
  return spread(ns);
}

void add(Records& records, const std::string& benchmark, const Program& program,
         const std::string& variant, std::int64_t size, const char* metric, const char* unit,
         const Spread& value) {
  records.add({benchmark, program.name, variant, 2, size, metric, unit, value});
}

void measure(const Options& options, Records& records, const Program& program, const Spread& ns) {
  const oracle::ThreadRecord reference = recorded(program, 0, options);
  oracle::ThreadRecord last = reference;
  for (int set = 0; set < 3; ++set) {
    if (set > 0) last = recorded(program, set, options);
    const auto counts = followed(reference, last).counts();
    std::printf("  %-20s %-7s %8llu %6.1f ", program.name.c_str(), sets[set],
                static_cast<unsigned long long>(counts.events),
                100 * static_cast<double>(counts.expected) / static_cast<double>(counts.events));
    for (std::size_t d = 0; d < counts.right.size(); ++d) {
      const double percent =
          100 * static_cast<double>(counts.right[d]) / static_cast<double>(counts.predicted[d]);
      std::printf(" %6.1f", percent);
      add(records, "oracle_launch_accuracy", program, sets[set], std::int64_t{1} << d, "right", "%",
          {percent, percent, percent});
    }
    std::printf("\n");
  }
  std::vector<double> seconds;
  for (int i = 0; i < options.reps; ++i) seconds.push_back(run(program, 2, options, {}));
  const Spread vanilla = spread(seconds);
  const auto calls = static_cast<double>(last.grammar.length(0));
  const auto rules = static_cast<double>(last.grammar.rules());
  const double overhead = 100 * calls * ns.median * 1e-9 / vanilla.median;
  std::printf("    vanilla %.3f s (%.3f - %.3f), %.0f events, %.0f rules, overhead %.3f%%\n",
              vanilla.median, vanilla.min, vanilla.max, calls, rules, overhead);
  std::fflush(stdout);
  add(records, "oracle_launch_overhead", program, "vanilla", 1, "seconds", "s", vanilla);
  add(records, "oracle_launch_overhead", program, "computed", 1, "overhead", "%",
      {overhead, overhead, overhead});
  add(records, "oracle_launch_overhead", program, "recorded", 1, "events", "",
      {calls, calls, calls});
  add(records, "oracle_launch_overhead", program, "recorded", 1, "rules", "",
      {rules, rules, rules});
}

}  // namespace

void measure_accuracy(const Options& options, Records& records) {
  if (!options.wants("accuracy")) return;
  const Spread ns = ns_per_call(options);
  std::printf("\nrecording a call takes %.0f ns (%.0f - %.0f)\n", ns.median, ns.min, ns.max);
  std::printf("Percent right at the distances 1 to 128, recorded with the small working set.\n");
  for (const Program& program : programs) {
    if (std::filesystem::exists(options.peers + "/" + program.name))
      measure(options, records, program, ns);
    else std::printf("  without %s: it is not built\n", program.name.c_str());
  }
}

}  // namespace refrain::bench
