#include "map_search/measure.hpp"

#include <algorithm>
#include <cmath>

namespace refrain::map_search {

namespace {

/// Of an even number of values, the mean of the two in the middle.
double median(std::vector<double> values) {
  const std::size_t half = values.size() / 2;
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(half));
  if (values.size() % 2 == 1) return values[half];
  return (values[half] +
          *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half))) /
         2;
}

}  // namespace

Robust robust(std::span<const double> values) {
  if (values.empty()) return {};
  const double middle = median({values.begin(), values.end()});
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - middle));
  // 1.4826: for normally distributed values, the standard deviation in such medians.
  const double farthest = 3 * 1.4826 * median(distances);
  std::vector<double> kept;
  for (const double value : values)
    if (std::abs(value - middle) <= farthest) kept.push_back(value);
  double sum = 0, squares = 0;
  for (const double value : kept) sum += value;
  const auto count = static_cast<double>(kept.size());
  const double mean = sum / count;
  for (const double value : kept) squares += (value - mean) * (value - mean);
  return {mean, kept.size() < 2 ? 0 : std::sqrt(squares / (count - 1)), kept.size()};
}

Measurement measurement(std::span<const Run> runs) {
  Measurement all;
  all.runs = runs.size();
  std::vector<double> seconds, bytes;
  for (const Run& run : runs) {
    if (run.outcome != Outcome::ok) {
      all.outcome = run.outcome;
      all.text = run.text;
      return all;
    }
    seconds.push_back(run.seconds);
    bytes.push_back(static_cast<double>(run.bytes));
  }
  all.seconds = robust(seconds);
  all.bytes = robust(bytes);
  return all;
}

}  // namespace refrain::map_search
