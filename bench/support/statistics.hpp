#pragma once
// The statistics of the benchmarks: medians, geometric means, and paired ratios with an interval.
// Everything here is distribution-free: timings on a shared machine are skewed, so means and
// standard deviations would say little. Pure functions, callable from any thread; O(n log n).

#include <cstddef>
#include <vector>

namespace refrain::bench {

/// The middle of a set of repetitions, and its ends.
struct Spread {
  double median = 0;
  double min = 0;
  double max = 0;
};

/// Requires at least one sample.
Spread spread(std::vector<double> samples);

/// Requires positive values, at least one.
double geometric_mean(const std::vector<double>& values);

/// Median of a[i] / b[i] with a confidence interval of at least 95% for it. The interval is the
/// sign test's: it is bounded by two order statistics, whose ranks come from the binomial
/// distribution, and holds whatever the distribution of the ratios. With fewer than six pairs no
/// pair of ranks reaches 95%; `covered` then says false and the interval is the whole range.
struct PairedRatio {
  double median = 0;
  double low = 0;
  double high = 0;
  std::size_t pairs = 0;
  bool covered = false;

  /// Of the interval, for people.
  [[nodiscard]] const char* level() const { return covered ? "95%" : "all"; }
};

/// Requires equal sizes, at least one pair, positive b. Pair i must have been measured back to back.
PairedRatio paired_ratio(const std::vector<double>& a, const std::vector<double>& b);

/// One measured point of a curve of efficiency against task granularity.
struct EfficiencyPoint {
  double granularity = 0;  ///< cores x wall / tasks
  double efficiency = 0;   ///< best sequential time per point x points / (cores x wall)
};

/// The minimum effective task granularity: the smallest granularity from which on the efficiency
/// stays at or above `level`, found by interpolation in log(granularity) between the two points
/// around the crossing. A curve that never reaches the level gives infinity; one that never falls
/// below it gives its smallest granularity (an upper bound). Requires positive granularities.
double metg(std::vector<EfficiencyPoint> curve, double level);

}  // namespace refrain::bench
