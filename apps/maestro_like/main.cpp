// An ensemble of flows of two fidelities: command line and report. See README.md.

#include <cstdio>
#include <string>

#include "../common/program.hpp"
#include "parallel.hpp"
#include "sequential.hpp"

namespace {

using namespace maestro;

constexpr double most_drift = 1e-11;

struct CommandLine {
  Setup setup;
  apps::Comparison comparison;
};

void add_flags(CLI::App& app, CommandLine& line) {
  Setup& s = line.setup;
  const auto add_points = [&](const char* name, Coord& n, const char* what) {
    app.add_option(name, n, what)
        ->check(CLI::Range(Coord{1}, Coord{1} << 12))
        ->capture_default_str();
  };
  add_points("--high", s.high.n,
             "the sample of high fidelity has so many points in each direction");
  apps::add_count(app, "--high-pieces", s.high.pieces, "slabs that it is cut into");
  add_points("--low", s.low.n, "samples of low fidelity have so many points in each direction");
  apps::add_count(app, "--low-pieces", s.low.pieces, "slabs that each of them is cut into");
  app.add_option("--samples", s.low.samples, "of low fidelity")
      ->check(CLI::Range(Coord{0}, Coord{1} << 16))
      ->capture_default_str();
  apps::add_count(app, "--steps", s.steps, "timed steps");
  app.add_option("--warm-up", s.warm_up, "steps before them")
      ->check(apps::at_least(0))
      ->capture_default_str();
  app.add_flag("--trace", s.trace, "record a step, and replay it");
  line.comparison.add_flags(app, "run the plain loops only", "do not compare with the plain loops");
}

void check_pieces(const char* flag, const Fidelity& fidelity) {
  if (fidelity.pieces > fidelity.n)
    throw CLI::ValidationError(flag, "there are more slabs than points in a direction");
}

void print_speed(const char* who, const Setup& setup, const Outcome& outcome) {
  std::printf("  %-12s %8.3f s  %10.3f ms/step", who, outcome.seconds,
              outcome.seconds / setup.steps * 1e3);
}

bool check(const Outcome& outcome) {
  const bool right = outcome.drift <= most_drift;
  std::printf("check %s: mass and energy have changed by %.1e of themselves (%.0e allowed)\n",
              apps::verdict(right), outcome.drift, most_drift);
  return right;
}

bool run(const CommandLine& line, apps::Runner& runner) {
  const Setup& setup = line.setup;
  check_pieces("--high-pieces", setup.high);
  check_pieces("--low-pieces", setup.low);
  std::printf(
      "maestro-like: high fidelity 1 x %lld^3 points (pieces: %lld), low fidelity %lld x %lld^3 "
      "points "
      "(pieces: %lld), %d launches per step, %d steps after %d\n",
      static_cast<long long>(setup.high.n), static_cast<long long>(setup.high.pieces),
      static_cast<long long>(setup.low.samples), static_cast<long long>(setup.low.n),
      static_cast<long long>(setup.low.pieces), launches_per_step(setup), setup.steps,
      setup.warm_up);
  std::fflush(stdout);
  States expected;
  Outcome sequential;
  if (!line.comparison.no_sequential) {
    sequential = run_sequential(setup, &expected);
    print_speed("sequential", setup, sequential);
    std::printf("\n");
    if (line.comparison.only_sequential) return check(sequential);
  }
  const Outcome parallel =
      runner.run("maestro-like", setup.warm_up + setup.steps,
                 [&](refrain::Context& ctx, apps::Progress& progress) {
                   return run_parallel(ctx, setup, progress,
                                       line.comparison.no_sequential ? nullptr : &expected);
                 });
  print_speed("refrain", setup, parallel);
  line.comparison.print_gain(runner.options(), sequential.seconds, parallel.seconds);
  if (line.comparison.no_sequential) return check(parallel);
  const bool right = check(parallel);
  std::printf("check %s: all samples %s the sequential ones, bit for bit\n",
              apps::verdict(parallel.identical), parallel.identical ? "equal" : "differ from");
  return right && parallel.identical;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "An ensemble of compressible flows of high and low fidelity, in the shape of Maestro",
      "maestro-like"};
  CommandLine line;
  add_flags(app, line);
  return apps::run_program(app, argc, argv,
                           [&](apps::Runner& runner) { return run(line, runner); });
}
