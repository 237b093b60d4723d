#pragma once
// An index space: an immutable set of 1-, 2- or 3-D integer points, interned.
//
// A set is kept as its canonical list of boxes (data/box_list.hpp), and there is one object per set and
// dimension alive in the process. So two index spaces are equal exactly when their references are, and
// whatever is known about a set can be remembered under its reference. The table of all sets holds no
// references: a set is freed when the last IndexSpaceRef to it goes.
//
// **The order of the domain** is the lexicographic order of the points over the *whole* set: row-major,
// the last dimension fastest, also when the set is sparse. for_each_point, rank and nth agree on it; group launches,
// folds and colours use it. It is not the order of boxes() one
// after the other unless the set is dense or one-dimensional.
//
// Threads: everything may be called from any thread. Making a set locks one shard of the table; copying
// a reference is an atomic increment. Cost: 0 boxes are stored for a dense set; a sparse one takes 56
// bytes per box. rank, rank_by_boxes, nth and contains are O(log boxes).

#include <algorithm>
#include <atomic>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/made_once.hpp"
#include "data/box_list.hpp"
#include "refrain/accessor.hpp"
#include "refrain/domain.hpp"

namespace refrain::data {

class IndexSpace;

/// A counted reference to an interned index space, or null. Equality is equality of sets (a null
/// equals only a null). Never compare for order: addresses differ from run to run; use id() for that.
using IndexSpaceRef = boost::intrusive_ptr<const IndexSpace>;

class IndexSpace {
 public:
  /// The points of one box (none if it is empty).
  static IndexSpaceRef dense(int dim, const Box& box);
  template <int N>
  static IndexSpaceRef dense(const Rect<N>& rect) {
    return dense(N, refrain::detail::erase_dimension(rect));
  }
  static IndexSpaceRef empty_space(int dim) { return dense(dim, Box{}); }
  /// The union of any boxes: they may overlap, be empty and stand in any order.
  static IndexSpaceRef from_boxes(int dim, BoxList boxes);
  /// The set of the points; repeated ones count once.
  static IndexSpaceRef from_points(int dim, std::span<const BoxPoint> points);
  /// Takes a list that is canonical already, as the functions of box_list.hpp return it.
  static IndexSpaceRef from_canonical(int dim, BoxList list);
  // All of these throw UsageError when a coordinate is beyond +-coordinate_limit or the number of
  // points does not fit 63 bits.

  [[nodiscard]] int dim() const { return dim_; }
  /// The smallest box around all points; the empty Box for the empty set.
  [[nodiscard]] const Box& bounds() const { return bounds_; }
  /// Number of points.
  [[nodiscard]] std::size_t volume() const { return volume_; }
  [[nodiscard]] bool empty() const { return volume_ == 0; }
  /// True when the set is one box, or empty.
  [[nodiscard]] bool dense() const { return boxes_.empty(); }
  /// The canonical list; empty for the empty set.
  [[nodiscard]] BoxSpan boxes() const {
    if (boxes_.empty()) return {&bounds_, volume_ == 0 ? std::size_t{0} : std::size_t{1}};
    return boxes_;
  }
  /// A hash of dimension and points: the same in every run and process.
  [[nodiscard]] std::uint64_t id() const { return id_; }

  [[nodiscard]] bool contains(const BoxPoint& p) const;
  /// The position of p in the order of the domain, or nothing when p is not in the set.
  [[nodiscard]] std::optional<std::size_t> rank(const BoxPoint& p) const;
  /// Its position where boxes() stand one after the other, each in row-major order: as messages have the values of a set.
  [[nodiscard]] std::optional<std::size_t> rank_by_boxes(const BoxPoint& p) const;
  /// Of a sparse set in one dimension: finds positions by boxes quicker than a search, for 24 bytes per box. It lives as long
  /// as the set. O(boxes) the first time.
  [[nodiscard]] const refrain::detail::RunIndex* runs() const;
  /// Calls f(box, its first position by boxes) for each box that meets this one.
  template <class F>
  void for_each_meeting(const Box& box, F&& f) const {
    for_each_meeting(0, 0, boxes().size(), box, f);
  }
  /// Calls f(point, position, count) for rows of points along the last dimension: those at `count` positions by boxes.
  template <class F>
  void for_each_row(std::size_t first, std::size_t count, F&& f) const {
    const std::size_t last = first + count;
    for (std::size_t each = box_at(first); first < last; ++each) {
      const Box& box = boxes()[each];
      const auto row = static_cast<std::size_t>(box.hi[dim_ - 1] - box.lo[dim_ - 1] + 1);
      const std::size_t end = std::min(last, before(each + 1));
      for (std::size_t n = 0; first < end; first += n) {
        const std::size_t in_box = first - before(each);
        n = std::min(row - in_box % row, end - first);
        f(point_in(box, in_box, dim_), first, n);
      }
    }
  }
  /// The point at a position below volume(): the inverse of rank.
  [[nodiscard]] BoxPoint nth(std::size_t position) const;

