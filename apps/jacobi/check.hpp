#pragma once
// What a run has to end with, known without another run. An iteration multiplies the error, in the norm of
// the largest entry, by no more than q = max over rows of sum |R| / d, which is below 1. So after k of them,
// begun with zeros,
//
//   the residual max |(b - R x) / d - x|   is at most  q^k max |b / d|
//   the error    max |x - solution|        is at most  q^k max |solution|
//
// each plus rounding. Gaussian elimination finds the solution of small systems.

#include "setup.hpp"

namespace jacobi {

inline constexpr Coord largest_direct = 512;  ///< systems up to here are solved directly
inline constexpr double rounding = 1e-12;     ///< allowed, of the largest entry

double contraction(const Setup& setup);

struct Judged {
  double found = 0;
  double allowed = 0;
  [[nodiscard]] bool right() const { return found <= allowed; }  // a NaN is wrong
};

Judged judge_residual(const Setup& setup, const Outcome& outcome, double q);
/// Of a system that is not too large.
Judged judge_error(const Setup& setup, const Outcome& outcome, double q);

}  // namespace jacobi
