#include "support/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace refrain::bench {

namespace {

double median_of_sorted(const std::vector<double>& sorted) {
  const std::size_t n = sorted.size();
  return n % 2 == 1 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

/// The largest k with P(Binomial(n, 1/2) < k) <= 2.5%; the interval then runs from the k-th
/// smallest to the k-th largest ratio. 0 when even the extremes cover less than 95%.
std::size_t sign_test_rank(std::size_t n) {
  double term = std::pow(0.5, static_cast<double>(n));  // P(X = 0)
  double below = 0;
  std::size_t k = 0;
  while (k < n / 2 && below + term <= 0.025) {
    below += term;
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    ++k;
  }
  return k;
}

}  // namespace

Spread spread(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return {median_of_sorted(samples), samples.front(), samples.back()};
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (double v : values) sum += std::log(v);
  return std::exp(sum / static_cast<double>(values.size()));
}

PairedRatio paired_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < a.size(); ++i) ratios.push_back(a[i] / b[i]);
  std::sort(ratios.begin(), ratios.end());
  const std::size_t rank = sign_test_rank(ratios.size());
  const std::size_t index = rank > 0 ? rank - 1 : 0;
  return {median_of_sorted(ratios), ratios[index], ratios[ratios.size() - 1 - index], ratios.size(),
          rank > 0};
}

double metg(std::vector<EfficiencyPoint> curve, double level) {
  std::sort(curve.begin(), curve.end(), [](const EfficiencyPoint& x, const EfficiencyPoint& y) {
    return x.granularity < y.granularity;
  });
  // From the coarse end down: the crossing nearest to coarse tasks counts, so that a lucky fine
  // point in a noisy curve cannot make the result better.
  std::size_t i = curve.size();
  while (i > 0 && curve[i - 1].efficiency >= level) --i;
  if (i == curve.size()) return std::numeric_limits<double>::infinity();
  if (i == 0) return curve.front().granularity;
  const EfficiencyPoint& below = curve[i - 1];
  const EfficiencyPoint& above = curve[i];
  const double part = (level - below.efficiency) / (above.efficiency - below.efficiency);
  return std::exp(std::log(below.granularity) +
                  part * (std::log(above.granularity) - std::log(below.granularity)));
}

}  // namespace refrain::bench
