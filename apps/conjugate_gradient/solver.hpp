#pragma once
// The method of conjugate gradients (Hestenes and Stiefel, 1952) with the diagonal as preconditioner, as in Barrett et
// al., "Templates for the solution of linear systems" (1994), Figure 2.5.

#include "refrain/arrays.hpp"

namespace cg {

using refrain::arrays::Array;
using refrain::arrays::Coord;
using refrain::arrays::Session;

/// A x = b, A being symmetric and positive definite.
class Solver {
 public:
  /// Poisson's equation on n x n inner points of a square with zeros around it: the five-point operator, never stored.
  static Solver poisson(Session& np, Coord n);
  /// A random dense matrix of n rows.
  static Solver dense(Session& np, Coord n);

  /// From x = 0.
  void start();
  void iterate();
  /// sqrt(r . r / diagonal) of the residual r = b - A x, over that of x = 0. Nothing waits for it here.
  [[nodiscard]] Array relative_residual() const;

  [[nodiscard]] const Array& x() const { return x_; }
  [[nodiscard]] const Array& b() const { return b_; }
  [[nodiscard]] const Array& matrix() const { return matrix_; }  ///< empty for Poisson's equation

 private:
  Solver(Session& np, Array matrix, Array diagonal, Array b);
  [[nodiscard]] Array A_times_p() const;

  Array matrix_, diagonal_, b_;
  Array x_, r_;     // the solution so far, and b - A x
  Array p_;         // the direction in which x changes
  Array framed_p_;  // of Poisson's equation: p and the zeros around it, of which p is a view
  Array rz_;        // r . z, where z is r / diagonal
  Array first_rz_;
};

}  // namespace cg
