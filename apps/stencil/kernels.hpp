#pragma once
// The arithmetic of one row, shared by the parallel and the sequential program so that both compute
// the same bits. The radius is a template parameter: the star unrolls and the row vectorises.

#include <cstddef>

namespace stencil {

/// out[j] += star of `in` around j, for j in [0, count); `in` and `out` point at the row's first point,
/// rows of `in` are `stride` values apart.
template <int R>
void star_row(double* __restrict out, const double* __restrict in, std::ptrdiff_t stride,
              std::ptrdiff_t count) {
  for (std::ptrdiff_t j = 0; j < count; ++j) {
    double sum = 0;
    for (int k = 1; k <= R; ++k) {
      const double weight = 1.0 / (2.0 * k * R);
      sum += weight * (in[j + k] - in[j - k] + in[j + k * stride] - in[j - k * stride]);
    }
    out[j] += sum;
  }
}

inline void increment_row(double* in, std::ptrdiff_t count) {
  for (std::ptrdiff_t j = 0; j < count; ++j) in[j] += 1.0;
}

}  // namespace stencil
