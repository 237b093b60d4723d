#pragma once
// Sets in one dimension, side by side: the intervals of all of them in their order on the line.

#include <cstdint>
#include <span>
#include <vector>

#include "data/index_space.hpp"

namespace refrain::data {

/// A box of one of several sets.
struct Interval {
  Coord lo = 0, hi = 0;
  std::uint32_t set = 0;  ///< its position
};

/// By their lower ends; of equal ones in the order of the sets. Cost: that of sort_by_coordinate.
[[nodiscard]] std::vector<Interval> intervals_in_order(std::span<const IndexSpaceRef> sets);

}  // namespace refrain::data
