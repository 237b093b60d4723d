#include "analysis/piece_index.hpp"

#include <algorithm>
#include <boost/geometry.hpp>
#include <boost/geometry/index/rtree.hpp>
#include <iterator>
#include <unordered_set>
#include <utility>
#include <vector>

namespace refrain::analysis {

namespace bg = boost::geometry;

namespace {
using Corner = bg::model::point<Coord, 3, bg::cs::cartesian>;
using Bounds = bg::model::box<Corner>;
using Entry = std::pair<Bounds, Piece*>;

Bounds to_bounds(const data::Box& box) {
  return {Corner(box.lo[0], box.lo[1], box.lo[2]), Corner(box.hi[0], box.hi[1], box.hi[2])};
}
}  // namespace

struct PieceIndex::Tree {
  bg::index::rtree<Entry, bg::index::quadratic<16>> entries;
};

PieceIndex::PieceIndex() : tree_(std::make_unique<Tree>()) {}
PieceIndex::~PieceIndex() = default;

void PieceIndex::insert(Piece& piece, const data::Box& bounds) {
  tree_->entries.insert({to_bounds(bounds), &piece});
}

void PieceIndex::erase(Piece& piece, const data::Box& bounds) {
  tree_->entries.remove(Entry{to_bounds(bounds), &piece});
}

std::vector<Piece*> PieceIndex::query(const data::IndexSpace& points) const {
  // With more boxes than this, or than there are pieces, one look at the bounds is no worse.
  constexpr std::size_t most_boxes = 4096;
  std::vector<Piece*> found;
  if (points.empty()) return found;
  auto look = [&](const data::Box& box) {
    for (auto it = tree_->entries.qbegin(bg::index::intersects(to_bounds(box)));
         it != tree_->entries.qend(); ++it)
      found.push_back(it->second);
  };
  const data::BoxSpan boxes = points.boxes();
  if (boxes.size() > std::min(most_boxes, tree_->entries.size())) {
    look(points.bounds());
    return found;
  }
  for (const data::Box& box : boxes) look(box);
  if (boxes.size() == 1) return found;
  // Each once, in the order found: the order of pieces must not depend on addresses.
  std::unordered_set<const Piece*> seen;
  std::erase_if(found, [&](const Piece* piece) { return !seen.insert(piece).second; });
  return found;
}

}  // namespace refrain::analysis
