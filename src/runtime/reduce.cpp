// One future from the values of a group launch.

#include <cstring>
#include <vector>

#include "launch/future_reduction.hpp"
#include "launch/signature.hpp"
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
  const ResultType type{op.type->size, op.type->alignment, nullptr};
  AnyFuture result(detail::FutureState::make(futures_, type, identity_));
  std::vector<std::uint64_t> key;
  detail::FutureState* const given = values.state();
  if (tracing_ != nullptr) {
    key = call_key(Signature::Call::reduce, {}, {}, where);
    key.push_back(reinterpret_cast<std::uint64_t>(&op));
    if (tracing_->replay_reduction({key, "reduce", where, nullptr, {&given, 1}},
                                   {values, result, &op})) {
      note_reduction(values, result);
      return result;
    }
  }
  const ShownAnalysis shown(runtime_.listener(Events::times), runtime_.executor(), "reduce", where);
  Signature signature(Signature::Call::reduce);
  signature.add(op.name);
  signature.add(op.type->name);
  note_analysed_call(signature);
  exec::Node& node = scope_.allocate(sizeof(FutureReduction));
  ::new (node.payload()) FutureReduction{values, result, &op};
  node.kind = exec::NodeKind::other;
  node.run = run_reduce;
  node.info = &info_for("reduce", where);
  result.state()->set_producer(0, {&node, node.seq});
  note_reduction(values, result);
  const analysis::Origin origin{calls_ - 1, 0, -1, node.info};
  analysis_.log_operation(node, origin);
  analysis::Edges edges = analysis_.edges_to(node);
  depend_on(edges, *values.state());
  analysis_.publish(edges);
  if (tracing_ != nullptr)
    tracing_->reduced({key, "reduce", where, nullptr, {&given, 1}}, signature.token());
  return result;
}

// Who waits for the result has waited for the values.
void ContextImpl::note_reduction(const AnyFuture& values, const AnyFuture& result) {
  if (!grants_.empty() && reductions_.size() < kReductions)
    reductions_.emplace(result.state()->producer(0).seq, values);
}

}  // namespace refrain::runtime
