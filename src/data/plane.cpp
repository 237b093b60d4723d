#include "data/plane.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>

#include "data/radix.hpp"

namespace refrain::data {

std::vector<std::uint32_t> order_in_plane(BoxSpan boxes) {
  std::vector<std::uint32_t> order(boxes.size());
  std::iota(order.begin(), order.end(), 0);
  for (const int d : {1, 0})
    sort_by_coordinate(order, [&](std::uint32_t each) { return boxes[each].lo[d]; });
  return order;
}

namespace {

/// Boxes in the order of a plane, of which the line sweeps over all before the next ones begin.
class Band {
 public:
  Band(BoxSpan boxes, std::span<const std::uint32_t> order)
      : boxes_(boxes), order_(order), bounds_(boxes[order.front()]) {
    std::size_t size = 1;
    for (; size < order.size() && box(size).lo[0] <= bounds_.hi[0]; ++size) {
      is_row_ &= box(size).lo[0] == bounds_.lo[0];
      for (int d = 0; d < 2; ++d) {
        bounds_.lo[d] = std::min(bounds_.lo[d], box(size).lo[d]);
        bounds_.hi[d] = std::max(bounds_.hi[d], box(size).hi[d]);
      }
    }
    order_ = order.first(size);
  }
  [[nodiscard]] std::size_t size() const { return order_.size(); }
  [[nodiscard]] bool is_disjoint() const {
    if (is_row_) {  // all are on one line
      for (std::size_t i = 1; i < size(); ++i)
        if (box(i).lo[1] <= box(i - 1).hi[1]) return false;
      return true;
    }
    Sweep sweep(bounds_);
    return std::ranges::all_of(
        order_, [&](std::uint32_t each) { return sweep.pass(boxes_[each], [](const Box&) {}); });
  }

 private:
  [[nodiscard]] const Box& box(std::size_t i) const { return boxes_[order_[i]]; }

  BoxSpan boxes_;
  std::span<const std::uint32_t> order_;
  Box bounds_;
  bool is_row_ = true;
};

}  // namespace

bool are_disjoint_in_plane(BoxSpan boxes) {
  const std::vector<std::uint32_t> order = order_in_plane(boxes);
  for (std::span<const std::uint32_t> left(order); !left.empty();) {
    const Band band(boxes, left);
    if (!band.is_disjoint()) return false;
    left = left.subspan(band.size());
  }
  return true;
}

// To the stretch that has x: some steps from where the last box was, or by a search.
void Sweep::find(Coord x) {
  int near = 4;
  if (at_->first <= x)
    while (at_->second.hi < x && --near > 0) ++at_;
  if (at_->first > x || at_->second.hi < x) at_ = std::prev(line_.upper_bound(x));
}

}  // namespace refrain::data
