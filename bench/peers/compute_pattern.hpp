#pragma once
// The compute-bound stencil pattern of Task Bench (Slaughter et al., SC 2020): `steps` steps of
// `width` tasks; task (t, c) needs the values of (t-1, c-1), (t-1, c) and (t-1, c+1) where they
// exist, and then computes for `iterations` rounds in registers. Values are double-buffered by the
// parity of the step. A round is the pattern's unit of work ("point").

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace peer {

struct ComputePattern {
  int width;
  int steps;
  std::int64_t iterations;

  bool operator==(const ComputePattern&) const = default;
};

/// The work of one task: from the mean of its inputs to its output. Never inlined, so that every
/// system runs the same instructions: inlined into different loops it varied by a factor of two.
[[gnu::noinline]] inline double compute_kernel(double input, std::int64_t iterations) {
  constexpr int lanes = 16;
  double a[lanes];
  for (int k = 0; k < lanes; ++k) a[k] = input + 1e-3 * k;
  for (std::int64_t i = 0; i < iterations; ++i) {
    for (int k = 0; k < lanes; ++k) a[k] = a[k] * 0.999 + 0.001;
  }
  double sum = 0;
  for (double value : a) sum += value;
  return sum / lanes;
}

/// Task (t, c) on plain rows of `width` values: from the row of step t-1 to that of step t.
inline void compute_task(const double* before, double* after, int c,
                         const ComputePattern& pattern) {
  const double left = c > 0 ? before[c - 1] : 0;
  const double right = c + 1 < pattern.width ? before[c + 1] : 0;
  after[c] = compute_kernel((left + before[c] + right) / 3, pattern.iterations);
}

/// Both rows: step t reads rows[(t + 1) % 2] and writes rows[t % 2]; step 0 reads zeros and ones.
struct ComputeRows {
  std::vector<double> rows[2];

  explicit ComputeRows(const ComputePattern& pattern) {
    for (std::vector<double>& row : rows) row.assign(static_cast<std::size_t>(pattern.width), 0);
    for (std::size_t c = 0; c < rows[1].size(); c += 2) rows[1][c] = 1;
  }
};

inline void compute_sequentially(ComputeRows& values, const ComputePattern& pattern) {
  for (int t = 0; t < pattern.steps; ++t) {
    const double* before = values.rows[(t + 1) % 2].data();
    double* after = values.rows[t % 2].data();
    for (int c = 0; c < pattern.width; ++c) compute_task(before, after, c, pattern);
  }
}

/// Throws unless `values` are, bit for bit, what the sequential program computes. Small programs
/// are checked, large ones would double the time of the benchmark.
inline void check_compute(const ComputeRows& values, const ComputePattern& pattern) {
  if (pattern.iterations * pattern.steps * pattern.width > 4'000'000) return;
  ComputeRows expected(pattern);
  compute_sequentially(expected, pattern);
  if (expected.rows[0] != values.rows[0] || expected.rows[1] != values.rows[1]) {
    throw std::runtime_error("the compute pattern's check failed");
  }
}

}  // namespace peer
