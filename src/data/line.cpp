#include "data/line.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace refrain::data {

namespace {

/// Digit by digit, from the lowest one on.
template <int bits>
void radix_sort(std::vector<Interval>& all) {
  const auto [first, last] = std::ranges::minmax(all, {}, &Interval::lo);
  const Coord least = first.lo;
  const auto range = static_cast<std::uint64_t>(last.lo - least);
  std::vector<Interval> sorted(all.size());
  for (int shift = 0; shift < 64 && range >> shift != 0; shift += bits) {
    std::array<std::size_t, std::size_t{1} << bits> next{};
    const auto place_of = [&](const Interval& each) -> std::size_t& {
      return next[static_cast<std::uint64_t>(each.lo - least) >> shift & (next.size() - 1)];
    };
    for (const Interval& each : all) ++place_of(each);
    std::exclusive_scan(next.begin(), next.end(), next.begin(), std::size_t{0});
    for (const Interval& each : all) sorted[place_of(each)++] = each;
    all.swap(sorted);
  }
}

}  // namespace

std::vector<Interval> intervals_in_order(std::span<const IndexSpaceRef> sets) {
  std::size_t count = 0;
  for (const IndexSpaceRef& set : sets) count += set->boxes().size();
  std::vector<Interval> all;
  all.reserve(count);
  for (std::uint32_t set = 0; set < sets.size(); ++set)
    for (const Box& box : sets[set]->boxes()) all.push_back({box.lo[0], box.hi[0], set});
  if (count < 128) std::ranges::stable_sort(all, {}, &Interval::lo);
  else if (count < 8192) radix_sort<8>(all);
  else radix_sort<11>(all);
  return all;
}

}  // namespace refrain::data
