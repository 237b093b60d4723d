#pragma once
// What is computed: the Parallel Research Kernels' 2-D star stencil (Van der Wijngaart and Mattson,
// HPEC 2014). `in` starts as i + j, `out` as 0. An iteration adds the star of `in` to every point of
// `out` whose star lies in the grid, and then 1 to every point of `in`. As `in` is linear, every
// iteration adds 2 to each such point of `out`.

#include "refrain/geometry.hpp"

namespace stencil {

using refrain::Coord;

struct Setup {
  Coord n = 4096;               ///< the grid is n x n
  refrain::Point2 tiles{8, 1};  ///< how many, down and across; whole rows stream best
  int radius = 2;               ///< 1 to 4
  int iterations = 100;         ///< timed
  int warm_up = 1;              ///< iterations before them
  bool trace = false;           ///< each iteration is a trace: analysed once, then replayed

  /// Points that an iteration computes: those at least `radius` away from the boundary.
  [[nodiscard]] double active_points() const {
    const auto side = static_cast<double>(n - 2 * radius);
    return side * side;
  }
  /// As PRK counts: a multiplication and an addition per point of the star, an addition to `in`.
  [[nodiscard]] double flops() const { return (8.0 * radius + 3.0) * active_points() * iterations; }
  /// What the mean of |out| over the active points has to be.
  [[nodiscard]] double expected_norm() const { return 2.0 * (warm_up + iterations); }
};

/// How a run went.
struct Outcome {
  double seconds = 0;     ///< of the timed iterations
  double norm = 0;        ///< mean of |out| over the active points
  bool identical = true;  ///< `out` has the bits of the sequential run, where one was given
};

}  // namespace stencil
