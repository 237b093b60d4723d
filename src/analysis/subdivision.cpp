#include "analysis/subdivision.hpp"

#include <algorithm>
#include <utility>

#include "data/line.hpp"
#include "data/plane.hpp"
#include "data/radix.hpp"

namespace refrain::analysis {

namespace {

/// What disjoint boxes leave of a box that has them all.
data::BoxList rest_of(int dim, const data::Box& whole, data::BoxList taken) {
  data::BoxList rest;
  const auto add = [&rest](const data::Box& free) { rest.push_back(free); };
  if (dim == 1) {
    data::sort_by_coordinate(taken, [](const data::Box& box) { return box.lo[0]; });
    data::Box gap = whole;
    for (const data::Box& box : taken) {
      gap.hi[0] = box.lo[0] - 1;
      if (!gap.empty()) add(gap);
      gap.lo[0] = box.hi[0] + 1;
    }
    gap.hi[0] = whole.hi[0];
    if (!gap.empty()) add(gap);
  } else if (dim == 2) {
    data::Sweep sweep(whole);
    for (const std::uint32_t each : data::order_in_plane(taken)) sweep.pass(taken[each], add);
    sweep.end(whole, add);
  } else {
    rest = data::subtract_lists(dim, {&whole, 1}, data::canonical_list(dim, std::move(taken)));
  }
  return rest;
}

}  // namespace

// --- cells ---------------------------------------------------------------------------------------------------

void CellLine::choose_anchors() {
  anchors_.clear();
  steps_ = 0;
  std::size_t position = 0;
  for (Cell& cell : line_)
    if (position++ % kBetweenAnchors == 0) anchors_.push_back(&cell);
}

// The last anchor that begins by x, or the first cell. Cells become smaller, but keep their order.
CellLine::Line::iterator CellLine::anchor_before(Coord x) {
  const auto after =
      std::ranges::upper_bound(anchors_, x, {}, [](const Cell* cell) { return cell->box.lo[0]; });
  return after == anchors_.begin() ? line_.begin() : line_.iterator_to(**std::prev(after));
}

CellLine::Line::iterator CellLine::first_meeting(const data::Box& box) {
  const Coord x = box.lo[0];
  const auto begins_by = [&](Line::iterator cell) {
    return cell != line_.end() && cell->box.lo[0] <= x;
  };
  Line::iterator at = last_ != nullptr ? line_.iterator_to(*last_) : line_.begin();
  std::size_t near = begins_by(at) ? kBetweenAnchors : 0;
  for (auto next = at; near > 0 && begins_by(++next); --near) at = next;
  if (near == 0) {
    if (steps_ > cells_) choose_anchors();
    at = anchor_before(x);
    if (!begins_by(at)) return at;
    for (auto next = at; begins_by(++next); ++steps_) at = next;
  }
  return at->box.hi[0] < x ? std::next(at) : at;
}

void CellLine::add_beside(Cell& cell, std::span<Cell* const> rest) {
  // A smaller cell is where the larger one was.
  const auto at = line_.iterator_to(cell);
  const auto after = std::next(at);
  for (Cell* each : rest) line_.insert(each->box.lo[0] < cell.box.lo[0] ? at : after, *each);
  cells_ += rest.size();
}

void CellIndex::assign(std::span<Cell* const> cells) {
  if (on_line_) {
    line_ = {};
    for (Cell* cell : cells) line_.push_back(*cell);
    return;
  }
  std::vector<data::BoxIndex<Cell>::Item> all;
  all.reserve(cells.size());
  for (Cell* cell : cells) all.push_back({cell->box, cell});
  boxes_.assign(std::move(all));
}

void CellIndex::after_cut(Cell& cell, std::span<Cell* const> rest) {
  if (on_line_) return line_.add_beside(cell, rest);
  boxes_.insert(cell.box, cell);
  for (Cell* each : rest) boxes_.insert(each->box, *each);
}

// --- cutting -------------------------------------------------------------------------------------------------

Subdivision::Subdivision(data::IndexSpaceRef space)
    : space_(std::move(space)), index_(space_->dim()) {
  if (!space_->empty()) {
    add_part(0).points = space_;
    for (const data::Box& box : space_->boxes()) add_cell(0, box);
  }
}

Subdivision::Subdivision(data::IndexSpaceRef space, const std::vector<Given>& parts)
    : space_(std::move(space)), index_(space_->dim()) {
  for (Part part = 0; part < parts.size(); ++part) {
    const Part whole = parts[part].cut_from;
    PartState& made = add_part(whole);
    if (whole != part) made.cut_off_before = std::exchange(parts_[whole].last_cut_off, part);
    for (const data::Box& box : parts[part].boxes) add_cell(part, box);
  }
}

void Subdivision::index_cells() {
  find_rests();
  std::vector<Cell*> cells(cell_count_);
  for (std::uint32_t cell = 0; cell < cell_count_; ++cell) cells[cell] = &cells_[cell];
  if (dim() == 1) data::sort_by_coordinate(cells, [](const Cell* cell) { return cell->box.lo[0]; });
  index_.assign(cells);
  is_indexed_ = true;  // last: memory may run out before
}

Subdivision::PartState& Subdivision::add_part(Part whole) {
  parts_.ensure(part_count_ + 1);
  PartState& part = parts_[part_count_++];
  part.cut_from = whole;
  return part;
}

Cell& Subdivision::add_cell(Part part, const data::Box& box) {
  if (free_cells_.empty()) [[unlikely]]
    free_cells_ = cells_.ensure_from(cell_count_);
  Cell& cell = free_cells_.front();
  free_cells_ = free_cells_.subspan(1);
  ++cell_count_;
  cell.box = box;
  cell.part = part;
  parts_[part].cells.push_back(cell);
  return cell;
}

// What of the cell is beside the box becomes cells of the same part, slab by slab.
void Subdivision::trim(Cell& cell, const data::Box& box) {
  Cell* rest[6];
  std::size_t count = 0;
  index_.before_cut(cell);
  const int dims = dim();
  for (int d = 0; d < dims; ++d) {
    if (cell.box.lo[d] < box.lo[d]) {
      Cell& before = add_cell(cell.part, cell.box);
      before.box.hi[d] = box.lo[d] - 1;
      rest[count++] = &before;
      cell.box.lo[d] = box.lo[d];
    }
    if (cell.box.hi[d] > box.hi[d]) {
      Cell& after = add_cell(cell.part, cell.box);
      after.box.lo[d] = box.hi[d] + 1;
      rest[count++] = &after;
      cell.box.hi[d] = box.hi[d];
    }
  }
  index_.after_cut(cell, {rest, count});
}

// A new part takes over some of the cells.
Part Subdivision::split(Part whole, std::span<Cell* const> inside) {
  const Part part = part_count_;
  PartState& made = add_part(whole);
  PartState& from = parts_[whole];
  made.cut_off_before = std::exchange(from.last_cut_off, part);
  for (Cell* cell : inside) {
    made.cells.splice(made.cells.end(), from.cells, from.cells.iterator_to(*cell));
    cell->part = part;
  }
  from.points = {};
  return part;
}

// The cells that are the box's points.
void Subdivision::take(const data::Box& box, Cells& inside) {
  const int dims = dim();
  index().find(box, [&](Cell& cell) {
    bool sticks_out = false;
    for (int d = 0; d < dims; ++d)
      sticks_out |= cell.box.lo[d] < box.lo[d] || cell.box.hi[d] > box.hi[d];
    if (sticks_out) trim(cell, box);
    inside.push_back(&cell);
  });
}

// The boxes of all sets in their order on the line.
void Subdivision::take_in_order(Sets sets, std::span<Cells> inside) {
  for (std::size_t set = 0; set < sets.size(); ++set)
    inside[set].reserve(sets[set]->boxes().size());
  for (const auto& [lo, hi, set] : data::intervals_in_order(sets))
    take({{lo, 0, 0}, {hi, 0, 0}}, inside[set]);
}

// Takes disjoint boxes out of a cell: for_each_box(take) calls take(box), which returns the box as a cell. Where memory runs
// out in the middle, what was not taken yet belongs to the rest.
template <class F>
void Subdivision::carve(Cell& cell, const F& for_each_box) {
  PartState& part = parts_[cell.part];
  const bool had_rest = std::exchange(part.has_rest, true);
  rests_.push_back({cell.part, cell.box, &cell, cell_count_, cell_count_});
  std::size_t left = cell.box.volume();
  bool is_first = true;
  for_each_box([&](const data::Box& box) {
    Cell& taken = is_first ? cell : add_cell(cell.part, box);
    is_first = false;
    taken.box = box;
    rests_.back().end = cell_count_;
    left -= box.volume();
    return &taken;
  });
  if (left > 0) return;
  rests_.pop_back();
  part.has_rest = had_rest;
}

void Subdivision::find_rests() {
  for (; !rests_.empty(); rests_.pop_back()) {
    const Rest& rest = rests_.back();
    data::BoxList taken{rest.cell->box};
    for (std::uint32_t each = rest.begin; each < rest.end; ++each)
      taken.push_back(cells_[each].box);
    const data::BoxList left = rest_of(dim(), rest.whole, std::move(taken));
    cells_.ensure(cell_count_ + left.size());  // here memory may run out
    for (const data::Box& box : left) add_cell(rest.part, box);
    parts_[rest.part].has_rest = false;
  }
}

// All of them from a cell that has all their points.
void Subdivision::take_from(Cell& cell, Sets sets, std::span<Cells> inside) {
  is_indexed_ = false;
  carve(cell, [&](const auto& take) {
    for (std::size_t set = 0; set < sets.size(); ++set) {
      inside[set].reserve(sets[set]->boxes().size());
      for (const data::Box& box : sets[set]->boxes()) inside[set].push_back(take(box));
    }
  });
}

// All that meets a cell at once, and all cells into a new index when one is searched: an R-tree takes ten times as long to
// change for each box.
void Subdivision::take_together(Sets sets, std::span<Cells> inside) {
  struct Hit {
    data::Box box;
    std::size_t set;
  };
  struct Carved {
    Cell* cell;
    std::vector<Hit> hits;
  };
  std::vector<Carved> cuts;  // in the order in which cells are found
  for (std::size_t set = 0; set < sets.size(); ++set)
    for (const data::Box& box : sets[set]->boxes())
      index().find(box, [&](Cell& cell) {
        if (cell.found >= cuts.size() || cuts[cell.found].cell != &cell) {
          cell.found = static_cast<std::uint32_t>(cuts.size());
          cuts.push_back({&cell, {}});
        }
        cuts[cell.found].hits.push_back({intersection(cell.box, box), set});
      });
  is_indexed_ = false;
  for (const Carved& cut : cuts)
    carve(*cut.cell, [&](const auto& take) {
      for (const Hit& hit : cut.hits) inside[hit.set].push_back(take(hit.box));
    });
}

Subdivision::Covered Subdivision::cut_out(Sets sets) {
  std::vector<Cells> inside(sets.size());
  find_rests();
  std::size_t boxes = 0;
  for (const auto& set : sets) boxes += set->boxes().size();
  if (sets.size() > 1 && cell_count_ == 1) {
    take_from(cells_[0], sets, inside);
  } else if (sets.size() > 1 && dim() == 1) {
    take_in_order(sets, inside);
  } else if (sets.size() > 1 && 4 * boxes > cell_count_) {
    take_together(sets, inside);
  } else {
    for (std::size_t set = 0; set < sets.size(); ++set)
      for (const data::Box& box : sets[set]->boxes()) take(box, inside[set]);
  }
  std::vector<Parts> covered(sets.size());
  std::ranges::transform(inside, covered.begin(), [this](Cells& cells) { return group(cells); });
  return std::make_shared<const std::vector<Parts>>(std::move(covered));
}

// The cells as parts of their own.
Subdivision::Parts Subdivision::group(Cells& inside) {
  // By parts: nothing may depend on the order of a search.
  const auto part_of = [](const Cell* cell) { return cell->part; };
  if (!std::ranges::is_sorted(inside, {}, part_of)) std::ranges::stable_sort(inside, {}, part_of);
  Parts covered;
  for (std::size_t first = 0, last = 0; first < inside.size(); first = last) {
    const Part part = inside[first]->part;
    while (last < inside.size() && inside[last]->part == part) ++last;
    const bool whole = last - first == parts_[part].cells.size() && !parts_[part].has_rest;
    covered.push_back(whole ? part : split(part, std::span(inside).subspan(first, last - first)));
  }
  return covered;
}

// --- views ---------------------------------------------------------------------------------------------------

Part SubdivisionView::part_of(Part later) const {
  const Part end = parts();
  while (later >= end) later = of_->parts_[later].cut_from;
  return later;
}

SubdivisionView::Parts SubdivisionView::meeting(const data::IndexSpaceRef& points) const {
  Parts parts;
  for (const data::Box& box : points->boxes())
    of_->index().find(box, [&](Cell& cell) {
      if (parts.empty() || parts.back() != cell.part) parts.push_back(cell.part);
    });
  if (!is_last())
    for (Part& part : parts) part = part_of(part);
  std::ranges::sort(parts);
  const auto [end, last] = std::ranges::unique(parts);
  parts.erase(end, last);
  return parts;
}

void SubdivisionView::add_boxes(Part part, data::BoxList& boxes) const {
  of_->find_rests();
  Parts all{part};  // and what later cuts took of these
  for (const Part end = parts(); !all.empty();) {
    const Subdivision::PartState& state = of_->parts_[all.back()];
    all.pop_back();
    for (const Cell& cell : state.cells) boxes.push_back(cell.box);
    for (Part cut = state.last_cut_off; cut != Subdivision::kNone && cut >= end;
         cut = of_->parts_[cut].cut_off_before)
      all.push_back(cut);
  }
}

data::IndexSpaceRef SubdivisionView::points_of(Part part) const {
  data::IndexSpaceRef& known = of_->parts_[part].points;
  const Part last_cut = of_->parts_[part].last_cut_off;
  const bool as_now = last_cut == Subdivision::kNone || last_cut < parts();
  if (as_now && known) return known;
  data::BoxList boxes;
  add_boxes(part, boxes);
  data::IndexSpaceRef points = data::IndexSpace::from_boxes(of_->dim(), std::move(boxes));
  if (as_now) known = points;
  return points;
}

std::size_t SubdivisionView::volume(Part part) const {
  data::BoxList boxes;
  add_boxes(part, boxes);
  std::size_t volume = 0;
  for (const data::Box& box : boxes) volume += box.volume();
  return volume;
}

/// Whether the points are these parts, which they meet.
bool SubdivisionView::is_union(const Parts& parts, const data::IndexSpaceRef& points) const {
  std::size_t sum = 0;
  for (const Part part : parts) sum += volume(part);
  return sum == points->volume();
}

/// The fork from here that begins by cutting these sets out; a new one, which does not yet.
std::shared_ptr<Subdivision> SubdivisionView::fork(Subdivision::Sets sets) const {
  for (const Subdivision::Fork& fork : of_->forks_)
    if (const auto there = fork.after == cuts_ ? fork.subdivision.lock() : nullptr;
        there && there->cuts_.size() > cuts_ && there->cuts_[cuts_].is_of(sets))
      return there;
  std::vector<Subdivision::Given> given(parts());
  for (Part part = 0; part < given.size(); ++part) {
    given[part].cut_from = cut_from(part);
    add_boxes(part, given[part].boxes);
  }
  auto made = std::make_shared<Subdivision>(of_->space_, given);
  made->cuts_.assign(of_->cuts_.begin(), of_->cuts_.begin() + cuts_);
  std::erase_if(of_->forks_, [](const auto& fork) { return fork.subdivision.expired(); });
  of_->forks_.push_back({cuts_, made});
  return made;
}

Subdivision::Covered SubdivisionView::cut_out(Subdivision::Sets sets) {
  if (!is_last() && !of_->cuts_[cuts_].is_of(sets)) {
    std::vector<Parts> met(sets.size());
    std::ranges::transform(sets, met.begin(), [this](const auto& set) { return meeting(set); });
    if (std::ranges::equal(met, sets, [this](const Parts& parts, const auto& set) {
          return is_union(parts, set);
        }))
      return std::make_shared<const std::vector<Parts>>(std::move(met));
    of_ = fork(sets);
  }
  if (!is_last()) return of_->cuts_[cuts_++].covered;
  const Part before = of_->part_count_;
  Subdivision::Covered covered = of_->cut_out(sets);
  if (of_->part_count_ == before) return covered;
  of_->cuts_.push_back({{sets.begin(), sets.end()}, before, covered});
  ++cuts_;
  return covered;
}

}  // namespace refrain::analysis
