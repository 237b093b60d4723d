#pragma once
// The Parallel Research Kernels' 2-D star stencil on plain arrays: the kernels of one tile, the grid
// and the check, for peers that differ only in how they run the tiles. An iteration applies the star
// of the input to the output of every tile, and then adds 1 to every tile of the input.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace peer {

struct StencilGrid {
  std::ptrdiff_t n;
  std::vector<double> in;
  std::vector<double> out;

  explicit StencilGrid(std::ptrdiff_t size)
      : n(size), in(static_cast<std::size_t>(n * n)), out(static_cast<std::size_t>(n * n)) {}

  void reset() {
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      for (std::ptrdiff_t j = 0; j < n; ++j) in[at(i, j)] = static_cast<double>(i + j);
    }
    std::fill(out.begin(), out.end(), 0.0);
  }

  std::size_t at(std::ptrdiff_t i, std::ptrdiff_t j) const {
    return static_cast<std::size_t>(i * n + j);
  }
};

/// The star of radius R on the points of the tile at (ti, tj) whose whole star is in the grid.
template <int R>
void star_tile(StencilGrid& grid, std::ptrdiff_t ti, std::ptrdiff_t tj, std::ptrdiff_t tile) {
  const std::ptrdiff_t n = grid.n;
  const std::ptrdiff_t j_begin = std::max<std::ptrdiff_t>(tj, R);
  const std::ptrdiff_t j_end = std::min(tj + tile, n - R);
  for (std::ptrdiff_t i = std::max<std::ptrdiff_t>(ti, R); i < std::min(ti + tile, n - R); ++i) {
    const double* __restrict in = grid.in.data() + i * n;
    double* __restrict out = grid.out.data() + i * n;
    for (std::ptrdiff_t j = j_begin; j < j_end; ++j) {
      double sum = 0;
      for (int k = 1; k <= R; ++k) {
        const double weight = 1.0 / (2.0 * k * R);
        sum += weight * (in[j + k] - in[j - k] + in[j + k * n] - in[j - k * n]);
      }
      out[j] += sum;
    }
  }
}

inline void increment_tile(StencilGrid& grid, std::ptrdiff_t ti, std::ptrdiff_t tj,
                           std::ptrdiff_t tile) {
  for (std::ptrdiff_t i = ti; i < std::min(ti + tile, grid.n); ++i) {
    double* in = grid.in.data() + i * grid.n;
    for (std::ptrdiff_t j = tj; j < std::min(tj + tile, grid.n); ++j) in[j] += 1;
  }
}

/// Throws unless the mean of |out| is what `iterations` iterations give.
inline void check_stencil(const StencilGrid& grid, std::ptrdiff_t radius, std::int64_t iterations) {
  double sum = 0;
  for (std::ptrdiff_t i = radius; i < grid.n - radius; ++i) {
    for (std::ptrdiff_t j = radius; j < grid.n - radius; ++j)
      sum += std::fabs(grid.out[grid.at(i, j)]);
  }
  const double inner = static_cast<double>(grid.n - 2 * radius);
  const double error = sum / (inner * inner) - 2.0 * static_cast<double>(iterations);
  if (!(std::fabs(error) <= 1e-8)) throw std::runtime_error("the stencil's check failed");
}

}  // namespace peer
