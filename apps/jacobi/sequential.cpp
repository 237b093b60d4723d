#include "sequential.hpp"

#include "../common/progress.hpp"
#include "kernels.hpp"

namespace jacobi {

namespace {

std::size_t at(Coord i) { return static_cast<std::size_t>(i); }

struct System {
  explicit System(const Setup& setup) : n(setup.n), x(at(n), 0.0), next(at(n)) {
    r.reserve(at(n * n));
    for (Coord i = 0; i < n; ++i) {
      for (Coord j = 0; j < n; ++j) r.push_back(rest(i, j));
      b.push_back(right_side(setup, i));
      d.push_back(diagonal(setup, i));
    }
  }

  void iterate() {
    for (Coord i = 0; i < n; ++i)
      next[at(i)] = (b[at(i)] - dot_row(r.data() + i * n, x.data(), n)) / d[at(i)];
    x.swap(next);
  }

  [[nodiscard]] double residual() const {
    double largest = 0;
    for (Coord i = 0; i < n; ++i)
      largest = std::max(
          largest, residual_of_row(r.data() + i * n, x.data(), x[at(i)], b[at(i)], d[at(i)], n));
    return largest;
  }

  Coord n;
  std::vector<double> r, b, d, x, next;
};

}  // namespace

Outcome run_sequential(const Setup& setup) {
  System system(setup);
  Outcome outcome;
  apps::Progress progress("jacobi, sequential", setup.warm_up + setup.iterations);
  apps::Timer timer;
  while (outcome.iterations < setup.warm_up + setup.iterations) {
    if (outcome.iterations == setup.warm_up) timer = apps::Timer();
    system.iterate();
    ++outcome.iterations;
    progress.step();
    if (!setup.is_checked(outcome.iterations)) continue;
    outcome.residual = system.residual();
    if (outcome.residual < setup.tolerance) break;
  }
  outcome.seconds = timer.seconds();
  outcome.x = std::move(system.x);
  return outcome;
}

}  // namespace jacobi
