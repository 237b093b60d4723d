#pragma once
// What several runs of one mapping say together. Runs of the same mapping differ (section 1 of the paper), at times by
// much: a run that another program disturbed says nothing about the mapping.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "map_search/evaluator.hpp"

namespace refrain::map_search {

/// The mean of the values that are no outliers, and their standard deviation. An outlier is farther from the median
/// than three times the median of these distances, scaled to a standard deviation; at most half of the values are.
struct Robust {
  double mean = 0;
  double spread = 0;
  std::size_t kept = 0;
};
[[nodiscard]] Robust robust(std::span<const double> values);

enum class Objective : std::uint8_t { time, bytes };

/// All runs of a mapping, or those up to the first that failed.
struct Measurement {
  Outcome outcome = Outcome::ok;
  std::string text;  ///< about the run that failed
  Robust seconds, bytes;
  std::size_t runs = 0;

  /// Less is better. A mapping that fails is worse than any other.
  [[nodiscard]] double value(Objective objective) const {
    if (outcome != Outcome::ok) return std::numeric_limits<double>::infinity();
    return objective == Objective::time ? seconds.mean : bytes.mean;
  }
};
[[nodiscard]] Measurement measurement(std::span<const Run> runs);

}  // namespace refrain::map_search
