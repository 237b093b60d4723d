#include "analysis/movement.hpp"

#include <new>

#include "analysis/analysis.hpp"
#include "graph/reducer_gate.hpp"
#include "memory/mover.hpp"

namespace refrain::analysis {

namespace {

constexpr const char *copy_name = "copy", *fill_name = "fill", *fold_name = "fold";

void run_copy(exec::Node& node, exec::Execution& execution) {
  auto& copy = node.payload_as<CopyPayload>();
  if (execution.failure == nullptr) copy.run();
  copy.~CopyPayload();
}

void run_fill(exec::Node& node, exec::Execution& execution) {
  auto& fill = node.payload_as<FillPayload>();
  if (execution.failure == nullptr) fill.run(*fill.value);
  fill.~FillPayload();
}

// The operator is the program's, and may throw.
void run_fold(exec::Node& node, exec::Execution& execution) {
  auto& fold = node.payload_as<FoldPayload>();
  try {
    if (fold.accumulator != nullptr && execution.failure == nullptr) fold.run(*fold.accumulator);
  } catch (...) {
    exec::fail(node, std::current_exception(), [&fold] { return fold.who(); });
  }
  delete fold.accumulator;
  fold.~FoldPayload();
}

}  // namespace

void CopyPayload::run(const Instance& from, const Instance& to) const {
  memory::mover_between(*from.mover, *to.mover).copy(*points, to, from, value_size);
}

void FillPayload::run(const FillValue& filled) const {
  const void* bytes = filled.future.valid() ? refrain::detail::ready_value(*filled.future.state())
                                            : filled.bytes.data();
  target->mover->fill(*points, *target, bytes, value_size);
}

void FoldPayload::run(refrain::detail::Accumulator& contribution) const {
  if (target->accumulator != nullptr)
    contribution.fold_into(*points, *target->accumulator, relaxed != nullptr);
  else target->mover->fold(*points, *target, contribution, relaxed != nullptr);
}

std::string FoldPayload::who() const {
  return exec::operation_name(reducer, exec::NodeKind::task) + ", argument " +
         std::to_string(argument) + " (" + target->field->describe() + ", points " +
         data::to_string(*points) + "): folding what it contributed";
}

void Analysis::issue_fill(FieldState& field, EquivalenceSet& set, Use& target,
                          const Origin& origin) {
  const data::IndexSpaceRef& points = field.points_of(set);
  exec::Node& node = scope_.allocate(sizeof(FillPayload));
  ::new (node.payload()) FillPayload{target.instance, points, set.fill, field.type().size};
  node.kind = exec::NodeKind::fill;
  node.run = run_fill;
  node.info = &info_for(fill_name, origin);
  log_operation(node, origin, &field, target.instance->memory, target.instance->memory, points);
  Edges edges = edges_to(node);
  if (set.fill->producer) edges.add(set.fill->producer, exec::EdgeKind::data);
  tell_move(set, nullptr, target, node);
  const exec::NodeRef self{&node, node.seq};
  write(target, false, self, edges.adder());
  target.valid = true;
  ++counters_.fills;
  publish(edges);
}

void Analysis::issue_copy(FieldState& field, EquivalenceSet& set, Use& source, Use& target,
                          const Origin& origin) {
  const data::IndexSpaceRef& points = field.points_of(set);
  exec::Node& node = scope_.allocate(sizeof(CopyPayload));
  ::new (node.payload()) CopyPayload{source.instance, target.instance, points, field.type().size};
  node.kind = exec::NodeKind::copy;
  node.run = run_copy;
  node.info = &info_for(copy_name, origin);
  const MemoryId from = source.instance->memory, to = target.instance->memory;
  log_operation(node, origin, &field, from, to, points);
  Edges edges = edges_to(node);
  tell_move(set, &source, target, node);
  const exec::NodeRef self{&node, node.seq};
  before_read(source, edges.adder());
  note_reader(source, self);
  write(target, false, self, edges.adder());
  target.valid = true;
  count_copy(from, to, points->volume() * field.type().size);
  publish(edges);
}

void Analysis::tell_move(EquivalenceSet& set, const Use* source, const Use& target,
                         const exec::Node& node) {
  if (state_log_ == nullptr) [[likely]]
    return;
  EquivalenceSet* const changed[] = {&set};
  if (source != nullptr) state_log_->change(StateChange::read, changed, *source->instance, node);
  else state_log_->fills(*target.instance->field, set, node);
  state_log_->change(StateChange::validate, changed, *target.instance, node);
}

// What a report or an error calls the operation: its name, and the source line of the call that it is for.
const exec::NodeInfo& Analysis::info_for(const char* name, const Origin& origin) {
  const Where where = origin.info != nullptr ? origin.info->where : Where();
  const std::tuple key(name, where.file_name(), where.line());
  if (last_info_ != nullptr && last_info_->first == key) return last_info_->second;
  const auto [entry, added] = infos_.try_emplace(key);
  if (added) entry->second = {name, where};
  last_info_ = &*entry;
  return entry->second;
}

void Analysis::count_copy(MemoryId from, MemoryId to, std::uint64_t bytes) {
  counters_.count_copy(from * machine_.memories().size() + to, bytes);
}

void Analysis::copy_field(FieldState& from, Footprint& source, Instance& source_instance,
                          FieldState& to, Footprint& target, Instance& target_instance,
                          Origin origin) {
  origin.argument = 0;
  make_valid(from, source, source_instance, origin);
  origin.argument = -1;
  exec::Node& node = scope_.allocate(sizeof(CopyPayload));
  ::new (node.payload())
      CopyPayload{&source_instance, &target_instance, target.points, to.type().size};
  node.kind = exec::NodeKind::copy;
  node.run = run_copy;
  node.info = origin.info;
  log_operation(node, origin, &to, source_instance.memory, target_instance.memory, target.points);
  Edges edges = edges_to(node);
  use(edges, source, source_instance, Privilege::read);
  use(edges, target, target_instance, Privilege::write);
  count_copy(source_instance.memory, target_instance.memory,
             target.points->volume() * to.type().size);
  publish(edges);
}

FoldPayload& Analysis::issue_fold(const exec::NodeRef& reducer, FieldState& field,
                                  Footprint& footprint, Instance& target,
                                  const ReductionOp* relaxed, const Origin& origin) {
  make_valid(field, footprint, target, origin);
  exec::Node& fold = scope_.allocate(sizeof(FoldPayload));
  auto& payload = *::new (fold.payload()) FoldPayload{
      nullptr,     &target,        footprint.points, relaxed != nullptr ? relaxed->fold : nullptr,
      origin.info, origin.argument};
  fold.kind = exec::NodeKind::fold;
  fold.run = run_fold;
  fold.info = &info_for(fold_name, origin);
  fold.flags = exec::kFold;
  fold.record = reducer.node->record;
  exec::ReducerGate::attach_fold(reducer, fold);
  log_operation(fold, origin, &field, target.memory, target.memory, footprint.points);
  Edges edges = edges_to(fold);
  edges.add(reducer, exec::EdgeKind::data);
  if (relaxed != nullptr) use_relaxed(edges, footprint, target, *relaxed);
  else use(edges, footprint, target, Privilege::read_write);
  ++counters_.folds;
  publish(edges);
  return payload;
}

}  // namespace refrain::analysis
