// Jacobi's iteration: command line and report. See README.md.

#include <cstdio>
#include <cstring>
#include <string>

#include "../common/program.hpp"
#include "check.hpp"
#include "parallel.hpp"
#include "sequential.hpp"

namespace {

using namespace jacobi;

struct CommandLine {
  Setup setup;
  apps::Comparison comparison;
};

void add_flags(CLI::App& app, CommandLine& line) {
  Setup& s = line.setup;
  app.add_option("--n", s.n, "unknowns")
      ->check(CLI::Range(Coord{1}, Coord{1} << 20))
      ->capture_default_str();
  apps::add_count(app, "--blocks", s.blocks, "of rows: points of a group launch");
  apps::add_count(app, "--iterations", s.iterations, "timed iterations");
  app.add_option("--warm-up", s.warm_up, "iterations before them")
      ->check(apps::at_least(0))
      ->capture_default_str();
  auto* check = app.add_option("--check-every", s.check_every,
                               "look at the residual after each so many iterations")
                    ->check(apps::at_least_one());
  app.add_option("--tolerance", s.tolerance, "and end where it is smaller than this")
      ->check(CLI::Range(0.0, 1.0))
      ->needs(check);
  app.add_flag("--trace", s.trace, "record two iterations, and replay them");
  line.comparison.add_flags(app, "run the plain loop only", "do not compare with the plain loop");
}

void print_speed(const char* who, const Setup& setup, const Outcome& outcome) {
  const int timed = std::max(outcome.iterations - setup.warm_up, 0);
  std::printf("  %-12s %8.3f s  %10.0f iterations/s", who, outcome.seconds,
              timed / outcome.seconds);
}

bool report(const char* what, const Judged& judged) {
  std::printf("check %s: the %s is %.2e (%.2e allowed)\n", apps::verdict(judged.right()), what,
              judged.found, judged.allowed);
  return judged.right();
}

// Without another run; says what it found.
bool check(const Setup& setup, const Outcome& outcome) {
  if (outcome.residual >= 0)
    std::printf("  the last look, within %d iterations, saw a residual of %.2e\n",
                outcome.iterations, outcome.residual);
  const double q = contraction(setup);
  const bool small = report("residual", judge_residual(setup, outcome, q));
  if (setup.n > largest_direct) return small;
  return report("distance from the direct solution", judge_error(setup, outcome, q)) && small;
}

bool equal(const Outcome& a, const Outcome& b) {
  return a.iterations == b.iterations && a.x.size() == b.x.size() &&
         std::memcmp(a.x.data(), b.x.data(), a.x.size() * sizeof(double)) == 0;
}

bool run(const CommandLine& line, apps::Runner& runner) {
  const Setup& setup = line.setup;
  if (setup.blocks > setup.n)
    throw CLI::ValidationError("--blocks", "there are more blocks than rows");
  std::printf("jacobi: %lld unknowns, %lld blocks, %d iterations after %d\n",
              static_cast<long long>(setup.n), static_cast<long long>(setup.blocks),
              setup.iterations, setup.warm_up);
  std::fflush(stdout);
  Outcome sequential;
  if (!line.comparison.no_sequential) {
    sequential = run_sequential(setup);
    print_speed("sequential", setup, sequential);
    std::printf("\n");
    if (line.comparison.only_sequential) return check(setup, sequential);
  }
  const Outcome parallel = runner.run("jacobi", setup.warm_up + setup.iterations,
                                      [&](refrain::Context& ctx, apps::Progress& progress) {
                                        return run_parallel(ctx, setup, progress);
                                      });
  print_speed("refrain", setup, parallel);
  line.comparison.print_gain(runner.options(), sequential.seconds, parallel.seconds);
  if (line.comparison.no_sequential) return check(setup, parallel);
  const bool right = check(setup, parallel);
  const bool identical = equal(parallel, sequential);
  std::printf("check %s: x %s the sequential one, bit for bit\n", apps::verdict(identical),
              identical ? "equals" : "differs from");
  return right && identical;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Jacobi's iteration: x = (b - R x) / d", "jacobi"};
  CommandLine line;
  add_flags(app, line);
  return apps::run_program(app, argc, argv,
                           [&](apps::Runner& runner) { return run(line, runner); });
}
