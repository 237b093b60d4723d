#pragma once
// Rectangles with the number of dimensions forgotten: what the runtime computes with. A Box is always
// three-dimensional; the unused trailing dimensions are [0, 0]. The dimension itself is kept by whoever
// owns the box (an index space), so set algebra is written and compiled once.

#include "refrain/geometry.hpp"

namespace refrain::data {

using Box = Rect<3>;
using BoxPoint = Point<3>;

/// Whether two boxes, neither of them empty, share a point.
inline bool meet(const Box& a, const Box& b) {
  for (int d = 0; d < 3; ++d)
    if (a.hi[d] < b.lo[d] || b.hi[d] < a.lo[d]) return false;
  return true;
}

/// "[lo..hi]" in `dim` dimensions.
std::string to_string(const Box& box, int dim);
std::string to_string(const BoxPoint& point, int dim);

}  // namespace refrain::data
