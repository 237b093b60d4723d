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

/// True when the sets share a point. Stops at the first slab that has one.
[[nodiscard]] bool lists_overlap(int dim, BoxSpan a, BoxSpan b);
/// True when every point of `part` belongs to `whole`. Stops at the first slab where one does not.
[[nodiscard]] bool list_covers(int dim, BoxSpan whole, BoxSpan part);

/// The end of the slab that begins at `first`: the boxes that share its interval in dimension d.
/// O(log list), and short slabs are found at once.
[[nodiscard]] std::size_t slab_end(BoxSpan list, std::size_t first, int d);

/// The first slab of the list, from `first` on, whose interval in dimension d does not end before x.
[[nodiscard]] std::size_t skip_slabs(BoxSpan list, std::size_t first, int d, Coord x);

/// Collects points one at a time into a canonical list.
///
/// Points are numbered row-major within given bounds; a point that follows the last one lengthens the last run, so data
/// that is walked in order stays small. Out of order runs are sorted and merged when there are very many, or become bits
/// as soon as those are smaller (bounds with few points for the runs there are). Memory: a constant factor of what the
/// distinct points need, plus at most 16 MiB. Bounds with more than 2^63 points cannot be numbered: then a plain list of
/// points is kept. One thread at a time.
class PointCollector {
 public:
  PointCollector(int dim, const Box& bounds);

  /// Adds a point, which must lie in the bounds.
  void add(const BoxPoint& p) {
    if (!numbered_) return unnumbered_.push_back({p, p});
    std::uint64_t number = static_cast<std::uint64_t>(p[0] - bounds_.lo[0]);
    for (int d = 1; d < dim_; ++d)
      number = number * extent_[d] + static_cast<std::uint64_t>(p[d] - bounds_.lo[d]);
    if (!bits_.empty()) set_bit(number);
    else if (number != next_) start_run(number);
    else runs_.back().last = next_++;
  }

  /// The set of all points added; the collector is empty again.
  [[nodiscard]] BoxList take();

 private:
  // Numbers of the first and last point; it may go on over the ends of rows.
  struct Run {
    std::uint64_t first, last;
  };
  static constexpr std::uint64_t nothing = ~std::uint64_t{0};
  static constexpr std::size_t few_runs = std::size_t{1} << 14;
  static constexpr std::size_t worth_sorting = std::size_t{1} << 20;  // 16 MiB of runs

  void set_bit(std::uint64_t number) { bits_[number >> 6] |= std::uint64_t{1} << (number & 63); }
  void start_run(std::uint64_t number);
  void compact();
  void sort_runs();
  void bits_to_runs();

  const int dim_;
  const Box bounds_;
  std::uint64_t extent_[3] = {1, 1, 1};
  std::uint64_t volume_ = 1;
  std::uint64_t next_ = nothing;  // the number that would lengthen the last run
  std::size_t compact_at_;
  bool numbered_ = true;
  std::vector<Run> runs_;
  std::vector<std::uint64_t> bits_;  // not empty once bits have taken over
  BoxList unnumbered_;
};

}  // namespace refrain::data
