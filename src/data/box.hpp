#pragma once
// Rectangles with the number of dimensions forgotten: what the runtime computes with. A Box is always
// three-dimensional; the unused trailing dimensions are [0, 0]. The dimension itself is kept by whoever
// owns the box (an index space), so set algebra is written and compiled once.

#include "refrain/geometry.hpp"

namespace refrain::data {

using Box = Rect<3>;
using BoxPoint = Point<3>;

template <int N>
constexpr BoxPoint erase_dimension(const Point<N>& p) {
  BoxPoint q;
  for (int d = 0; d < N; ++d) q[d] = p[d];
  return q;
}

template <int N>
constexpr Box erase_dimension(const Rect<N>& r) {
  return {erase_dimension(r.lo), erase_dimension(r.hi)};
}

template <int N>
constexpr Point<N> restore_dimension(const BoxPoint& p) {
  Point<N> q;
  for (int d = 0; d < N; ++d) q[d] = p[d];
  return q;
}

template <int N>
constexpr Rect<N> restore_dimension(const Box& b) {
  return {restore_dimension<N>(b.lo), restore_dimension<N>(b.hi)};
}

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
