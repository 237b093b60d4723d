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
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/hash.hpp"
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

/// True when the sets share a point. Stops at the first slab that has one.
[[nodiscard]] bool lists_overlap(int dim, BoxSpan a, BoxSpan b);
/// True when every point of `part` belongs to `whole`. Stops at the first slab where one does not.
[[nodiscard]] bool list_covers(int dim, BoxSpan whole, BoxSpan part);

/// The end of the slab that begins at `first`: the boxes that share its interval in dimension d.
/// O(log list), and short slabs are found at once.
[[nodiscard]] std::size_t slab_end(BoxSpan list, std::size_t first, int d);

/// The first slab of the list, from `first` on, whose interval in dimension d does not end before x.
[[nodiscard]] std::size_t skip_slabs(BoxSpan list, std::size_t first, int d, Coord x);

/// Collects points one at a time, in any order and repeated, into a canonical list.
///
/// A bit stands for a point, in words of 64 neighbours in the last dimension, and a hash table has the words that are
/// not zero. Cost: a few nanoseconds where a point lies in the word of the last one, else a look-up. Memory: at most
/// about 70 bytes per point that is alone in its word, a byte per point of long rows. One thread at a time.
class PointCollector {
 public:
  explicit PointCollector(int dim) : dim_(dim) {}

  void add(const BoxPoint& p) {
    BoxPoint at = p;
    at[dim_ - 1] >>= 6;
    if (word_ == nullptr || at != at_) {
      at_ = at;
      word_ = &words_[at];
    }
    *word_ |= std::uint64_t{1} << (p[dim_ - 1] & 63);
  }

  /// The set of all points added; the collector is empty again.
  [[nodiscard]] BoxList take();

 private:
  struct Hash {
    std::size_t operator()(const BoxPoint& at) const { return hash_bytes(&at, sizeof at); }
  };

  int dim_;
  BoxPoint at_;
  std::uint64_t* word_ = nullptr;  ///< the one at at_, of the last point
  std::unordered_map<BoxPoint, std::uint64_t, Hash> words_;
};

}  // namespace refrain::data
