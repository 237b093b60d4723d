#pragma once
// What is computed: Figure 1 of the automatic tracing paper (Yadav et al., ASPLOS 2025). A dense system
// A x = b is solved by x = (b - R x) / d, over and over, where d is the diagonal of A and R the rest.
// Entries are made by counting, so that tasks make them in any order, and are exact. Rows are diagonally
// dominant: an iteration leaves at most half of the error, or so (`contraction`, in check.hpp).

#include <string>
#include <vector>

#include "refrain/geometry.hpp"

namespace jacobi {

using refrain::Coord;

struct Setup {
  Coord n = 2048;        ///< unknowns
  Coord blocks = 8;      ///< of rows
  int iterations = 500;  ///< timed
  int warm_up = 10;      ///< iterations before them
  int check_every = 0;   ///< look at the residual after each so many iterations, of all; 0: never
  double tolerance = 0;  ///< and end where it is smaller than this
  bool trace = false;    ///< two iterations are a trace: analysed once, then replayed

  /// Where the next piece of work after `t` iterations ends that nobody looks into: at a check, or at `end`.
  [[nodiscard]] int next_stop(int t, int end) const {
    if (check_every == 0) return end;
    const int check = t - t % check_every + check_every;
    return check < end ? check : end;
  }
  [[nodiscard]] bool is_checked(int t) const { return check_every > 0 && t % check_every == 0; }
};

/// R, with zeros on the diagonal: multiples of 1/64 in [-1, 1).
inline double rest(Coord i, Coord j) {
  return i == j ? 0.0 : static_cast<double>((37 * i + 61 * j + i * j) % 128 - 64) / 64.0;
}
inline double diagonal(const Setup& setup, Coord i) { return static_cast<double>(setup.n + i % 7); }
inline double right_side(const Setup& setup, Coord i) {
  return static_cast<double>(setup.n * (i % 11 - 5));
}

/// How a run went.
struct Outcome {
  double seconds = 0;     ///< of the timed iterations
  int iterations = 0;     ///< all that were done, those before the timed ones too
  double residual = -1;   ///< at the last check, where there was one
  std::vector<double> x;  ///< what it ends with
};

}  // namespace jacobi
