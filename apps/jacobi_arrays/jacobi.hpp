#pragma once
// Figure 1 of the automatic tracing paper (Yadav et al., ASPLOS 2025): Jacobi's iteration on a random dense system.

#include "refrain/arrays.hpp"

namespace jacobi {

using refrain::arrays::Array;
using refrain::arrays::Coord;
using refrain::arrays::Session;

/// A x = b, where d is the diagonal of A and R the rest.
struct System {
  Array R, d, b, x;

  /// Random and diagonally dominant, with x = 0.
  System(Session& np, Coord n);
  /// Leaves half of the error, or so (`contraction`, in check.hpp).
  void iterate();
  /// The largest of |(b - R x) / d - x|.
  [[nodiscard]] Array residual() const;
};

}  // namespace jacobi
