#include "analysis/analysis.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "data/layout.hpp"
#include "profile/clock.hpp"
#include "refrain/error.hpp"

namespace refrain::analysis {

namespace {

/// Whether an instance has values of the set that are valid nowhere else.
bool is_only_one(const EquivalenceSet& set, const Use& use) {
  return use.valid && !set.fill && std::ranges::count(set.uses, true, &Use::valid) == 1;
}

[[noreturn]] void fail_no_values(const FieldState& field, const Origin& origin) {
  throw UsageError(describe(origin) + field.describe() +
                   " has no values to read: it was detached and not written since");
}

}  // namespace

std::string describe(const Origin& origin) {
  if (origin.info == nullptr) return {};
  std::string text = exec::operation_name(origin.info, origin.kind);
  if (origin.argument >= 0) text += ", argument " + std::to_string(origin.argument);
  return text + ": ";
}

void AnalysisCounters::operator+=(const AnalysisCounters& more) {
  OperationCounters::operator+=(more);
  waited_ns += more.waited_ns;
  links.resize(std::max(links.size(), more.links.size()));
  for (std::size_t i = 0; i < more.links.size(); ++i) {
    links[i].copies += more.links[i].copies;
    links[i].bytes += more.links[i].bytes;
  }
}

Analysis::Analysis(exec::Executor& executor, exec::Scope& scope, Memories& memories,
                   std::uint64_t scope_id, GraphLog* log)
    : executor_(executor),
      scope_(scope),
      machine_(memories.machine()),
      scope_id_(scope_id),
      log_(log),
      store_(memories) {
  counters_.links.resize(AnalysisCounters::links_of(machine_));
}

void Edges::grow() {
  auto larger = std::make_unique<exec::NodeRef[]>(2 * capacity_);
  std::copy_n(data_, size_, larger.get());
  more_ = std::move(larger);
  data_ = more_.get();
  capacity_ *= 2;
}

void Analysis::log_operation(const exec::Node& node, const Origin& origin, const FieldState* field,
                             MemoryId source, MemoryId target, const data::IndexSpaceRef& points) {
  if (state_log_ != nullptr) state_log_->origin(node, origin);
  if (log_ == nullptr) return;
  log_->operation({.scope = scope_id_,
                   .seq = node.seq,
                   .kind = node.kind,
                   .call = origin.call,
                   .rank = origin.rank,
                   .argument = origin.argument,
                   .field = field != nullptr ? field->name() : std::string(),
                   .source = source,
                   .target = target,
                   .points = points,
                   .info = node.info});
}

void Analysis::make_valid(FieldState& field, Footprint& footprint, Instance& instance,
                          const Origin& origin) {
  if (field.runs().begun()) {
    if (is_valid(footprint, instance)) return;
    field.runs().end();  // each set has its copy
  }
  for (EquivalenceSet* set : footprint.sets) {
    Use& use = set->at(&instance);
    if (use.valid) continue;
    Use* source = set->fill ? nullptr : nearest_valid(field, *set, instance.memory);
    if (!set->fill && source == nullptr) fail_no_values(field, origin);
    issue_move(field, *set, source, use, origin);
  }
}

void Analysis::check_values(FieldState& field, const Footprint& footprint, const Origin& origin) {
  for (const EquivalenceSet* set : field.runs().walk(footprint))
    if (!set->fill && std::ranges::none_of(set->uses, &Use::valid)) fail_no_values(field, origin);
}

// The valid instance from which a copy is expected to be quickest; ties go to the one made first.
Use* Analysis::nearest_valid(const FieldState& field, EquivalenceSet& set, MemoryId target) const {
  const auto best = std::ranges::min_element(set.uses, {}, [&](const Use& use) {
    return std::tuple(!use.valid,
                      machine_.copy_seconds(use.instance->memory, target, field.type().size),
                      use.instance->number);
  });
  return best != set.uses.end() && best->valid ? &*best : nullptr;
}

// Apart, so that use() stays small.
void Analysis::use_relaxed(Edges& edges, Footprint& footprint, Instance& instance,
                           FoldFunction fold) {
  const exec::NodeRef self{&edges.to(), edges.to().seq};
  if (state_log_ != nullptr) [[unlikely]]
    state_log_->change(StateChange::fold, footprint.all(), instance, edges.to());
  for (EquivalenceSet* set : walk(footprint, instance)) {
    Use& use = set->at(&instance);
    before(use, StateChange::fold, fold, edges.adder());
    join_group(use, fold, self);
    set->only_valid(use);
  }
  if (footprint.sets.empty()) note_empty_user(instance, self);
}

void Analysis::use(Edges& edges, Footprint& footprint, Instance& instance, Privilege privilege) {
  const auto self = [&edges] { return exec::NodeRef{&edges.to(), edges.to().seq}; };
  if (state_log_ != nullptr) [[unlikely]]
    state_log_->change(privilege == Privilege::read ? StateChange::read : StateChange::write,
                       footprint.all(), instance, edges.to());
  for (EquivalenceSet* set : walk(footprint, instance)) {
    Use& use = set->at(&instance);
    if (privilege == Privilege::read) {
      before_read(use, edges.adder());
      note_reader(use, self());
    } else {
      write(use, self(), edges.adder());
      set->only_valid(use);
    }
  }
  if (footprint.many && privilege != Privilege::read) [[unlikely]] {
    SetRuns& runs = instance.field->runs();
    runs.written(footprint, instance);
  }
  if (footprint.sets.empty()) [[unlikely]]
    note_empty_user(instance, self());
}

void Analysis::note_empty_user(Instance& instance, const exec::NodeRef& node) {
  if (instance.empty_users.size() == instance.empty_users.capacity())
    std::erase_if(instance.empty_users, exec::is_complete);
  instance.empty_users.push_back(node);
}

[[gnu::noinline]] void Analysis::note_reader(Use& use, exec::NodeRef node) const {
  add_reader(use, node, [this](Use& full) {
    if (!has_log()) forget_complete_readers(full);
  });
}

void Analysis::join_group(Use& use, FoldFunction fold, const exec::NodeRef& self) const {
  FoldGroup<exec::NodeRef>& group = group_for(use, fold);
  if (group.folds.size() == group.folds.capacity() && !has_log()) forget_complete(group);
  group.folds.push_back(self);
}

// A group that is never closed must not remember all its folds. A complete fold orders nothing any more.
void Analysis::forget_complete(FoldGroup<exec::NodeRef>& group) {
  std::erase_if(group.folds, exec::is_complete);
  // Mostly still in flight: look again when there are twice as many.
  if (group.folds.size() > group.folds.capacity() / 2)
    group.folds.reserve(2 * group.folds.capacity());
  std::erase_if(group.before, exec::is_complete);
}

void Analysis::fill(FieldState& field, Footprint& footprint,
                    const std::shared_ptr<const FillValue>& value) {
  field.runs().end();
  for (EquivalenceSet* set : footprint.sets) {
    if (state_log_ != nullptr) [[unlikely]]
      state_log_->pend(field, *set, value);
    set->invalidate();
    set->fill = value;
  }
}

void Analysis::invalidate(FieldState& field, Footprint& footprint) {
  field.runs().end();
  for (EquivalenceSet* set : footprint.sets) {
    set->invalidate();
    set->fill.reset();
  }
}

void Analysis::release_instance(Instance& instance) {
  if (state_log_ != nullptr) state_log_->gives_up(instance);
  retire(instance, {});
}

void Analysis::retire(Instance& instance, std::vector<exec::NodeRef> users) {
  std::unique_ptr<Instance> removed = instance.field->remove_instance(instance, users);
  store_.retire(std::move(removed), std::move(users));
}

void Analysis::end_field(FieldState& field, const Users& users) {
  if (state_log_ != nullptr) state_log_->ends(field);
  while (!field.instances().all().empty()) {
    Instance& last = *field.instances().all().back();
    retire(last, users ? users(last) : std::vector<exec::NodeRef>());
  }
  field.reset();
}

// --- choosing instances, and making room for them ------------------------------------------------------------
//
// Every decision here follows from launch order: from the instances that exist, the last use of each, and the instances
// that ended; never from completion.

Instance& Analysis::instance_for(FieldState& field, const data::IndexSpaceRef& points,
                                 const Wanted& wanted, const Origin& origin) {
  // A parent's reduction has one accumulator, wherever its children run.
  const auto& all = field.instances().all();
  if (!all.empty() && all.front()->accumulator != nullptr) return *all.front();
  bool shortage = false;
  const auto first_of = [&](std::span<const MemoryId> memories,
                            MayGiveWay may_give_way) -> Instance* {
    for (const MemoryId memory : memories) {
      Instance* const instance =
          try_memory(field, points, memory, wanted.layout, origin, may_give_way, shortage);
      if (instance == nullptr) continue;
      if (memory != wanted.memories.front()) field.second_best();
      return instance;
    }
    return nullptr;
  };
  Instance* chosen = nullptr;
  if (wanted.when_full == WhenFull::next) {
    // Nothing gives way where a later memory has one: two that there is no room for would evict each other for ever.
    const auto existing = std::ranges::find_if(wanted.memories, [&](MemoryId memory) {
      return field.instances().find(points, memory, wanted.layout) != nullptr;
    });
    if (existing != wanted.memories.end())
      chosen = first_of({wanted.memories.begin(), existing + 1}, std::nullopt);
    if (chosen == nullptr) chosen = first_of(wanted.memories, WhenFull::next);
  }
  if (chosen == nullptr) chosen = first_of(wanted.memories, WhenFull::evict);
  if (chosen == nullptr) fail_out_of_memory(field, points, wanted.memories, wanted.layout, origin);
  return *chosen;
}

Instance* Analysis::try_memory(FieldState& field, const data::IndexSpaceRef& points,
                               MemoryId memory, const Layout& layout, const Origin& origin,
                               MayGiveWay may_give_way, bool& shortage) {
  if (Instance* found = field.instances().find(points, memory, layout)) {
    if (found->storage == Storage::attached && layout.sparse == Sparse::compact &&
        !found->space->dense())
      throw UsageError(describe(origin) + field.describe() +
                       " has memory attached, where values lie by strides; its mapping asks for a "
                       "compact instance");
    return found;
  }
  if (layout.extent == Extent::whole && field.used() != nullptr) field.used()->widen(points);
  const data::IndexSpaceRef& space = layout.extent == Extent::whole ? field.extent() : points;
  Instance* made = nullptr;
  while ((made = make_instance(field, space, memory, layout, origin.info, origin.kind)) ==
         nullptr) {
    const data::InstanceLayout shape(*space, field.type().size, layout);
    if (!store_.memories().pool(memory).fits_ever(shape.bytes)) return nullptr;
    shortage = true;
    if (!may_give_way || !evict_one(memory, origin, *may_give_way)) return nullptr;
  }
  if (state_log_ != nullptr) state_log_->made(*made, shortage);
  return made;
}

const std::shared_ptr<const std::string>& Maker::name(const exec::NodeInfo& info,
                                                      exec::NodeKind kind) {
  if (name_ == nullptr || kind_ != kind || info_ != info) {
    name_ = std::make_shared<const std::string>(exec::operation_name(&info, kind));
    info_ = info;
    kind_ = kind;
  }
  return name_;
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
  if (info != nullptr) made->made_by = maker_.name(*info, kind);
  return &field.add_instance(std::move(made));
}

// Values that are valid nowhere else are copied to the instance refuge(), which may be null: then false.
template <class Refuge>
bool Analysis::move_out(Instance& victim, const Origin& origin, Refuge refuge) {
  FieldState& field = *victim.field;
  for (EquivalenceSet* set : field.sets_meeting(victim.space)) {
    Use* use = set->find(&victim);
    if (use == nullptr || !is_only_one(*set, *use)) continue;
    Instance* const safe = refuge();
    if (safe == nullptr) return false;
    Use& target = set->at(safe);  // may move the others
    issue_move(field, *set, set->find(&victim), target, origin);
  }
  return true;
}

// Of those whose values are valid elsewhere, too. Ties: the one made first.
Instance* Analysis::least_recently_used_copy(MemoryId memory) const {
  const auto is_copy = [](const Instance& instance) {
    return std::ranges::none_of(instance.field->sets_meeting(instance.space),
                                [&](EquivalenceSet* set) {
                                  const Use* const use = set->find(&instance);
                                  return use != nullptr && is_only_one(*set, *use);
                                });
  };
  const auto age = [](const Instance& instance) {
    return std::tuple(instance.last_use, instance.serial);
  };
  Instance* first = nullptr;
  for (Instance* const instance : store_.in_memory(memory))
    if (instance->storage == Storage::pool && instance->last_use != point_ &&
        (first == nullptr || age(*instance) < age(*first)) && is_copy(*instance))
      first = instance;
  return first;
}

// Drops the least recently used instance of this memory that may give way. Values that are valid nowhere else are first
// copied to system memory.
bool Analysis::evict_one(MemoryId memory, const Origin& origin, WhenFull when_full) {
  Instance* victim = when_full == WhenFull::evict ? store_.least_recently_used(memory)
                                                  : least_recently_used_copy(memory);
  if (victim == nullptr || victim->last_use == point_) return false;
  FieldState& field = *victim->field;
  const MemoryId refuge = machine_.memories(MemoryKind::system).front();
  Origin spill = origin;
  spill.argument = -1;
  const bool is_saved = move_out(*victim, spill, [&]() -> Instance* {
    if (memory == refuge) return nullptr;
    if (field.used() != nullptr) field.used()->widen(victim->space);
    bool shortage = true;
    return try_memory(field, field.extent(), refuge, Layout{}, spill, WhenFull::evict, shortage);
  });
  if (!is_saved) return false;
  ++counters_.evictions;
  release_instance(*victim);
  return true;
}

// One after the other, since making the larger one may evict any.
void Analysis::grow(FieldState& field, const Origin& origin) {
  Origin move = origin;
  move.argument = -1;
  const auto is_small = [&](const auto& instance) {
    return instance->storage == Storage::pool && instance->layout.extent == Extent::whole &&
           !data::contains(instance->space, field.extent());
  };
  begin_point();
  for (;;) {
    const auto& all = field.instances().all();
    const auto small = std::ranges::find_if(all, is_small);
    if (small == all.end()) break;
    const MemoryId memory = (*small)->memory;
    const Layout layout = (*small)->layout;
    bool shortage = false;
    Instance* const larger =
        try_memory(field, field.extent(), memory, layout, move, WhenFull::evict, shortage);
    if (larger == nullptr)
      fail_out_of_memory(field, field.extent(), std::span(&memory, 1), layout, origin);
    touch(*larger);
    for (auto each = all.begin(); each != all.end(); ++each) {
      if (!is_small(*each) || (*each)->memory != memory || (*each)->layout != layout) continue;
      move_out(**each, move, [&] { return larger; });
      release_instance(**each);
      break;
    }
  }
  field.used()->all_grown();
}

void Analysis::fail_out_of_memory(FieldState& field, const data::IndexSpaceRef& points,
                                  std::span<const MemoryId> memories, const Layout& layout,
                                  const Origin& origin) {
  const data::IndexSpaceRef& space = layout.extent == Extent::whole ? field.extent() : points;
  std::string text = describe(origin) + "no memory for " + field.describe() + " (" +
                     short_size(data::InstanceLayout(*space, field.type().size, layout).bytes) +
                     ")";
  for (MemoryId id : memories) {
    const Memory& memory = machine_.memory(id);
    text += "\n  " + memory.name + ": capacity " + short_size(memory.capacity) + ", used " +
            short_size(store_.memories().pool(id).usage().used);
    for (const Instance* instance : store_.in_memory(id))
      text += "\n    " + instance->field->describe() + ", " + short_size(instance->size) +
              ", made by " + (instance->made_by == nullptr ? "the program" : *instance->made_by);
  }
  throw OutOfMemory(text);
}

}  // namespace refrain::analysis
