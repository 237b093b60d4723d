#include "pricing.hpp"

#include <cmath>
#include <initializer_list>

namespace black_scholes {

namespace {

/// (((c0 a + c1) a + c2) a + ...): Horner's scheme.
Array polynomial(const Array& a, std::initializer_list<double> coefficients) {
  const double* c = coefficients.begin();
  Array sum = c[0] * a + c[1];
  for (c += 2; c != coefficients.end(); ++c) sum = sum * a + *c;
  return sum;
}

/// exp(-a^2 / 2) is left out; for a below 7.07.
Array ratio_of_polynomials(const Array& a) {
  return polynomial(a, {3.52624965998911e-02, 0.700383064443688, 6.37396220353165, 33.912866078383,
                        112.079291497871, 221.213596169931, 220.206867912376}) /
         polynomial(a, {8.83883476483184e-02, 1.75566716318264, 16.064177579207, 86.7807322029461,
                        296.564248779674, 637.333633378831, 793.826512519948, 440.413735824752});
}

/// The same for larger a.
Array continued_fraction(const Array& a) {
  constexpr double root_of_two_pi = 2.506628274631000502;
  return 1.0 / (root_of_two_pi * (a + 1.0 / (a + 2.0 / (a + 3.0 / (a + 4.0 / (a + 0.65))))));
}

}  // namespace

Array cumulative_normal(const Array& x) {
  const Array a = abs(x);
  const Array tail = exp(-0.5 * a * a) *
                     where(a < 7.07106781186547, ratio_of_polynomials(a), continued_fraction(a));
  return where(x > 0.0, 1.0 - tail, tail);
}

Prices price(const Options& options) {
  const auto& [S, K, T, r, sigma] = options;
  const Array deviation = sigma * sqrt(T);
  const Array d1 = (log(S / K) + (r + 0.5 * sigma * sigma) * T) / deviation;
  const Array exercised = cumulative_normal(d1 - deviation);
  const Array delta = cumulative_normal(d1);
  const Array discounted = K * exp(-r * T);
  return {S * delta - discounted * exercised, discounted * (1.0 - exercised) - S * (1.0 - delta)};
}

Options Options::random(Session& np, Coord n) {
  Options options;
  options.spot = np.random.uniform(n, 10.0, 100.0);
  options.strike = np.random.uniform(n, 10.0, 100.0);
  options.time = np.random.uniform(n, 0.1, 2.0);
  options.rate = np.random.uniform(n, 0.0, 0.08);
  options.volatility = np.random.uniform(n, 0.05, 0.6);
  return options;
}

Portfolio::Portfolio(Session& np, Coord n)
    : options(Options::random(np, n)), sums{np.zeros(n), np.zeros(n)} {}

void Portfolio::value() {
  Options shocked = options;
  shocked.volatility = options.volatility * shock(scenarios++);
  const Prices prices = price(shocked);
  sums.call += prices.call;
  sums.put += prices.put;
}

double shock(std::int64_t scenario) {
  return 1.0 + 0.1 * std::sin(0.7 * static_cast<double>(scenario));
}

}  // namespace black_scholes
