#include "check.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "../common/checks.hpp"
#include "pricing.hpp"

namespace black_scholes {

namespace {

constexpr double tolerance = 1e-12;         // of the spot
constexpr std::size_t most_work = 1 << 21;  // prices by the closed form

double normal(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

struct Price {
  double call, put;
};
Price closed_form(double S, double K, double T, double r, double sigma) {
  const double deviation = sigma * std::sqrt(T);
  const double d1 = (std::log(S / K) + (r + sigma * sigma / 2) * T) / deviation;
  const double d2 = d1 - deviation;
  const double discounted = K * std::exp(-r * T);
  return {S * normal(d1) - discounted * normal(d2), discounted * normal(-d2) - S * normal(-d1)};
}

/// Over all scenarios.
Price mean(const Result& result, std::size_t i) {
  Price sum{0, 0};
  for (std::int64_t s = 0; s < result.scenarios; ++s) {
    const Price one = closed_form(result.spot[i], result.strike[i], result.time[i], result.rate[i],
                                  result.volatility[i] * shock(s));
    sum.call += one.call;
    sum.put += one.put;
  }
  const auto scenarios = static_cast<double>(result.scenarios);
  return {sum.call / scenarios, sum.put / scenarios};
}

}  // namespace

bool check(const Result& result) {
  const std::size_t n = result.spot.size();
  const std::size_t some =
      std::clamp<std::size_t>(most_work / static_cast<std::size_t>(result.scenarios), 1, n);
  double off = 0;
  for (std::size_t k = 0; k < some; ++k) {
    const std::size_t i = k * n / some;
    const Price right = mean(result, i);
    off = apps::larger(off, std::fabs(result.call[i] - right.call) / result.spot[i]);
    off = apps::larger(off, std::fabs(result.put[i] - right.put) / result.spot[i]);
  }
  double imparity = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double forward =
        result.spot[i] - result.strike[i] * std::exp(-result.rate[i] * result.time[i]);
    imparity = apps::larger(imparity,
                            std::fabs(result.call[i] - result.put[i] - forward) / result.spot[i]);
  }
  std::printf("  %zu options looked at with the error function\n", some);
  const bool closed =
      apps::check_within("the distance from the closed form, over the spot", off, tolerance);
  return apps::check_within("the put-call imparity, over the spot", imparity, tolerance) && closed;
}

}  // namespace black_scholes
