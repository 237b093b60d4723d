// Task Bench's graphs: command line and report. See README.md.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "../common/program.hpp"
#include "parallel.hpp"
#include "sequential.hpp"

namespace {

using namespace patterns;

const std::vector<std::string> kernel_names{"compute", "memory", "imbalance"};

struct CommandLine {
  std::vector<std::string> kinds{"stencil_1d"};
  Pattern pattern;  ///< what all graphs have in common
  std::string kernel = "compute";
  Work work;
  int bytes = sizeof(Cell);
  std::int64_t scratch_bytes = std::int64_t{1} << 16;
  bool trace = false;
  apps::Comparison comparison;
};

// An option that is one of some names, or a list of them; --help says which.
template <class T>
void add_names(CLI::App& app, const char* option, T& chosen, const char* what,
               const std::vector<std::string>& names) {
  app.add_option(option, chosen, what)
      ->delimiter(',')
      ->check(CLI::IsMember(names))
      ->capture_default_str();
}

void add_flags(CLI::App& app, CommandLine& line) {
  Pattern& p = line.pattern;
  add_names(app, "--pattern", line.kinds, "of one graph, or of several at once: A,B,...",
            kind_names());
  app.add_option("--width", p.width, "tasks of a step")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  apps::add_count(app, "--steps", p.steps, "of every graph");
  apps::add_count(app, "--radix", p.radix, "inputs of a task in nearest, spread, random_nearest");
  apps::add_count(app, "--period", p.period, "steps after which spread and random_nearest repeat");
  app.add_option("--fraction", p.fraction, "of its neighbours that a task of random_nearest reads")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  add_names(app, "--kernel", line.kernel, "what a task does", kernel_names);
  app.add_option("--iterations", line.work.iterations, "rounds of the kernel")
      ->check(apps::at_least(0))
      ->capture_default_str();
  app.add_option("--imbalance", line.work.imbalance,
                 "spread of a task's rounds, 2 from none to twice")
      ->check(CLI::Range(0.0, 2.0))
      ->capture_default_str();
  app.add_option("--bytes", line.bytes, "of a task's output, a multiple of 16")
      ->check(CLI::Range(16, 1 << 30))
      ->capture_default_str();
  app.add_option("--scratch", line.scratch_bytes,
                 "bytes that a task of the kernel memory goes through")
      ->check(CLI::Range(std::int64_t{128}, std::int64_t{1} << 32))
      ->capture_default_str();
  app.add_flag("--trace", line.trace, "record the steps that repeat, and replay them");
  line.comparison.add_flags(app, "run the plain loops only", "do not compare with the plain loops");
}

template <class T>
T at_name(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<T>(std::ranges::find(names, name) - names.begin());
}

// The setup that the command line asks for.
Setup finish(const CommandLine& line) {
  Setup setup;
  setup.trace = line.trace;
  setup.work = line.work;
  setup.work.kernel = at_name<Kernel>(kernel_names, line.kernel);
  if (line.bytes % static_cast<int>(sizeof(Cell)) != 0)
    throw CLI::ValidationError("--bytes",
                               "has to be a multiple of 16, is " + std::to_string(line.bytes));
  setup.work.cells = line.bytes / static_cast<int>(sizeof(Cell));
  setup.work.scratch = line.scratch_bytes / static_cast<std::int64_t>(sizeof(double));
  for (const std::string& kind : line.kinds) {
    Pattern graph = line.pattern;
    graph.kind = at_name<Kind>(kind_names(), kind);
    graph.graph = static_cast<int>(setup.graphs.size());
    if (graph.kind == Kind::dom && graph.steps < graph.width)
      throw CLI::ValidationError("--steps", "a wave of dom needs as many steps as it is wide");
    setup.graphs.push_back(graph);
  }
  return setup;
}

void print_speed(const char* who, const Setup& setup, const Outcome& outcome) {
  std::printf("  %-12s %8.3f s  %9.3f us per task", who, outcome.seconds,
              outcome.seconds * 1e6 / static_cast<double>(setup.tasks()));
}

bool run(const CommandLine& line, apps::Runner& runner) {
  const Setup setup = finish(line);
  std::printf("patterns: %s, %d steps of width %d, %lld tasks\n",
              CLI::detail::join(line.kinds).c_str(), line.pattern.steps, line.pattern.width,
              static_cast<long long>(setup.tasks()));
  std::fflush(stdout);
  Outcome sequential;
  if (!line.comparison.no_sequential) {
    sequential = run_sequential(setup);
    print_speed("sequential", setup, sequential);
    std::printf("\n");
    if (line.comparison.only_sequential) return true;
  }
  const Outcome parallel = runner.run(
      "patterns", std::int64_t{setup.steps()} * static_cast<std::int64_t>(setup.graphs.size()),
      [&](refrain::Context& ctx, apps::Progress& progress) {
        return run_parallel(ctx, setup, &progress);
      });
  print_speed("refrain", setup, parallel);
  line.comparison.print_gain(runner.options(), sequential.seconds, parallel.seconds);
  if (line.comparison.no_sequential) return true;
  const bool same = parallel.digests == sequential.digests;
  std::printf("check %s: the last outputs %s the sequential ones, bit for bit\n",
              apps::verdict(same), same ? "equal" : "differ from");
  return same;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"The task graphs of Task Bench", "patterns"};
  CommandLine line;
  add_flags(app, line);
  return apps::run_program(app, argc, argv,
                           [&](apps::Runner& runner) { return run(line, runner); });
}
