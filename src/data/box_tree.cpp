#include "data/box_tree.hpp"

#include <algorithm>

namespace refrain::data {

BoxTree::BoxTree(std::vector<Item> items) : items_(std::move(items)) {
  if (items_.empty()) return;
  std::size_t nodes = 2;
  for (std::size_t part = items_.size(); part > leaf_size; part = (part + 1) / 2) nodes *= 2;
  bounds_.resize(nodes);
  build(1, 0, items_.size());
}

BoxTree BoxTree::of_pieces(std::span<const IndexSpaceRef> pieces) {
  std::size_t count = 0;
  for (const IndexSpaceRef& piece : pieces) count += piece->boxes().size();
  std::vector<Item> items;
  items.reserve(count);
  for (std::size_t owner = 0; owner < pieces.size(); ++owner)
    for (const Box& box : pieces[owner]->boxes())
      items.push_back({box, static_cast<std::uint32_t>(owner)});
  return BoxTree(std::move(items));
}

void BoxTree::build(std::size_t node, std::size_t first, std::size_t last) {
  Box bounds = items_[first].box;
  for (std::size_t i = first + 1; i < last; ++i)
    for (int d = 0; d < 3; ++d) {
      bounds.lo[d] = std::min(bounds.lo[d], items_[i].box.lo[d]);
      bounds.hi[d] = std::max(bounds.hi[d], items_[i].box.hi[d]);
    }
  bounds_[node] = bounds;
  if (last - first <= leaf_size) return;
  int longest = 0;
  for (int d = 1; d < 3; ++d)
    if (bounds.hi[d] - bounds.lo[d] > bounds.hi[longest] - bounds.lo[longest]) longest = d;
  const auto by_low = [longest](const Item& a, const Item& b) {
    return a.box.lo[longest] < b.box.lo[longest];
  };
  const std::size_t middle = first + (last - first) / 2;
  const auto at = [this](std::size_t i) { return items_.begin() + static_cast<std::ptrdiff_t>(i); };
  if (!std::is_sorted(at(first), at(last), by_low))
    std::nth_element(at(first), at(middle), at(last), by_low);
  build(2 * node, first, middle);
  build(2 * node + 1, middle, last);
}

}  // namespace refrain::data
