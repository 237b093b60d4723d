#pragma once
// What is true of a family of pieces: computed from the pieces, whatever made them.
//
// Any thread; near-linear for the usual families (blocks, halos, pieces of meshes), whose boxes overlap
// few others: a search tree over all boxes (box_tree.hpp), left at the first witness.

#include <cstdint>
#include <span>

#include "data/index_space.hpp"

namespace refrain::data {

/// No point is in two pieces.
[[nodiscard]] bool is_disjoint(std::span<const IndexSpaceRef> pieces);
/// Every point of the parent is in a piece. Pieces lie within the parent.
[[nodiscard]] bool is_complete(std::span<const IndexSpaceRef> pieces, const IndexSpaceRef& parent);
/// A hash of what makes a partition the same as another: parent, colour space and every piece, by
/// content; equal in every run and process. Equal hashes select, they do not prove.
[[nodiscard]] std::uint64_t partition_id(const IndexSpaceRef& parent, const IndexSpaceRef& colours,
                                         std::span<const IndexSpaceRef> pieces);

}  // namespace refrain::data
