// Choosing instances, and making room for them where memory is limited. Every decision here follows from launch order:
// from the instances that exist, the last use of each, and the instances that ended; never from completion.

#include <algorithm>

#include "analysis/analysis.hpp"
#include "base/assert.hpp"
#include "base/text.hpp"
#include "data/index_space.hpp"
#include "data/layout.hpp"
#include "profile/clock.hpp"
#include "refrain/error.hpp"

namespace refrain::analysis {

Instance& Analysis::instance_for(FieldState& field, const data::IndexSpaceRef& points,
                                 std::span<const MemoryId> memories, const Layout& layout,
                                 const Origin& origin) {
  // A parent's reduction has one accumulator, wherever its children run.
  const auto& all = field.instances().all();
  if (!all.empty() && all.front()->accumulator != nullptr) return *all.front();
  bool shortage = false;
  for (MemoryId memory : memories) {
    Instance* instance = try_memory(field, points, memory, layout, origin, shortage);
    if (instance == nullptr) continue;
    if (memory != memories.front()) field.second_best();
    return *instance;
  }
  fail_out_of_memory(field, points, memories, layout, origin);
}

Instance* Analysis::try_memory(FieldState& field, const data::IndexSpaceRef& points,
                               MemoryId memory, const Layout& layout, const Origin& origin,
                               bool& shortage) {
  if (Instance* found = field.instances().find(points, memory, layout.order)) return found;
  const data::IndexSpaceRef& space = layout.extent == Extent::whole ? field.space() : points;
  Instance* made = nullptr;
  while ((made = make_instance(field, space, memory, layout, origin.info, origin.kind)) ==
         nullptr) {
    if (!store_.memories().pool(memory).fits_ever(space, field.type().size, layout)) return nullptr;
    shortage = true;
    if (!evict_one(memory, origin)) return nullptr;
  }
  if (state_log_ != nullptr) state_log_->made(*made, shortage);
  return made;
}

Instance* Analysis::make_instance(FieldState& field, const data::IndexSpaceRef& space,
                                  MemoryId memory, const Layout& layout, const exec::NodeInfo* info,
                                  exec::NodeKind kind) {
  const InstanceStore::Wait wait = [&](const exec::NodeRef& user) {
    const std::uint64_t begin = profile::now_ns();
    executor_.wait(
        scope_, [&] { return exec::is_complete(user); }, user, info);
    counters_.waited_ns += profile::now_ns() - begin;
  };
  std::unique_ptr<Instance> made = store_.allocate(space, field.type().size, memory, layout, wait);
  if (made == nullptr) return nullptr;
  if (info != nullptr) made->made_by = exec::operation_name(info, kind);
  return &field.add_instance(std::move(made));
}

// Drops the least recently used instance of this memory, unless the present point task uses it. Values that are valid
// nowhere else are first copied to system memory.
bool Analysis::evict_one(MemoryId memory, const Origin& origin) {
  Instance* victim = store_.least_recently_used(memory);
  if (victim == nullptr || victim->last_use == point_) return false;
  FieldState& field = *victim->field;
  const MemoryId refuge = machine_.memories(MemoryKind::system).front();
  Origin spill = origin;
  spill.argument = -1;
  for (EquivalenceSet* set : field.sets_meeting(victim->space)) {
    Use* use = set->find(victim);
    if (use == nullptr || !use->valid || set->fill) continue;
    const bool elsewhere = std::any_of(set->uses.begin(), set->uses.end(), [&](const Use& other) {
      return other.valid && other.instance != victim;
    });
    if (elsewhere) continue;
    if (memory == refuge) return false;
    bool shortage = true;
    Instance* safe = try_memory(field, field.space(), refuge, Layout{}, spill, shortage);
    if (safe == nullptr) return false;
    Use& target = set->at(safe);
    issue_copy(field, *set, *set->find(victim), target, spill);
  }
  ++counters_.evictions;
  release_instance(*victim);
  return true;
}

void Analysis::fail_out_of_memory(FieldState& field, const data::IndexSpaceRef& points,
                                  std::span<const MemoryId> memories, const Layout& layout,
                                  const Origin& origin) {
  const data::IndexSpaceRef& space = layout.extent == Extent::whole ? field.space() : points;
  std::string text =
      refrain::analysis::describe(origin) + "no memory for " + field.describe() + " (" +
      short_size(data::InstanceLayout(*space, field.type().size, layout).bytes) + ")";
  for (MemoryId id : memories) {
    const Memory& memory = machine_.memory(id);
    text += "\n  " + memory.name + ": capacity " + short_size(memory.capacity) + ", used " +
            short_size(store_.memories().pool(id).used());
    for (const Instance* instance : store_.in_memory(id))
      text += "\n    " + instance->field->describe() + ", " + short_size(instance->size) +
              ", made by " + (instance->made_by.empty() ? "the program" : instance->made_by);
  }
  throw OutOfMemory(text);
}

}  // namespace refrain::analysis
