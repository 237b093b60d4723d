#pragma once
// What a run has to end with. An iteration multiplies the error, in the norm of the largest entry, by no more than
// q = max over rows of sum |R| / d, which is below 1. So after k of them, begun with zeros,
//
//   the residual max |(b - R x) / d - x|   is at most  q^k max |b / d|
//   the error    max |x - solution|        is at most  q^k max |solution|
//
// each plus rounding. Gaussian elimination finds the solution of small systems.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace jacobi {

inline constexpr std::size_t largest_direct = 512;  ///< systems up to here are solved directly

/// A system in the memory of the program, and the x that so many iterations have made.
struct Result {
  std::vector<double> R, d, b, x;
  std::int64_t iterations = 0;
};

double contraction(const Result& result);
/// Of a vector x; by plain loops.
double residual(const Result& result, const std::vector<double>& x);
/// Says what it finds.
bool check(const Result& result);

}  // namespace jacobi
