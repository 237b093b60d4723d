// The way of a launch: it is replayed, or its plan is found and its points go to the analysis.

#include "profile/clock.hpp"
#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"

namespace refrain::runtime {

AnyFuture ContextImpl::launch_in_full(const LaunchRequest& request) {
  runtime.executor().interleave();
  if (!runtime.times_launches()) [[likely]]
    return analyse(request);
  const std::uint64_t begin = profile::now_ns(), waited = analysis.counters().waited_ns;
  AnyFuture result = analyse(request);
  analysis_ns += profile::now_ns() - begin - (analysis.counters().waited_ns - waited);
  if (Listener* told = runtime.listener(Events::times); told != nullptr && !traces.is_on())
    told->analysed(request.task->name(), request.where, runtime.executor().this_thread(), begin);
  return result;
}

AnyFuture ContextImpl::analyse(const LaunchRequest& request) {
  if (request.task == nullptr) [[unlikely]]
    throw UsageError("a launch at " + to_string(request.where) + " names no task");
  for (const detail::FutureState* future : request.futures)
    if (future == nullptr || future->context() != identity) [[unlikely]]
      check_usable(future, launch_name(request));
  if (traces.takes_launches()) [[likely]]
    return trace_launch(request);
  const std::span<const std::uint64_t> key = planner_.make_key(request);
  LaunchPlan* const asked = planner_.asked_plan(request, key);
  LaunchPlan& plan = asked != nullptr ? *asked : planner_.plan_of(request, key);
  planner_.wake(plan);
  return issue(*this, plan, request);
}

AnyFuture ContextImpl::trace_launch(const LaunchRequest& request) {
  // A launch that the mapper is asked about is known by its plan: by what it is, and how it was answered.
  std::span<const std::uint64_t> key = planner_.make_key(request);
  LaunchPlan* plan = planner_.asked_plan(request, key);
  if (plan != nullptr) key = plan->key;
  AnyFuture result;
  Ticket ticket = traces.offer(TracedCall::of(request, key));
  if (ticket.replayed) {
    traces.cursor().take_launch(request, result);
    traces.cursor().issue_step();
    return result;
  }
  const ShownAnalysis shown(runtime.listener(Events::times), runtime.executor(),
                            request.task->name(), request.where);
  if (plan == nullptr) plan = &planner_.plan_of(request, key);
  planner_.wake(*plan);
  traces.analyse(ticket, *plan, request, [&] { result = issue(*this, *plan, request); });
  return result;
}

}  // namespace refrain::runtime
