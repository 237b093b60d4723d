// Data movement: the fills and copies of rule R2, and the folds of reductions.

#include <new>

#include "analysis/analysis.hpp"
#include "data/accumulator.hpp"
#include "data/layout.hpp"
#include "exec/reducer_gate.hpp"

namespace refrain::analysis {

namespace {

const exec::NodeInfo copy_info{"copy", {}}, fill_info{"fill", {}}, fold_info{"fold", {}};

struct CopyPayload {
  const Instance* source;
  const Instance* target;
  data::IndexSpaceRef points;
  std::size_t value_size;
};

void run_copy(exec::Node& node, exec::Execution& execution) {
  auto& copy = node.payload_as<CopyPayload>();
  if (execution.failure == nullptr)
    data::copy_points(*copy.points, copy.target->zero, copy.target->stride, copy.source->zero,
                      copy.source->stride, copy.value_size);
  copy.~CopyPayload();
}

struct FillPayload {
  const Instance* target;
  data::IndexSpaceRef points;
  std::shared_ptr<const FillValue> value;
  std::size_t value_size;
};

void run_fill(exec::Node& node, exec::Execution& execution) {
  auto& fill = node.payload_as<FillPayload>();
  if (execution.failure == nullptr) {
    const void* value = fill.value->future.valid()
                            ? refrain::detail::ready_value(*fill.value->future.state())
                            : fill.value->bytes.data();
    data::fill_points(*fill.points, fill.target->zero, fill.target->stride, value, fill.value_size);
  }
  fill.~FillPayload();
}

void fold(const FoldPayload& fold) {
  const Instance& target = *fold.target;
  if (target.accumulator != nullptr)
    fold.accumulator->fold_into(*fold.points, *target.accumulator, fold.relaxed);
  else fold.accumulator->fold_into(*fold.points, target.zero, target.stride, fold.relaxed);
}

// The operator is the program's, and may throw.
void run_fold(exec::Node& node, exec::Execution& execution) {
  auto& payload = node.payload_as<FoldPayload>();
  try {
    if (payload.accumulator != nullptr && execution.failure == nullptr) fold(payload);
  } catch (...) {
    exec::fail(node, std::current_exception(),
               exec::operation_name(payload.reducer, exec::NodeKind::task) + ", argument " +
                   std::to_string(payload.argument) + " (" + payload.target->field->describe() +
                   ", points " + data::to_string(*payload.points) +
                   "): folding what it contributed");
  }
  delete payload.accumulator;
  payload.~FoldPayload();
}

}  // namespace

void Analysis::issue_fill(FieldState& field, Piece& piece, Use& target, const Origin& origin) {
  const data::IndexSpaceRef& points = field.points_of(piece);
  exec::Node& node = scope_.allocate(sizeof(FillPayload));
  ::new (node.payload()) FillPayload{target.instance, points, piece.fill, field.type().size};
  node.kind = exec::NodeKind::fill;
  node.run = run_fill;
  node.info = &fill_info;
  log_operation(node, origin, &field, target.instance->memory, target.instance->memory, points);
  Edges edges = edges_to(node);
  if (piece.fill->producer) edges.add(piece.fill->producer, exec::EdgeKind::data);
  overwrite(edges, target, false);
  target.valid = true;
  ++counters_.fills;
  publish(edges);
}

void Analysis::issue_copy(FieldState& field, Piece& piece, Use& source, Use& target,
                          const Origin& origin) {
  const data::IndexSpaceRef& points = field.points_of(piece);
  exec::Node& node = scope_.allocate(sizeof(CopyPayload));
  ::new (node.payload()) CopyPayload{source.instance, target.instance, points, field.type().size};
  node.kind = exec::NodeKind::copy;
  node.run = run_copy;
  node.info = &copy_info;
  const MemoryId from = source.instance->memory, to = target.instance->memory;
  log_operation(node, origin, &field, from, to, points);
  Edges edges = edges_to(node);
  read(edges, source);
  overwrite(edges, target, false);
  target.valid = true;
  count_copy(from, to, points->volume() * field.type().size);
  publish(edges);
}

void Analysis::count_copy(MemoryId from, MemoryId to, std::uint64_t bytes) {
  const std::size_t link = from * machine_.memories().size() + to;
  ++counters_.copies;
  ++counters_.link_copies[link];
  counters_.copied_bytes += bytes;
  counters_.link_bytes[link] += bytes;
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
      nullptr, &target, footprint.points, relaxed != nullptr, origin.info, origin.argument};
  fold.kind = exec::NodeKind::fold;
  fold.run = run_fold;
  fold.info = &fold_info;
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
