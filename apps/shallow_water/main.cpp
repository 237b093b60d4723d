// A dam breaks on a lake: command line and report. See README.md.

#include <cstdio>
#include <map>

#include "../common/array_run.hpp"
#include "../common/picture.hpp"
#include "check.hpp"
#include "water.hpp"

namespace {

using namespace shallow_water;

struct CommandLine {
  Lake lake;
  Coord n = 0;
  apps::ArrayRun run{.iterations = 80, .warm_up = 20};
  std::int64_t check_every = 10;
};

void add_flags(CLI::App& app, CommandLine& line) {
  Lake& lake = line.lake;
  const CLI::Range cells(Coord{4}, Coord{1} << 15);
  auto* n = app.add_option("--n", line.n, "cells along x and y")->check(cells);
  app.add_option("--nx", lake.nx, "cells along x")
      ->check(cells)
      ->excludes(n)
      ->capture_default_str();
  app.add_option("--ny", lake.ny, "cells along y")
      ->check(cells)
      ->excludes(n)
      ->capture_default_str();
  line.run.add_flags(app);
  apps::add_count(app, "--check-every", line.check_every,
                  "wait for the fastest wave before each so many steps, for their length");
  const std::map<std::string, Dam> dams{
      {"x", Dam::across_x}, {"y", Dam::across_y}, {"round", Dam::round}};
  app.add_option("--dam", lake.dam, "across x, across y, or round")
      ->transform(CLI::CheckedTransformer(dams))
      ->default_str("x");
}

Outcome run_lake(refrain::Context& ctx, const CommandLine& line, apps::Progress& progress) {
  Session np(ctx, line.run.settings());
  Water water(np, line.lake);
  Outcome outcome;
  outcome.mass_before = sum(inside(water.h)).item<double>();
  double dt = 0;
  outcome.seconds = apps::time_steps(np, line.run, [&] {
    if (outcome.steps++ % line.check_every == 0) {
      dt = time_step(line.lake, water);
      if (outcome.steps > 1) progress.step(line.check_every);
    }
    step(line.lake, water, dt);
    outcome.time += dt;
  });
  outcome.mass = sum(inside(water.h)).item<double>();
  outcome.h = inside(water.h).to_vector<double>();
  outcome.hu = inside(water.hu).to_vector<double>();
  outcome.hv = inside(water.hv).to_vector<double>();
  return outcome;
}

void draw(const std::string& path, const Lake& lake, const Outcome& outcome) {
  if (lake.dam == Dam::round) {
    apps::write_picture(path, {.title = "height of the water (m), and its momentum",
                               .values = outcome.h,
                               .rows = lake.ny,
                               .columns = lake.nx,
                               .row_0_below = true,
                               .along_columns = outcome.hu,
                               .along_rows = outcome.hv});
    return;
  }
  const DamBreak exact(lake);
  const Line line = middle_line(lake, outcome.h);
  std::vector<double> heights;
  heights.reserve(line.distance.size());
  for (const double distance : line.distance)
    heights.push_back(exact.height(distance, outcome.time));
  apps::write_picture(path, apps::CurvePicture{.title = "a dam has broken",
                                               .curves = {{"computed", line.distance, line.height},
                                                          {"Stoker", line.distance, heights}},
                                               .x_name = "distance from the dam (m)",
                                               .y_name = "height of the water (m)"});
}

bool run(const CommandLine& line, apps::Runner& runner) {
  const Lake& lake = line.lake;
  const apps::ArrayRun& r = line.run;
  std::printf("shallow-water: %lld x %lld cells, %lld steps after %lld\n",
              static_cast<long long>(lake.nx), static_cast<long long>(lake.ny),
              static_cast<long long>(r.iterations), static_cast<long long>(r.warm_up));
  std::fflush(stdout);
  const Outcome outcome =
      runner.run("shallow-water", r.warm_up + r.iterations,
                 [&](refrain::Context& ctx, apps::Progress& p) { return run_lake(ctx, line, p); });
  apps::print_speed(outcome.seconds, r.iterations, lake.nx * lake.ny, runner.options());
  double squares = 0;
  for (const double h : outcome.h) squares += h * h;
  std::printf("  after %.10g s, the sum of the squared heights is %.15g\n", outcome.time, squares);
  apps::print_bits({outcome.h, outcome.hu, outcome.hv});
  if (!r.picture.empty()) draw(r.picture, lake, outcome);
  return r.no_check || check(lake, outcome);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"A dam breaks on a lake: the shallow water equations", "shallow-water"};
  CommandLine line;
  add_flags(app, line);
  return apps::run_program(app, argc, argv, [&](apps::Runner& runner) {
    if (line.n != 0) line.lake.nx = line.lake.ny = line.n;
    return run(line, runner);
  });
}
