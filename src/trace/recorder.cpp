#include "trace/recorder.hpp"

#include <algorithm>
#include <utility>

#include "analysis/analysis.hpp"
#include "base/assert.hpp"
#include "trace/outcome.hpp"

namespace refrain::trace {

using analysis::StateChange;

namespace {

/// The equivalence set of this number, null if there is none. A field has its equivalence sets in order of number.
analysis::EquivalenceSet* find_set(const analysis::FieldState& field, std::uint32_t number) {
  const auto& sets = field.sets();
  const auto at =
      std::ranges::lower_bound(sets, number, {}, [](const auto& set) { return set->number; });
  return at != sets.end() && (*at)->number == number ? at->get() : nullptr;
}

}  // namespace

Recorder::Recorder(std::uint64_t first, std::uint64_t first_serial)
    : first_(first), number_(analysis::RecorderNote::next_recorder()), own_(first_serial) {
  made_.operations.reserve(kFew);
  made_.edges.reserve(kFew);
  made_.effects.reserve(2 * kFew);
  made_.places.reserve(kFew);
  sets_then_.reserve(kFew);
}

Recorder::~Recorder() {
  for (const Recording::Tree& used : trees_) used.tree->unpin(used.uid);
}

void Recorder::step(std::uint32_t arguments) {
  argument_rows_.emplace_back(std::exchange(row_, arguments_.size()), arguments);
  made_.steps.push_back(
      {static_cast<Index>(made_.operations.size()), static_cast<Index>(made_.effects.size())});
}

std::uint32_t Recorder::add(analysis::FieldState& field) {
  const auto index = static_cast<std::uint32_t>(made_.fields.size());
  field.recorded = {number_, index};
  made_.fields.push_back({&field, 0, 0});
  sets_.push_back({field.next_set(), field.next_set()});
  return index;
}

void Recorder::uses(data::RegionTree& tree, std::uint64_t uid) {
  const Recording::Tree used{&tree, uid};
  if (std::ranges::find(trees_, used) != trees_.end()) return;
  trees_.push_back(used);
  tree.pin();
}

void Recorder::untraceable(const char* what) {
  if (fault_ == nullptr) fault_ = what;
}

// --- effects ---------------------------------------------------------------------------------------

/// The field, of which an effect is about to be noted.
std::uint32_t Recorder::changing(analysis::FieldState& field) {
  const std::uint32_t index = index_of(field);
  if (sets_[index].now != field.next_set()) [[unlikely]] {
    sets_[index].now = field.next_set();
    cuts_.push_back({made_.effects.size(), index, field.next_set()});
  }
  return index;
}

void Recorder::change(StateChange change, std::span<analysis::EquivalenceSet* const> sets,
                      analysis::Instance& instance, const exec::Node& operation) {
  const std::uint32_t field = changing(*instance.field);
  const Index by = index_of(operation.seq);
  analysis::Instance* name = PerReplayInstances::name_of(instance);
  const std::size_t first = made_.effects.size();
  made_.effects.insert(made_.effects.end(), sets.size(), {change, by, 0, name});
  Effect* effect = made_.effects.data() + first;
  for (analysis::EquivalenceSet* set : sets) (effect++)->place = place_of(field, *set);
}

void Recorder::empty_use(analysis::Instance& instance, const exec::Node& operation) {
  index_of(*instance.field);
  made_.effects.push_back(
      {StateChange::empty_use, index_of(operation.seq), 0, PerReplayInstances::name_of(instance)});
}

void Recorder::pend(analysis::FieldState& field, analysis::EquivalenceSet& set,
                    const std::shared_ptr<const analysis::FillValue>& value) {
  fills_[value] = this_step();
  const Index place = place_of(changing(field), set);
  made_.effects.push_back({StateChange::pend, this_step(), place, nullptr});
}

void Recorder::made(analysis::Instance& instance, bool shortage) {
  index_of(*instance.field);
  if (!own_.made(instance, this_step(), shortage)) untraceable("memory was short");
}

void Recorder::ends(analysis::FieldState& field) {
  const std::uint32_t index = changing(field);
  for (const auto& set : field.sets()) {
    const Index place = place_of(index, *set);
    made_.effects.push_back({StateChange::end, this_step(), place, nullptr});
  }
  if (!own_.ends(field, this_step())) untraceable("memory was short");
  for (const auto& instance : field.instances().all())
    made_.effects.push_back(
        {StateChange::gone, this_step(), 0, PerReplayInstances::name_of(*instance)});
}

void Recorder::gives_up(analysis::Instance& instance) {
  own_.gives_up(instance);
  untraceable("storage was given up");
}

void Recorder::fills(analysis::FieldState& field, analysis::EquivalenceSet& set,
                     const exec::Node&) {
  const auto filled = fills_.find(set.fill);
  source_ = filled != fills_.end() ? FillSource{false, filled->second}
                                   : FillSource{true, place_of(index_of(field), set)};
}

/// How an equivalence set was before the trace, if it was part of an equivalence set that the trace had touched by
/// then.
Index Recorder::inherited(std::uint32_t field, const analysis::EquivalenceSet& set) const {
  const analysis::FieldState& state = *made_.fields[field].field;
  // What was cut before the trace has touched the field has its own state.
  for (const analysis::EquivalenceSet* part = &set; part->number >= sets_[field].first;) {
    const analysis::EquivalenceSet* whole = find_set(state, part->cut_from);
    if (whole == nullptr) return kNone;  // put together with another before the trace
    if (whole->recorded.recorder == number_ && sets_then_[whole->recorded.index] <= part->number)
      return whole->recorded.index;
    part = whole;
  }
  return kNone;
}

/// Notes how the equivalence set is now that the trace touches it for the first time.
Index Recorder::touch(std::uint32_t field, analysis::EquivalenceSet& set) {
  analysis::FieldState& state = *made_.fields[field].field;
  const Index whole = inherited(field, set);
  Place& place = made_.places.emplace_back();
  place.field = &state;
  place.set = &set;
  if (whole != kNone) {
    place.valid = made_.places[whole].valid;
    place.pending = made_.places[whole].pending;
  } else {
    for (const analysis::Use& use : set.uses)
      if (use.valid) place.valid.push_back(use.instance);
    if (place.valid.size() > 1) std::ranges::sort(place.valid, {}, &analysis::Instance::number);
    place.pending = set.fill != nullptr;
  }
  const auto index = static_cast<Index>(made_.places.size() - 1);
  set.recorded = {number_, index};
  sets_then_.push_back(state.next_set());
  return index;
}

// --- operations ------------------------------------------------------------------------------------

namespace {
const analysis::Instance* name_of(const analysis::Instance* instance) {
  return PerReplayInstances::name_of(const_cast<analysis::Instance&>(*instance));
}
}  // namespace

void Recorder::take_work(Operation& made, const exec::Node& node) {
  auto& known = const_cast<exec::Node&>(node);
  switch (node.kind) {
    case exec::NodeKind::task:
    case exec::NodeKind::other: break;  // the runtime knows
    case exec::NodeKind::copy: {
      auto& copy = made.work.emplace<analysis::CopyPayload>();
      copy = known.payload_as<analysis::CopyPayload>();
      copy.source = name_of(copy.source);
      copy.target = name_of(copy.target);
      break;
    }
    case exec::NodeKind::fill: {
      const auto& fill = known.payload_as<analysis::FillPayload>();
      made.work = Fill{name_of(fill.target), fill.points, fill.value_size, source_};
      break;
    }
    case exec::NodeKind::fold: {
      const auto& fold = known.payload_as<analysis::FoldPayload>();
      auto& made_fold = made.work.emplace<Fold>(Fold{fold, index_of(node.seq - node.reduction)});
      made_fold.payload.target = name_of(fold.target);
      break;
    }
    case exec::NodeKind::access: untraceable("the program accessed data itself"); break;
    case exec::NodeKind::detach: untraceable("memory was detached"); break;
  }
}

Operation& Recorder::at(std::uint64_t seq) {
  const Index index = index_of(seq);
  if (made_.operations.size() <= index) made_.operations.resize(index + 1);
  return made_.operations[index];
}

void Recorder::origin(const exec::Node& node, const analysis::Origin& origin) {
  Operation& made = at(node.seq);
  made.rank = origin.rank;
  made.argument = origin.argument;
}

void Recorder::operation(const exec::Node& node, std::span<const exec::Edge> predecessors) {
  const Index index = index_of(node.seq);
  Operation& made = at(node.seq);
  made.kind = node.kind;
  made.info = node.info;
  made.step = static_cast<Index>(made_.steps.size());
  take_work(made, node);
  for (const exec::Edge& edge : predecessors)
    if (const Index from = index_of(edge.from.seq); from != kOutside)
      made_.edges.push_back({from, index, edge.kind});
}

// --- the end ---------------------------------------------------------------------------------------

/// A call in the middle of which something went wrong is no part of the recording. Whether there was one.
bool Recorder::take_back_unfinished() {
  const Step end = made_.steps.back();
  if (made_.operations.size() == end.operations && made_.effects.size() == end.effects)
    return false;
  made_.operations.resize(end.operations);
  std::erase_if(made_.edges, [&](const RecordedEdge& edge) { return edge.to >= end.operations; });
  made_.effects.resize(end.effects);
  return true;
}

bool Recorder::cut_meanwhile() {
  return std::ranges::any_of(made_.fields, [this](const FieldUsed& used) {
    return used.field->next_set() != sets_[used.field->recorded.index].first;
  });
}

/// Calls visit(equivalence set) for the equivalence sets that are left of what something happened to.
template <class Visit>
void Recorder::for_each_part(analysis::FieldState& field, analysis::EquivalenceSet& set,
                             std::uint32_t sets_then, Visit visit) {
  visit(set);
  if (field.next_set() == sets_then) return;
  std::vector<std::uint32_t> numbers{set.number};
  const auto& sets = field.sets();
  auto at =
      std::ranges::lower_bound(sets, sets_then, {}, [](const auto& part) { return part->number; });
  for (; at != sets.end(); ++at) {
    if (std::ranges::find(numbers, (*at)->cut_from) == numbers.end()) continue;
    numbers.push_back((*at)->number);
    visit(**at);
  }
}

/// Puts the effects of the parts in the place of those of the equivalence sets that were cut, and keeps the places that
/// effects are at.
void Recorder::place_again() {
  const std::vector<Effect> noted = std::exchange(made_.effects, {});
  std::vector<Place> places;  // in the order in which the effects come to them
  std::vector<Index> place_now;
  std::vector<std::uint32_t> sets_then;
  for (const SetCounts& sets : sets_) sets_then.push_back(sets.first);
  auto cut = cuts_.begin();
  const auto add = [&](Effect effect, std::size_t number) {
    for (; cut != cuts_.end() && cut->effect <= number; ++cut) sets_then[cut->field] = cut->sets;
    analysis::FieldState& field = *made_.places[effect.place].field;
    analysis::EquivalenceSet& set = *made_.places[effect.place].set;
    for_each_part(field, set, sets_then[field.recorded.index], [&](analysis::EquivalenceSet& part) {
      // Values are moved equivalence set by equivalence set.
      if (effect.change == StateChange::validate && &part != &set)
        untraceable("pieces were cut that values had been moved to");
      const Index touched = place_of(field.recorded.index, part);
      place_now.resize(made_.places.size(), kNone);
      if (place_now[touched] == kNone) {
        place_now[touched] = static_cast<Index>(places.size());
        places.push_back(made_.places[touched]);
      }
      effect.place = place_now[touched];
      made_.effects.push_back(effect);
    });
  };
  std::size_t at = 0;
  for (Step& step : made_.steps) {
    for (; at < step.effects; ++at) {
      if (noted[at].change == StateChange::empty_use || noted[at].change == StateChange::gone)
        made_.effects.push_back(noted[at]);
      else add(noted[at], at);
    }
    step.effects = static_cast<Index>(made_.effects.size());
  }
  for (Operation& operation : made_.operations)
    if (auto* fill = std::get_if<Fill>(&operation.work); fill != nullptr && fill->source.entry)
      fill->source.index = place_now[fill->source.index];
  made_.places = std::move(places);
}

/// What was noted under one name, or none, gets the one it has in the recording.
void Recorder::rename_instances() {
  own_.choose();
  const auto rename = [this](auto*& instance) {
    instance = own_.final_name(const_cast<analysis::Instance*>(instance));
  };
  for (Effect& effect : made_.effects) rename(effect.instance);
  for (Place& place : made_.places)
    for (analysis::Instance*& instance : place.valid) rename(instance);
  for (Operation& operation : made_.operations) {
    if (auto* copy = std::get_if<analysis::CopyPayload>(&operation.work)) {
      rename(copy->source);
      rename(copy->target);
    } else if (auto* fill = std::get_if<Fill>(&operation.work)) {
      rename(fill->target);
    } else if (auto* fold = std::get_if<Fold>(&operation.work)) {
      rename(fold->payload.target);
    }
  }
  for (analysis::Instance*& instance : arguments_) rename(instance);
  for (FieldUsed& used : made_.fields) used.own = own_.are_of(*used.field);
  made_.own = own_.take();
  for (const PerReplayInstance& own : made_.own)
    if (own.made == kNone) ++made_.fields[own.placeholder->field->recorded.index].found;
}

/// Which arguments of tasks are in instances that each replay has of its own.
void Recorder::place_arguments() {
  if (made_.own.empty()) return;
  for (Index i = 0; i < made_.operations.size(); ++i) {
    const Operation& operation = made_.operations[i];
    if (operation.kind != exec::NodeKind::task) continue;
    const auto [first, count] = argument_rows_[operation.step];
    for (std::uint32_t argument = 0; argument < count; ++argument)
      if (const auto* own =
              made_.per_replay_of(arguments_[first + operation.rank * count + argument]))
        made_.per_replay_arguments.push_back(
            {i, argument, static_cast<Index>(own - made_.own.data())});
  }
}

std::unique_ptr<Recording> Recorder::finish() {
  REFRAIN_ASSERT(fault_ == nullptr, "what cannot be done again is not recorded");
  const bool unfinished = take_back_unfinished();
  if (unfinished || cut_meanwhile()) place_again();
  if (fault_ != nullptr) return nullptr;
  if (!std::ranges::is_sorted(made_.edges, {}, &RecordedEdge::to))
    std::ranges::stable_sort(made_.edges, {}, &RecordedEdge::to);
  for (FieldUsed& used : made_.fields) {
    used.shape_epoch = used.field->shape_epoch();
    used.instance_epoch = used.field->instance_epoch();
  }
  rename_instances();
  place_arguments();
  made_.trees = trees_;
  find_chain_edges(made_);
  return std::make_unique<Recording>(std::move(made_));
}

}  // namespace refrain::trace
