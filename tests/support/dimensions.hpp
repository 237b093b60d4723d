#pragma once
// From plans, where every point has three coordinates, to the types of the API, where the number of
// dimensions is a part of the type.

#include <type_traits>
#include <vector>

#include "refrain/domain.hpp"
#include "support/plan.hpp"

namespace refrain::test {

/// Calls f with std::integral_constant<int, dim>.
template <class F>
auto with_dim(int dim, F&& f) {
  if (dim == 1) return f(std::integral_constant<int, 1>{});
  if (dim == 2) return f(std::integral_constant<int, 2>{});
  return f(std::integral_constant<int, 3>{});
}

/// The points of a mask.
template <int N>
IndexSpace<N> space_of(const Shape& shape, Mask mask) {
  std::vector<Point<N>> points;
  for (int i = 0; i < static_cast<int>(shape.points.size()); ++i)
    if (has(mask, i))
      points.push_back(detail::restore_dimension<N>(shape.points[static_cast<std::size_t>(i)]));
  return IndexSpace<N>(points);
}

}  // namespace refrain::test
