// A caricature of S3D: command line and report. See README.md.

#include <cstdio>
#include <string>

#include "../common/program.hpp"
#include "parallel.hpp"
#include "physics.hpp"
#include "sequential.hpp"

namespace {

using namespace s3d;

struct CommandLine {
  Setup setup;
  std::vector<Coord> tiles;
  Coord tile = 0;
  apps::Comparison comparison;
};

void add_flags(CLI::App& app, CommandLine& line) {
  Setup& s = line.setup;
  app.add_option("--n", s.n, "the grid has n x n points")
      ->check(CLI::Range(Coord{3}, Coord{1} << 28))
      ->capture_default_str();
  auto* tiles = app.add_option("--tiles", line.tiles, "DOWN,ACROSS: number of tiles (8,1)")
                    ->delimiter(',')
                    ->expected(2)
                    ->check(apps::at_least_one());
  app.add_option("--tile", line.tile, "edge of a tile, instead of --tiles")
      ->check(apps::at_least_one())
      ->excludes(tiles);
  app.add_option("--species", s.species, "that turn into one another")
      ->check(CLI::Range(2, 64))
      ->capture_default_str();
  apps::add_count(app, "--substeps", s.substeps, "of the chemistry of a point, per stage");
  apps::add_count(app, "--iterations", s.iterations, "timed iterations");
  app.add_option("--warm-up", s.warm_up, "iterations before them")
      ->check(apps::at_least(0))
      ->capture_default_str();
  apps::add_count(app, "--hand-off", s.hand_off,
                  "so many iterations hand off at first, then each so-many-th");
  app.add_flag("--trace", s.trace, "record what repeats, and replay it");
  line.comparison.add_flags(app, "run the plain loops only", "do not compare with the plain loops");
}

// The setup that the command line asks for.
Setup finish(const CommandLine& line) {
  Setup s = line.setup;
  if (!line.tiles.empty()) s.tiles = {line.tiles[0], line.tiles[1]};
  if (line.tile > 0)
    s.tiles = {(s.n + line.tile - 1) / line.tile, (s.n + line.tile - 1) / line.tile};
  if (s.tiles[0] > s.n || s.tiles[1] > s.n)
    throw CLI::ValidationError("--tiles", "there are more tiles than rows or columns");
  return s;
}

void print_speed(const char* who, const Setup& setup, const Outcome& outcome) {
  std::printf("  %-12s %8.3f s  %10.1f iterations/s", who, outcome.seconds,
              setup.iterations / outcome.seconds);
}

bool check(const Outcome& outcome) {
  const bool right = keeps_bounds(outcome);
  std::printf("check %s: temperatures are %.6g to %.6g, and may be %.6g to %.6g\n",
              apps::verdict(right), outcome.coldest, outcome.hottest, cold, hottest_possible);
  return right;
}

bool run(const CommandLine& line, apps::Runner& runner) {
  const Setup setup = finish(line);
  std::printf(
      "s3d-like: %lld x %lld points, %d species, %lld x %lld tiles, %d launches per iteration, "
      "%d iterations after %d\n",
      static_cast<long long>(setup.n), static_cast<long long>(setup.n), setup.species,
      static_cast<long long>(setup.tiles[0]), static_cast<long long>(setup.tiles[1]),
      setup.launches_per_iteration(), setup.iterations, setup.warm_up);
  std::fflush(stdout);
  State expected;
  Outcome sequential;
  if (!line.comparison.no_sequential) {
    sequential = run_sequential(setup, &expected);
    print_speed("sequential", setup, sequential);
    std::printf("\n");
    if (line.comparison.only_sequential) return check(sequential);
  }
  const Outcome parallel =
      runner.run("s3d-like", setup.warm_up + setup.iterations,
                 [&](refrain::Context& ctx, apps::Progress& progress) {
                   return run_parallel(ctx, setup, progress,
                                       line.comparison.no_sequential ? nullptr : &expected);
                 });
  print_speed("refrain", setup, parallel);
  line.comparison.print_gain(runner.options(), sequential.seconds, parallel.seconds);
  if (line.comparison.no_sequential) return check(parallel);
  const bool right = check(parallel);
  std::printf("check %s: temperature and species %s the sequential ones, bit for bit\n",
              apps::verdict(parallel.identical), parallel.identical ? "equal" : "differ from");
  return right && parallel.identical;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"A caricature of the combustion code S3D, with hand-offs to an external driver",
               "s3d-like"};
  CommandLine line;
  add_flags(app, line);
  return apps::run_program(app, argc, argv,
                           [&](apps::Runner& runner) { return run(line, runner); });
}
