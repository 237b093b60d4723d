// Conjugate gradients: command line and report. See README.md.

#include <cstdint>
#include <cstdio>
#include <vector>

#include "../common/array_run.hpp"
#include "../common/picture.hpp"
#include "check.hpp"
#include "solver.hpp"

namespace {

using namespace cg;

struct CommandLine {
  Coord n = 512;
  bool dense = false;
  std::int64_t check_every = 50;
  double tolerance = 1e-10;
  apps::ArrayRun run{.iterations = 2000, .warm_up = 100};

  [[nodiscard]] Coord elements() const { return n * n; }
};

/// Solves the system over and over until all iterations are done.
struct Solving {
  Solver& solver;
  const CommandLine& line;
  std::int64_t since_start = 0;
  std::int64_t solved = 0;  // how often
  std::int64_t needed = 0;  // iterations, the last time
  double seen = -1;         // the residual at the last look
  Array solution = {};

  void step() {
    solver.iterate();
    if (++since_start % line.check_every != 0) return;
    seen = solver.relative_residual().item<double>();
    if (seen > line.tolerance) return;
    ++solved;
    needed = since_start;
    since_start = 0;
    solution = solver.x().copy();
    solver.start();
  }
};

void draw(const CommandLine& line, const Result& result) {
  const std::size_t columns = result.x.size() / result.n;
  if (line.dense) {
    apps::Curve curve{"x", {}, result.x};
    for (Coord i = 0; i < line.n; ++i) curve.x.push_back(static_cast<double>(i));
    apps::write_picture(line.run.picture,
                        {.title = "the solution of a random system", .curves = {curve}});
  } else {
    apps::write_picture(line.run.picture, {.title = "the potential of a few charges",
                                           .values = result.x,
                                           .rows = line.n,
                                           .columns = static_cast<std::int64_t>(columns)});
  }
}

void print_solved(const Solving& solving) {
  if (solving.solved > 0)
    std::printf("  solved %lld times, in %lld iterations each\n",
                static_cast<long long>(solving.solved), static_cast<long long>(solving.needed));
  else if (solving.seen >= 0)
    std::printf("  not solved: the last look saw a relative residual of %.2e\n", solving.seen);
}

bool run(const CommandLine& line, apps::Runner& runner) {
  const apps::ArrayRun& r = line.run;
  const std::int64_t steps = r.warm_up + r.iterations;
  const auto n = static_cast<long long>(line.n);
  if (line.dense) std::printf("conjugate-gradient: a dense matrix of %lld rows", n);
  else std::printf("conjugate-gradient: Poisson's equation on %lld x %lld points", n, n);
  std::printf(", %lld iterations after %lld\n", static_cast<long long>(r.iterations),
              static_cast<long long>(r.warm_up));
  std::fflush(stdout);
  const auto program = [&](refrain::Context& ctx, apps::Progress&) {
    Session np(ctx, r.settings());
    Solver solver = line.dense ? Solver::dense(np, line.n) : Solver::poisson(np, line.n);
    Solving solving{solver, line};
    const double seconds = apps::time_steps(np, r, [&] { solving.step(); });
    apps::print_speed(seconds, r.iterations, line.elements(), runner.options());
    print_solved(solving);
    const bool solved = solving.solved > 0;
    Result result;
    result.n = static_cast<std::size_t>(line.n);
    if (line.dense) result.matrix = solver.matrix().to_vector<double>();
    result.b = solver.b().to_vector<double>();
    result.x = (solved ? solving.solution : solver.x()).to_vector<double>();
    result.iterations = solved ? solving.needed : solving.since_start;
    if (solved) result.tolerance = line.tolerance;
    return result;
  };
  const Result result = runner.run("conjugate-gradient", steps, program);
  double sum = 0;
  for (const double x : result.x) sum += x;
  std::printf("  sum of x %.12g\n", sum);
  apps::print_bits({result.x});
  if (!r.picture.empty()) draw(line, result);
  return r.no_check || check(result);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Conjugate gradients for Poisson's equation, or a dense matrix",
               "conjugate-gradient"};
  CommandLine line;
  app.add_option("--n", line.n, "n x n unknowns; with --dense n")
      ->check(CLI::Range(Coord{1}, Coord{1} << 14))
      ->capture_default_str();
  app.add_flag("--dense", line.dense, "a random dense matrix");
  apps::add_count(app, "--check-every", line.check_every,
                  "look at the residual after each so many iterations");
  app.add_option("--tolerance", line.tolerance, "a smaller residual is a solution, and a new start")
      ->check(CLI::Range(1e-14, 1.0))
      ->capture_default_str();
  line.run.add_flags(app);
  return apps::run_program(app, argc, argv,
                           [&](apps::Runner& runner) { return run(line, runner); });
}
