#include "check.hpp"

#include <cmath>

#include "../common/checks.hpp"

namespace logistic {

namespace {

constexpr double tolerance = 1e-10;  // relative
// What rounding does to the mean of logarithms of 1 and a little, however small that is.
constexpr double rounding = 1e-14;

double dot(const double* a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t j = 0; j < b.size(); ++j) sum += a[j] * b[j];
  return sum;
}

std::vector<double> descend(const Result& result) {
  const std::size_t features = result.weights.size();
  const auto samples = static_cast<double>(result.y.size());
  std::vector<double> weights(features), gradient(features);
  for (std::int64_t t = 0; t < result.iterations; ++t) {
    gradient.assign(features, 0.0);
    for (std::size_t i = 0; i < result.y.size(); ++i) {
      const double* x = &result.X[i * features];
      const double off = 1 / (1 + std::exp(-dot(x, weights))) - result.y[i];
      for (std::size_t j = 0; j < features; ++j) gradient[j] += off * x[j];
    }
    for (std::size_t j = 0; j < features; ++j) weights[j] -= result.rate / samples * gradient[j];
  }
  return weights;
}

double loss(const Result& result, const std::vector<double>& weights) {
  double sum = 0;
  for (std::size_t i = 0; i < result.y.size(); ++i) {
    const double margin = dot(&result.X[i * weights.size()], weights);
    sum += std::log1p(std::exp(result.y[i] > 0.5 ? -margin : margin));
  }
  return sum / static_cast<double>(result.y.size());
}

}  // namespace

bool check(const Result& result) {
  const std::vector<double> expected = descend(result);
  double largest = 0, apart = 0;
  for (std::size_t j = 0; j < expected.size(); ++j) {
    largest = apps::larger(largest, std::fabs(expected[j]));
    apart = apps::larger(apart, std::fabs(expected[j] - result.weights[j]));
  }
  const double expected_loss = loss(result, expected);
  const bool weights_right = apps::check_within(
      "the distance of the weights from those of plain loops", apart, tolerance * largest);
  const bool loss_right =
      apps::check_within("the distance of the loss", std::fabs(result.loss - expected_loss),
                         tolerance * expected_loss + rounding);
  return weights_right && loss_right;
}

}  // namespace logistic
