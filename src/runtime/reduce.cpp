// One future from the values of a group launch.

#include <cstring>
#include <vector>

#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"

namespace refrain::runtime {

namespace {

// A fixed binary tree over [first, last): the shape depends on the number of points alone.
void fold_range(const detail::FutureState& values, const ReductionOp& op, std::size_t first,
                std::size_t last, std::byte* into) {
  if (last - first == 1) {
    std::memcpy(into, values.value(first), op.type->size);
    return;
  }
  const std::size_t middle = first + (last - first) / 2;
  std::vector<std::byte> right(op.type->size);
  fold_range(values, op, first, middle, into);
  fold_range(values, op, middle, last, right.data());
  op.fold(into, 0, right.data(), 0, 1);
}

void run_reduce(exec::Node& node, exec::Execution& execution) {
  auto& reduction = node.payload_as<FutureReduction>();
  reduction.run(execution.failure,
                [&node](const std::exception_ptr& error) -> const exec::Failure& {
                  return exec::fail(node, error);
                });
  reduction.~FutureReduction();
}

}  // namespace

void FutureReduction::fold() {
  const detail::FutureState& from = *values.state();
  auto* into = static_cast<std::byte*>(result.state()->storage(0));
  if (from.points() == 0) op->initialise(into, 1);
  else fold_range(from, *op, 0, from.points(), into);
}

AnyFuture ContextImpl::reduce(const AnyFuture& values, const ReductionOp& op, Where where) {
  runtime.executor().interleave();
  scope.throttle();
  const std::string who = "reduce at " + to_string(where);
  check_usable(values.state(), who);
  if (op.type == nullptr || op.initialise == nullptr || op.fold == nullptr)
    throw UsageError(who + ": operator '" + std::string(op.name) +
                     "' lacks its type or a function");
  if (values.state()->type().size != op.type->size)
    throw UsageError(who + ": operator '" + std::string(op.name) + "' on " +
                     std::string(op.type->name) + " (" + std::to_string(op.type->size) +
                     " bytes) does not fit values of " +
                     std::to_string(values.state()->type().size) + " bytes");
  const ResultType type{op.type->size, op.type->alignment, nullptr};
  AnyFuture result(detail::FutureState::make(type, identity));
  detail::FutureState* const given = values.state();
  traces.make(
      {CallKind::reduce, where, {&op}}, {&given, 1}, {},
      [&](ReplayCursor& replay) {
        replay.take_reduction({&given, 1}, {values, result, &op});
      },
      [&] { issue_reduction(values, result, op, where); });
  note_reduction(values, result);
  return result;
}

void ContextImpl::issue_reduction(const AnyFuture& values, const AnyFuture& result,
                                  const ReductionOp& op, Where where) {
  exec::Node& node = scope.allocate(sizeof(FutureReduction));
  ::new (node.payload()) FutureReduction{values, result, &op};
  node.kind = exec::NodeKind::other;
  node.run = run_reduce;
  node.info = &info_for("reduce", where);
  result.state()->set_producer(0, {&node, node.seq});
  const analysis::Origin origin{calls - 1, 0, -1, node.info};
  analysis.log_operation(node, origin);
  analysis::Edges edges = analysis.edges_to(node);
  depend_on(edges, *values.state());
  analysis.publish(edges);
}

// Who waits for the result has waited for the values.
void ContextImpl::note_reduction(const AnyFuture& values, const AnyFuture& result) {
  if (!grants.empty() && reductions_.size() < kReductions)
    reductions_.emplace(result.state()->producer(0).seq, values);
}

}  // namespace refrain::runtime
