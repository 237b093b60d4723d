#include "analysis/equivalence_set.hpp"

namespace refrain::analysis {

void CellIndex::add(EquivalenceSet& set, const data::Box& box) {
  Cell& cell = *new Cell(box, set);
  set.cells.push_back(cell);
  index_.insert(box, cell);
}

void CellIndex::restart(const std::vector<std::unique_ptr<EquivalenceSet>>& sets) {
  std::vector<data::BoxIndex<Cell>::Item> all;
  for (const auto& set : sets)
    for (Cell& cell : set->cells) all.push_back({cell.box, &cell});
  index_.assign(std::move(all));
}

std::vector<Cell*> CellIndex::meeting(const data::IndexSpace& points) const {
  std::vector<Cell*> found;
  for (const data::Box& box : points.boxes())
    index_.find(box, [&](Cell& cell) { found.push_back(&cell); });
  return found;
}

std::vector<Cell*> CellIndex::cut_out(const data::IndexSpace& points) {
  std::vector<Cell*> inside;
  for (const data::Box& box : points.boxes())
    index_.find(box, [&](Cell& cell) {
      if (intersection(cell.box, box) != cell.box) trim(cell, box);
      inside.push_back(&cell);
    });
  return inside;
}

// Cuts off what of the cell is beside the box, slab by slab: each becomes a cell of the same equivalence set.
void CellIndex::trim(Cell& cell, const data::Box& box) {
  index_.erase(cell.box, cell);
  for (int d = 0; d < 3; ++d) {
    if (cell.box.lo[d] < box.lo[d]) {
      data::Box before = cell.box;
      before.hi[d] = box.lo[d] - 1;
      cell.box.lo[d] = box.lo[d];
      add(*cell.set, before);
    }
    if (box.hi[d] < cell.box.hi[d]) {
      data::Box after = cell.box;
      after.lo[d] = box.hi[d] + 1;
      cell.box.hi[d] = box.hi[d];
      add(*cell.set, after);
    }
  }
  index_.insert(cell.box, cell);
}

}  // namespace refrain::analysis
