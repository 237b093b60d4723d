#pragma once
// The arithmetic, shared by the parallel and the sequential program so that both compute the same bits.

#include <algorithm>
#include <cmath>

#include "setup.hpp"

namespace jacobi {

/// The sum of a row's products with x, in eight sums side by side: one would be a chain of additions.
inline double dot_row(const double* row, const double* x, Coord n) {
  constexpr Coord lanes = 8;
  double sum[lanes] = {};
  Coord j = 0;
  for (; j + lanes <= n; j += lanes)
    for (Coord k = 0; k < lanes; ++k) sum[k] += row[j + k] * x[j + k];
  for (; j < n; ++j) sum[0] += row[j] * x[j];
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

/// How far x is from solving a row's equation, as a distance in x: (b - R x) / d - x.
inline double residual_of_row(const double* row, const double* x, double own, double b, double d,
                              Coord n) {
  return std::fabs((b - dot_row(row, x, n)) / d - own);
}

}  // namespace jacobi
