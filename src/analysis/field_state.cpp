#include "analysis/field_state.hpp"

#include <algorithm>
#include <boost/functional/hash.hpp>
#include <utility>

#include "base/assert.hpp"

namespace refrain::analysis {

namespace {

// By the equivalence sets' order of creation: nothing may depend on addresses, or on the order of a search.
void sort_by_set(std::vector<Cell*>& cells) {
  const auto number = [](const Cell* cell) { return cell->set->number; };
  if (!std::ranges::is_sorted(cells, {}, number)) std::ranges::stable_sort(cells, {}, number);
}

struct StateHash {
  std::size_t operator()(const EquivalenceSet* set) const {
    std::size_t hash = boost::hash_range(set->footprints.begin(), set->footprints.end());
    for (const Use& use : set->uses)
      boost::hash_combine(hash, use.writer.seq + use.readers.size() + (use.valid ? 1 : 0));
    return hash;
  }
};
struct SameState {
  bool operator()(const EquivalenceSet* a, const EquivalenceSet* b) const {
    return a->fill == b->fill && a->uses == b->uses && a->footprints == b->footprints;
  }
};

}  // namespace

FieldState::FieldState(data::IndexSpaceRef space, const ValueType& type, std::string field_name,
                       const data::RegionTree* tree)
    : space_(std::move(space)), type_(type), name_(std::move(field_name)), tree_(tree) {
  auto zeros = std::make_shared<FillValue>();
  zeros->bytes.assign(type.size, std::byte{0});
  zeros_ = std::move(zeros);
  if (space_->empty()) return;
  EquivalenceSet& whole = add_set();
  whole.fill = zeros_;
  whole.points = space_;
  for (const data::Box& box : space_->boxes()) add_cell(whole, box);
}

std::string FieldState::describe() const {
  return "field '" + name_ + "'" + (tree_ != nullptr ? " of " + tree_->name_of(0) : std::string());
}

EquivalenceSet& FieldState::add_set() {
  EquivalenceSet& set = *sets_.emplace_back(std::make_unique<EquivalenceSet>());
  set.number = next_set_++;
  return set;
}

std::vector<EquivalenceSet*> FieldState::all_sets() const {
  std::vector<EquivalenceSet*> sets(sets_.size());
  std::ranges::transform(sets_, sets.begin(), [](const auto& set) { return set.get(); });
  return sets;
}

const data::IndexSpaceRef& FieldState::points_of(EquivalenceSet& set) const {
  if (!set.points) {
    data::BoxList boxes;
    for (const Cell& cell : set.cells) boxes.push_back(cell.box);
    set.points = data::IndexSpace::from_boxes(space_->dim(), std::move(boxes));
  }
  return set.points;
}

// A new equivalence set of the same state takes over some of the cells.
EquivalenceSet& FieldState::split(EquivalenceSet& set, std::span<Cell* const> inside) {
  EquivalenceSet& part = add_set();
  part.cut_from = set.number;
  part.uses = set.uses;
  part.fill = set.fill;
  part.footprints = set.footprints;
  for (Footprint* footprint : part.footprints) footprint->sets.push_back(&part);
  entries_ += part.footprints.size();
  for (Cell* cell : inside) {
    part.cells.splice(part.cells.end(), set.cells, cell->self);
    cell->set = &part;
  }
  set.points = {};
  return part;
}

std::vector<EquivalenceSet*> FieldState::sets_meeting(const data::IndexSpaceRef& points) const {
  if (points == space_) return all_sets();
  std::vector<Cell*> cells;
  for (const data::Box& box : points->boxes())
    cells_.find(box, [&](Cell& cell) { cells.push_back(&cell); });
  sort_by_set(cells);
  std::vector<EquivalenceSet*> sets;
  for (const Cell* cell : cells)
    if (sets.empty() || sets.back() != cell->set) sets.push_back(cell->set);
  return sets;
}

// Splits the equivalence sets that the set covers in part; returns those that it covers then.
std::vector<EquivalenceSet*> FieldState::cut_out(const data::IndexSpaceRef& points) {
  if (points == space_) return all_sets();
  std::vector<Cell*> inside;
  for (const data::Box& box : points->boxes())
    cells_.find(box, [&](Cell& cell) {
      if (intersection(cell.box, box) != cell.box) trim(cell, box);
      inside.push_back(&cell);
    });
  sort_by_set(inside);
  std::vector<EquivalenceSet*> covered;
  for (std::size_t first = 0, last = 0; first < inside.size(); first = last) {
    EquivalenceSet& set = *inside[first]->set;
    while (last < inside.size() && inside[last]->set == &set) ++last;
    const bool whole = last - first == set.cells.size();
    covered.push_back(whole ? &set : &split(set, std::span(inside).subspan(first, last - first)));
  }
  return covered;
}

// Cuts off what of the cell is beside the box, slab by slab: each becomes a cell of the same equivalence set.
void FieldState::trim(Cell& cell, const data::Box& box) {
  cells_.erase(cell.box, cell);
  for (int d = 0; d < 3; ++d) {
    data::Box before = cell.box, after = cell.box;
    before.hi[d] = box.lo[d] - 1;
    after.lo[d] = box.hi[d] + 1;
    for (const data::Box& rest : {before, after})
      if (!rest.empty()) add_cell(*cell.set, rest);
    cell.box.lo[d] = std::max(cell.box.lo[d], box.lo[d]);
    cell.box.hi[d] = std::min(cell.box.hi[d], box.hi[d]);
  }
  cells_.insert(cell.box, cell);
}

// The equivalence sets that its points are now.
void FieldState::name_sets(Footprint& footprint) {
  footprint.sets = cut_out(footprint.points);
  for (EquivalenceSet* set : footprint.sets) set->footprints.push_back(&footprint);
  entries_ += footprint.sets.size();
  awake_.push_back(footprint);
}

void FieldState::leave_sets(Footprint& footprint) {
  for (EquivalenceSet* set : footprint.sets) std::erase(set->footprints, &footprint);
  entries_ -= footprint.sets.size();
  footprint.sets = {};
  footprint.unlink();
}

void FieldState::wake(Footprint& footprint) {
  footprint.used = tidied_;
  if (!footprint.dormant()) [[likely]]
    return;
  ++woken_;
  name_sets(footprint);
}

Footprint& FieldState::footprint(const data::IndexSpaceRef& points, bool passing) {
  std::unique_ptr<Footprint>& slot = footprints_[points.get()];
  if (!slot) {
    slot = std::make_unique<Footprint>(points);
    slot->passing = passing;
    if (passing) ++passing_;
    slot->used = tidied_;
    name_sets(*slot);
    return *slot;
  }
  if (!passing && std::exchange(slot->passing, false)) --passing_;
  wake(*slot);
  return *slot;
}

void FieldState::forget_footprints(const std::function<bool(const Footprint&)>& unwanted) {
  const std::size_t before = footprints_.size();
  std::erase_if(footprints_, [&](const auto& entry) {
    Footprint& footprint = *entry.second;
    if (!unwanted(footprint)) return false;
    if (!footprint.dormant()) leave_sets(footprint);
    if (footprint.passing) --passing_;
    return true;
  });
  if (footprints_.size() != before) coalesce();
}

void FieldState::tidy() {
  // Where half of those that were thought idle have been wanted again, more are in use than are kept awake.
  const bool in_turns = 2 * woken_ > sent_to_sleep_;
  sent_to_sleep_ = woken_ = 0;
  for (auto next = awake_.begin(); next != awake_.end() && !in_turns;) {
    Footprint& footprint = *next++;
    if (footprint.used == tidied_) continue;
    leave_sets(footprint);
    ++sent_to_sleep_;
  }
  ++tidied_;
  if (sent_to_sleep_ != 0) coalesce();
  most_entries_ = std::max(least_entries, 2 * entries_);
}

void FieldState::forget_complete_readers() {
  for (const auto& set : sets_)
    for (Use& use : set->uses) analysis::forget_complete_readers(use);
}

// Puts equivalence sets together that are in the same footprints and in the same state: the first of them takes over
// the points of the others. Equivalence sets keep their order.
void FieldState::coalesce() {
  std::unordered_map<EquivalenceSet*, data::BoxList, StateHash, SameState> taken_over;
  taken_over.reserve(sets_.size());
  for (const auto& set : sets_) {
    std::ranges::sort(set->footprints);
    const auto [first, is_new] = taken_over.try_emplace(set.get());
    if (is_new) continue;
    for (const Cell& cell : set->cells) first->second.push_back(cell.box);
    set->cells.clear();
  }
  if (taken_over.size() == sets_.size()) return;
  for (auto& [set, boxes] : taken_over) {
    if (boxes.empty()) continue;
    for (const Cell& cell : set->cells) boxes.push_back(cell.box);
    set->cells.clear();
    set->points = data::IndexSpace::from_boxes(space_->dim(), std::move(boxes));
    for (const data::Box& box : set->points->boxes()) set->add_cell(box);
  }
  ++next_set_;
  const auto is_gone = [](const auto& set) { return set->cells.empty(); };
  for (Footprint& footprint : awake_) entries_ -= std::erase_if(footprint.sets, is_gone);
  std::erase_if(sets_, is_gone);
  // All at once: quicker than one by one.
  std::vector<data::BoxIndex<Cell>::Item> all;
  for (const auto& set : sets_)
    for (Cell& cell : set->cells) all.push_back({cell.box, &cell});
  cells_.assign(std::move(all));
}

// Another instance of the pool's changes no choice but those that wanted one where there was none.
Instance& FieldState::add_instance(std::unique_ptr<Instance> instance) {
  instance->field = this;
  if (second_best_ || instance->storage != Storage::pool) ++instance_epoch_;
  second_best_ = false;
  return instances_.add(std::move(instance));
}

std::unique_ptr<Instance> FieldState::remove_instance(Instance& instance,
                                                      std::vector<exec::NodeRef>& users) {
  const auto note = [&users](const exec::NodeRef& user) {
    if (!exec::is_complete(user)) users.push_back(user);
  };
  for (EquivalenceSet* set : sets_meeting(instance.space)) {
    Use* const use = set->find(&instance);
    if (use == nullptr) continue;
    use->for_each_last_writer(note);
    std::ranges::for_each(use->readers, note);
    set->uses.erase(set->uses.begin() + (use - set->uses.data()));
  }
  std::ranges::for_each(instance.empty_users, note);
  ++instance_epoch_;
  return instances_.remove(instance);
}

void FieldState::reset() {
  REFRAIN_ASSERT(instances_.all().empty(), "a field state is reset after its instances are gone");
  used_ = nullptr;
  for (const auto& set : sets_) {
    set->uses.clear();
    set->fill = zeros_;
  }
}

void FieldState::check_invariants() const {
  const auto union_of = [this](const auto& sets) {
    std::vector<data::IndexSpaceRef> parts(sets.size());
    std::ranges::transform(sets, parts.begin(), [&](const auto& set) { return points_of(*set); });
    return data::unite(space_->dim(), parts);
  };
  std::size_t volume = 0, entries = 0;
  for (const auto& set : sets_) {
    REFRAIN_ASSERT(!set->cells.empty(), "an equivalence set has points");
    volume += points_of(*set)->volume();
  }
  REFRAIN_ASSERT(volume == space_->volume() && union_of(sets_) == space_,
                 "equivalence sets are disjoint and cover the field's points");
  for (const auto& [key, footprint] : footprints_) {
    entries += footprint->sets.size();
    REFRAIN_ASSERT(footprint->dormant() ? footprint->sets.empty()
                                        : union_of(footprint->sets) == footprint->points,
                   "a footprint is the union of its equivalence sets, or dormant");
  }
  REFRAIN_ASSERT(entries == entries_, "the sets that footprints name are counted");
}

}  // namespace refrain::analysis
