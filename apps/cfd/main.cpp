// Flow through a channel: command line and report. See README.md.

#include <cstdio>

#include "../common/array_run.hpp"
#include "../common/picture.hpp"
#include "channel.hpp"
#include "check.hpp"

namespace {

using namespace cfd;

struct CommandLine {
  Channel channel;
  Coord n = 0;
  apps::ArrayRun run{.iterations = 100, .warm_up = 20};
  std::int64_t check_every = 10;
  double tolerance = 0;
};

void add_flags(CLI::App& app, CommandLine& line) {
  Channel& c = line.channel;
  const CLI::Range points(Coord{3}, Coord{1} << 15);
  auto* n = app.add_option("--n", line.n, "points along x and y")->check(points);
  app.add_option("--nx", c.nx, "points along x")->check(points)->excludes(n)->capture_default_str();
  app.add_option("--ny", c.ny, "points along y")->check(points)->excludes(n)->capture_default_str();
  line.run.add_flags(app);
  apps::add_count(app, "--pressure-iterations", c.pressure_iterations, "for the pressure, a step");
  apps::add_count(app, "--check-every", line.check_every,
                  "wait for the change of u's sum after each so many steps");
  app.add_option("--tolerance", line.tolerance, "end where that is smaller than this, relative")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--swirl", c.swirl, "begin with waves of v this high, not at rest")
      ->check(CLI::Range(-2.0, 2.0))
      ->capture_default_str();
}

Outcome run_channel(refrain::Context& ctx, const CommandLine& line, apps::Progress& progress) {
  Session np(ctx, line.run.settings());
  Flow flow(np, line.channel);
  Outcome outcome;
  long long timed = -line.run.warm_up;
  apps::Timer timer;
  while (timed < line.run.iterations && !outcome.converged) {
    if (timed == 0) {
      np.wait();
      timer = {};
    }
    ++timed;
    if (++outcome.steps % line.check_every != 0) {
      step(np, line.channel, flow);
      continue;
    }
    outcome.change = step_and_compare(np, line.channel, flow);
    outcome.converged = std::abs(outcome.change) < line.tolerance;
    progress.step(line.check_every);
  }
  np.wait();
  outcome.timed = std::max(timed, 0LL);
  outcome.seconds = timer.seconds();
  outcome.u = flow.u.to_vector<double>();
  outcome.v = flow.v.to_vector<double>();
  outcome.p = flow.p.to_vector<double>();
  return outcome;
}

void draw(const std::string& path, const Channel& channel, const Outcome& outcome) {
  apps::write_picture(path, {.title = "speed along x, and the flow",
                             .values = outcome.u,
                             .rows = channel.ny,
                             .columns = channel.nx,
                             .row_0_below = true,
                             .along_columns = outcome.u,
                             .along_rows = outcome.v});
}

bool run(const CommandLine& line, apps::Runner& runner) {
  const Channel& channel = line.channel;
  const apps::ArrayRun& r = line.run;
  std::printf("cfd: %lld x %lld points, %d iterations for the pressure, %lld steps after %lld\n",
              static_cast<long long>(channel.nx), static_cast<long long>(channel.ny),
              channel.pressure_iterations, static_cast<long long>(r.iterations),
              static_cast<long long>(r.warm_up));
  std::fflush(stdout);
  const Outcome outcome = runner.run(
      "cfd", r.warm_up + r.iterations,
      [&](refrain::Context& ctx, apps::Progress& p) { return run_channel(ctx, line, p); });
  apps::print_speed(outcome.seconds, outcome.timed, channel.nx * channel.ny, runner.options());
  double sum = 0;
  for (const double u : outcome.u) sum += u;
  std::printf("  after %lld steps, the sum of u is %.15g, its last change %.3e\n", outcome.steps,
              sum, outcome.change);
  apps::print_bits({outcome.u, outcome.v, outcome.p});
  if (!r.picture.empty()) draw(r.picture, channel, outcome);
  return r.no_check || check(channel, outcome);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Flow through a channel: step 12 of the 12 steps to Navier-Stokes", "cfd"};
  CommandLine line;
  add_flags(app, line);
  return apps::run_program(app, argc, argv, [&](apps::Runner& runner) {
    if (line.n != 0) line.channel.nx = line.channel.ny = line.n;
    return run(line, runner);
  });
}
