// Partitions by shape and from other partitions: everything that looks at no field.

#include <algorithm>

#include "data/partition_ops.hpp"
#include "data/set_algebra.hpp"
#include "refrain/error.hpp"

namespace refrain::data {

namespace {

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

/// Calls piece(block) for every block of the grid in row-major order and returns what it made.
template <class Low>
Pieces cut_grid(const IndexSpaceRef& space, const BoxPoint& counts, Low&& low) {
  const int dim = space->dim();
  const IndexSpaceRef colours = block_colours(dim, counts);
  Pieces pieces;
  pieces.reserve(colours->volume());
  colours->for_each_point([&](const BoxPoint& c) {
    Box block{BoxPoint{}, BoxPoint{}};
    for (int d = 0; d < dim; ++d) {
      block.lo[d] = low(d, c[d]);
      block.hi[d] = low(d, c[d] + 1) - 1;
    }
    pieces.push_back(clip(space, block));
  });
  return pieces;
}

template <class Operation>
Pieces colour_by_colour(std::span<const IndexSpaceRef> a, std::span<const IndexSpaceRef> b,
                        const char* what, Operation&& operation) {
  if (a.size() != b.size())
    throw UsageError(std::string(what) + " of partitions: the first has " +
                     std::to_string(a.size()) + " colours, the second " + std::to_string(b.size()));
  Pieces pieces;
  pieces.reserve(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i]->dim() != b[i]->dim())
      throw UsageError(std::string(what) + " of partitions: the regions have " +
                       std::to_string(a[i]->dim()) + " and " + std::to_string(b[i]->dim()) +
                       " dimensions");
    pieces.push_back(operation(a[i], b[i]));
  }
  return pieces;
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
  Pieces grown;
  grown.reserve(pieces.size());
  for (const IndexSpaceRef& piece : pieces) grown.push_back(grow(piece, width, region));
  return grown;
}

Pieces interior(std::span<const IndexSpaceRef> pieces, const BoxPoint& width,
                const IndexSpaceRef& region) {
  const IndexSpaceRef core = shrink(region, width);
  Pieces inner;
  inner.reserve(pieces.size());
  for (const IndexSpaceRef& piece : pieces) inner.push_back(intersect_uncached(piece, core));
  return inner;
}

Pieces restrict_affine(const IndexSpaceRef& colours, const AffineMap& map, const Box& extent,
                       const IndexSpaceRef& parent) {
  const int dim = parent->dim();
  constexpr __int128 beyond = __int128{2} * coordinate_limit;
  const auto clamped = [&](__int128 x) {
    return static_cast<Coord>(std::clamp(x, -beyond, beyond));
  };
  Pieces pieces;
  pieces.reserve(colours->volume());
  colours->for_each_point([&](const BoxPoint& c) {
    Box box{BoxPoint{}, BoxPoint{}};
    for (int d = 0; d < dim; ++d) {
      __int128 base = map.offset[d];
      for (int k = 0; k < colours->dim(); ++k)
        base += static_cast<__int128>(
                    map.matrix[static_cast<std::size_t>(d)][static_cast<std::size_t>(k)]) *
                c[k];
      box.lo[d] = clamped(base + extent.lo[d]);
      box.hi[d] = clamped(base + extent.hi[d]);
    }
    pieces.push_back(clip(parent, box));
  });
  return pieces;
}

Pieces union_of(std::span<const IndexSpaceRef> a, std::span<const IndexSpaceRef> b) {
  return colour_by_colour(a, b, "union", unite_uncached);
}

Pieces intersection_of(std::span<const IndexSpaceRef> a, std::span<const IndexSpaceRef> b) {
  return colour_by_colour(a, b, "intersection", intersect_uncached);
}

Pieces difference_of(std::span<const IndexSpaceRef> a, std::span<const IndexSpaceRef> b) {
  return colour_by_colour(a, b, "difference", subtract_uncached);
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
    if (contains_uncached(parent, pieces[i])) continue;
    const IndexSpaceRef outside = subtract_uncached(pieces[i], parent);
    throw UsageError("the piece of colour " + colour() + " has points outside its region, " +
                     to_string(outside->nth(0), parent->dim()) + " for one; the region is " +
                     to_string(*parent));
  }
}

}  // namespace refrain::data
