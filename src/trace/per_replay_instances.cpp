#include "trace/per_replay_instances.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace refrain::trace {

// Has all of the instance but bytes. Notes call what was found by its address, which is free when that is gone: no name
// may be there.
std::unique_ptr<analysis::Instance> PerReplayInstances::make_name(
    const analysis::Instance& instance) {
  auto name = std::make_unique<analysis::Instance>();
  while (found_.contains(name.get())) {
    kept_.push_back(std::move(name));
    name = std::make_unique<analysis::Instance>();
  }
  name->field = instance.field;
  name->space = instance.space;
  name->memory = instance.memory;
  name->layout = instance.layout;
  name->storage = analysis::Storage::none;
  name->number = instance.number;
  return name;
}

PerReplayInstances::~PerReplayInstances() {
  for (const Known& known : known_)
    if (known.own.placeholder != nullptr && known.own.placeholder->bound_to != nullptr)
      known.own.placeholder->bound_to->bound_to = nullptr;
}

PerReplayInstances::Known& PerReplayInstances::note(analysis::Instance& instance, Index made) {
  Known& known = known_.emplace_back();
  known.own.placeholder = make_name(instance);
  known.own.made = made;
  known.own.placeholder->bound_to = &instance;
  instance.bound_to = known.own.placeholder.get();
  return known;
}

bool PerReplayInstances::made(analysis::Instance& instance, Index step, bool shortage) {
  note(instance, step).shortage = shortage;
  return !shortage || !fields_.contains(instance.field);
}

bool PerReplayInstances::ends(const analysis::FieldState& field, Index step) {
  fields_.insert(&field);
  bool repeatable = true;
  for (const auto& instance : field.instances().all()) {
    REFRAIN_ASSERT(instance->storage == analysis::Storage::pool, "only what is traced is recorded");
    if (instance->serial < first_)
      found_[instance.get()] = note(*instance, kNone).own.placeholder.get();
  }
  for (Known& known : known_) {
    analysis::Instance& name = *known.own.placeholder;
    if (name.field != &field || known.own.ended != kNone) continue;
    if (known.shortage) repeatable = false;
    known.own.ended = step;
    name.bound_to = nullptr;
  }
  return repeatable;
}

void PerReplayInstances::gives_up(const analysis::Instance& instance) {
  if (instance.bound_to != nullptr) instance.bound_to->bound_to = nullptr;
}

// Of a field that has not ended: it had no instance, and has its values in one that was made.
bool PerReplayInstances::can_come_again(const analysis::FieldState& field) const {
  const bool had_none = std::ranges::all_of(
      field.instances().all(), [this](const auto& instance) { return instance->serial >= first_; });
  return had_none && std::ranges::any_of(field.sets(), [](const auto& set) {
           return std::ranges::any_of(set->uses, &analysis::Use::valid);
         });
}

void PerReplayInstances::choose() {
  std::unordered_map<const analysis::FieldState*, bool> others;
  for (const Known& known : known_) {
    if (fields_.contains(known.own.placeholder->field)) continue;
    const auto [other, added] = others.try_emplace(known.own.placeholder->field, true);
    if (added) other->second = can_come_again(*other->first);
    other->second &= !known.shortage;
  }
  for (const auto& [field, again] : others)
    if (again) fields_.insert(field);
  std::size_t number = 0;
  for (Known& known : known_)
    if (fields_.contains(known.own.placeholder->field)) known.own.placeholder->position = number++;
}

analysis::Instance* PerReplayInstances::final_name(analysis::Instance* noted) const {
  if (noted == nullptr) return nullptr;
  if (const auto found = found_.find(noted); found != found_.end()) return found->second;
  if (noted->storage != analysis::Storage::none) return noted;
  return fields_.contains(noted->field) ? noted : noted->bound_to;
}

std::vector<PerReplayInstance> PerReplayInstances::take() {
  std::vector<PerReplayInstance> own;
  for (Known& known : known_) {
    if (!fields_.contains(known.own.placeholder->field)) continue;
    if (analysis::Instance* actual = std::exchange(known.own.placeholder->bound_to, nullptr))
      actual->bound_to = nullptr;
    own.push_back(std::move(known.own));
  }
  return own;
}

}  // namespace refrain::trace
