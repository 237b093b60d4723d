#include "data/partition_ops.hpp"

#include <algorithm>
#include <utility>

#include "base/hash.hpp"
#include "data/box_index.hpp"
#include "data/box_list.hpp"
#include "data/index_space.hpp"
#include "refrain/error.hpp"

namespace refrain::data {

namespace {

/// The one shape of an operator: a piece for each of some sets, in their order.
template <class Piece>
Pieces for_each_set(std::span<const IndexSpaceRef> sets, Piece&& piece) {
  Pieces pieces;
  pieces.reserve(sets.size());
  for (const IndexSpaceRef& set : sets) pieces.push_back(piece(set));
  return pieces;
}

/// The same for each colour of a space: what `parent` has within box(colour).
template <class BoxOf>
Pieces clip_by_colour(const IndexSpaceRef& parent, const IndexSpaceRef& colours, BoxOf&& box) {
  Pieces pieces;
  pieces.reserve(colours->volume());
  colours->for_each_point([&](const BoxPoint& c) { pieces.push_back(clip(parent, box(c))); });
  return pieces;
}

void check_positive(int dim, const BoxPoint& value, const char* what) {
  for (int d = 0; d < dim; ++d)
    if (value[d] < 1)
      throw UsageError(std::string("blocks: ") + what +
                       " must be positive in every dimension, not " + to_string(value, dim));
}

/// lo + i * length / count without overflow.
Coord cut(Coord lo, Coord length, Coord i, Coord count) {
  return lo + static_cast<Coord>(static_cast<__int128>(i) * length / count);
}

/// Blocks of a grid: block i of dimension d is [low(d, i), low(d, i + 1)).
template <class Low>
Pieces cut_grid(const IndexSpaceRef& space, const BoxPoint& counts, Low&& low) {
  return clip_by_colour(space, block_colours(space->dim(), counts), [&](const BoxPoint& c) {
    Box block{BoxPoint{}, BoxPoint{}};
    for (int d = 0; d < space->dim(); ++d) {
      block.lo[d] = low(d, c[d]);
      block.hi[d] = low(d, c[d] + 1) - 1;
    }
    return block;
  });
}

using SetOperation = IndexSpaceRef (*)(const IndexSpaceRef&, const IndexSpaceRef&);

Pieces colour_by_colour(std::span<const IndexSpaceRef> a, std::span<const IndexSpaceRef> b,
                        const std::string& what, SetOperation operation) {
  if (a.size() != b.size())
    throw UsageError(what + " of partitions: the first has " + std::to_string(a.size()) +
                     " colours, the second " + std::to_string(b.size()));
  return for_each_set(a, [&](const IndexSpaceRef& of_a) {
    const IndexSpaceRef& of_b = b[static_cast<std::size_t>(&of_a - a.data())];
    if (of_a->dim() != of_b->dim())
      throw UsageError(what + " of partitions: the regions have " + std::to_string(of_a->dim()) +
                       " and " + std::to_string(of_b->dim()) + " dimensions");
    return operation(of_a, of_b);
  });
}

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

/// The pieces of a space that collectors, one for each, have the points of.
using Collectors = std::vector<PointCollector>;
Pieces take_pieces(Collectors& collectors, const IndexSpaceRef& space) {
  Pieces pieces;
  pieces.reserve(collectors.size());
  for (PointCollector& collector : collectors)
    pieces.push_back(IndexSpace::from_canonical(space->dim(), collector.take()));
  return pieces;
}

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

std::vector<NumberedBox> boxes_of(std::span<const IndexSpaceRef> pieces) {
  std::vector<NumberedBox> boxes;
  for (std::size_t piece = 0; piece < pieces.size(); ++piece)
    for (const Box& box : pieces[piece]->boxes())
      boxes.push_back({box, static_cast<std::uint32_t>(piece)});
  return boxes;
}

Box to_box(const BoxPoint& p) { return {p, p}; }
Box to_box(const Box& box) { return box; }

template <class Value, class Reader>
Pieces preimage_by(std::span<const IndexSpaceRef> targets, const Reader& read,
                   const IndexSpaceRef& source) {
  const std::vector<NumberedBox> boxes = boxes_of(targets);
  const auto index = index_of(boxes);
  const bool disjoint = is_disjoint(targets);
  Collectors pieces(targets.size(), PointCollector(source->dim(), source->bounds()));
  const NumberedBox* last = nullptr;  // pointers often stay near, and within one box
  for_each_value<Value>(source, read, [&](const BoxPoint& p, const Value& value) {
    const Box pointed = to_box(value);
    if (pointed.empty()) return;
    if (disjoint && last && last->box.contains(pointed.lo) && last->box.contains(pointed.hi))
      return pieces[last->number].add(p);
    // Several boxes of a piece may be met; adding a point twice is harmless.
    index.find(pointed, [&](const NumberedBox& box) {
      pieces[box.number].add(p);
      last = &box;
    });
  });
  return take_pieces(pieces, source);
}

}  // namespace

IndexSpaceRef block_colours(int dim, const BoxPoint& counts) {
  check_positive(dim, counts, "the number of blocks");
  Box box{BoxPoint{}, BoxPoint{}};
  for (int d = 0; d < dim; ++d) box.hi[d] = counts[d] - 1;
  return IndexSpace::dense(dim, box);
}

BoxPoint block_counts(const IndexSpaceRef& space, const BoxPoint& size) {
  check_positive(space->dim(), size, "the size of a block");
  BoxPoint counts{1, 1, 1};
  for (int d = 0; d < space->dim(); ++d) {
    const Coord length = space->bounds().hi[d] - space->bounds().lo[d] + 1;
    counts[d] = std::max<Coord>(1, length / size[d] + (length % size[d] != 0));
  }
  return counts;
}

Pieces blocks(const IndexSpaceRef& space, const BoxPoint& counts) {
  const Box& bounds = space->bounds();
  return cut_grid(space, counts, [&](int d, Coord i) {
    return cut(bounds.lo[d], bounds.hi[d] - bounds.lo[d] + 1, i, counts[d]);
  });
}

Pieces blocks_of_size(const IndexSpaceRef& space, const BoxPoint& size) {
  const Box& bounds = space->bounds();
  return cut_grid(space, block_counts(space, size), [&](int d, Coord i) {
    const __int128 low = bounds.lo[d] + static_cast<__int128>(i) * size[d];
    return static_cast<Coord>(std::min<__int128>(low, bounds.hi[d] + 1));
  });
}

Pieces halo(std::span<const IndexSpaceRef> pieces, const BoxPoint& width,
            const IndexSpaceRef& region) {
  return for_each_set(pieces,
                      [&](const IndexSpaceRef& piece) { return grow(piece, width, region); });
}

Pieces interior(std::span<const IndexSpaceRef> pieces, const BoxPoint& width,
                const IndexSpaceRef& region) {
  const IndexSpaceRef core = shrink(region, width);
  return for_each_set(pieces, [&](const IndexSpaceRef& piece) { return intersect(piece, core); });
}

Pieces restrict_affine(const IndexSpaceRef& colours, const AffineMap& map, const Box& extent,
                       const IndexSpaceRef& parent) {
  constexpr __int128 beyond = __int128{2} * coordinate_limit;
  const auto clamped = [&](__int128 x) {
    return static_cast<Coord>(std::clamp(x, -beyond, beyond));
  };
  return clip_by_colour(parent, colours, [&](const BoxPoint& c) {
    Box box{BoxPoint{}, BoxPoint{}};
    for (int d = 0; d < parent->dim(); ++d) {
      __int128 base = map.offset[d];
      for (int k = 0; k < colours->dim(); ++k)
        base += static_cast<__int128>(
                    map.matrix[static_cast<std::size_t>(d)][static_cast<std::size_t>(k)]) *
                c[k];
      box.lo[d] = clamped(base + extent.lo[d]);
      box.hi[d] = clamped(base + extent.hi[d]);
    }
    return box;
  });
}

Pieces by_colour(const IndexSpaceRef& space, const PointReader& read,
                 const IndexSpaceRef& colours) {
  Collectors pieces(colours->volume(), PointCollector(space->dim(), space->bounds()));
  for_each_value<BoxPoint>(space, read, [&](const BoxPoint& p, const BoxPoint& colour) {
    if (const auto piece = colours->rank(colour)) pieces[*piece].add(p);
  });
  return take_pieces(pieces, space);
}

Pieces image(std::span<const IndexSpaceRef> sources, const PointReader& read,
             const IndexSpaceRef& target) {
  PointCollector collector(target->dim(), target->bounds());
  return for_each_set(sources, [&](const IndexSpaceRef& source) {
    for_each_value<BoxPoint>(source, read, [&](const BoxPoint&, const BoxPoint& pointed) {
      if (target->bounds().contains(pointed)) collector.add(pointed);
    });
    return within_target(collector.take(), target);
  });
}

Pieces image_rects(std::span<const IndexSpaceRef> sources, const RectReader& read,
                   const IndexSpaceRef& target) {
  return for_each_set(
      sources, [&](const IndexSpaceRef& source) { return image_of_rects(source, read, target); });
}

Pieces preimage(std::span<const IndexSpaceRef> targets, const PointReader& read,
                const IndexSpaceRef& source) {
  return preimage_by<BoxPoint>(targets, read, source);
}

Pieces preimage_rects(std::span<const IndexSpaceRef> targets, const RectReader& read,
                      const IndexSpaceRef& source) {
  return preimage_by<Box>(targets, read, source);
}

Pieces union_of(std::span<const IndexSpaceRef> a, std::span<const IndexSpaceRef> b) {
  return colour_by_colour(a, b, "union", unite);
}

Pieces intersection_of(std::span<const IndexSpaceRef> a, std::span<const IndexSpaceRef> b) {
  return colour_by_colour(a, b, "intersection", intersect);
}

Pieces difference_of(std::span<const IndexSpaceRef> a, std::span<const IndexSpaceRef> b) {
  return colour_by_colour(a, b, "difference", subtract);
}

void check_pieces(std::span<const IndexSpaceRef> pieces, const IndexSpaceRef& colours,
                  const IndexSpaceRef& parent) {
  if (pieces.size() != colours->volume())
    throw UsageError(std::to_string(pieces.size()) + " pieces for " +
                     std::to_string(colours->volume()) + " colours");
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto colour = [&] { return to_string(colours->nth(i), colours->dim()); };
    if (!pieces[i]) throw UsageError("colour " + colour() + " has no piece");
    if (pieces[i]->dim() != parent->dim())
      throw UsageError("the piece of colour " + colour() + " has " +
                       std::to_string(pieces[i]->dim()) + " dimensions, its region " +
                       std::to_string(parent->dim()));
    if (contains(parent, pieces[i])) continue;
    const IndexSpaceRef outside = subtract(pieces[i], parent);
    throw UsageError("the piece of colour " + colour() + " has points outside its region, " +
                     to_string(outside->nth(0), parent->dim()) + " for one; the region is " +
                     to_string(*parent));
  }
}

