#pragma once
// What is computed: an ensemble of compressible flows in closed boxes, in the shape of Maestro, an application of the
// mapping search paper AutoMap (section 5.1). One sample of high fidelity, whose data is large, runs beside many of low
// fidelity: the same equations on fewer points. The samples of one fidelity differ in how fast the flow begins.
//
// A sample has n x n x n points and a layer of ghost points around them. The samples of a fidelity stand in one grid,
// one behind the other along x, and each is cut along x into slabs, the pieces.

#include <vector>

#include "refrain/geometry.hpp"

namespace maestro {

using refrain::Coord;
using refrain::Point3;
using refrain::Rect3;

/// The samples of one fidelity.
struct Fidelity {
  Coord n;        ///< a sample has n x n x n points
  Coord samples;  ///< none: this fidelity is left out
  Coord pieces;   ///< of each sample, at most n

  [[nodiscard]] Coord points() const { return n * n * n * samples; }
  /// A sample with its ghost points.
  [[nodiscard]] Rect3 sample(Coord s) const {
    return {{s * (n + 2), 0, 0}, {(s + 1) * (n + 2) - 1, n + 1, n + 1}};
  }
  /// All samples, of which there is one at least.
  [[nodiscard]] Rect3 grid() const { return {{0, 0, 0}, sample(samples - 1).hi}; }
};

struct Setup {
  Fidelity high{64, 1, 4};
  Fidelity low{16, 8, 1};
  int steps = 20;      ///< timed
  int warm_up = 5;     ///< steps before them
  bool trace = false;  ///< each step is a trace: analysed once, then replayed
};

/// Piece number `piece` of a fidelity, those of the first sample first.
struct Slab {
  Rect3 sample;  ///< with its ghost points
  Rect3 inner;   ///< the slab's points
  Rect3 own;     ///< and the ghost points next to them: of all slabs together the sample
};
inline Slab slab(const Fidelity& f, Coord piece) {
  const Coord in_sample = piece % f.pieces;
  Slab s{f.sample(piece / f.pieces), {}, {}};
  const Coord first = s.sample.lo[0] + 1;
  s.inner = {{first + in_sample * f.n / f.pieces, 1, 1},
             {first + (in_sample + 1) * f.n / f.pieces - 1, f.n, f.n}};
  s.own = {{in_sample == 0 ? s.sample.lo[0] : s.inner.lo[0], 0, 0},
           {in_sample == f.pieces - 1 ? s.sample.hi[0] : s.inner.hi[0], f.n + 1, f.n + 1}};
  return s;
}

/// The low-storage Runge-Kutta scheme of order 3 in three stages (Williamson, J. Comput. Phys. 35, 1980):
///   change = a change + dt rate(value);  value = value + b change
struct Stage {
  double a, b;
};
inline constexpr Stage stages[] = {{0.0, 1.0 / 3}, {-5.0 / 9, 15.0 / 16}, {-153.0 / 128, 8.0 / 15}};

/// Per stage of a fidelity: primitive values, and in three directions ghost points, gradients and fluxes; the advance.
/// Per step: what measures.
inline int launches_per_step(const Setup& setup) {
  return (setup.low.samples > 0 ? 2 : 1) * (3 * (1 + 3 * 3 + 1) + 1);
}

/// What is conserved, per volume. Also its flux through a face, and its rate of change.
struct Conserved {
  double mass;
  double momentum[3];
  double energy;
};

/// What is conserved in all points of a sample and its ghost points, in C order, sample by sample.
using State = std::vector<std::vector<Conserved>>;
struct States {
  State high, low;
};

/// How a run went.
struct Outcome {
  double seconds = 0;     ///< of the timed steps
  double drift = 0;       ///< by which part of themselves mass and energy have changed: the larger
  bool identical = true;  ///< all has the bits of the sequential run, where one was given
};

}  // namespace maestro
