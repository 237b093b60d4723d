#include "parallel.hpp"

#include "../common/host_task.hpp"
#include "arrays.hpp"

namespace jacobi {

namespace {

using namespace refrain;
using apps::host_task;

Matrix make_matrix(Context& ctx, const Setup& setup) {
  Matrix r;
  r.region = ctx.region(Rect2{{0, 0}, {setup.n - 1, setup.n - 1}}, Element::value);
  std::vector<IndexSpace<2>> rows;  // the blocks that the vectors have
  for (Coord c = 0; c < setup.blocks; ++c)
    rows.push_back(Rect2{{c * setup.n / setup.blocks, 0},
                         {(c + 1) * setup.n / setup.blocks - 1, setup.n - 1}});
  r.rows = ctx.partition(r.region, rows);
  const auto make = host_task("make_matrix", [](Write<double, 2> matrix) {
    for (auto p : matrix.domain()) matrix[p] = rest(p[0], p[1]);
  });
  ctx.launch(make, setup.blocks, r.rows[Element::value]);
  return r;
}

template <class Value>
Vector make_vector(Arrays& arrays, const char* name, Value value) {
  Vector vector(arrays);
  const auto make = host_task(name, [value](Write<double> v) {
    for (auto p : v.domain()) v[p] = value(p);
  });
  arrays.ctx.launch(make, arrays.blocks, vector.rows()[Element::value]);
  return vector;
}

// The system, and how far it is solved.
class Solver {
 public:
  Solver(Context& ctx, const Setup& setup, apps::Progress& progress)
      : ctx_(ctx),
        setup_(setup),
        arrays_(ctx, setup, progress),
        r_(make_matrix(ctx, setup)),
        b_(make_vector(arrays_, "make_b", [setup](Coord i) { return right_side(setup, i); })),
        d_(make_vector(arrays_, "make_d", [setup](Coord i) { return diagonal(setup, i); })),
        x_(make_vector(arrays_, "make_x", [](Coord) { return 0.0; })) {}

  /// Goes on until so many iterations are done in all, or the residual is small enough.
  void run_to(int end) {
    while (done_ < end && !settled_) {
      advance(setup_.next_stop(done_, end));
      if (!setup_.is_checked(done_)) continue;
      residual_ = largest_residual(r_, x_, b_, d_).get();
      settled_ = residual_ < setup_.tolerance;
    }
  }

  [[nodiscard]] Outcome outcome(double seconds) const {
    Outcome outcome{seconds, done_, residual_, {}};
    const auto x = ctx_.access<Read>(x_.region()[Element::value]);
    for (auto p : x.domain()) outcome.x.push_back(x[p]);
    return outcome;
  }

 private:
  void iterate() {
    x_ = (b_ - dot(r_, x_)) / d_;
    ++done_;
  }

  // The marks are where the pool makes the calls repeat: around two iterations, and always the same two. Whoever
  // adds an array to the iteration, or changes the pool, has to find new places for them.
  void advance(int end) {
    while (done_ < end) {
      if (setup_.trace && done_ % 2 == 0 && done_ + 2 <= end) {
        ctx_.trace(two_iterations_, [&] {
          iterate();
          iterate();
        });
      } else {
        iterate();
      }
    }
  }

  Context& ctx_;
  const Setup setup_;
  Arrays arrays_;
  Matrix r_;
  Vector b_, d_, x_;
  const Trace two_iterations_{"two iterations"};
  int done_ = 0;
  bool settled_ = false;
  double residual_ = -1;
};

}  // namespace

Outcome run_parallel(Context& ctx, const Setup& setup, apps::Progress& progress) {
  Solver solver(ctx, setup, progress);
  solver.run_to(setup.warm_up);
  ctx.fence();
  const apps::Timer timer;
  solver.run_to(setup.warm_up + setup.iterations);
  ctx.fence();
  return solver.outcome(timer.seconds());
}

}  // namespace jacobi
