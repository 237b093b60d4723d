#include "analysis/piece_index.hpp"

#include <boost/geometry.hpp>
#include <boost/geometry/index/rtree.hpp>
#include <iterator>
#include <utility>

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

std::vector<Piece*> PieceIndex::query(const data::Box& box) const {
  std::vector<Piece*> found;
  if (box.empty()) return found;
  for (auto it = tree_->entries.qbegin(bg::index::intersects(to_bounds(box)));
       it != tree_->entries.qend(); ++it)
    found.push_back(it->second);
  return found;
}

void PieceIndex::clear() { tree_->entries.clear(); }

}  // namespace refrain::analysis
