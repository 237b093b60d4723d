#pragma once
// Sorting by a coordinate, digit by digit.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include "refrain/geometry.hpp"

namespace refrain::data {

/// Equal ones stay in their order. `key(item)`: its coordinate. Digits are as large as the number of items is worth, 11 bits
/// at most, and there are as many as the distance between the first and the last coordinate needs. Each digit costs
/// some 25 instructions an item. Fewer than 2^32 items.
template <class T, class Key>
void sort_by_coordinate(std::vector<T>& all, const Key& key) {
  if (all.size() < 128) {
    std::ranges::stable_sort(all, {}, key);
    return;
  }
  const auto [first, last] = std::ranges::minmax(all, {}, key);
  const Coord least = key(first);
  const int width = std::bit_width(static_cast<std::uint64_t>(key(last) - least));
  const int most = std::min<int>(std::bit_width(all.size()), 11);
  const int digits = std::max(1, (width + most - 1) / most);
  const int bits = (width + digits - 1) / digits;
  std::vector<T> sorted(all.size());
  std::vector<std::uint32_t> next(std::size_t{1} << bits);
  for (int shift = 0; shift < width; shift += bits) {
    std::ranges::fill(next, 0);
    const auto place_of = [&](const T& each) -> std::uint32_t& {
      return next[static_cast<std::uint64_t>(key(each) - least) >> shift & (next.size() - 1)];
    };
    for (const T& each : all) ++place_of(each);
    std::exclusive_scan(next.begin(), next.end(), next.begin(), std::uint32_t{0});
    for (const T& each : all) sorted[place_of(each)++] = each;
    all.swap(sorted);
  }
}

}  // namespace refrain::data
