#pragma once
// For checks, which look for the largest of many distances.

#include <cmath>

namespace apps {

/// The larger one; unlike std::max it keeps a NaN, so that a check sees it.
inline double larger(double most, double next) {
  return next <= most || std::isnan(most) ? most : next;
}

}  // namespace apps
