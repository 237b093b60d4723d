#include "analysis/movement.hpp"

#include <memory>
#include <new>
#include <utility>

#include "analysis/analysis.hpp"
#include "graph/reducer_gate.hpp"
#include "memory/mover.hpp"

namespace refrain::analysis {

namespace {

constexpr const char *copy_name = "copy", *fill_name = "fill", *fold_name = "fold";

void run_copy(exec::Node& node, exec::Execution& execution) {
  auto& copy = node.payload_as<CopyPayload>();
  if (execution.failure == nullptr)
    move_data(
        *copy.target, copy.points, [&] { copy.run(); },
        [&](const std::exception_ptr& error) { return exec::fail(node, error); });
  copy.~CopyPayload();
}

void run_fill(exec::Node& node, exec::Execution& execution) {
  auto& fill = node.payload_as<FillPayload>();
  if (execution.failure == nullptr)
    move_data(
        *fill.target, fill.points, [&] { fill.run(*fill.value); },
        [&](const std::exception_ptr& error) { return exec::fail(node, error); });
  fill.~FillPayload();
}

void run_fold(exec::Node& node, exec::Execution& execution) {
  auto& fold = node.payload_as<FoldPayload>();
  if (execution.failure == nullptr)
    fold.run([&](const std::exception_ptr& error, const exec::Failure::Who& who) {
      return exec::fail(node, fold.origin, error, who);
    });
  fold.~FoldPayload();
}

}  // namespace

void CopyPayload::run(const Instance& from, const Instance& to) const {
  const memory::Mover& mover = memory::mover_between(*from.mover, *to.mover);
  if (!exec::Failure::any()) [[likely]]
    return mover.copy(*points, to, from, value_size);
  data::IndexSpaceRef healthy = points;
  const std::vector<Poisoned> poisoned = from.poison.at(points);
  for (const Poisoned& each : poisoned) healthy = data::subtract(healthy, each.points);
  mover.copy(*healthy, to, from, value_size);
  to.poison.write(healthy, nullptr);
  for (const Poisoned& each : poisoned) to.poison.write(each.points, each.failure);
}

void FillPayload::run(const FillValue& filled) const {
  const void* bytes = filled.bytes.data();
  if (filled.future.valid()) {
    const auto& future = *filled.future.state();
    if (const exec::FailureRef& failure = refrain::detail::ready_failure(future))
      return target->poison.write(points, failure);
    bytes = refrain::detail::ready_value(future);
  }
  target->mover->fill(*points, *target, bytes, value_size);
  if (exec::Failure::any()) target->poison.write(points, nullptr);
}

void FoldPayload::fold() {
  if (message != nullptr) message->fetch(*this);
  const auto contribution = std::exchange(accumulator, nullptr);
  if (const exec::FailureRef lost = std::exchange(failure, nullptr))
    return target->poison.fold(points, lost);
  if (contribution == nullptr) return;
  data::IndexSpaceRef healthy = points;
  if (exec::Failure::any())
    for (const Poisoned& each : target->poison.at(points))
      healthy = data::subtract(healthy, each.points);
  if (target->accumulator != nullptr)
    contribution->fold_into(*healthy, *target->accumulator, relaxed != nullptr);
  else target->mover->fold(*healthy, *target, *contribution, relaxed != nullptr);
}

std::string FoldPayload::who() const {
  return exec::operation_name(reducer, exec::NodeKind::task) + ", argument " +
         std::to_string(argument) + " (" + target->field->describe() + ", points " +
         data::to_string(*points) + "): folding what it contributed";
}

template <class Payload>
exec::Node& Analysis::make_node(exec::NodeKind kind, void (*run)(exec::Node&, exec::Execution&),
                                const exec::NodeInfo* info, Payload payload) {
  exec::Node& node = scope_.allocate(sizeof(Payload));
  ::new (node.payload()) Payload(std::move(payload));
  node.kind = kind;
  node.run = run;
  node.info = info;
  return node;
}

void Analysis::issue_move(FieldState& field, EquivalenceSet& set, Use* source, Use& target,
                          const Origin& origin) {
  const data::IndexSpaceRef& points = field.points_of(set);
  const std::size_t size = field.type().size;
  exec::Node& node = source != nullptr
                         ? make_node(exec::NodeKind::copy, run_copy, &info_for(copy_name, origin),
                                     CopyPayload{source->instance, target.instance, points, size})
                         : make_node(exec::NodeKind::fill, run_fill, &info_for(fill_name, origin),
                                     FillPayload{target.instance, points, set.fill, size});
  log_operation(node, origin, &field, (source != nullptr ? *source : target).instance->memory,
                target.instance->memory, points);
  if (state_log_ != nullptr) [[unlikely]] {
    EquivalenceSet* const changed[] = {&set};
    if (source != nullptr) state_log_->change(StateChange::read, changed, *source->instance, node);
    state_log_->change(StateChange::validate, changed, *target.instance, node);
  }
  Edges edges = edges_to(node);
  const exec::NodeRef self{&node, node.seq};
  if (source != nullptr) {
    before_read(*source, edges.adder());
    note_reader(*source, self);
  } else if (set.fill->producer) {
    edges.add(set.fill->producer);
  }
  write(target, self, edges.adder());
  target.valid = true;
  if (source != nullptr) return publish_copy(edges);
  ++counters_.fills;
  publish(edges);
}

// The source line is that of the call that the operation is for.
const exec::NodeInfo& Analysis::info_for(const char* name, const Origin& origin) {
  return info_for(name, origin.info != nullptr ? origin.info->where : Where());
}

const exec::NodeInfo& Analysis::info_for(const char* name, const Where& where) {
  const auto [entry, added] = infos_.try_emplace({name, where.file_name(), where.line()});
  if (added) entry->second = {name, where};
  return entry->second;
}

void Analysis::publish_copy(const Edges& edges) {
  const auto& copy = edges.to().payload_as<CopyPayload>();
  counters_.count_copy(copy.source->memory * machine_.memories().size() + copy.target->memory,
                       copy.points->volume() * copy.value_size);
  publish(edges);
}

void Analysis::copy_field(FieldState& from, Footprint& source, Instance& source_instance,
                          FieldState& to, Footprint& target, Instance& target_instance,
                          Origin origin) {
  origin.argument = 0;
  make_valid(from, source, source_instance, origin);
  origin.argument = -1;
  exec::Node& node =
      make_node(exec::NodeKind::copy, run_copy, origin.info,
                CopyPayload{&source_instance, &target_instance, target.points, to.type().size});
  log_operation(node, origin, &to, source_instance.memory, target_instance.memory, target.points);
  Edges edges = edges_to(node);
  use(edges, source, source_instance, Privilege::read);
  use(edges, target, target_instance, Privilege::write);
  publish_copy(edges);
}

FoldPayload& Analysis::issue_fold(const exec::NodeRef& reducer, FieldState& field,
                                  Footprint& footprint, Instance& target,
                                  const ReductionOp* relaxed, const Origin& origin, bool gated) {
  make_valid(field, footprint, target, origin);
  exec::Node& fold = make_fold({nullptr, &target, footprint.points, nullptr, origin.info}, origin);
  fold.record = reducer.node->record;
  exec::ReducerGate::attach_fold(reducer, fold);
  if (gated) fold.flags = exec::kFold;
  publish_fold(fold, reducer, footprint, target, relaxed, origin);
  ++counters_.folds;
  return fold.payload_as<FoldPayload>();
}

void Analysis::issue_fold(const exec::NodeRef& taken, FoldPayload payload, Instance& target,
                          const ReductionOp* relaxed, const Origin& origin) {
  Footprint& footprint = target.field->footprint(payload.points, true);
  make_valid(*target.field, footprint, target, origin);
  payload.target = &target;
  publish_fold(make_fold(std::move(payload), origin), taken, footprint, target, relaxed, origin);
}

exec::Node& Analysis::make_fold(FoldPayload payload, const Origin& origin) {
  payload.argument = origin.argument;
  exec::Node& fold =
      make_node(exec::NodeKind::fold, run_fold, &info_for(fold_name, origin), std::move(payload));
  fold.payload_as<FoldPayload>().origin = failure_origin(fold, origin);
  return fold;
}

void Analysis::publish_fold(exec::Node& fold, const exec::NodeRef& after, Footprint& footprint,
                            Instance& target, const ReductionOp* relaxed, const Origin& origin) {
  log_operation(fold, origin, target.field, target.memory, target.memory, footprint.points);
  Edges edges = edges_to(fold);
  edges.add(after);
  if (relaxed != nullptr) {
    fold.payload_as<FoldPayload>().relaxed = relaxed->fold;
    use_relaxed(edges, footprint, target, relaxed->fold);
  } else {
    use(edges, footprint, target, Privilege::read_write);
  }
  publish(edges);
}

}  // namespace refrain::analysis
