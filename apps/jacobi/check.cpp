#include "check.hpp"

#include <algorithm>
#include <cmath>

namespace jacobi {

namespace {

std::size_t at(Coord i) { return static_cast<std::size_t>(i); }

// std::max drops a NaN; here it stays.
double larger(double most, double next) { return next <= most || std::isnan(most) ? most : next; }

Judged judge(double found, double q, int iterations, double first) {
  return {found, std::pow(q, iterations) * first + rounding * first};
}

// By Gaussian elimination with pivoting: rows of n entries and a right side.
std::vector<double> solve(std::vector<std::vector<double>> rows) {
  const std::size_t n = rows.size();
  for (std::size_t k = 0; k < n; ++k) {
    const auto pivot = std::max_element(
        rows.begin() + static_cast<std::ptrdiff_t>(k), rows.end(),
        [k](const auto& a, const auto& b) { return std::fabs(a[k]) < std::fabs(b[k]); });
    std::swap(rows[k], *pivot);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = rows[i][k] / rows[k][k];
      for (std::size_t j = k; j <= n; ++j) rows[i][j] -= factor * rows[k][j];
    }
  }
  std::vector<double> x(n);
  for (std::size_t i = n; i-- > 0;) {
    double sum = rows[i][n];
    for (std::size_t j = i + 1; j < n; ++j) sum -= rows[i][j] * x[j];
    x[i] = sum / rows[i][i];
  }
  return x;
}

}  // namespace

double contraction(const Setup& setup) {
  double q = 0;
  for (Coord i = 0; i < setup.n; ++i) {
    double sum = 0;
    for (Coord j = 0; j < setup.n; ++j) sum += std::fabs(rest(i, j));
    q = std::max(q, sum / diagonal(setup, i));
  }
  return q;
}

Judged judge_residual(const Setup& setup, const Outcome& outcome, double q) {
  double found = 0;
  double first = 0;
  for (Coord i = 0; i < setup.n; ++i) {
    double sum = right_side(setup, i);
    first = std::max(first, std::fabs(sum / diagonal(setup, i)));
    for (Coord j = 0; j < setup.n; ++j) sum -= rest(i, j) * outcome.x[at(j)];
    found = larger(found, std::fabs(sum / diagonal(setup, i) - outcome.x[at(i)]));
  }
  return judge(found, q, outcome.iterations, first);
}

Judged judge_error(const Setup& setup, const Outcome& outcome, double q) {
  std::vector<std::vector<double>> rows(at(setup.n));
  for (Coord i = 0; i < setup.n; ++i) {
    for (Coord j = 0; j < setup.n; ++j)
      rows[at(i)].push_back(i == j ? diagonal(setup, i) : rest(i, j));
    rows[at(i)].push_back(right_side(setup, i));
  }
  const std::vector<double> solution = solve(std::move(rows));
  double found = 0;
  double first = 0;
  for (std::size_t i = 0; i < solution.size(); ++i) {
    first = std::max(first, std::fabs(solution[i]));
    found = larger(found, std::fabs(outcome.x[i] - solution[i]));
  }
  return judge(found, q, outcome.iterations, first);
}

}  // namespace jacobi
