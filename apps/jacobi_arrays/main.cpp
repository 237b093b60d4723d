// Jacobi's iteration with arrays: command line and report. See README.md.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "../common/array_run.hpp"
#include "../common/picture.hpp"
#include "check.hpp"
#include "jacobi.hpp"

namespace {

using namespace jacobi;

struct CommandLine {
  Coord n = 1000;
  std::int64_t check_every = 0;
  apps::ArrayRun run{.iterations = 1000, .warm_up = 100};
};

/// How the residual shrinks from the first iteration on, which the timed run does not look at.
void draw(Session& np, const CommandLine& line) {
  constexpr int kMost = 60;
  System system(np, line.n);
  apps::Curve seen{"largest |(b - R x) / d - x|", {}, {}};
  for (int i = 0; i < kMost; ++i) {
    seen.x.push_back(i);
    seen.y.push_back(log10(system.residual()).item<double>());
    system.iterate();
  }
  apps::write_picture(line.run.picture, {.title = "Jacobi's iteration on a random system",
                                         .curves = {seen},
                                         .x_name = "iterations",
                                         .y_name = "log10 of the residual"});
}

bool run(const CommandLine& line, apps::Runner& runner) {
  const apps::ArrayRun& r = line.run;
  const std::int64_t steps = r.warm_up + r.iterations;
  std::printf("jacobi-arrays: %lld unknowns, %lld iterations after %lld\n",
              static_cast<long long>(line.n), static_cast<long long>(r.iterations),
              static_cast<long long>(r.warm_up));
  std::fflush(stdout);
  const auto program = [&](refrain::Context& ctx, apps::Progress&) {
    Session np(ctx, r.settings());
    System system(np, line.n);
    double seen = -1;
    const double seconds = apps::time_steps(np, r, [&, i = 0]() mutable {
      system.iterate();
      if (line.check_every > 0 && ++i % line.check_every == 0)
        seen = system.residual().item<double>();
    });
    apps::print_speed(seconds, r.iterations, line.n * line.n, runner.options());
    if (seen >= 0) std::printf("  the last look saw a residual of %.2e\n", seen);
    std::printf("  sum of x %.12g\n", sum(system.x).item<double>());
    Result result;
    if (!r.no_check)
      result = {system.R.to_vector<double>(), system.d.to_vector<double>(),
                system.b.to_vector<double>(), system.x.to_vector<double>(), steps};
    if (!r.picture.empty()) draw(np, line);
    return result;
  };
  const Result result = runner.run("jacobi-arrays", steps, program);
  if (r.no_check) return true;
  apps::print_bits({result.x});
  return check(result);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Jacobi's iteration with arrays: x = (b - R x) / d", "jacobi-arrays"};
  CommandLine line;
  app.add_option("--n", line.n, "unknowns")
      ->check(CLI::Range(Coord{1}, Coord{1} << 15))
      ->capture_default_str();
  app.add_option("--check-every", line.check_every,
                 "look at the residual after each so many iterations")
      ->check(apps::at_least_one());
  line.run.add_flags(app);
  return apps::run_program(app, argc, argv,
                           [&](apps::Runner& runner) { return run(line, runner); });
}
