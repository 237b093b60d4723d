#include "check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "../common/checks.hpp"

namespace cg {

namespace {

using Vector = std::vector<double>;

struct Spectrum {
  double least = 0;             // not above the smallest eigenvalue of A
  double largest_diagonal = 0;  // of A
  double condition = 0;         // of D^-1/2 A D^-1/2, or more
};

double norm(const Vector& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return std::sqrt(sum);
}

// --- the five-point operator --------------------------------------------------------------------------------

/// Of one dimension.
double eigenvalue(std::size_t k, std::size_t n) {
  const double s =
      std::sin(static_cast<double>(k + 1) * std::numbers::pi / (2.0 * static_cast<double>(n + 1)));
  return 4 * s * s;
}

Spectrum poisson_spectrum(std::size_t n) {
  const double least = 2 * eigenvalue(0, n), most = 2 * eigenvalue(n - 1, n);
  return {least, 4.0, most / least};
}

Vector poisson_times(const Vector& u, std::size_t n) {
  Vector result(u.size());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t at = i * n + j;
      result[at] = 4 * u[at] - (i > 0 ? u[at - n] : 0) - (i + 1 < n ? u[at + n] : 0) -
                   (j > 0 ? u[at - 1] : 0) - (j + 1 < n ? u[at + 1] : 0);
    }
  return result;
}

Vector product(const Vector& a, const Vector& b, std::size_t n) {
  Vector result(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) result[i * n + j] += a[i * n + k] * b[k * n + j];
  return result;
}

/// S ((S b S) / eigenvalues) S, the columns of S being eigenvectors in one dimension.
Vector poisson_solution(const Vector& b, std::size_t n) {
  Vector S(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) {
      // Reduced, so that the argument of the sine is small.
      const std::size_t turns = (i + 1) * (k + 1) % (2 * (n + 1));
      S[i * n + k] =
          std::sqrt(2.0 / static_cast<double>(n + 1)) *
          std::sin(static_cast<double>(turns) * std::numbers::pi / static_cast<double>(n + 1));
    }
  Vector modes = product(product(S, b, n), S, n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) modes[i * n + j] /= eigenvalue(i, n) + eigenvalue(j, n);
  return product(product(S, modes, n), S, n);
}

// --- a dense matrix -----------------------------------------------------------------------------------------

/// By Gershgorin's circles of D^-1 A, which has the eigenvalues of D^-1/2 A D^-1/2.
Spectrum dense_spectrum(const Vector& A, std::size_t n) {
  double radius = 0, most = 0, least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += j == i ? 0 : std::fabs(A[i * n + j]);
    const double diagonal = A[i * n + i];
    radius = apps::larger(radius, sum / diagonal);
    most = std::max(most, diagonal);
    least = std::min(least, diagonal);
  }
  return {(1 - radius) * least, most, (1 + radius) / (1 - radius)};
}

Vector dense_times(const Vector& A, const Vector& u, std::size_t n) {
  Vector result(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) result[i] += A[i * n + j] * u[j];
  return result;
}

/// By Gaussian elimination, which needs no pivots here.
Vector dense_solution(Vector A, Vector x, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = A[i * n + k] / A[k * n + k];
      for (std::size_t j = k; j < n; ++j) A[i * n + j] -= factor * A[k * n + j];
      x[i] -= factor * x[k];
    }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) x[i] -= A[i * n + j] * x[j];
    x[i] /= A[i * n + i];
  }
  return x;
}

}  // namespace

bool check(const Result& result) {
  const std::size_t n = result.n;
  const bool dense = !result.matrix.empty();
  const auto times = [&](const Vector& u) {
    return dense ? dense_times(result.matrix, u, n) : poisson_times(u, n);
  };
  const auto size = [&](Vector v) {  // |v|
    for (std::size_t i = 0; i < v.size(); ++i)
      v[i] /= std::sqrt(dense ? result.matrix[i * n + i] : 4.0);
    return norm(v);
  };
  const Spectrum spectrum = dense ? dense_spectrum(result.matrix, n) : poisson_spectrum(n);
  const double root = std::sqrt(spectrum.condition);
  const double rounding = 20 * std::numeric_limits<double>::epsilon() * spectrum.condition;
  const double left =
      result.tolerance > 0
          ? result.tolerance
          : 2 * root * std::pow((root - 1) / (root + 1), static_cast<double>(result.iterations));

  Vector rest = times(result.x);
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = result.b[i] - rest[i];
  const double found = size(rest);
  const bool small = apps::check_within("the residual", found / size(result.b), left + rounding);
  if (n > largest_direct) return small;

  Vector error = dense ? dense_solution(result.matrix, result.b, n) : poisson_solution(result.b, n);
  const double length = norm(error);
  for (std::size_t i = 0; i < error.size(); ++i) error[i] -= result.x[i];
  const double allowed =
      std::sqrt(spectrum.largest_diagonal) * found / spectrum.least + rounding * length;
  return apps::check_within("the distance from the direct solution", norm(error) / length,
                            allowed / length) &&
         small;
}

}  // namespace cg
