#pragma once
// What the prices have to be, to 1e-12 of the spot: for some options the closed form with the error function of the C
// library, over all scenarios; and for all, since neither side of it depends on the volatility, put-call parity
//
//   call - put = spot - strike exp(-rate time)

#include <cstdint>
#include <vector>

namespace black_scholes {

/// A portfolio in the memory of the program; prices are means over the scenarios 0, 1 ... scenarios - 1.
struct Result {
  std::vector<double> spot, strike, time, rate, volatility;
  std::vector<double> call, put;
  std::int64_t scenarios = 0;
};

/// Says what it finds.
bool check(const Result& result);

}  // namespace black_scholes
