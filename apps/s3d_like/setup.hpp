#pragma once
// What is computed: a caricature of S3D, a direct numerical simulation of turbulent combustion (its port to
// tasks: Treichler et al., 2017). On a grid of n x n points a temperature and some species diffuse and
// react; explicit Runge-Kutta stages advance them. An external code, which knows arrays and no tasks, takes
// over now and then: here it stands for the Fortran driver of S3D.

#include <iterator>
#include <limits>
#include <vector>

#include "refrain/geometry.hpp"

namespace s3d {

using refrain::Coord;

struct Setup {
  Coord n = 512;                ///< the grid is n x n
  refrain::Point2 tiles{8, 1};  ///< how many, down and across
  int species = 3;              ///< each turns into the next
  int substeps = 1;             ///< of the chemistry of a point, in a stage
  int iterations = 50;          ///< timed
  int warm_up = 10;             ///< iterations before them
  int hand_off = 10;            ///< as many iterations hand off at first, and then each so-many-th
  bool trace = false;           ///< with marks, see parallel.cpp

  /// Whether the external code takes over in iteration `t`.
  [[nodiscard]] bool hands_off(int t) const { return t < hand_off || t % hand_off == 0; }
  /// The temperature is the first quantity, the species are the others.
  [[nodiscard]] int quantities() const { return species + 1; }
  [[nodiscard]] int launches_per_iteration() const;
};

/// The low-storage Runge-Kutta scheme of order 4 in five stages (Carpenter and Kennedy, NASA TM 109112, 1994):
///   change = a change + dt rate(value);  value = value + b change
struct Stage {
  double a, b;
};
inline constexpr Stage stages[] = {
    {0.0, 1432997174477.0 / 9575080441755.0},
    {-567301805773.0 / 1357537059087.0, 5161836677717.0 / 13612068292357.0},
    {-2404267990393.0 / 2016746695238.0, 1720146321549.0 / 2090206949498.0},
    {-3550918686646.0 / 2091501179385.0, 3134564353537.0 / 4481467310338.0},
    {-1275806237668.0 / 842570457699.0, 2277821191437.0 / 14882151754819.0}};
inline constexpr int stage_count = static_cast<int>(std::size(stages));

// Per stage: each quantity diffuses and is advanced, each species but the last reacts. Then two launches of the
// filter.
inline int Setup::launches_per_iteration() const {
  return stage_count * (2 * quantities() + species - 1) + 2;
}

/// How a run went.
struct Outcome {
  double seconds = 0;                                        ///< of the timed iterations
  double coldest = std::numeric_limits<double>::infinity();  ///< temperatures at the end
  double hottest = -std::numeric_limits<double>::infinity();
  bool identical = true;  ///< everything has the bits of the sequential run, where one was given
};

/// A quantity at all points, row by row; the temperature first.
using State = std::vector<std::vector<double>>;

}  // namespace s3d
