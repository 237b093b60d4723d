// One future from the values of a group launch.

#include <cstring>
#include <vector>

#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"
#include "runtime/signature.hpp"

namespace refrain::runtime {

namespace {

struct ReducePayload {
  AnyFuture values;
  AnyFuture result;
  const ReductionOp* op;
};

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
  auto& reduce = node.payload_as<ReducePayload>();
  detail::FutureState& result = *reduce.result.state();
  if (execution.failure != nullptr) {
    result.fail(0, *execution.failure);
  } else {
    const detail::FutureState& values = *reduce.values.state();
    auto* into = static_cast<std::byte*>(result.storage(0));
    try {
      if (values.points() == 0) reduce.op->initialise(into, 1);
      else fold_range(values, *reduce.op, 0, values.points(), into);
      result.finish(0);
    } catch (...) {  // the operator is the program's
      result.fail(0, exec::fail(node, std::current_exception()));
    }
  }
  reduce.~ReducePayload();
}

}  // namespace

AnyFuture ContextImpl::reduce(const AnyFuture& values, const ReductionOp& op, Where where) {
  runtime_.executor().interleave();
  scope_.throttle();
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
  if (tracing_ != nullptr) tracing_->untraceable("the values of a group were reduced");
  Signature signature(Signature::Call::reduce);
  signature.add(op.name);
  signature.add(op.type->name);
  note_call(signature.token());
  const ResultType type{op.type->size, op.type->alignment, nullptr};
  AnyFuture result(detail::FutureState::make(futures_, type, identity_));
  exec::Node& node = scope_.allocate(sizeof(ReducePayload));
  ::new (node.payload()) ReducePayload{values, result, &op};
  node.kind = exec::NodeKind::other;
  node.run = run_reduce;
  node.info = &info_for("reduce", where);
  result.state()->set_producer(0, {&node, node.seq});
  if (!grants_.empty() && reductions_.size() < kReductions) reductions_.emplace(node.seq, values);
  const analysis::Origin origin{calls_ - 1, 0, -1, node.info};
  analysis_.log_operation(node, origin);
  analysis::Edges edges = analysis_.edges_to(node);
  depend_on(edges, *values.state());
  analysis_.publish(edges);
  return result;
}

}  // namespace refrain::runtime
