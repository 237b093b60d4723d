#include "sequential.hpp"

#include <cmath>
#include <stdexcept>

#include "../common/progress.hpp"
#include "kernels.hpp"

namespace stencil {

namespace {

template <int R>
void iterate(std::vector<double>& in, std::vector<double>& out, Coord n) {
  for (Coord i = R; i < n - R; ++i)
    star_row<R>(out.data() + i * n + R, in.data() + i * n + R, n, n - 2 * R);
  for (Coord i = 0; i < n; ++i) increment_row(in.data() + i * n, n);
}

double norm(const Setup& setup, const std::vector<double>& out) {
  double sum = 0;
  const Coord n = setup.n;
  const Coord r = setup.radius;
  for (Coord i = r; i < n - r; ++i)
    for (Coord j = r; j < n - r; ++j) sum += std::fabs(out[static_cast<std::size_t>(i * n + j)]);
  return sum / setup.active_points();
}

template <int R>
Outcome run(const Setup& setup, std::vector<double>* result) {
  const Coord n = setup.n;
  const auto points = static_cast<std::size_t>(n * n);
  std::vector<double> in(points);
  std::vector<double> out(points, 0.0);
  for (Coord i = 0; i < n; ++i)
    for (Coord j = 0; j < n; ++j)
      in[static_cast<std::size_t>(i * n + j)] = static_cast<double>(i + j);

  for (int t = 0; t < setup.warm_up; ++t) iterate<R>(in, out, n);
  apps::Progress progress("stencil, sequential", setup.iterations);
  const apps::Timer timer;
  for (int t = 0; t < setup.iterations; ++t) {
    iterate<R>(in, out, n);
    progress.step();
  }
  Outcome outcome{timer.seconds(), norm(setup, out), true};
  if (result != nullptr) *result = std::move(out);
  return outcome;
}

}  // namespace

Outcome run_sequential(const Setup& setup, std::vector<double>* out) {
  switch (setup.radius) {
    case 1: return run<1>(setup, out);
    case 2: return run<2>(setup, out);
    case 3: return run<3>(setup, out);
    case 4: return run<4>(setup, out);
    default: throw std::invalid_argument("the radius is 1 to 4");
  }
}

}  // namespace stencil
