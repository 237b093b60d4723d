#include "analysis/analysis.hpp"

#include <algorithm>

#include "graph/failure.hpp"
#include "refrain/error.hpp"

namespace refrain::analysis {

namespace {

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
  link_copies.resize(std::max(link_copies.size(), more.link_copies.size()));
  link_bytes.resize(link_copies.size());
  for (std::size_t i = 0; i < more.link_copies.size(); ++i) {
    link_copies[i] += more.link_copies[i];
    link_bytes[i] += more.link_bytes[i];
  }
}

Analysis::Analysis(exec::Executor& executor, exec::Scope& scope, Memories& memories,
                   const Machine& machine, std::uint64_t scope_id, GraphLog* log)
    : executor_(executor),
      scope_(scope),
      machine_(machine),
      scope_id_(scope_id),
      log_(log),
      store_(memories) {
  counters_.link_copies.resize(machine.memories().size() * machine.memories().size());
  counters_.link_bytes.resize(counters_.link_copies.size());
}

void Edges::add_further(const exec::NodeRef& from, exec::EdgeKind kind) {
  for (std::size_t i = size_ > kLookBack ? size_ - kLookBack : 0; i < size_; ++i) {
    if (data_[i].from.seq != from.seq) continue;
    if (kind == exec::EdgeKind::data) data_[i].kind = kind;
    return;
  }
  if (size_ == capacity_) grow();
  data_[size_++] = {from, kind};
}

void Edges::grow() {
  auto larger = std::make_unique<exec::Edge[]>(2 * capacity_);
  std::copy_n(data_, size_, larger.get());
  more_ = std::move(larger);
  data_ = more_.get();
  capacity_ *= 2;
}

void Analysis::tell_log(const exec::Node& node, const Origin& origin, const FieldState* field,
                        MemoryId source, MemoryId target, const data::IndexSpaceRef& points) {
  if (state_log_ != nullptr) state_log_->origin(node, origin);
  if (log_ == nullptr) return;
  LoggedOperation operation;
  operation.scope = scope_id_;
  operation.seq = node.seq;
  operation.kind = node.kind;
  operation.call = origin.call;
  operation.rank = origin.rank;
  operation.argument = origin.argument;
  if (field != nullptr) operation.field = field->name();
  operation.source = source;
  operation.target = target;
  operation.points = points;
  operation.info = node.info;
  log_->operation(operation);
}

void Analysis::make_valid(FieldState& field, Footprint& footprint, Instance& instance,
                          const Origin& origin) {
  for (EquivalenceSet* set : footprint.sets) {
    Use& use = set->at(&instance);
    if (!use.valid) materialise(field, *set, use, origin);
  }
}

void Analysis::make_valid_everywhere(FieldState& field, Instance& instance, const Origin& origin) {
  for (const auto& set : field.sets()) {
    Use& use = set->at(&instance);
    if (!use.valid) materialise(field, *set, use, origin);
  }
}

void Analysis::materialise(FieldState& field, EquivalenceSet& set, Use& target,
                           const Origin& origin) {
  if (set.fill) {
    issue_fill(field, set, target, origin);
  } else if (Use* source = nearest_valid(field, set, target.instance->memory)) {
    issue_copy(field, set, *source, target, origin);
  } else {
    fail_no_values(field, origin);
  }
}

void Analysis::check_values(const FieldState& field, const Footprint& footprint,
                            const Origin& origin) {
  for (const EquivalenceSet* set : footprint.sets)
    if (!set->fill && std::ranges::none_of(set->uses, &Use::valid)) fail_no_values(field, origin);
}

// The valid instance from which a copy is expected to be quickest; ties go to the one made first.
Use* Analysis::nearest_valid(const FieldState& field, EquivalenceSet& set, MemoryId target) const {
  Use* best = nullptr;
  double best_seconds = 0;
  for (Use& use : set.uses) {
    if (!use.valid) continue;
    const double seconds = machine_.copy_seconds(use.instance->memory, target, field.type().size);
    if (best == nullptr || seconds < best_seconds ||
        (seconds == best_seconds && use.instance->number < best->instance->number)) {
      best = &use;
      best_seconds = seconds;
    }
  }
  return best;
}

void Analysis::use(Edges& edges, Footprint& footprint, Instance& instance, Privilege privilege) {
  const auto self = [&edges] { return exec::NodeRef{&edges.to(), edges.to().seq}; };
  if (state_log_ != nullptr) [[unlikely]]
    tell_uses(edges, footprint, instance,
              privilege == Privilege::read    ? StateChange::read
              : privilege == Privilege::write ? StateChange::write
                                              : StateChange::read_write);
  for (EquivalenceSet* set : footprint.sets) {
    Use& use = set->at(&instance);
    if (privilege == Privilege::read) {
      before_read(use, edges.adder());
      note_reader(use, self());
    } else {
      write(use, privilege == Privilege::read_write, self(), edges.adder());
      set->only_valid(use);
    }
  }
  if (footprint.sets.empty()) [[unlikely]]
    note_empty_user(instance, self());
}

void Analysis::use_relaxed(Edges& edges, Footprint& footprint, Instance& instance,
                           const ReductionOp& op) {
  const exec::NodeRef self{&edges.to(), edges.to().seq};
  if (state_log_ != nullptr) [[unlikely]]
    tell_uses(edges, footprint, instance, StateChange::fold);
  for (EquivalenceSet* set : footprint.sets) {
    Use& use = set->at(&instance);
    before(use, StateChange::fold, op.fold, edges.adder());
    join_group(use, op.fold, self);
    set->only_valid(use);
  }
  if (footprint.sets.empty()) note_empty_user(instance, self);
}

void Analysis::tell_uses(const Edges& edges, const Footprint& footprint, Instance& instance,
                         StateChange change) {
  if (footprint.sets.empty()) return state_log_->empty_use(instance, edges.to());
  state_log_->change(change, footprint.sets, instance, edges.to());
}

void Analysis::note_empty_user(Instance& instance, const exec::NodeRef& node) {
  if (instance.empty_users.size() == instance.empty_users.capacity())
    std::erase_if(instance.empty_users, exec::is_complete);
  instance.empty_users.push_back(node);
}

[[gnu::noinline]] void Analysis::note_reader(Use& use, const exec::NodeRef& node) const {
  add_reader(use, node, [this](Use& full) {
    if (may_forget()) forget_complete_readers(full);
  });
}

void Analysis::join_group(Use& use, FoldFunction fold, const exec::NodeRef& self) const {
  FoldGroup<exec::NodeRef>& group = group_for(use, fold);
  if (group.folds.size() == group.folds.capacity() && may_forget()) forget_complete(group);
  group.folds.push_back(self);
}

// A group that is never closed must not remember all its folds. A complete fold orders nothing any more, but the data
// carries its failure. Of all failures that meet, the earliest reaches the next operation, so one fold with that
// failure stands for all that failed.
void Analysis::forget_complete(FoldGroup<exec::NodeRef>& group) const {
  const exec::Failure* earliest = nullptr;
  exec::NodeRef failed;
  std::erase_if(group.folds, [&](const exec::NodeRef& fold) {
    if (!exec::is_complete(fold)) return false;
    const exec::Failure* first =
        exec::first_of(earliest, scope_.failure_of(fold), scope_.identity());
    if (first != earliest) failed = fold;
    earliest = first;
    return true;
  });
  if (failed) group.folds.push_back(failed);
  // Mostly still in flight: look again when there are twice as many.
  if (group.folds.size() > group.folds.capacity() / 2)
    group.folds.reserve(2 * group.folds.capacity());
  std::erase_if(group.before, [&](const auto& edge) {
    return exec::is_complete(edge.operation) &&
           (edge.kind == exec::EdgeKind::order || scope_.failure_of(edge.operation) == nullptr);
  });
}

void Analysis::fill(FieldState& field, Footprint& footprint,
                    const std::shared_ptr<const FillValue>& value) {
  for (EquivalenceSet* set : footprint.sets) {
    if (state_log_ != nullptr) [[unlikely]]
      state_log_->pend(field, *set, value);
    set->invalidate();
    set->fill = value;
  }
}

void Analysis::invalidate(Footprint& footprint) {
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

}  // namespace refrain::analysis
