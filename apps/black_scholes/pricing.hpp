#pragma once
// European options by the formulas of Black and Scholes ("The pricing of options and corporate liabilities", 1973).

#include <cstdint>

#include "refrain/arrays.hpp"

namespace black_scholes {

using refrain::arrays::Array;
using refrain::arrays::Coord;
using refrain::arrays::Session;

/// What options depend on; arrays that broadcast together.
struct Options {
  Array spot, strike, time, rate, volatility;

  static Options random(Session& np, Coord n);
};

struct Prices {
  Array call, put;
};

/// The normal distribution function, to 1e-15: algorithm 5666 of Hart et al., "Computer approximations" (1968), with a
/// continued fraction for the tails, as in G. West, "Better approximations to cumulative normal functions" (Wilmott
/// magazine, 2005).
Array cumulative_normal(const Array& x);

Prices price(const Options& options);

/// A portfolio that is valued in one scenario after the other: in scenario i all volatilities are multiplied by
/// shock(i).
struct Portfolio {
  Options options;
  Prices sums;  ///< over the scenarios so far
  std::int64_t scenarios = 0;

  Portfolio(Session& np, Coord n);
  void value();
};
double shock(std::int64_t scenario);

}  // namespace black_scholes
