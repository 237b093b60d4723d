#pragma once
// Set algebra on index spaces.
//
// Operands and results have the same number of dimensions. Where the bounds of the operands decide, the answer
// costs a few comparisons; otherwise it is a linear merge of box lists that skips by searching
// (data/box_list.hpp). Results are not remembered: the launches that are seen again do not ask.
//
// Any thread.

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

/// The points of `a` within a box.
[[nodiscard]] IndexSpaceRef clip(const IndexSpaceRef& a, const Box& box);
/// The union of any number of sets in `dim` dimensions; one sweep over all their boxes.
[[nodiscard]] IndexSpaceRef unite(int dim, std::span<const IndexSpaceRef> sets);
/// The points of `within` at most width[d] away from a point of `a` in every dimension d (a box
/// neighbourhood). Widths are not negative. Exact for sparse sets.
[[nodiscard]] IndexSpaceRef grow(const IndexSpaceRef& a, const BoxPoint& width,
                                 const IndexSpaceRef& within);
/// The points of `a` whose whole box neighbourhood lies in `a`: `a` without what is within `width` of
/// its boundary.
[[nodiscard]] IndexSpaceRef shrink(const IndexSpaceRef& a, const BoxPoint& width);

}  // namespace refrain::data
