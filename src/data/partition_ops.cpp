#include "data/partition_ops.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "data/box_index.hpp"
#include "data/box_list.hpp"
#include "data/line.hpp"
#include "data/plane.hpp"
#include "refrain/error.hpp"

namespace refrain::data {

namespace {

/// The one shape of an operator: a piece for each of some sets, in their order.
template <class Sets, class Piece>
Pieces for_each_set(Sets&& sets, Piece&& piece) {
  Pieces pieces;
  pieces.reserve(sets.size());
  for (auto& set : sets) pieces.push_back(piece(set));
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

/// The pieces of a space that collectors, one for each, have the points of.
using Collectors = std::vector<PointCollector>;
Pieces take_pieces(Collectors& collectors, const IndexSpaceRef& space) {
  return for_each_set(collectors, [&](PointCollector& collector) {
    return IndexSpace::from_canonical(space->dim(), collector.take());
  });
}

}  // namespace

IndexSpaceRef block_colours(int dim, const BoxPoint& counts) {
  Box box{BoxPoint{}, BoxPoint{}};
  for (int d = 0; d < dim; ++d) {
    REFRAIN_ASSERT(counts[d] > 0, "there are blocks in every dimension");
    box.hi[d] = counts[d] - 1;
  }
  return IndexSpace::dense(dim, box);
}

BoxPoint block_counts(const IndexSpaceRef& space, const BoxPoint& size) {
  BoxPoint counts{1, 1, 1};
  for (int d = 0; d < space->dim(); ++d) {
    REFRAIN_ASSERT(size[d] > 0, "a block has points");
    const Coord length = space->bounds().hi[d] - space->bounds().lo[d] + 1;
    counts[d] = std::max<Coord>(1, length / size[d] + (length % size[d] != 0));
  }
  return counts;
}

Pieces blocks(const IndexSpaceRef& space, const BoxPoint& counts) {
  const Box& bounds = space->bounds();
  return cut_grid(space, counts, [&](int d, Coord i) {
    const __int128 length = bounds.hi[d] - bounds.lo[d] + 1;
    return bounds.lo[d] + static_cast<Coord>(i * length / counts[d]);
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
      const auto& row = map.matrix[static_cast<std::size_t>(d)];
      __int128 base = map.offset[d];
      for (std::size_t k = 0; k < 3; ++k) base += __int128{row[k]} * c.x[k];
      box.lo[d] = clamped(base + extent.lo[d]);
      box.hi[d] = clamped(base + extent.hi[d]);
    }
    return box;
  });
}

Pieces by_colour(const IndexSpaceRef& space, const Reader& read, const IndexSpaceRef& colours) {
  Collectors pieces(colours->volume(), PointCollector(space->dim(), space->bounds()));
  space->for_each_point([&](const BoxPoint& p) {
    if (const auto piece = colours->rank(read(p).lo)) pieces[*piece].add(p);
  });
  return take_pieces(pieces, space);
}

Pieces image(std::span<const IndexSpaceRef> sources, const Reader& read,
             const IndexSpaceRef& target) {
  constexpr std::size_t first_compaction = std::size_t{1} << 16;
  PointCollector points(target->dim(), target->bounds());
  return for_each_set(sources, [&](const IndexSpaceRef& source) {
    BoxList boxes;
    std::size_t compact_at = first_compaction;
    source->for_each_point([&](const BoxPoint& p) {
      const Box box = intersection(read(p), target->bounds());
      if (box.empty()) return;
      if (box.lo == box.hi) return points.add(box.lo);
      boxes.push_back(box);
      if (boxes.size() < compact_at) return;
      // Many fields point to the same few boxes: unite now and then, when the list has doubled.
      boxes = canonical_list(target->dim(), std::move(boxes));
      compact_at = std::max(first_compaction, 2 * boxes.size());
    });
    BoxList list =
        unite_lists(target->dim(), points.take(), canonical_list(target->dim(), std::move(boxes)));
    if (!target->dense()) list = intersect_lists(target->dim(), list, target->boxes());
    return IndexSpace::from_canonical(target->dim(), std::move(list));
  });
}

Pieces preimage(std::span<const IndexSpaceRef> targets, const Reader& read,
                const IndexSpaceRef& source) {
  const std::vector<NumberedBox> boxes = numbered_boxes(targets);
  const auto index = index_of(boxes);
  const bool disjoint = is_disjoint(targets);
  Collectors pieces(targets.size(), PointCollector(source->dim(), source->bounds()));
  const NumberedBox* last = nullptr;  // pointers often stay near, and within one box
  source->for_each_point([&](const BoxPoint& p) {
    const Box pointed = read(p);
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

Pieces combination(std::span<const IndexSpaceRef> a, std::span<const IndexSpaceRef> b,
                   Combine combine) {
  REFRAIN_ASSERT(a.size() == b.size(), "families that are combined have the same colours");
  Pieces pieces;
  std::ranges::transform(a, b, std::back_inserter(pieces), combine);
  return pieces;
}

void check_pieces(std::span<const IndexSpaceRef> pieces, const IndexSpaceRef& colours,
                  const IndexSpaceRef& parent) {
  if (pieces.size() != colours->volume())
    throw UsageError(std::to_string(pieces.size()) + " pieces for " +
                     std::to_string(colours->volume()) + " colours");
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto colour = [&] { return to_string(colours->nth(i), colours->dim()); };
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
  if (pieces[0]->dim() == 1) {  // intervals of one piece never meet
    const std::vector<Interval> line = intervals_in_order(pieces);
    const auto meet_there = [](const Interval& a, const Interval& b) { return b.lo <= a.hi; };
    return std::ranges::adjacent_find(line, meet_there) == line.end();
  }
  if (pieces[0]->dim() == 2) {
    BoxList boxes;
    for (const IndexSpaceRef& piece : pieces)
      boxes.insert(boxes.end(), piece->boxes().begin(), piece->boxes().end());
    return are_disjoint_in_plane(boxes);
  }
  const std::vector<NumberedBox> boxes = numbered_boxes(pieces);
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
