// Partitions by field values: colours, and pointers from one region into another.

#include <algorithm>

#include "data/box_tree.hpp"
#include "data/partition_checks.hpp"
#include "data/partition_ops.hpp"
#include "data/point_collector.hpp"
#include "data/set_algebra.hpp"

namespace refrain::data {

namespace {

/// Calls f for parts of `box` with at most reader_chunk points that are, one after the other, its
/// row-major order.
template <class F>
void for_each_chunk(const Box& box, int d, F& f) {
  const auto chunk = static_cast<Coord>(reader_chunk);
  Coord section = 1;  // points per coordinate of dimension d, as far as it fits a chunk
  for (int k = d + 1; k < 3 && section <= chunk; ++k)
    section *= std::min(box.hi[k] - box.lo[k] + 1, chunk + 1);
  const Coord rows = chunk / section;
  const Coord step = std::max<Coord>(1, rows);
  Box part = box;
  for (Coord x = box.lo[d]; x <= box.hi[d]; x += step) {
    part.lo[d] = x;
    part.hi[d] = std::min(box.hi[d], x + step - 1);
    if (rows > 0) f(std::as_const(part));
    else for_each_chunk(part, d + 1, f);
  }
}

/// Reads the field on the whole space and calls f(point, value) in the order of the domain.
template <class Value, class Reader, class F>
void for_each_value(const IndexSpaceRef& space, const Reader& read, F&& f) {
  std::vector<Value> values(std::min(space->volume(), reader_chunk));
  const auto chunk = [&](const Box& part) {
    read(part, std::span(values).first(part.volume()));
    const Value* value = values.data();
    BoxPoint p;
    for (p[0] = part.lo[0]; p[0] <= part.hi[0]; ++p[0])
      for (p[1] = part.lo[1]; p[1] <= part.hi[1]; ++p[1])
        for (p[2] = part.lo[2]; p[2] <= part.hi[2]; ++p[2]) f(std::as_const(p), *value++);
  };
  space->for_each_ordered_box([&](const Box& box) { for_each_chunk(box, 0, chunk); });
}

/// One collector per piece, over the bounds of the space the pieces are made of.
class PieceCollectors {
 public:
  PieceCollectors(std::size_t count, const IndexSpaceRef& space)
      : dim_(space->dim()), collectors_(count, PointCollector(space->dim(), space->bounds())) {}
  void add(std::size_t piece, const BoxPoint& p) { collectors_[piece].add(p); }
  Pieces take() {
    Pieces pieces;
    pieces.reserve(collectors_.size());
    for (PointCollector& collector : collectors_)
      pieces.push_back(IndexSpace::from_canonical(dim_, collector.take()));
    return pieces;
  }

 private:
  int dim_;
  std::vector<PointCollector> collectors_;
};

/// The collected boxes as an index space within the target.
IndexSpaceRef within_target(BoxList list, const IndexSpaceRef& target) {
  if (!target->dense()) list = intersect_lists(target->dim(), list, target->boxes());
  return IndexSpace::from_canonical(target->dim(), std::move(list));
}

IndexSpaceRef image_of_rects(const IndexSpaceRef& source, const RectReader& read,
                             const IndexSpaceRef& target) {
  constexpr std::size_t first_compaction = std::size_t{1} << 16;
  BoxList boxes;
  std::size_t compact_at = first_compaction;
  for_each_value<Box>(source, read, [&](const BoxPoint&, const Box& pointed) {
    const Box box = intersection(pointed, target->bounds());
    if (box.empty()) return;
    boxes.push_back(box);
    if (boxes.size() < compact_at) return;
    // Many fields point to the same few boxes: unite now and then, when the list has doubled.
    boxes = canonical_list(target->dim(), std::move(boxes));
    compact_at = std::max(first_compaction, 2 * boxes.size());
  });
  return within_target(canonical_list(target->dim(), std::move(boxes)), target);
}

}  // namespace

Pieces by_colour(const IndexSpaceRef& space, const PointReader& read,
                 const IndexSpaceRef& colours) {
  PieceCollectors pieces(colours->volume(), space);
  for_each_value<BoxPoint>(space, read, [&](const BoxPoint& p, const BoxPoint& colour) {
    if (const auto piece = colours->rank(colour)) pieces.add(*piece, p);
  });
  return pieces.take();
}

Pieces image(std::span<const IndexSpaceRef> sources, const PointReader& read,
             const IndexSpaceRef& target) {
  Pieces pieces;
  pieces.reserve(sources.size());
  PointCollector collector(target->dim(), target->bounds());
  for (const IndexSpaceRef& source : sources) {
    for_each_value<BoxPoint>(source, read, [&](const BoxPoint&, const BoxPoint& pointed) {
      if (target->bounds().contains(pointed)) collector.add(pointed);
    });
    pieces.push_back(within_target(collector.take(), target));
  }
  return pieces;
}

Pieces image_rects(std::span<const IndexSpaceRef> sources, const RectReader& read,
                   const IndexSpaceRef& target) {
  Pieces pieces;
  pieces.reserve(sources.size());
  for (const IndexSpaceRef& source : sources)
    pieces.push_back(image_of_rects(source, read, target));
  return pieces;
}

Pieces preimage(std::span<const IndexSpaceRef> targets, const PointReader& read,
                const IndexSpaceRef& source) {
  const BoxTree tree = BoxTree::of_pieces(targets);
  const bool disjoint = is_disjoint(targets);
  PieceCollectors pieces(targets.size(), source);
  const BoxTree::Item* last =
      nullptr;  // pointers often stay near; one hit is all where none overlap
  for_each_value<BoxPoint>(source, read, [&](const BoxPoint& p, const BoxPoint& pointed) {
    if (disjoint && last && last->box.contains(pointed)) return pieces.add(last->owner, p);
    tree.query({pointed, pointed}, [&](const BoxTree::Item& item) {
      pieces.add(item.owner, p);
      last = &item;
      return !disjoint;
    });
  });
  return pieces.take();
}

Pieces preimage_rects(std::span<const IndexSpaceRef> targets, const RectReader& read,
                      const IndexSpaceRef& source) {
  const BoxTree tree = BoxTree::of_pieces(targets);
  PieceCollectors pieces(targets.size(), source);
  for_each_value<Box>(source, read, [&](const BoxPoint& p, const Box& pointed) {
    if (pointed.empty()) return;
    tree.query(pointed, [&](const BoxTree::Item& item) {
      pieces.add(item.owner, p);  // several boxes of a piece may be met; adding twice is harmless
      return true;
    });
  });
  return pieces.take();
}

}  // namespace refrain::data
