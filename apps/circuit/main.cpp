// The circuit simulation: command line and report. See README.md.

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "../common/program.hpp"
#include "parallel.hpp"

namespace {

using namespace circuit;

struct CommandLine {
  Setup setup;
  apps::Comparison comparison;
};

Sizes sizes_in(const std::string& text) {
  std::vector<Coord> found;
  for (const std::string& word : CLI::detail::split(text, ':')) {
    Coord size = 0;
    if (!CLI::detail::lexical_cast(word, size) || size < 1 || size > 1000)
      throw CLI::ValidationError(
          "--sizes", "has to be numbers from 1 to 1000 with ':' between them, is " + text);
    found.push_back(size);
  }
  if (found.size() > Sizes::most)
    throw CLI::ValidationError(
        "--sizes", "has to be at most " + std::to_string(Sizes::most) + " numbers, is " + text);
  std::ranges::sort(found);
  Sizes sizes;
  sizes.count = static_cast<int>(found.size());
  std::ranges::copy(found, sizes.each.begin());
  return sizes;
}

void add_flags(CLI::App& app, CommandLine& line) {
  Setup& s = line.setup;
  apps::add_count(app, "--pieces", s.pieces, "number of pieces");
  apps::add_count(app, "--nodes", s.nodes, "nodes per piece of size 1");
  apps::add_count(app, "--wires", s.wires, "wires per piece of size 1");
  app.add_option_function<std::string>(
         "--sizes", [&s](const std::string& text) { s.sizes = sizes_in(text); },
         "relative sizes of the pieces, such as 4:1:1:1:1: as many of each, the smallest first")
      ->default_str("1");
  app.add_option("--percent-in-piece", s.percent_in_piece, "of the wires, both ends in one piece")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  app.add_option("--neighbours", s.neighbours,
                 "the other wires end in one of so many pieces behind their own (0: in any)")
      ->check(apps::at_least(0))
      ->capture_default_str();
  apps::add_count(app, "--steps", s.steps, "timed steps");
  app.add_option("--warm-up", s.warm_up, "steps before them")
      ->check(apps::at_least(0))
      ->capture_default_str();
  apps::add_count(app, "--substeps", s.substeps, "inner steps per step of a wire");
  app.add_option("--seed", s.seed, "of the random graph")->capture_default_str();
  app.add_flag("--trace", s.trace, "record a step, and replay it");
  line.comparison.add_flags(app, "run the plain loop only",
                            "compare neither with the plain loop nor with the reference");
}

Outcome run_on_refrain(const Setup& setup, apps::Runner& runner, const State* expected) {
  return runner.run("circuit", setup.warm_up + setup.steps,
                    [&](refrain::Context& ctx, apps::Progress& progress) {
                      return run_parallel(ctx, setup, progress, expected);
                    });
}

void print_speed(const char* who, const Setup& setup, const Outcome& outcome) {
  const double wires = static_cast<double>(setup.all_wires()) * setup.steps;
  std::printf("  %-12s %8.3f s  %9.3f million wires/s", who, outcome.seconds,
              wires / outcome.seconds * 1e-6);
}

bool check_balance(const Outcome& outcome) {
  const bool right = outcome.imbalance <= largest_imbalance;
  std::printf("check %s: what the nodes gain the wires lose, to %.1e of it (%.0e allowed)\n",
              apps::verdict(right), outcome.imbalance, largest_imbalance);
  return right;
}

bool run(const CommandLine& line, apps::Runner& runner) {
  const Setup& setup = line.setup;
  if (setup.pieces % setup.sizes.count != 0)
    throw std::invalid_argument("--pieces has to be a multiple of the " +
                                std::to_string(setup.sizes.count) + " --sizes, is " +
                                std::to_string(setup.pieces));
  std::printf("circuit: %lld pieces of %lld nodes and %lld wires, %d%% inside, %d steps of %d\n",
              static_cast<long long>(setup.pieces), static_cast<long long>(setup.nodes),
              static_cast<long long>(setup.wires), setup.percent_in_piece, setup.steps,
              setup.substeps);
  std::fflush(stdout);
  const std::string threads = apps::threads_of(runner.options());
  if (line.comparison.no_sequential) {
    const Outcome parallel = run_on_refrain(setup, runner, nullptr);
    print_speed("refrain", setup, parallel);
    std::printf("  (%s)\n", threads.c_str());
    return check_balance(parallel);
  }
  State state;
  const Outcome plain = run_plain_loop(setup, state);
  print_speed("plain loop", setup, plain);
  std::printf("\n");
  if (line.comparison.only_sequential) return check_balance(plain);
  run_reference(setup, state);
  const Outcome parallel = run_on_refrain(setup, runner, &state);
  print_speed("refrain", setup, parallel);
  std::printf("  (%s, %.2f times the plain loop's speed)\n", threads.c_str(),
              plain.seconds / parallel.seconds);
  const bool balanced = check_balance(parallel);
  std::printf("check %s: voltages, charges and currents %s the reference's, bit for bit\n",
              apps::verdict(parallel.identical), parallel.identical ? "equal" : "differ from");
  return balanced && parallel.identical;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Simulates an electrical circuit: a random graph of nodes and wires", "circuit"};
  CommandLine line;
  add_flags(app, line);
  return apps::run_program(app, argc, argv,
                           [&](apps::Runner& runner) { return run(line, runner); });
}
