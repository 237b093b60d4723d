#pragma once
// The cells of a field: disjoint boxes that cover it, each within one equivalence set. The search is for cells, not
// for the bounds of equivalence sets, since the bounds of scattered equivalence sets all meet one another.
//
// Cutting out a set costs a look-up for each of its boxes, whatever the sizes of the equivalence sets that it meets,
// and leaves at most six more cells per cell that is cut. So first uses of sets with m boxes in all cost O(m log m),
// and a constant for each cell that they meet.
//
// Owner: the field state's.

#include <boost/intrusive/list.hpp>
#include <memory>
#include <vector>

#include "data/box_index.hpp"
#include "data/index_space.hpp"

namespace refrain::analysis {

struct EquivalenceSet;

/// A box of points of one equivalence set.
struct Cell : boost::intrusive::list_base_hook<> {
  Cell(const data::Box& points, EquivalenceSet& owner) : box(points), set(&owner) {}
  data::Box box;
  EquivalenceSet* set;
};

/// The cells of one equivalence set, owned by this list. An index must forget them before it is searched again.
class Cells : public boost::intrusive::list<Cell> {
 public:
  Cells() = default;
  Cells(const Cells&) = delete;
  Cells(Cells&&) = delete;
  ~Cells() { drop(); }
  void drop() {
    clear_and_dispose([](Cell* cell) { delete cell; });
  }
};

class CellIndex {
 public:
  /// A new cell at the end of the equivalence set's.
  void add(EquivalenceSet& set, const data::Box& box);
  /// Replaces all cells by those of these equivalence sets: quicker than one by one.
  void restart(const std::vector<std::unique_ptr<EquivalenceSet>>& sets);
  /// The cells that meet a box of the set, perhaps more than once.
  [[nodiscard]] std::vector<Cell*> meeting(const data::IndexSpace& points) const;
  /// Cuts cells in two, within their equivalence sets, until each is inside the set or outside; those inside.
  std::vector<Cell*> cut_out(const data::IndexSpace& points);

 private:
  void trim(Cell& cell, const data::Box& box);

  data::BoxIndex<Cell> index_;
};

}  // namespace refrain::analysis
