#include "data/partition_checks.hpp"

#include <algorithm>
#include <vector>

#include "base/hash.hpp"
#include "data/box_tree.hpp"
#include "data/set_algebra.hpp"

namespace refrain::data {

namespace {

bool intervals_disjoint(std::span<const IndexSpaceRef> pieces) {
  std::vector<std::pair<Coord, Coord>> intervals;
  for (const IndexSpaceRef& piece : pieces)
    for (const Box& box : piece->boxes()) intervals.emplace_back(box.lo[0], box.hi[0]);
  if (!std::ranges::is_sorted(intervals)) std::ranges::sort(intervals);
  for (std::size_t i = 1; i < intervals.size(); ++i)
    if (intervals[i].first <= intervals[i - 1].second) return false;
  return true;
}

}  // namespace

bool is_disjoint(std::span<const IndexSpaceRef> pieces) {
  if (pieces.size() < 2) return true;
  if (pieces[0]->dim() == 1) return intervals_disjoint(pieces);
  const BoxTree tree = BoxTree::of_pieces(pieces);
  return std::ranges::all_of(tree.items(), [&](const BoxTree::Item& item) {
    // Boxes of one piece are disjoint, so any other owner, or a twin, is a witness.
    return tree.query(item.box,
                      [&](const BoxTree::Item& other) { return other.owner == item.owner; });
  });
}

bool is_complete(std::span<const IndexSpaceRef> pieces, const IndexSpaceRef& parent) {
  if (std::ranges::find(pieces, parent) != pieces.end()) return true;
  std::size_t missing = parent->volume();
  for (const IndexSpaceRef& piece : pieces) missing -= std::min(missing, piece->volume());
  if (missing > 0) return false;
  return contains_uncached(unite(parent->dim(), pieces), parent);
}

std::uint64_t partition_id(const IndexSpaceRef& parent, const IndexSpaceRef& colours,
                           std::span<const IndexSpaceRef> pieces) {
  std::vector<std::uint64_t> ids{parent->id(), colours->id()};
  ids.reserve(pieces.size() + 2);
  for (const IndexSpaceRef& piece : pieces) ids.push_back(piece->id());
  return hash_bytes(ids.data(), ids.size() * sizeof(std::uint64_t));
}

}  // namespace refrain::data
