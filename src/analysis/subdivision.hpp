#pragma once
// The points of a region, divided into *parts*: each part is the points that no use of a field has told apart. A part is
// an equivalence set of every field that has been divided in this way (analysis/equivalence_set.hpp).
//
// Shared by fields. Fields of a region are mostly used by the same pieces, first in the same order. So they share a
// subdivision: one of them cuts it, which costs a look-up per box, and the others follow the cut, which costs a step per
// part. A field sees a subdivision up to some cut (SubdivisionView). A field that is cut otherwise goes on with a *fork*:
// a subdivision of its own from there on, which others may share again.
//
// Cells. A part is a list of *cells*: disjoint boxes. All cells are in one index: in one dimension by their place on the
// line, else in an R-tree. A search looks for cells, not for the bounds of parts, since the bounds of scattered parts all
// meet one another. Cutting out a set costs a look-up for each of its boxes, whatever the sizes of the parts that it
// meets, and leaves at most six more cells per cell that is cut. So first uses of sets with m boxes in all cost
// O(m log m), and a constant for each cell that they meet. Disjoint sets are cut out together. In one dimension a box that
// follows the last one costs O(1), so this goes box by box along the line. In more, and where there is one cell so far,
// sets take their boxes from the cells, and the *rest* of these is found when somebody asks; in a plane by a sweep
// (data/plane.hpp).
//
// Owner: the thread of the context.

#include <algorithm>
#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/stable_vector.hpp"
#include "data/box_index.hpp"
#include "data/index_space.hpp"

namespace refrain::analysis {

/// The number of a part, in order of creation.
using Part = std::uint32_t;

struct OfPart;
struct OnLine;
template <class Tag>
using CellHook =
    boost::intrusive::list_base_hook<boost::intrusive::tag<Tag>,
                                     boost::intrusive::link_mode<boost::intrusive::normal_link>>;

/// A box of points of one part.
struct Cell : CellHook<OfPart>, CellHook<OnLine> {
  data::Box box;
  Part part = 0;
  std::uint32_t found = 0;  ///< its place among those that a cut has found
};
template <class Tag, bool counted>
using CellList = boost::intrusive::list<Cell, boost::intrusive::base_hook<CellHook<Tag>>,
                                        boost::intrusive::constant_time_size<counted>>;

/// In one dimension: disjoint cells in their order on the line. A search begins where the last one ended, if that is near,
/// else at the nearest of some *anchors*, found by bisection. Anchors are every fourth cell, chosen anew when searches
/// have gone so many steps: so a step costs O(1), and one among cells that have come since then their number at most.
class CellLine {
 public:
  /// Behind the last one.
  void push_back(Cell& cell) {
    line_.push_back(cell);
    ++cells_;
  }
  /// Calls f(Cell&) for each cell that meets the box; f may make it smaller.
  template <class F>
  void find(const data::Box& box, F&& f) {
    for (auto next = first_meeting(box); next != line_.end() && next->box.lo[0] <= box.hi[0];) {
      last_ = &*next++;
      f(*last_);
    }
  }
  /// `cell` has become smaller; `rest` are the cells for its other points, in order.
  void add_beside(Cell& cell, std::span<Cell* const> rest);

 private:
  using Line = CellList<OnLine, false>;
  static constexpr std::size_t kBetweenAnchors = 4;

  Line::iterator first_meeting(const data::Box& box);
  [[nodiscard]] Line::iterator anchor_before(Coord x);
  void choose_anchors();

  Line line_;
  std::vector<Cell*> anchors_;
  std::size_t cells_ = 0, steps_ = 0;  ///< how many; since anchors were chosen
  Cell* last_ = nullptr;               ///< found last
};

/// Disjoint cells, found by the boxes that meet them.
class CellIndex {
 public:
  explicit CellIndex(int dim) : on_line_(dim == 1) {}
  /// All of them at once, the first time, in order in one dimension: quicker than one by one.
  void assign(std::span<Cell* const> cells);
  template <class F>
  void find(const data::Box& box, F&& f) {
    if (on_line_) line_.find(box, f);
    else boxes_.find(box, f);
  }
  /// `cell` is going to be smaller, and then it is: `rest` are the cells for its other points.
  void before_cut(Cell& cell) {
    if (!on_line_) boxes_.erase(cell.box, cell);  // there it is found by its box
  }
  void after_cut(Cell& cell, std::span<Cell* const> rest);

 private:
  bool on_line_;
  CellLine line_;
  data::BoxIndex<Cell> boxes_;
};

class Subdivision {
 public:
  using Parts = std::vector<Part>;
  /// Of several sets, in their order. Shared by the fields that follow a cut.
  using Covered = std::shared_ptr<const std::vector<Parts>>;
  /// Sets of points, one or several that are disjoint.
  using Sets = std::span<const data::IndexSpaceRef>;
  /// Sets were cut out of the parts that there were.
  struct Cut {
    std::vector<data::IndexSpaceRef> sets;
    Part first;  ///< of the parts that it made
    /// What each set is then, in the order of the parts that it was cut from.
    Covered covered;

