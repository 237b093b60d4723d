#pragma once
// What the public IndexSpace<N> (refrain/domain.hpp) holds: a reference to an interned index space.

#include "data/index_space.hpp"
#include "refrain/domain.hpp"

namespace refrain::detail {

struct SharedIndexSpace {
  data::IndexSpaceRef space;
};

/// The points of an index space, for accessors and programs. Valid as long as the space is.
template <int N>
Domain<N> domain_of(const data::IndexSpaceRef& space) {
  const Rect<N> bounds = detail::restore_dimension<N>(space->bounds());
  if (space->dense()) return Domain<N>(bounds);
  return Domain<N>(bounds, space->boxes().data(), space->boxes().size());
}

}  // namespace refrain::detail
