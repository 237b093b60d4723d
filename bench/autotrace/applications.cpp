#include "autotrace/applications.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "circuit/parallel.hpp"
#include "jacobi/check.hpp"
#include "jacobi/parallel.hpp"
#include "s3d_like/parallel.hpp"
#include "s3d_like/physics.hpp"
#include "stencil/parallel.hpp"

namespace refrain::bench {

namespace {

constexpr Coord points = 8;

void check(bool right, const char* name) {
  if (!right) throw std::runtime_error(std::string("the check of ") + name + " failed");
}

double run_stencil(Context& context, const Course& course, std::int64_t n) {
  stencil::Setup setup;
  setup.n = n;
  setup.tiles = {points, 1};
  setup.warm_up = course.warm_up;
  setup.iterations = course.iterations;
  setup.trace = course.marked;
  apps::Progress progress("stencil", setup.warm_up + setup.iterations);
  const stencil::Outcome outcome = stencil::run_parallel(context, setup, progress);
  check(std::fabs(outcome.norm - setup.expected_norm()) <= 1e-8, "stencil");
  return outcome.seconds;
}

double run_circuit(Context& context, const Course& course, std::int64_t wires) {
  circuit::Setup setup;
  setup.pieces = points;
  setup.wires = wires;
  setup.nodes = std::max<Coord>(wires / 4, 2);
  setup.warm_up = course.warm_up;
  setup.steps = course.iterations;
  setup.trace = course.marked;
  apps::Progress progress("circuit", setup.warm_up + setup.steps);
  const circuit::Outcome outcome = circuit::run_parallel(context, setup, progress);
  check(outcome.imbalance <= circuit::largest_imbalance, "circuit");
  return outcome.seconds;
}

double run_jacobi(Context& context, const Course& course, std::int64_t n) {
  jacobi::Setup setup;
  setup.n = n;
  setup.blocks = points;
  setup.warm_up = course.warm_up;
  setup.iterations = course.iterations;
  setup.trace = course.marked;
  apps::Progress progress("jacobi", setup.warm_up + setup.iterations);
  const jacobi::Outcome outcome = jacobi::run_parallel(context, setup, progress);
  check(jacobi::judge_residual(setup, outcome, jacobi::contraction(setup)).right(), "jacobi");
  return outcome.seconds;
}

double run_s3d(Context& context, const Course& course, std::int64_t n) {
  s3d::Setup setup;
  setup.n = n;
  setup.tiles = {points, 1};
  setup.warm_up = course.warm_up;
  setup.iterations = course.iterations;
  setup.trace = course.marked;
  apps::Progress progress("s3d-like", setup.warm_up + setup.iterations);
  const s3d::Outcome outcome = s3d::run_parallel(context, setup, progress);
  check(s3d::keeps_bounds(outcome), "s3d-like");
  return outcome.seconds;
}

struct Kind {
  const char* name;
  int calls;
  double (*run)(Context&, const Course&, std::int64_t size);
  std::int64_t sizes[3];
};
/// A step of the circuit: four launches and two reductions of futures.
const Kind kinds[] = {{"stencil", 2, run_stencil, {128, 512, 1024}},
                      {"circuit", 6, run_circuit, {8, 128, 1024}},
                      {"s3d_like", s3d::Setup{}.launches_per_iteration(), run_s3d, {32, 128, 384}},
                      {"jacobi", 3, run_jacobi, {64, 512, 1024}}};

/// Calls before the clock starts, and timed ones. While tasks are small, many calls are made until a history has been
/// mined. A steady state is known from 1,000 calls.
struct Grain {
  const char* name;
  int warm_up, timed;
};
constexpr Grain grains[] = {{"small", 6000, 12000}, {"medium", 1000, 3000}, {"large", 300, 1200}};

}  // namespace

std::vector<Application> applications(bool quick) {
  std::vector<Application> all;
  for (const Kind& kind : kinds) {
    for (int g = 0; g < 3; ++g) {
      const int timed =
          quick ? std::max(grains[g].timed / 4, 1300 - grains[g].warm_up) : grains[g].timed;
      const Course course{grains[g].warm_up / kind.calls, std::max(10, timed / kind.calls), false};
      all.push_back({kind.name, grains[g].name, kind.sizes[g], kind.calls, course,
                     [run = kind.run, size = kind.sizes[g]](Context& context, const Course& c) {
                       return run(context, c, size);
                     }});
    }
  }
  return all;
}

}  // namespace refrain::bench
