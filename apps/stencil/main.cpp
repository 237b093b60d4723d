// The PRK star stencil: command line and report. See README.md.

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "../common/program.hpp"
#include "parallel.hpp"
#include "sequential.hpp"

namespace {

using namespace stencil;

struct CommandLine {
  Setup setup;
  std::vector<Coord> tiles;
  Coord tile = 0;
  apps::Comparison comparison;
};

void add_flags(CLI::App& app, CommandLine& line) {
  Setup& s = line.setup;
  app.add_option("--n", s.n, "the grid has n x n points")
      ->check(CLI::Range(Coord{1}, Coord{1} << 28))
      ->capture_default_str();
  app.add_option("--radius", s.radius, "of the star")
      ->check(CLI::Range(1, 4))
      ->capture_default_str();
  apps::add_count(app, "--iterations", s.iterations, "timed iterations");
  app.add_option("--warm-up", s.warm_up, "iterations before them")
      ->check(apps::at_least(0))
      ->capture_default_str();
  auto* tiles = app.add_option("--tiles", line.tiles,
                               "DOWN,ACROSS: number of tiles (8,1); whole rows are fastest")
                    ->delimiter(',')
                    ->expected(2)
                    ->check(apps::at_least_one());
  app.add_option("--tile", line.tile, "edge of a tile, instead of --tiles")
      ->check(apps::at_least_one())
      ->excludes(tiles);
  app.add_flag("--trace", s.trace, "record an iteration, and replay it");
  line.comparison.add_flags(app, "run the plain loops only", "do not compare with the plain loops");
}

// The setup that the command line asks for.
Setup finish(const CommandLine& line) {
  Setup s = line.setup;
  if (!line.tiles.empty()) s.tiles = {line.tiles[0], line.tiles[1]};
  if (line.tile > 0)
    s.tiles = {(s.n + line.tile - 1) / line.tile, (s.n + line.tile - 1) / line.tile};
  if (s.n <= 2 * Coord{s.radius})
    throw CLI::ValidationError("--n", "the grid has no point whose star lies in it");
  if (s.tiles[0] > s.n || s.tiles[1] > s.n)
    throw CLI::ValidationError("--tiles", "there are more tiles than rows or columns");
  return s;
}

void print_speed(const char* who, const Setup& setup, const Outcome& outcome) {
  std::printf("  %-12s %8.3f s  %9.0f Mflop/s", who, outcome.seconds,
              setup.flops() / outcome.seconds * 1e-6);
}

// PRK's check; says what it found.
bool check(const Setup& setup, const Outcome& outcome) {
  const bool right = std::fabs(outcome.norm - setup.expected_norm()) <= 1e-8;
  std::printf("check %s: the mean of |out| is %.10g, it has to be %.10g\n", apps::verdict(right),
              outcome.norm, setup.expected_norm());
  return right;
}

Outcome run_on_refrain(const Setup& setup, apps::Runner& runner,
                       const std::vector<double>* expected) {
  return runner.run("stencil", setup.warm_up + setup.iterations,
                    [&](refrain::Context& ctx, apps::Progress& progress) {
                      return run_parallel(ctx, setup, progress, expected);
                    });
}

bool run(const CommandLine& line, apps::Runner& runner) {
  const Setup setup = finish(line);
  std::printf("stencil: %lld x %lld points, radius %d, %lld x %lld tiles, %d iterations\n",
              static_cast<long long>(setup.n), static_cast<long long>(setup.n), setup.radius,
              static_cast<long long>(setup.tiles[0]), static_cast<long long>(setup.tiles[1]),
              setup.iterations);
  std::fflush(stdout);
  std::vector<double> expected;
  Outcome sequential;
  if (!line.comparison.no_sequential) {
    sequential = run_sequential(setup, &expected);
    print_speed("sequential", setup, sequential);
    std::printf("\n");
    if (line.comparison.only_sequential) return check(setup, sequential);
  }
  const Outcome parallel =
      run_on_refrain(setup, runner, line.comparison.no_sequential ? nullptr : &expected);
  print_speed("refrain", setup, parallel);
  line.comparison.print_gain(runner.options(), sequential.seconds, parallel.seconds);
  if (line.comparison.no_sequential) return check(setup, parallel);
  const bool right = check(setup, parallel);
  std::printf("check %s: out %s the sequential one, bit for bit\n",
              apps::verdict(parallel.identical), parallel.identical ? "equals" : "differs from");
  return right && parallel.identical;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"The 2-D star stencil of the Parallel Research Kernels", "stencil"};
  CommandLine line;
  add_flags(app, line);
  return apps::run_program(app, argc, argv,
                           [&](apps::Runner& runner) { return run(line, runner); });
}
