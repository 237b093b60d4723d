#include "analysis/extent.hpp"

#include <algorithm>

namespace refrain::analysis {

void UsedExtent::widen(const data::IndexSpaceRef& points) {
  if (points_ == space_ || points->empty()) return;
  const data::Box &used = points->bounds(), &had = points_->bounds();
  data::Box box = points_->empty() ? used : had;
  constexpr std::uint32_t kExactly = 4;  // blocks, and what lies around them
  for (int d = 0; d < space_->dim(); ++d) {
    const Coord more = widened_ < kExactly ? 0 : had.hi[d] - had.lo[d] + 1;
    const Coord least = space_->bounds().lo[d], most = space_->bounds().hi[d];
    if (used.lo[d] < box.lo[d])
      box.lo[d] = std::min(used.lo[d], box.lo[d] - std::min(more, box.lo[d] - least));
    if (used.hi[d] > box.hi[d])
      box.hi[d] = std::max(used.hi[d], box.hi[d] + std::min(more, most - box.hi[d]));
  }
  if (!points_->empty() && box == had) return;
  has_grown_ = !points_->empty();
  ++widened_;
  points_ = box == space_->bounds() ? space_ : data::clip(space_, box);
}

}  // namespace refrain::analysis
