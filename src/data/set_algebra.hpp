#pragma once
// Set algebra on index spaces.
//
// Operands have the same number of dimensions. Results are index spaces of that dimension. The plain
// names answer from bounds where those decide, compute dense results directly, and remember the rest
// in the bounded cache of data/set_cache.hpp. The `_uncached` ones compute and remember nothing: for
// bulk work over many pairs that nobody will ask about again (partition operators).
//
// Any thread; cost as in data/box_list.hpp: linear merges that skip by searching.

#include <span>

#include "data/index_space.hpp"

namespace refrain::data {

[[nodiscard]] IndexSpaceRef intersect(const IndexSpaceRef& a, const IndexSpaceRef& b);
[[nodiscard]] IndexSpaceRef unite(const IndexSpaceRef& a, const IndexSpaceRef& b);
/// The points of a that are not in b.
[[nodiscard]] IndexSpaceRef subtract(const IndexSpaceRef& a, const IndexSpaceRef& b);
/// True when a and b share a point.
[[nodiscard]] bool overlaps(const IndexSpaceRef& a, const IndexSpaceRef& b);
/// True when every point of `part` is in `whole`.
[[nodiscard]] bool contains(const IndexSpaceRef& whole, const IndexSpaceRef& part);

[[nodiscard]] IndexSpaceRef intersect_uncached(const IndexSpaceRef& a, const IndexSpaceRef& b);
[[nodiscard]] IndexSpaceRef unite_uncached(const IndexSpaceRef& a, const IndexSpaceRef& b);
[[nodiscard]] IndexSpaceRef subtract_uncached(const IndexSpaceRef& a, const IndexSpaceRef& b);
[[nodiscard]] bool overlaps_uncached(const IndexSpaceRef& a, const IndexSpaceRef& b);
[[nodiscard]] bool contains_uncached(const IndexSpaceRef& whole, const IndexSpaceRef& part);

/// The points of `a` within a box.
[[nodiscard]] IndexSpaceRef clip(const IndexSpaceRef& a, const Box& box);
/// The union of any number of sets in `dim` dimensions; one sweep over all their boxes, not cached.
[[nodiscard]] IndexSpaceRef unite(int dim, std::span<const IndexSpaceRef> sets);
/// The points of `within` at most width[d] away from a point of `a` in every dimension d (a box
/// neighbourhood). Widths are not negative. Exact for sparse sets; not cached.
[[nodiscard]] IndexSpaceRef grow(const IndexSpaceRef& a, const BoxPoint& width,
                                 const IndexSpaceRef& within);
/// The points of `a` whose whole box neighbourhood lies in `a`: `a` without what is within `width` of
/// its boundary. Not cached.
[[nodiscard]] IndexSpaceRef shrink(const IndexSpaceRef& a, const BoxPoint& width);

}  // namespace refrain::data