  /// Calls f(const BoxPoint&) for every point in the order of the domain.
  template <class F>
  void for_each_point(F&& f) const {
    Box box = bounds_;
    for_each_ordered_box(0, boxes(), box, [&f](const Box& b) {
      BoxPoint p;
      for (p[0] = b.lo[0]; p[0] <= b.hi[0]; ++p[0])
        for (p[1] = b.lo[1]; p[1] <= b.hi[1]; ++p[1])
          for (p[2] = b.lo[2]; p[2] <= b.hi[2]; ++p[2]) f(std::as_const(p));
    });
  }

  /// Number of index spaces alive in the process.
  static std::size_t live_count();

  IndexSpace(const IndexSpace&) = delete;

 private:
  IndexSpace(int dim, const Box& bounds, std::size_t volume, std::uint64_t id, BoxList boxes);

  static IndexSpaceRef intern(int dim, BoxSpan list, BoxList* owned);
  /// Whether the set is still owned by somebody; then by the caller, too.
  [[nodiscard]] bool try_share() const noexcept;
  friend void intrusive_ptr_add_ref(const IndexSpace* space) noexcept {
    space->references_.fetch_add(1, std::memory_order_relaxed);
  }
  friend void intrusive_ptr_release(const IndexSpace* space) noexcept {
    if (space->references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      space->last_reference_gone();
  }
  void last_reference_gone() const noexcept;
  template <class F>
  void for_each_meeting(int d, std::size_t first, std::size_t last, const Box& box, F& f) const {
    const BoxSpan list = boxes().first(last);
    while ((first = skip_slabs(list, first, d, box.lo[d])) < last &&
           list[first].lo[d] <= box.hi[d]) {
      const std::size_t end = slab_end(list, first, d);
      if (end - first > 1 && d < 2) for_each_meeting(d + 1, first, end, box, f);
      else if (!intersection(list[first], box).empty()) f(list[first], before(first));
      first = end;
    }
  }
  struct Runs : refrain::detail::RunIndex {
    explicit Runs(const IndexSpace& points);
    std::vector<std::uint32_t> firsts;
    std::vector<Run> all;
  };
  /// The box that has the point at a position by boxes.
  [[nodiscard]] std::size_t box_at(std::size_t position) const;
  static BoxPoint point_in(const Box& box, std::size_t position, int dim);
  /// Points in the boxes before this one.
  [[nodiscard]] std::size_t before(std::size_t box) const {
    return boxes_.empty() ? box * volume_ : before_[box];
  }

  // Disjoint boxes that cover the set: going through each in row-major order, box after box, is the order of the
  // domain. They are as large as that permits. `box` has the coordinates of the dimensions before d.
  template <class F>
  static void for_each_ordered_box(int d, BoxSpan list, Box& box, const F& f) {
    for (std::size_t first = 0; first < list.size();) {
      const std::size_t last = d == 2 ? first + 1 : slab_end(list, first, d);
      if (last - first == 1) {
        for (int k = d; k < 3; ++k) {
          box.lo[k] = list[first].lo[k];
          box.hi[k] = list[first].hi[k];
        }
        f(std::as_const(box));
      } else {
        for (Coord x = list[first].lo[d]; x <= list[first].hi[d]; ++x) {
          box.lo[d] = box.hi[d] = x;
          for_each_ordered_box(d + 1, list.subspan(first, last - first), box, f);
        }
      }
      first = last;
    }
  }

  const int dim_;
  mutable std::atomic<std::uint32_t> references_{1};
  const Box bounds_;
  const std::size_t volume_;
  const std::uint64_t id_;
  const BoxList boxes_;              // empty when the set is dense
  std::vector<std::size_t> before_;  // empty, too, or one more entry than boxes_
  MadeOnce<Runs> runs_;
};

/// "{[0..9], [20..29]}", shortened after a few boxes; for messages.
[[nodiscard]] std::string to_string(const IndexSpace& space);

// Set algebra. Operands and results have the same number of dimensions. Where the bounds of the operands decide, the
// answer costs a few comparisons; otherwise it is a linear merge of box lists that skips by searching. Results are not
// remembered: the launches that are seen again do not ask.

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

namespace refrain::detail {

/// What the public IndexSpace<N> (refrain/domain.hpp) holds.
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