bool is_disjoint(std::span<const IndexSpaceRef> pieces) {
  if (pieces.size() < 2) return true;
  if (pieces[0]->dim() == 1) {  // a union takes little more than to sort
    unsigned __int128 points = 0;
    for (const IndexSpaceRef& piece : pieces) points += piece->volume();
    return unite(1, pieces)->volume() == points;
  }
  const std::vector<NumberedBox> boxes = boxes_of(pieces);
  const auto index = index_of(boxes);
  return std::ranges::all_of(boxes, [&](const NumberedBox& box) {
    // Boxes of one piece are disjoint, so a box of any other piece, or of a twin, is a witness.
    bool alone = true;
    index.find(box.box, [&](const NumberedBox& other) { alone &= other.number == box.number; });
    return alone;
  });
}

bool is_complete(std::span<const IndexSpaceRef> pieces, const IndexSpaceRef& parent) {
  if (std::ranges::find(pieces, parent) != pieces.end()) return true;
  std::size_t missing = parent->volume();
  for (const IndexSpaceRef& piece : pieces) missing -= std::min(missing, piece->volume());
  if (missing > 0) return false;
  return contains(unite(parent->dim(), pieces), parent);
}

std::uint64_t partition_id(const IndexSpaceRef& parent, const IndexSpaceRef& colours,
                           std::span<const IndexSpaceRef> pieces) {
  std::vector<std::uint64_t> ids{parent->id(), colours->id()};
  ids.reserve(pieces.size() + 2);
  for (const IndexSpaceRef& piece : pieces) ids.push_back(piece->id());
  return hash_bytes(ids.data(), ids.size() * sizeof(std::uint64_t));
}

}  // namespace refrain::data
