#pragma once
// Boxes, and canonical lists of boxes: the one way in which a set of points is written down.
//
// A Box is a rectangle whose number of dimensions is forgotten: it always has three, and the unused trailing ones are
// [0, 0]. The index space that owns a box keeps the number, so set algebra is written and compiled once.
//
// A set is cut into *slabs* along dimension 0: maximal runs of coordinates whose cross-sections (the
// remaining dimensions) are equal and not empty. Each cross-section is cut in the same way along
// dimension 1, and its cross-sections along dimension 2, so that in the last dimension there are just
// maximal intervals. A box is one path through slabs of every dimension. The boxes stand in
// lexicographic order of `lo`; boxes of one slab are neighbours in the list and agree in [lo, hi].
//
// Guarantees: equal sets have equal lists (the slabs are determined by the set), boxes are disjoint,
// and in every dimension the slabs of one cross-section are sorted in both `lo` and `hi`, so that they
// can be searched. The price: a set that has few boxes in a clever decomposition can have quadratically
// many here (a staircase of tall columns); the sets that programs make are unions of rows and blocks.
//
// Pure functions, callable from any thread. Lists are in `dim` dimensions; the trailing coordinates of
// every box are [0, 0]. Coordinates lie within +-coordinate_limit.

#include <cstddef>
#include <span>
#include <vector>

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

using BoxList = std::vector<Box>;
using BoxSpan = std::span<const Box>;

/// The largest absolute value a coordinate may have; leaves room for arithmetic without overflow.
inline constexpr Coord coordinate_limit = Coord{1} << 60;

/// The canonical list of the union of arbitrary boxes (overlapping, unsorted, empty ones included).
/// A sweep per dimension: O(n log n) plus, per break in a dimension, the number of boxes it cuts.
[[nodiscard]] BoxList canonical_list(int dim, BoxList boxes);

/// Boolean operations on canonical lists; the results are canonical. Merges from slab to slab that
/// skip by searching what cannot matter: linear in one dimension, O(log n + output) against one box.
[[nodiscard]] BoxList intersect_lists(int dim, BoxSpan a, BoxSpan b);
[[nodiscard]] BoxList unite_lists(int dim, BoxSpan a, BoxSpan b);
[[nodiscard]] BoxList subtract_lists(int dim, BoxSpan a, BoxSpan b);

/// True when the sets share a point. Stops at the first one found; allocates nothing.
[[nodiscard]] bool lists_overlap(int dim, BoxSpan a, BoxSpan b);
/// True when every point of `part` belongs to `whole`. Stops at the first that does not.
[[nodiscard]] bool list_covers(int dim, BoxSpan whole, BoxSpan part);

/// The end of the slab that begins at `first`: the boxes that share its interval in dimension d.
/// Searched with growing steps, so short slabs are found at once.
[[nodiscard]] std::size_t slab_end(BoxSpan list, std::size_t first, int d);

/// The first slab of the list, from `first` on, whose interval in dimension d does not end before x.
[[nodiscard]] std::size_t skip_slabs(BoxSpan list, std::size_t first, int d, Coord x);

}  // namespace refrain::data
