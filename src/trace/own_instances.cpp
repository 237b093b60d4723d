#include "trace/own_instances.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace refrain::trace {

// Has all of the instance but bytes. Notes call what was found by its address, which is free when that is gone: no name
// may be there.
std::unique_ptr<analysis::Instance> OwnInstances::make_name(const analysis::Instance& instance) {
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

OwnInstances::~OwnInstances() {
  for (const Known& known : known_)
    if (known.own.name != nullptr && known.own.name->counterpart != nullptr)
      known.own.name->counterpart->counterpart = nullptr;
}

OwnInstances::Known& OwnInstances::note(analysis::Instance& instance, Index made) {
  Known& known = known_.emplace_back();
  known.own.name = make_name(instance);
  known.own.made = made;
  known.own.name->counterpart = &instance;
  instance.counterpart = known.own.name.get();
  return known;
}

bool OwnInstances::made(analysis::Instance& instance, Index step, bool shortage) {
  note(instance, step).shortage = shortage;
  return !shortage || !fields_.contains(instance.field);
}

bool OwnInstances::ends(const analysis::FieldState& field, Index step) {
  fields_.insert(&field);
  bool repeatable = true;
  for (const auto& instance : field.instances().all()) {
    REFRAIN_ASSERT(instance->storage == analysis::Storage::pool, "only what is traced is recorded");
    if (instance->serial < first_) found_[instance.get()] = note(*instance, kNone).own.name.get();
  }
  for (Known& known : known_) {
    analysis::Instance& name = *known.own.name;
    if (name.field != &field || known.own.ended != kNone) continue;
    if (known.shortage) repeatable = false;
    known.own.ended = step;
    name.counterpart = nullptr;
  }
  return repeatable;
}

void OwnInstances::gives_up(const analysis::Instance& instance) {
  if (instance.counterpart != nullptr) instance.counterpart->counterpart = nullptr;
}

// Of a field that has not ended: it had no instance, and has its values in one that was made.
bool OwnInstances::can_come_again(const analysis::FieldState& field) const {
  const bool had_none = std::ranges::all_of(
      field.instances().all(), [this](const auto& instance) { return instance->serial >= first_; });
  return had_none && std::ranges::any_of(field.pieces(), [](const auto& piece) {
           return std::ranges::any_of(piece->uses, &analysis::Use::valid);
         });
}

void OwnInstances::choose() {
  std::unordered_map<const analysis::FieldState*, bool> others;
  for (const Known& known : known_) {
    if (fields_.contains(known.own.name->field)) continue;
    const auto [other, added] = others.try_emplace(known.own.name->field, true);
    if (added) other->second = can_come_again(*other->first);
    other->second &= !known.shortage;
  }
  for (const auto& [field, again] : others)
    if (again) fields_.insert(field);
  std::size_t number = 0;
  for (Known& known : known_)
    if (fields_.contains(known.own.name->field)) known.own.name->live_index = number++;
}

analysis::Instance* OwnInstances::final_name(analysis::Instance* noted) const {
  if (noted == nullptr) return nullptr;
  if (const auto found = found_.find(noted); found != found_.end()) return found->second;
  if (noted->storage != analysis::Storage::none) return noted;
  return fields_.contains(noted->field) ? noted : noted->counterpart;
}

std::vector<OwnInstance> OwnInstances::take() {
  std::vector<OwnInstance> own;
  for (Known& known : known_) {
    if (!fields_.contains(known.own.name->field)) continue;
    if (analysis::Instance* actual = std::exchange(known.own.name->counterpart, nullptr))
      actual->counterpart = nullptr;
    own.push_back(std::move(known.own));
  }
  return own;
}

}  // namespace refrain::trace
