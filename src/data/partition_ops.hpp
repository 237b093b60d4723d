#pragma once
// The operators that make partitions, as pure functions from index spaces to pieces.
//
// A partition's pieces stand in a vector, one per colour, in the order of the domain of its colour
// space (IndexSpace: the piece of colour c is pieces[colours->rank(c)]). No piece is null; a piece may
// be empty. Whether pieces are disjoint or cover their region is computed from them,
// never claimed by an operator.
//
// Any thread; results depend on the arguments alone. Pieces are found by searching the region, so n pieces cost about
// O(n log boxes + boxes of the results).

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "data/index_space.hpp"

namespace refrain::data {

/// One index space per colour, in the order of the colour space.
using Pieces = std::vector<IndexSpaceRef>;

// ---- by shape ----

/// The colours (0..counts-1 in each dimension) of blocks(space, counts). Counts are positive.
[[nodiscard]] IndexSpaceRef block_colours(int dim, const BoxPoint& counts);
/// As many blocks per dimension as cover the bounds with blocks of `size`; at least one.
[[nodiscard]] BoxPoint block_counts(const IndexSpaceRef& space, const BoxPoint& size);
/// Cuts the bounds of the space into counts[d] nearly equal intervals per dimension: of a length L and
/// n blocks, block i is [i*L/n, (i+1)*L/n) (integer division) from the low end, so sizes differ by at
/// most one. A piece is what the space has within its block; its colour is the block's coordinates.
[[nodiscard]] Pieces blocks(const IndexSpaceRef& space, const BoxPoint& counts);
/// The same with blocks of exactly `size`, from the low end of the bounds; the last may be smaller.
/// The colours are those of block_counts.
[[nodiscard]] Pieces blocks_of_size(const IndexSpaceRef& space, const BoxPoint& size);

/// Each piece with all points of the region at most width[d] away from one of its points in every
/// dimension d. It contains the piece (as far as that lies in the region).
[[nodiscard]] Pieces halo(std::span<const IndexSpaceRef> pieces, const BoxPoint& width,
                          const IndexSpaceRef& region);
/// Each piece without the points that are within `width` of the region's boundary, that is, from which
/// a point outside the region is at most width[d] away in every dimension d. A width of 0 in a
/// dimension looks only along the others.
[[nodiscard]] Pieces interior(std::span<const IndexSpaceRef> pieces, const BoxPoint& width,
                              const IndexSpaceRef& region);

/// colour -> matrix * colour + offset; matrix[row][column] has a row per dimension of the parent and a
/// column per dimension of the colour space.
struct AffineMap {
  std::array<std::array<Coord, 3>, 3> matrix{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  BoxPoint offset{};
};
/// The piece of colour c is (map(c) + extent) within the parent.
[[nodiscard]] Pieces restrict_affine(const IndexSpaceRef& colours, const AffineMap& map,
                                     const Box& extent, const IndexSpaceRef& parent);

// ---- by field values ----

/// What the field holds at a point of the space that is being read: a rectangle, or a point (a colour, or a pointer) as
/// the rectangle that it is alone in. An empty one points nowhere. Trailing coordinates are 0. Points are read in the
/// order of the domain.
using Reader = std::function<Box(const BoxPoint& p)>;

/// The piece of a colour is the points of the space that hold it. Points whose colour is not in the
/// colour space are in no piece.
[[nodiscard]] Pieces by_colour(const IndexSpaceRef& space, const Reader& read,
                               const IndexSpaceRef& colours);
/// Each piece is what the points of a source piece point to, as far as it is in the target.
[[nodiscard]] Pieces image(std::span<const IndexSpaceRef> sources, const Reader& read,
                           const IndexSpaceRef& target);
/// Each piece is the points of the source that point to a point of a target piece; source points that point to
/// several target pieces are in each of theirs.
[[nodiscard]] Pieces preimage(std::span<const IndexSpaceRef> targets, const Reader& read,
                              const IndexSpaceRef& source);

// ---- from other partitions ----

using Combine = IndexSpaceRef (*)(const IndexSpaceRef&, const IndexSpaceRef&);
/// Colour by colour (unite, intersect, subtract); both families have the same colours and dimensions.
[[nodiscard]] Pieces combination(std::span<const IndexSpaceRef> a, std::span<const IndexSpaceRef> b,
                                 Combine combine);

/// Throws UsageError, naming the colour, unless there is one piece per colour, of the parent's
/// dimension, and each lies within the parent: for families that a program gives.
void check_pieces(std::span<const IndexSpaceRef> pieces, const IndexSpaceRef& colours,
                  const IndexSpaceRef& parent);

// ---- what is true of a family of pieces, whatever made them ----
// Near-linear for the usual families (blocks, halos, pieces of meshes), whose boxes overlap few others: a union in one
// dimension, else a search for each box in an index of all (data/box_index.hpp), left at the first witness.

/// No point is in two pieces.
[[nodiscard]] bool is_disjoint(std::span<const IndexSpaceRef> pieces);
/// Every point of the parent is in a piece. Pieces lie within the parent.
[[nodiscard]] bool is_complete(std::span<const IndexSpaceRef> pieces, const IndexSpaceRef& parent);
/// A hash of what makes a partition the same as another: parent, colour space and every piece, by
/// content; equal in every run and process. Equal hashes select, they do not prove.
[[nodiscard]] std::uint64_t partition_id(const IndexSpaceRef& parent, const IndexSpaceRef& colours,
                                         std::span<const IndexSpaceRef> pieces);

}  // namespace refrain::data
