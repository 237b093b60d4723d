#include "trace/per_replay_instances.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/assert.hpp"

namespace refrain::trace {

PerReplayInstances::~PerReplayInstances() {
  for (const Known& known : known_)
    if (known.own.placeholder != nullptr && known.own.placeholder->bound_to != nullptr)
      known.own.placeholder->bound_to->bound_to = nullptr;
}

// The placeholder has all of the instance but bytes. Memory may run out: an instance is known with a placeholder, or not
// at all.
PerReplayInstances::Known& PerReplayInstances::note(analysis::Instance& instance) {
  auto name = std::make_unique<analysis::Instance>();
  while (ended_.contains(name.get())) {  // the address is a name already
    misplaced_.push_back(std::move(name));
    name = std::make_unique<analysis::Instance>();
  }
  name->field = instance.field;
  name->space = instance.space;
  name->memory = instance.memory;
  name->layout = instance.layout;
  name->storage = analysis::Storage::none;
  name->number = instance.number;
  name->serial = instance.serial;
  name->position = known_.size();
  Known& known = known_.emplace_back();
  name->bound_to = &instance;
  instance.bound_to = name.get();
  known.own.placeholder = std::move(name);
  return known;
}

bool PerReplayInstances::made(analysis::Instance& instance, Index step, bool shortage) {
  Known& known = note(instance);
  known.own.made = step;
  known.shortage = shortage;
  return !shortage || !fields_.contains(instance.field);
}

bool PerReplayInstances::ends(const analysis::FieldState& field, Index step) {
  fields_.insert(&field);
  bool repeatable = true;
  for (const auto& instance : field.instances().all()) {
    REFRAIN_ASSERT(instance->storage == analysis::Storage::pool, "only what is traced is recorded");
    if (instance->bound_to == nullptr)
      ended_.emplace(instance.get(), note(*instance).own.placeholder.get());
    analysis::Instance& name = *instance->bound_to;
    Known& known = known_[name.position];
    known.own.ended = step;
    name.bound_to = nullptr;
    if (known.shortage) repeatable = false;
  }
  return repeatable;
}

void PerReplayInstances::gives_up(const analysis::Instance& instance) {
  if (instance.bound_to != nullptr) instance.bound_to->bound_to = nullptr;
}

// Of a field that has not ended: it had no instance, and has its values in one that was made.
bool PerReplayInstances::can_come_again(analysis::FieldState& field) const {
  const bool had_none = std::ranges::all_of(
      field.instances().all(), [this](const auto& instance) { return instance->serial >= first_; });
  return had_none && std::ranges::any_of(field.sets(), [](const auto& set) {
           return std::ranges::any_of(set->uses, &analysis::Use::valid);
         });
}

bool PerReplayInstances::choose() {
  std::unordered_map<analysis::FieldState*, bool> others;
  for (const Known& known : known_) {
    if (known.own.made == kNone || fields_.contains(known.own.placeholder->field)) continue;
    const auto [other, added] = others.try_emplace(known.own.placeholder->field, true);
    if (added) other->second = can_come_again(*other->first);
    other->second &= !known.shortage;
  }
  for (const auto& [field, again] : others)
    if (again) fields_.insert(field);
  if (fields_.empty()) return !known_.empty();  // all are named by address, in no order
  std::ranges::sort(known_, {}, [](const Known& known) { return known.own.placeholder->serial; });
  std::size_t number = 0;
  for (Known& known : known_)
    if (fields_.contains(known.own.placeholder->field)) known.own.placeholder->position = number++;
  return true;
}

// What has ended is looked up before anything looks at it.
analysis::Instance* PerReplayInstances::final_name(analysis::Instance* name) const {
  if (name == nullptr) return nullptr;
  if (const auto ended = ended_.find(name); ended != ended_.end()) return ended->second;
  if (name->storage != analysis::Storage::none || fields_.contains(name->field)) return name;
  return name->bound_to;
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
