#include "data/line.hpp"

#include "data/radix.hpp"

namespace refrain::data {

std::vector<Interval> intervals_in_order(std::span<const IndexSpaceRef> sets) {
  std::size_t count = 0;
  for (const IndexSpaceRef& set : sets) count += set->boxes().size();
  std::vector<Interval> all;
  all.reserve(count);
  for (std::uint32_t set = 0; set < sets.size(); ++set)
    for (const Box& box : sets[set]->boxes()) all.push_back({box.lo[0], box.hi[0], set});
  sort_by_coordinate(all, [](const Interval& each) { return each.lo; });
  return all;
}

}  // namespace refrain::data
