#include "trace/recorder.hpp"

#include <algorithm>
#include <atomic>

#include "analysis/analysis.hpp"
#include "base/assert.hpp"
#include "trace/outcome.hpp"

namespace refrain::trace {

using analysis::StateChange;

namespace {

/// The equivalence set of this number, null if there is none. A field has its equivalence sets in order of number.
analysis::EquivalenceSet* find_set(analysis::FieldState& field, std::uint32_t number) {
  const auto found = std::ranges::equal_range(field.sets(), number, {},
                                              [](const auto& set) { return set->number; });
  return found.empty() ? nullptr : found.front().get();
}

}  // namespace

Recorder::Recorder(std::uint64_t first, std::uint64_t first_serial)
    : first_(first), own_(first_serial) {
  static std::atomic<std::uint64_t> last{0};
  number_ = last.fetch_add(1, std::memory_order_relaxed) + 1;
  made_.operations.reserve(kFew);
  made_.edges.reserve(kFew);
  made_.effects.reserve(2 * kFew);
  made_.places.reserve(kFew);
  made_.steps.reserve(kFew);
  arguments_.reserve(kFew);
  argument_rows_.reserve(kFew);
}

Recorder::~Recorder() {
  for (const data::UsedTree& used : trees_) used.unpin();
}

void Recorder::step(std::uint32_t arguments) {
  for (analysis::FieldState* field : std::exchange(on_shards_, {})) note_used(*field);
  argument_rows_.emplace_back(arguments_.size(), arguments);
  made_.steps.push_back(
      {static_cast<Index>(made_.operations.size()), static_cast<Index>(made_.effects.size())});
}

std::uint32_t Recorder::add(analysis::FieldState& field) {
  const auto index = static_cast<std::uint32_t>(made_.fields.size());
  field.runs().end();
  field.recorded = {number_, index};
  made_.fields.push_back({&field, field.next_set()});
  return index;
}

void Recorder::uses(const data::UsedTree& used) {
  if (std::ranges::find(trees_, used) != trees_.end()) return;
  trees_.push_back(used);
  used.pin();
}

void Recorder::untraceable(const char* what) {
  if (fault_ == nullptr) fault_ = what;
}

// --- effects ---------------------------------------------------------------------------------------

/// Called before an effect is noted on the field, and at the end. What was cut off an equivalence set that the trace had
/// touched before was found as that one was, and has had its effects.
void Recorder::look_for_cuts(analysis::FieldState& field) {
  std::uint32_t& next = made_.fields[index_of(field)].next_set;
  for (; next != field.next_set(); ++next) {
    analysis::EquivalenceSet* const part = find_set(field, next);
    const auto* whole = part != nullptr ? find_set(field, part->cut_from) : nullptr;
    if (whole == nullptr || whole->recorded.recorder != number_) continue;
    made_.places.push_back(made_.places[whole->recorded.index]);
    made_.places.back().set = part;
    part->recorded = {number_, static_cast<Index>(made_.places.size() - 1)};
    last_cuts_.resize(made_.places.size(), kNone);
    Index& last = last_cuts_[whole->recorded.index];
    cuts_.push_back({made_.effects.size(), part->recorded.index, last});
    last = static_cast<Index>(cuts_.size() - 1);
  }
}

/// Notes how the equivalence set is now that the trace touches it for the first time.
Index Recorder::touch(analysis::FieldState& field, analysis::EquivalenceSet& set) {
  for (analysis::Instance*& instance : made_.places.emplace_back(field, set).valid)
    instance = own_.name_of(*instance);
  set.recorded = {number_, static_cast<Index>(made_.places.size() - 1)};
  return set.recorded.index;
}

void Recorder::change(StateChange change, std::span<analysis::EquivalenceSet* const> sets,
                      analysis::Instance& instance, const exec::Node& operation) {
  look_for_cuts(*instance.field);
  const Index by = index_of(operation.seq);
  analysis::Instance* const name = own_.name_of(instance);
  if (sets.empty()) made_.effects.emplace_back(StateChange::empty_use, by, 0, name);
  for (analysis::EquivalenceSet* set : sets)
    made_.effects.emplace_back(change, by, place_of(*instance.field, *set), name);
}

void Recorder::pend(analysis::FieldState& field, analysis::EquivalenceSet& set,
                    const std::shared_ptr<const analysis::FillValue>& value) {
  look_for_cuts(field);
  fills_[value] = this_step();
  made_.effects.push_back({StateChange::pend, this_step(), place_of(field, set)});
}

void Recorder::made(analysis::Instance& instance, bool shortage) {
  index_of(*instance.field);
  if (!own_.made(instance, this_step(), shortage)) untraceable("memory was short");
}

void Recorder::ends(analysis::FieldState& field) {
  look_for_cuts(field);
  for (const auto& set : field.sets())
    made_.effects.push_back({StateChange::end, this_step(), place_of(field, *set)});
  if (!own_.ends(field, this_step())) untraceable("memory was short");
  for (const auto& instance : field.instances().all())
    made_.effects.push_back({StateChange::gone, this_step(), 0, own_.name_of(*instance)});
}

void Recorder::gives_up(analysis::Instance& instance) {
  own_.gives_up(instance);
  untraceable("storage was given up");
}

void Recorder::shared(analysis::FieldState& field, const std::shared_ptr<const void>& after) {
  uses(field);
  if (std::ranges::find(made_.on_shards, &field, &OnShards::field) == made_.on_shards.end())
    made_.on_shards.push_back({&field, field.on_shards, this_step()});
  if (after != field.on_shards)
    made_.on_shards_after.push_back({this_step(), &field, false, after});
  if (std::ranges::find(on_shards_, &field) == on_shards_.end()) on_shards_.push_back(&field);
}

void Recorder::note_used(analysis::FieldState& field) {
  const analysis::UsedExtent* const used = field.used();
  data::IndexSpaceRef& known = used_[&field];
  if (used == nullptr) made_.on_shards_after.push_back({this_step(), &field, true, nullptr});
  else if (used->points() != known)
    made_.on_shards_after.push_back({this_step(), &field, false, field.on_shards,
                                     std::make_shared<const analysis::UsedExtent>(*used)});
  known = used != nullptr ? used->points() : nullptr;
}

// --- operations ------------------------------------------------------------------------------------

std::optional<Work> Recorder::work_of(exec::Node& node) {
  if (next_) return std::exchange(next_, std::nullopt);
  switch (node.kind) {
    case exec::NodeKind::copy: return node.payload_as<analysis::CopyPayload>();
    case exec::NodeKind::fill: {
      const auto& fill = node.payload_as<analysis::FillPayload>();
      // Its last effect is that it makes valid what it fills.
      const auto filled = fills_.find(fill.value);
      const FillSource source = filled != fills_.end()
                                    ? FillSource{false, filled->second}
                                    : FillSource{true, made_.effects.back().place};
      return Fill{fill.target, fill.points, fill.value_size, source};
    }
    case exec::NodeKind::fold:
      return Fold{node.payload_as<analysis::FoldPayload>(),
                  node.reduction > 0 ? index_of(node.seq - node.reduction) : kNone,
                  (node.flags & exec::kFold) != 0};
    case exec::NodeKind::access: untraceable("the program accessed data itself"); break;
    case exec::NodeKind::detach: untraceable("memory was detached"); break;
    case exec::NodeKind::task:
    case exec::NodeKind::other: break;  // the runtime knows
  }
  return {};
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

void Recorder::operation(const exec::Node& node, std::span<const exec::NodeRef> predecessors) {
  const Index index = index_of(node.seq);
  Operation& made = at(node.seq);
  made.kind = node.kind;
  made.info = node.info;
  made.step = static_cast<Index>(made_.steps.size());
  if (node.flags & exec::kReducer) made.gated_folds = std::max(1U, node.reduction);
  if (node.kind != exec::NodeKind::task)
    if (std::optional<Work> work = work_of(const_cast<exec::Node&>(node)))
      rename_instances(made.work.emplace(*std::move(work)),
                       [this](const analysis::Instance* instance) {
                         return own_.name_of(const_cast<analysis::Instance&>(*instance));
                       });
  for (const exec::NodeRef& earlier : predecessors)
    if (const Index from = index_of(earlier.seq); from != kNone)
      made_.edges.push_back({from, index});
}

// --- the end ---------------------------------------------------------------------------------------

/// A call in the middle of which something went wrong is no part of the recording. Whether there was one.
bool Recorder::take_back_unfinished() {
  const Step end = made_.steps.back();
  std::erase_if(made_.on_shards, [&](const OnShards& each) { return each.step >= this_step(); });
  std::erase_if(made_.on_shards_after,
                [&](const OnShardsAfter& each) { return each.step >= this_step(); });
  if (made_.operations.size() == end.operations && made_.effects.size() == end.effects)
    return false;
  made_.operations.resize(end.operations);
  std::erase_if(made_.edges, [&](const RecordedEdge& edge) { return edge.to >= end.operations; });
  made_.effects.resize(end.effects);
  return true;
}

/// The places where an effect at this place is an effect, by all the cuts that were made after it: the place, then those
/// that were cut off, in the order of the cuts. Cost: that of sorting these.
void Recorder::find_parts(Index place, std::size_t effect, std::vector<Index>& parts) const {
  parts.clear();
  const auto add_later_cuts_of = [&](Index whole) {
    Index cut = whole < last_cuts_.size() ? last_cuts_[whole] : kNone;
    for (; cut != kNone && cuts_[cut].effects > effect; cut = cuts_[cut].earlier)
      parts.push_back(cut);
  };
  add_later_cuts_of(place);
  for (std::size_t next = 0; next < parts.size(); ++next)
    add_later_cuts_of(cuts_[parts[next]].part);
  std::ranges::sort(parts);
  for (Index& part : parts) part = cuts_[part].part;
  parts.insert(parts.begin(), place);
}

/// Puts the effects of the parts in the place of those of the equivalence sets that were cut, and keeps the places that
/// effects are at, in the order in which the effects come to them.
void Recorder::place_again() {
  const std::vector<Effect> noted = std::exchange(made_.effects, {});
  const std::vector<Place> touched = std::exchange(made_.places, {});
  std::vector<Index> place_now(touched.size(), kNone);
  std::vector<Index> parts;
  std::size_t at = 0;
  for (Step& step : made_.steps) {
    for (; at < step.effects; ++at) {
      Effect effect = noted[at];
      if (effect.change == StateChange::empty_use || effect.change == StateChange::gone) {
        made_.effects.push_back(effect);
        continue;
      }
      find_parts(noted[at].place, at, parts);
      for (const Index part : parts) {
        // Values are moved equivalence set by equivalence set.
        if (effect.change == StateChange::validate && part != noted[at].place)
          untraceable("an equivalence set was cut that values had been moved to");
        if (place_now[part] == kNone) {
          place_now[part] = static_cast<Index>(made_.places.size());
          made_.places.push_back(touched[part]);
        }
        effect.place = place_now[part];
        made_.effects.push_back(effect);
      }
    }
    step.effects = static_cast<Index>(made_.effects.size());
  }
  for (Operation& operation : made_.operations)
    if (Fill* const fill = operation.work_as<Fill>(); fill != nullptr && fill->source.entry)
      fill->source.index = place_now[fill->source.index];
}

/// Those that are per-replay are named by their placeholders, the others by address.
void Recorder::choose_names() {
  if (!own_.choose()) return;
  for (Effect& effect : made_.effects) effect.instance = own_.final_name(effect.instance);
  for (Place& place : made_.places)
    for (analysis::Instance*& instance : place.valid) instance = own_.final_name(instance);
  for (Operation& operation : made_.operations) {
    if (!operation.work) continue;
    rename_instances(*operation.work, [this](const analysis::Instance* instance) {
      return own_.final_name(const_cast<analysis::Instance*>(instance));
    });
  }
  for (analysis::Instance*& instance : arguments_) instance = own_.final_name(instance);
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
    const std::size_t first = operation.step == 0 ? 0 : argument_rows_[operation.step - 1].first;
    const std::uint32_t count = argument_rows_[operation.step].second;
    for (std::uint32_t argument = 0; argument < count; ++argument)
      if (const auto* own =
              made_.per_replay_of(arguments_[first + operation.rank * count + argument]))
        made_.per_replay_arguments.push_back(
            {i, argument, static_cast<Index>(own - made_.own.data())});
  }
}

std::unique_ptr<Recording> Recorder::finish() {
  REFRAIN_ASSERT(fault_ == nullptr, "what cannot be done again is not recorded");
  for (const FieldUsed& used : made_.fields) look_for_cuts(*used.field);
  if (take_back_unfinished() || !cuts_.empty()) place_again();
  if (fault_ != nullptr) return nullptr;
  sort_by_target(made_.edges);
  for (FieldUsed& used : made_.fields) used.instance_epoch = used.field->instance_epoch();
  choose_names();
  place_arguments();
  made_.trees = trees_;
  find_chain_edges(made_);
  return std::make_unique<Recording>(std::move(made_));
}

}  // namespace refrain::trace