    [[nodiscard]] bool is_of(Sets others) const { return std::ranges::equal(sets, others); }
  };

  /// One part, or none.
  explicit Subdivision(data::IndexSpaceRef space);
  struct Given {
    Part cut_from;  ///< an earlier one, or itself
    data::BoxList boxes;
  };
  /// Parts of the space that consist of these disjoint boxes.
  Subdivision(data::IndexSpaceRef space, const std::vector<Given>& parts);
  Subdivision(const Subdivision&) = delete;

 private:
  friend class SubdivisionView;

  static constexpr Part kNone = ~Part{0};
  struct alignas(64) PartState {
    CellList<OfPart, true> cells;
    Part cut_from = kNone;  ///< what it was a part of; itself: it was there from the beginning
    Part last_cut_off = kNone,
         cut_off_before = kNone;  ///< what was cut off it last; its elder sibling
    bool has_rest = false;        ///< more points than its cells: those of a Rest
    data::IndexSpaceRef points;   ///< once asked for
  };
  CellIndex& index() {
    if (!is_indexed_) [[unlikely]]
      index_cells();
    return index_;
  }
  void index_cells();
  /// What was cut out of a cell of a part: the first box by making it smaller, others as new cells. All of them keep their
  /// boxes until the rest is found: no cell is searched, and nothing is cut, before.
  struct Rest {
    Part part;
    data::Box whole;
    const Cell* cell;
    std::uint32_t begin, end;  ///< the new cells
  };
  void find_rests();
  template <class F>
  void carve(Cell& cell, const F& for_each_box);
  PartState& add_part(Part whole);
  Cell& add_cell(Part part, const data::Box& box);
  using Cells = std::vector<Cell*>;

  void trim(Cell& cell, const data::Box& box);
  void take(const data::Box& box, Cells& inside);
  void take_in_order(Sets sets, std::span<Cells> inside);
  void take_from(Cell& cell, Sets sets, std::span<Cells> inside);
  void take_together(Sets sets, std::span<Cells> inside);
  Covered cut_out(Sets sets);
  Parts group(Cells& inside);
  Part split(Part whole, std::span<Cell* const> inside);

  [[nodiscard]] int dim() const { return space_->dim(); }

  data::IndexSpaceRef space_;
  // Most regions are never cut: then both have one element.
  StableVector<Cell> cells_;
  StableVector<PartState> parts_;
  std::uint32_t cell_count_ = 0;
  std::span<Cell> free_cells_;  ///< behind the last one
  Part part_count_ = 0;
  std::vector<Rest> rests_;  ///< of parts that have them, until somebody asks for their boxes
  bool is_indexed_ = false;
  CellIndex index_;  ///< of all cells, once somebody searches
  std::vector<Cut> cuts_;
  struct Fork {
    std::uint32_t after;  ///< so many cuts
    std::weak_ptr<Subdivision> subdivision;
  };
  std::vector<Fork> forks_;
};

/// What a field has followed of a subdivision.
class SubdivisionView {
 public:
  using Parts = Subdivision::Parts;

  explicit SubdivisionView(std::shared_ptr<Subdivision> of) : of_(std::move(of)) {}

  [[nodiscard]] const data::IndexSpaceRef& space() const { return of_->space_; }
  /// How many parts there are.
  [[nodiscard]] Part parts() const {
    return cuts_ < of_->cuts_.size() ? of_->cuts_[cuts_].first : of_->part_count_;
  }
  /// What the part was a part of.
  [[nodiscard]] Part cut_from(Part part) const { return of_->parts_[part].cut_from; }
  /// Divides parts such that each of these sets is a union of parts; returns these.
  Subdivision::Covered cut_out(Subdivision::Sets sets);
  /// The parts that share points with the set, ascending.
  [[nodiscard]] Parts meeting(const data::IndexSpaceRef& points) const;
  [[nodiscard]] data::IndexSpaceRef points_of(Part part) const;
  /// Adds the boxes of the part.
  void add_boxes(Part part, data::BoxList& boxes) const;
  [[nodiscard]] bool is_of(const Subdivision& subdivision) const {
    return of_.get() == &subdivision;
  }
  /// How many boxes all parts are, but for rests that nobody has asked for.
  [[nodiscard]] std::size_t cells() const { return of_->cell_count_; }

 private:
  [[nodiscard]] bool is_last() const { return cuts_ == of_->cuts_.size(); }
  /// The part that a part of later cuts belongs to.
  [[nodiscard]] Part part_of(Part later) const;
  [[nodiscard]] bool is_union(const Parts& parts, const data::IndexSpaceRef& points) const;
  [[nodiscard]] std::size_t volume(Part part) const;
  [[nodiscard]] std::shared_ptr<Subdivision> fork(Subdivision::Sets sets) const;

  std::shared_ptr<Subdivision> of_;
  std::uint32_t cuts_ = 0;  ///< followed
};

}  // namespace refrain::analysis
