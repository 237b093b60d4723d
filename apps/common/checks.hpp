#pragma once
// What checks of results have in common.

#include <cmath>
#include <cstdio>

namespace apps {

/// The larger one; unlike std::max it keeps a NaN, so that a check sees it.
inline double larger(double most, double next) {
  return next <= most || std::isnan(most) ? most : next;
}

/// "passed" or "FAILED".
inline const char* verdict(bool right) { return right ? "passed" : "FAILED"; }

/// Says what was found; false when that is more than allowed, or no number.
inline bool check_within(const char* what, double found, double allowed) {
  const bool right = found <= allowed;
  std::printf("check %s: %s is %.2e (%.2e allowed)\n", verdict(right), what, found, allowed);
  return right;
}

}  // namespace apps
