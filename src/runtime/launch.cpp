// The way of a launch: it is replayed, or its plan is found and its points go to the analysis. One future from the values
// of a group.

#include <cstring>
#include <vector>

#include "profile/clock.hpp"
#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"

namespace refrain::runtime {

AnyFuture ContextImpl::launch_in_full(const LaunchRequest& request) {
  runtime.executor().interleave();
  if (!runtime.times_launches()) [[likely]]
    return analyse(request);
  return analyse_timed(request);
}

AnyFuture ContextImpl::analyse_timed(const LaunchRequest& request) {
  const std::uint64_t begin = profile::now_ns(), waited = analysis.counters().waited_ns;
  AnyFuture result = analyse(request);
  analysis_ns += profile::now_ns() - begin - (analysis.counters().waited_ns - waited);
  if (Listener* told = runtime.listener(Events::times); told != nullptr && !traces.is_on())
    told->timed(
        runtime.executor().this_thread(),
        until_now(profile::Category::analysing, request.task->name(), request.where, begin));
  return result;
}

AnyFuture ContextImpl::analyse(const LaunchRequest& request) {
  if (request.task == nullptr) [[unlikely]]
    throw UsageError("a launch at " + to_string(request.where) + " names no task");
  for (const detail::FutureState* future : request.futures)
    if (future == nullptr || future->context() != identity) [[unlikely]]
      check_usable(future, launch_name(request));
  std::span<const std::uint64_t> key = planner_.make_key(request);
  LaunchPlan* plan = planner_.asked_plan(request, key);
  if (replicated != nullptr)
    for (detail::FutureState* future : request.futures)
      if (replicated->has_to_be_sent(*future, request)) send_to_all(*future, request.where, calls);
  if (!traces.takes_launches()) [[unlikely]] {
    if (plan == nullptr) plan = &planner_.plan_of(request, key);
    planner_.wake(*plan);
    return issue(*this, *plan, request);
  }
  // A launch that the mapper is asked about is known by its plan: by what it is, and how it was answered.
  if (plan != nullptr) key = plan->key;
  AnyFuture result;
  Ticket ticket = traces.offer(TracedCall::of(request, key));
  if (ticket.replayed) {
    traces.cursor().take_launch(request, result);
    traces.cursor().issue_step();
    return result;
  }
  const ShownAnalysis shown{runtime.listener(Events::times), runtime.executor(),
                            request.task->name(), request.where};
  if (plan == nullptr) plan = &planner_.plan_of(request, key);
  planner_.wake(*plan);
  traces.analyse(ticket, *plan, request, [&] { result = issue(*this, *plan, request); });
  return result;
}

// The rest of it is in its token.
void ContextImpl::check_launch(const LaunchRequest& request) const {
  check_thread("launch", request.where);
  tell([&] {
    return ProgramCall{.kind = capture::CallKind::launch,
                       .where = request.where,
                       .launch = &request,
                       .number = calls};
  });
  if (call_log == nullptr) return;
  call_log->begin_launch(request.task != nullptr ? request.task->call_name().text() : "launch",
                         request.where);
  for (const detail::FutureState* future : request.futures)
    if (future != nullptr) call_log->add(future->call);
  if (request.value_ops != nullptr && request.value_ops->hash != nullptr &&
      request.values != nullptr)
    call_log->put_values(request.value_ops->hash(request.values));
}

// --- one value from those of a group -----------------------------------------------------------------

namespace {

// The values of the subtree [first, last).
void fold_range(const detail::FutureState& values, const ReductionOp& op, std::size_t first,
                std::size_t last, std::byte* into) {
  if (last - first == 1) {
    std::memcpy(into, values.value(first), op.type->size);
    return;
  }
  const std::size_t middle = middle_of(first, last);
  std::vector<std::byte> right(op.type->size);
  fold_range(values, op, first, middle, into);
  fold_range(values, op, middle, last, right.data());
  op.fold(into, 0, right.data(), 0, 1);
}

void run_reduce(exec::Node& node, exec::Execution& execution) {
  auto& reduction = node.payload_as<FutureReduction>();
  reduction.run(exec::FailureRef(execution.failure), [&](const std::exception_ptr& error) {
    return exec::fail(node, reduction.origin, error);
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

// Who waits for the result has waited for the values.
void ContextImpl::note_reduction(const AnyFuture& values, const AnyFuture& result) {
  if (!grants.empty() && reductions_.size() < kReductions)
    reductions_.emplace(result.state()->producer(0).seq, values);
}

}  // namespace refrain::runtime

namespace refrain {

AnyFuture detail::Launcher::launch(const LaunchRequest& request) {
  const auto launch = [&] {
    return impl_.make_call([&] { return impl_.launch(request); },
                           [&] { return runtime::launch_name(request); });
  };
  if (!impl_.looks_at_launches()) [[likely]]
    return launch();
  impl_.check_launch(request);
  const runtime::ContextImpl::CallEnd end{impl_.program_listener()};
  return launch();
}

AnyFuture Context::reduce_futures(const AnyFuture& of, const ReductionOp& op, Where where) {
  return impl_.make_call("reduce", where, [&] {
    // Where there is nothing to say, neither is made: they are half of a replayed reduction.
    const auto who = [&] { return "reduce at " + to_string(where); };
    const auto info = [&]() -> const exec::NodeInfo& {
      return impl_.analysis.info_for("reduce", where);
    };
    impl_.runtime.executor().interleave();
    impl_.scope.throttle();
    if (of.state() == nullptr || of.state()->context() != impl_.identity) [[unlikely]]
      impl_.check_usable(of.state(), who());
    if (impl_.call_log != nullptr) impl_.call_log->add(of.state()->call);
    if (op.type == nullptr || op.initialise == nullptr || op.fold == nullptr)
      runtime::fail(who(), "operator '{}' lacks its type or a function", op.name);
    if (of.state()->type().size != op.type->size)
      runtime::fail(who(), "operator '{}' on {} ({} bytes) does not fit values of {} bytes",
                    op.name, op.type->name, op.type->size, of.state()->type().size);
    const ResultType type{op.type->size, op.type->alignment, nullptr};
    impl_.tell([&] {
      return runtime::ProgramCall{.kind = capture::CallKind::reduce,
                                  .where = where,
                                  .op = &op,
                                  .future = of.state(),
                                  .number = impl_.calls};
    });
    AnyFuture result(detail::FutureState::make(type, impl_.identity));
    result.state()->call = impl_.calls;
    const bool is_spread = impl_.replicated != nullptr && impl_.replicated->is_spread(*of.state());
    const AnyFuture values = impl_.replicated != nullptr && !is_spread
                                 ? impl_.gather(*of.state(), info())
                                 : detail::share(of.state()->all());
    detail::FutureState* const given = values.state();
    const runtime::FutureReduction reduction{values, result, &op};
    runtime::CallIdentity call{runtime::CallKind::reduce, where, {&op}};
    if (is_spread) call.parts.emplace_back(std::uint64_t{1});
    impl_.traces.make(
        call, {&given, 1}, {},
        [&](runtime::ReplayCursor& replay) {
          if (is_spread)
            replay.take_exchanges(impl_.replicated->reduce(values, op, result, info(), impl_.calls),
                                  *given);
          else replay.take_reduction({&given, 1}, reduction);
        },
        [&] {
          if (is_spread)
            return impl_.replicated->issue(
                impl_.replicated->reduce(values, op, result, info(), impl_.calls - 1), *given,
                impl_.calls - 1);
          exec::Node& node = impl_.scope.allocate(sizeof reduction);
          ::new (node.payload()) runtime::FutureReduction(reduction);
          analysis::Origin origin{impl_.calls - 1};
          origin.on_shards = impl_.replicated != nullptr;
          node.payload_as<runtime::FutureReduction>().origin =
              analysis::failure_origin(node, origin);
          node.kind = exec::NodeKind::other;
          node.run = runtime::run_reduce;
          node.info = &info();
          result.state()->set_producer(0, {&node, node.seq});
          impl_.analysis.log_operation(node, {impl_.calls - 1, 0, -1, node.info});
          analysis::Edges edges = impl_.analysis.edges_to(node);
          impl_.depend_on(edges, *given);
          impl_.analysis.publish(edges);
        });
    impl_.note_reduction(values, result);
    return result;
  });
}

}  // namespace refrain
