#include "check.hpp"

#include <algorithm>
#include <cmath>

#include "../common/checks.hpp"

namespace jacobi {

namespace {

constexpr double rounding = 1e-12;  // allowed, of the largest entry

double largest(const std::vector<double>& v) {
  double most = 0;
  for (const double x : v) most = apps::larger(most, std::fabs(x));
  return most;
}

// By Gaussian elimination. The rows are diagonally dominant, and stay so: no pivot has to be looked for.
std::vector<double> solution(const Result& result) {
  const std::size_t n = result.x.size();
  std::vector<double> A = result.R, x = result.b;
  for (std::size_t i = 0; i < n; ++i) A[i * n + i] += result.d[i];
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

double contraction(const Result& result) {
  const std::size_t n = result.x.size();
  double q = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += std::fabs(result.R[i * n + j]);
    q = apps::larger(q, sum / std::fabs(result.d[i]));
  }
  return q;
}

double residual(const Result& result, const std::vector<double>& x) {
  const std::size_t n = x.size();
  double most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double rest = result.b[i];
    for (std::size_t j = 0; j < n; ++j) rest -= result.R[i * n + j] * x[j];
    most = apps::larger(most, std::fabs(rest / result.d[i] - x[i]));
  }
  return most;
}

bool check(const Result& result) {
  const std::vector<double> zeros(result.x.size());
  const double left =
      std::pow(contraction(result), static_cast<double>(result.iterations)) + rounding;
  const bool small = apps::check_within("the residual", residual(result, result.x),
                                        left * residual(result, zeros));
  if (result.x.size() > largest_direct) return small;
  std::vector<double> error = solution(result);
  const double allowed = left * largest(error);
  for (std::size_t i = 0; i < error.size(); ++i) error[i] -= result.x[i];
  return apps::check_within("the distance from the direct solution", largest(error), allowed) &&
         small;
}

}  // namespace jacobi
