#pragma once
// Sorting by a coordinate, digit by digit.

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "refrain/geometry.hpp"

namespace refrain::data {

/// From the lowest digit on. Stable.
template <int bits, class T, class Key>
void radix_sort(std::vector<T>& all, const Key& key) {
  const auto [first, last] = std::ranges::minmax(all, {}, key);
  const Coord least = key(first);
  const auto range = static_cast<std::uint64_t>(key(last) - least);
  std::vector<T> sorted(all.size());
  for (int shift = 0; shift < 64 && range >> shift != 0; shift += bits) {
    std::array<std::size_t, std::size_t{1} << bits> next{};
    const auto place_of = [&](const T& each) -> std::size_t& {
      return next[static_cast<std::uint64_t>(key(each) - least) >> shift & (next.size() - 1)];
    };
    for (const T& each : all) ++place_of(each);
    std::exclusive_scan(next.begin(), next.end(), next.begin(), std::size_t{0});
    for (const T& each : all) sorted[place_of(each)++] = each;
    all.swap(sorted);
  }
}

/// Equal ones stay in their order. Some 30 instructions for each and for each 11 bits (where there are few, 8) of the
/// distance between the first and the last coordinate. `key(item)`: its coordinate.
template <class T, class Key>
void sort_by_coordinate(std::vector<T>& all, const Key& key) {
  if (all.size() < 128) std::ranges::stable_sort(all, {}, key);
  else if (all.size() < 8192) radix_sort<8>(all, key);
  else radix_sort<11>(all, key);
}

}  // namespace refrain::data
