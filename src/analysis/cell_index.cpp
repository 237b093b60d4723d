#include "analysis/cell_index.hpp"

#include <algorithm>
#include <boost/geometry.hpp>
#include <boost/geometry/index/rtree.hpp>
#include <boost/iterator/function_output_iterator.hpp>
#include <utility>

#include "analysis/piece.hpp"

namespace refrain::analysis {

namespace bg = boost::geometry;

namespace {

using Corner = bg::model::point<Coord, 3, bg::cs::cartesian>;
using Bounds = bg::model::box<Corner>;
using Entry = std::pair<Bounds, Cell*>;

// A cell of one point must have a volume, and one in fewer dimensions than three, too: an R-tree puts
// together what adds little volume. Doubled, neighbours still do not touch.
Bounds to_bounds(const data::Box& box) {
  return {Corner(2 * box.lo[0], 2 * box.lo[1], 2 * box.lo[2]),
          Corner(2 * box.hi[0] + 1, 2 * box.hi[1] + 1, 2 * box.hi[2] + 1)};
}

Entry to_entry(Cell& cell) { return {to_bounds(cell.box), &cell}; }

}  // namespace

struct CellIndex::Tree {
  bg::index::rtree<Entry, bg::index::linear<16>> entries;
};

CellIndex::CellIndex() = default;
CellIndex::~CellIndex() = default;

void CellIndex::insert(Cell& cell) {
  if (tree_) {
    tree_->entries.insert(to_entry(cell));
    return;
  }
  list_.push_back(&cell);
  if (list_.size() <= few) return;
  tree_ = std::make_unique<Tree>();
  for (Cell* each : list_) tree_->entries.insert(to_entry(*each));
  list_ = {};
}

void CellIndex::erase(Cell& cell) {
  if (tree_) tree_->entries.remove(to_entry(cell));
  else std::erase(list_, &cell);
}

void CellIndex::find(const data::Box& box, std::vector<Cell*>& found) const {
  if (tree_) {
    tree_->entries.query(bg::index::intersects(to_bounds(box)),
                         boost::make_function_output_iterator(
                             [&](const Entry& entry) { found.push_back(entry.second); }));
    return;
  }
  for (Cell* cell : list_)
    if (!intersection(cell->box, box).empty()) found.push_back(cell);
}

void CellIndex::add(Piece& piece, const data::Box& box) {
  Cell& cell = *new Cell(box, piece);
  piece.cells.push_back(cell);
  insert(cell);
}

void CellIndex::drop(Piece& piece) {
  for (Cell& cell : piece.cells) erase(cell);
  piece.cells.drop();
}

std::vector<Cell*> CellIndex::meeting(const data::IndexSpace& points) const {
  std::vector<Cell*> found;
  for (const data::Box& box : points.boxes()) find(box, found);
  return found;
}

std::vector<Cell*> CellIndex::cut_out(const data::IndexSpace& points) {
  std::vector<Cell*> inside;
  for (const data::Box& box : points.boxes()) {
    const std::size_t first = inside.size();
    find(box, inside);
    for (std::size_t i = first; i < inside.size(); ++i)
      if (intersection(inside[i]->box, box) != inside[i]->box) trim(*inside[i], box);
  }
  return inside;
}

// Cuts off what of the cell is beside the box, slab by slab: each becomes a cell of the same piece.
void CellIndex::trim(Cell& cell, const data::Box& box) {
  erase(cell);
  for (int d = 0; d < 3; ++d) {
    if (cell.box.lo[d] < box.lo[d]) {
      data::Box before = cell.box;
      before.hi[d] = box.lo[d] - 1;
      cell.box.lo[d] = box.lo[d];
      add(*cell.piece, before);
    }
    if (box.hi[d] < cell.box.hi[d]) {
      data::Box after = cell.box;
      after.lo[d] = box.hi[d] + 1;
      cell.box.hi[d] = box.hi[d];
      add(*cell.piece, after);
    }
  }
  insert(cell);
}

}  // namespace refrain::analysis
