#include "data/plane.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "data/radix.hpp"

namespace refrain::data {

std::vector<std::uint32_t> order_in_plane(BoxSpan boxes) {
  std::vector<std::uint32_t> order(boxes.size());
  std::iota(order.begin(), order.end(), 0);
  for (const int d : {1, 0})
    sort_by_coordinate(order, [&](std::uint32_t each) { return boxes[each].lo[d]; });
  return order;
}

// To the stretch that has x: some steps from where the last box was, or by a search.
void Sweep::find(Coord x) {
  int near = 4;
  if (at_->first <= x)
    while (at_->second.hi < x && --near > 0) ++at_;
  if (at_->first > x || at_->second.hi < x) at_ = std::prev(line_.upper_bound(x));
}

}  // namespace refrain::data
