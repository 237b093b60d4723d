#include "analysis/field_state.hpp"

#include <algorithm>
#include <boost/functional/hash.hpp>
#include <numeric>
#include <utility>

#include "base/assert.hpp"

namespace refrain::analysis {

namespace {

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

FieldState::FieldState(std::shared_ptr<Subdivision> subdivision, const ValueType& type,
                       std::string field_name, const data::RegionTree* tree)
    : type_(type), name_(std::move(field_name)), tree_(tree), subdivision_(std::move(subdivision)) {
  auto zeros = std::make_shared<FillValue>();
  zeros->bytes.assign(type.size, std::byte{0});
  zeros_ = std::move(zeros);
  if (space()->empty()) return;
  EquivalenceSet& whole = add_set();
  whole.fill = zeros_;
  whole.points = space();
}

std::string FieldState::describe() const {
  return "field '" + name_ + "'" + (tree_ != nullptr ? " of " + tree_->name_of(0) : std::string());
}

EquivalenceSet& FieldState::add_set() {
  EquivalenceSet& set = *sets_.emplace_back(std::make_unique<EquivalenceSet>());
  set.number = next_set_++;
  set.part = static_cast<Part>(sets_.size() - 1);
  return set;
}

const data::IndexSpaceRef& FieldState::points_of(EquivalenceSet& set) const {
  if (!set.points) set.points = subdivision_.points_of(set.part);
  return set.points;
}

// The next part was cut from this set's: a new set of the same state.
void FieldState::split(EquivalenceSet& set) {
  EquivalenceSet& part = add_set();
  part.cut_from = set.number;
  part.uses = set.uses;
  part.fill = set.fill;
  part.footprints = set.footprints;
  for (Footprint* footprint : part.footprints) {
    footprint->sets.push_back(&part);
    if (footprint->sets.size() >= SetRuns::least_many) footprint->many = true;
  }
  entries_ += part.footprints.size();
  set.points = {};
}

std::vector<EquivalenceSet*> FieldState::sets_meeting(const data::IndexSpaceRef& points) {
  runs_.end();
  const SubdivisionView::Parts parts =
      points == space() ? all_parts() : subdivision_.meeting(points);
  std::vector<EquivalenceSet*> sets(parts.size());
  std::ranges::transform(parts, sets.begin(), [this](Part part) { return sets_[part].get(); });
  return sets;
}

SubdivisionView::Parts FieldState::all_parts() const {
  SubdivisionView::Parts parts(sets_.size());
  std::iota(parts.begin(), parts.end(), Part{0});
  return parts;
}

// Splits the equivalence sets that a set covers in part; returns those that it covers then.
SubdivisionView::Parts FieldState::cut_out(const data::IndexSpaceRef& points) {
  return points == space() ? all_parts() : cut_out(Subdivision::Sets(&points, 1))->front();
}

Subdivision::Covered FieldState::cut_out(Subdivision::Sets sets) {
  runs_.end();
  Subdivision::Covered covered = subdivision_.cut_out(sets);
  const std::size_t parts = subdivision_.parts();
  if (parts > sets_.capacity()) sets_.reserve(std::max(parts, 2 * sets_.capacity()));
  while (sets_.size() < parts)
    split(*sets_[subdivision_.cut_from(static_cast<Part>(sets_.size()))]);
  return covered;
}

// The equivalence sets that its points are now.
void FieldState::name_sets(Footprint& footprint, const SubdivisionView::Parts& parts) {
  runs_.end();
  footprint.sets.clear();
  footprint.sets.reserve(parts.size());
  for (const Part part : parts) footprint.sets.push_back(sets_[part].get());
  footprint.many = footprint.sets.size() >= SetRuns::least_many;
  for (EquivalenceSet* set : footprint.sets) set->footprints.push_back(&footprint);
  entries_ += footprint.sets.size();
  footprint.used = tidied_;
  awake_.push_back(footprint);
}

void FieldState::leave_sets(Footprint& footprint) {
  for (EquivalenceSet* set : footprint.sets)
    set->footprints.erase(std::ranges::find(set->footprints, &footprint));
  entries_ -= footprint.sets.size();
  footprint.sets = {};
  footprint.many = false;
  footprint.unlink();
}

void FieldState::wake(Footprint& footprint) {
  footprint.used = tidied_;
  if (!footprint.dormant()) [[likely]]
    return;
  wanted_again_ += 2;
  name_sets(footprint, cut_out(footprint.points));
}

Footprint& FieldState::footprint(const data::IndexSpaceRef& points, bool passing) {
  const auto [slot, is_new] = footprints_.try_emplace(points.get(), points);
  Footprint& footprint = slot->second;
  if (is_new) {
    footprint.passing = passing;
    if (passing) ++passing_;
    name_sets(footprint, cut_out(points));
    return footprint;
  }
  if (!passing && std::exchange(footprint.passing, false)) --passing_;
  wake(footprint);
  return footprint;
}

void FieldState::add_footprints(std::span<const data::IndexSpaceRef> disjoint) {
  boost::container::small_vector<Footprint*, 16> made;
  if (disjoint.size() > footprints_.size())
    footprints_.reserve(footprints_.size() + disjoint.size());
  for (const data::IndexSpaceRef& points : disjoint) {
    if (points == space() || points->empty()) continue;
    const auto [slot, is_new] = footprints_.try_emplace(points.get(), points);
    if (is_new) made.push_back(&slot->second);
  }
  if (made.empty()) return;
  std::vector<data::IndexSpaceRef> some;  // where others were there already
  if (made.size() < disjoint.size()) {
    for (const Footprint* footprint : made) some.push_back(footprint->points);
    disjoint = some;
  }
  const Subdivision::Covered covered = cut_out(disjoint);
  for (std::size_t i = 0; i < made.size(); ++i) name_sets(*made[i], (*covered)[i]);
}

// A set may be in many footprints that go, so each set is looked through once.
void FieldState::forget_footprints(const std::function<bool(const Footprint&)>& unwanted) {
  runs_.end();
  bool any = false;
  for (auto& [points, footprint] : footprints_) any |= footprint.goes = unwanted(footprint);
  if (!any) return;
  for (const auto& set : sets_) {
    const auto gone = std::ranges::remove_if(set->footprints, &Footprint::goes);
    entries_ -= gone.size();
    set->footprints.erase(gone.begin(), gone.end());
  }
  std::erase_if(footprints_, [this](const auto& entry) {
    if (entry.second.goes && entry.second.passing) --passing_;
    return entry.second.goes;
  });
  coalesce();
}

void FieldState::tidy() {
  runs_.end();
  // Where half of those that were thought idle have been wanted again, more are in use than are kept awake.
  const bool in_turns = wanted_again_ > 0;
  wanted_again_ = 0;
  for (auto next = awake_.begin(); next != awake_.end() && !in_turns;) {
    Footprint& footprint = *next++;
    if (footprint.used == tidied_) continue;
    leave_sets(footprint);
    --wanted_again_;
  }
  ++tidied_;
  if (wanted_again_ != 0) coalesce();
  most_entries_ = std::max(least_entries, 2 * entries_);
}

void FieldState::forget_complete_readers() {
  runs_.end();
  for (const auto& set : sets_)
    for (Use& use : set->uses) analysis::forget_complete_readers(use);
}

// Puts equivalence sets together that are in the same footprints and in the same state: the first of them takes over
// the points of the others. Equivalence sets keep their order.
void FieldState::coalesce() {
  std::unordered_map<EquivalenceSet*, Part, StateHash, SameState> kept;
  std::vector<Part> joins;  // of each part, what it is a part of from now on
  for (const auto& set : sets_) {
    std::ranges::sort(set->footprints);
    joins.push_back(kept.try_emplace(set.get(), static_cast<Part>(kept.size())).first->second);
  }
  if (kept.size() == sets_.size()) return;
  constexpr Part kGone = ~Part{0};
  std::vector<Subdivision::Given> parts(kept.size(), {kGone, {}});
  std::vector<std::size_t> joined(kept.size());
  for (Part part = 0; part < joins.size(); ++part) {
    Subdivision::Given& whole = parts[joins[part]];
    // What it was cut from, for the order of runs (set_runs.hpp): earlier parts have their places.
    if (whole.cut_from == kGone) whole.cut_from = joins[subdivision_.cut_from(part)];
    subdivision_.add_boxes(part, whole.boxes);
    ++joined[joins[part]];
  }
  Part next = 0;
  for (Part part = 0; part < joins.size(); ++part) {
    EquivalenceSet& set = *sets_[part];
    set.part = joins[part] == next ? next++ : kGone;  // the first of those that come together
    if (set.part == kGone || joined[set.part] == 1) continue;
    data::BoxList& boxes = parts[set.part].boxes;
    set.points = data::IndexSpace::from_boxes(space()->dim(), std::move(boxes));
    boxes.assign(set.points->boxes().begin(), set.points->boxes().end());
  }
  ++next_set_;
  const auto is_gone = [](const auto& set) { return set->part == kGone; };
  for (Footprint& footprint : awake_) {
    const auto gone = std::ranges::remove_if(footprint.sets, is_gone);
    entries_ -= gone.size();
    footprint.sets.erase(gone.begin(), gone.end());
  }
  std::erase_if(sets_, is_gone);
  // Other fields go on with the parts that there were.
  subdivision_ = SubdivisionView(std::make_shared<Subdivision>(space(), parts));
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
  runs_.end();
  for (const auto& set : sets_) {
    set->uses.clear();
    set->fill = zeros_;
  }
}

void FieldState::check_invariants() const {
  const auto union_of = [this](const auto& sets) {
    std::vector<data::IndexSpaceRef> parts(sets.size());
    std::ranges::transform(sets, parts.begin(), [&](const auto& set) { return points_of(*set); });
    return data::unite(space()->dim(), parts);
  };
  std::size_t volume = 0, entries = 0;
  for (const auto& set : sets_) {
    REFRAIN_ASSERT(!points_of(*set)->empty(), "an equivalence set has points");
    volume += points_of(*set)->volume();
  }
  REFRAIN_ASSERT(volume == space()->volume() && union_of(sets_) == space(),
                 "equivalence sets are disjoint and cover the field's points");
  for (const auto& [key, footprint] : footprints_) {
    entries += footprint.sets.size();
    REFRAIN_ASSERT(
        footprint.dormant() ? footprint.sets.empty() : union_of(footprint.sets) == footprint.points,
        "a footprint is the union of its equivalence sets, or dormant");
  }
  REFRAIN_ASSERT(entries == entries_, "the sets that footprints name are counted");
}

}  // namespace refrain::analysis
