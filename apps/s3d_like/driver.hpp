#pragma once
// The external code: a driver that was there before the tasks, and is called with arrays. It owns the time
// step and the gas that flows in on the left. Nothing of Refrain is known here, as nothing is in the Fortran
// of S3D; both programs call it.

#include <cstddef>

#include "setup.hpp"

namespace s3d {

/// The temperature at all points: rows of n, `stride` values apart.
struct Grid {
  double* values;
  std::ptrdiff_t stride;
};

class Driver {
 public:
  explicit Driver(const Setup& setup);

  /// Takes the temperature over in iteration `t`: looks at all of it for a time step that the explicit
  /// stages stand, and sets it where gas flows in.
  void take_over(const Grid& temperature, int t);
  /// The time step until it takes over again.
  [[nodiscard]] double dt() const { return dt_; }

 private:
  Coord n_;
  double dt_;
};

}  // namespace s3d
