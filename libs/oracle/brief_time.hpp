#pragma once
// Times in 16 bits, which is what means of measured times are worth: 6 bits of an exponent and 10 of a mantissa. A time
// of 2^-8 to 2^56 (of nanoseconds: two years) is within 2^-11 of itself, 0.05%, but for those nearest to 2^-8 (0.1%);
// shorter ones are 0 or about 2^-8, longer ones the longest.

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace refrain::oracle {

using BriefTime = std::uint16_t;

inline constexpr double kBriefTimeError = 1.0 / 2048;

/// The nearest there is to a time that is not negative.
[[nodiscard]] inline BriefTime brief(double time) {
  constexpr double smallest = 1.0 / 256;
  if (time < smallest) return time < smallest / 2 ? 0 : 1;
  int exponent = 0;
  const double mantissa = 2 * std::frexp(time / smallest, &exponent) - 1;  // from 0 to below 1
  const double number = 1024.0 * (exponent - 1) + std::round(1024 * mantissa);
  return static_cast<BriefTime>(std::clamp(number, 1.0, 65535.0));
}
[[nodiscard]] inline double mean_of(BriefTime time) {
  if (time == 0) return 0;
  return std::ldexp(1 + (time % 1024) / 1024.0, time / 1024 - 8);
}

}  // namespace refrain::oracle
