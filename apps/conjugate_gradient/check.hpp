#pragma once
// What conjugate gradients have to arrive at. With D the diagonal of A, kappa the condition of D^-1/2 A D^-1/2, and
// |v| = sqrt(v . v / D), the residual b - A x after k iterations from x = 0 is at most
//
//   |b - A x|  <=  2 sqrt(kappa) ((sqrt(kappa) - 1) / (sqrt(kappa) + 1))^k |b|
//
// (Saad, "Iterative methods for sparse linear systems", section 6.11), and no farther from the solution than the
// residual over the smallest eigenvalue; each plus rounding. Of the five-point operator the eigenvalues are known, and
// its eigenvectors are products of sines, which gives the solution of small systems (Lynch, Rice and Thomas, 1964). The
// dense matrix is dominated by its diagonal, which bounds its eigenvalues; small systems are solved by elimination.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cg {

inline constexpr std::size_t largest_direct = 256;  ///< n of systems that are solved directly

/// A system in the memory of the program, and what has been made of it.
struct Result {
  std::size_t n = 0;                 ///< unknowns of a dense matrix; n x n without one
  std::vector<double> matrix, b, x;  ///< no matrix: Poisson's equation
  std::int64_t iterations = 0;       ///< from x = 0 to this x
  double tolerance = 0;              ///< that a residual was seen to be below, if not 0
};

/// Says what it finds.
bool check(const Result& result);

}  // namespace cg
