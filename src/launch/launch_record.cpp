#include "launch/launch_record.hpp"

#include <new>
#include <utility>

#include "base/text.hpp"
#include "launch/context_core.hpp"
#include "refrain/error.hpp"
#include "refrain/launch.hpp"

namespace refrain {

void detail::fail_values(const LaunchRequest& launch) {
  try {
    throw;
  } catch (const Error&) { throw; } catch (...) {
    fail_around(runtime::launch_name(launch) + ": copying or moving a by-value argument threw");
  }
}

}  // namespace refrain

namespace refrain::runtime {

void LaunchRecord::take_values(void* from, const ValueOps* ops) {
  value_ops = ops;
  if (ops == nullptr) return;
  const bool fits = ops->size <= kInlineValues && ops->alignment <= alignof(std::max_align_t);
  values = fits ? inline_values : ::operator new(ops->size, std::align_val_t(ops->alignment));
  try {
    ops->move(values, from);
  } catch (...) {
    if (!fits) ::operator delete(values, std::align_val_t(ops->alignment));
    value_ops = nullptr;
    values = nullptr;
    throw;
  }
}

void LaunchRecord::point_done(bool replayed) {
  if (unfinished.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (value_ops != nullptr) {
    value_ops->destroy(values);
    if (values != inline_values) ::operator delete(values, std::align_val_t(value_ops->alignment));
    value_ops = nullptr;
    values = nullptr;  // the record's next launch may have none
  }
  futures.clear();
  if (replayed) result = {};
}

AnyFuture LaunchRecords::make_result(const LaunchPlan& plan, const LaunchRequest& request) {
  const ResultType& type = request.task->result();
  if (!request.wants_future || type.size == 0) return {};
  return AnyFuture(plan.group ? detail::FutureState::make_group(context_.futures, type,
                                                                context_.identity, plan.points)
                              : detail::FutureState::make(context_.futures, type, context_.identity,
                                                          plan.own_points()));
}

LaunchRecord& LaunchRecords::take(LaunchPlan& plan, const LaunchRequest& request) {
  LaunchRecord* record = free_;
  if (record == nullptr) {
    record = all_.emplace_back(std::make_unique<LaunchRecord>()).get();
    record->context = &context_;
  } else {
    free_ = record->next_free;
  }
  record->plan = &plan;
  record->unreclaimed = plan.nodes(plan.own_points());
  if (plan.in_flight++ == 0)
    for (const LaunchPlan::Tree& used : plan.trees) used.tree->pin();
  record->holds_something = request.value_ops != nullptr || !request.futures.empty();
  if (!record->holds_something && !request.wants_future) [[likely]] {
    record->begin(context_.calls - 1);
    return *record;
  }
  try {
    fill(*record, request);
  } catch (...) {  // a value that cannot be moved: nothing was launched
    release(*record);
    throw;
  }
  return *record;
}

void LaunchRecords::fill(LaunchRecord& record, const LaunchRequest& request) {
  if (const ValueOps* ops = request.value_ops)
    if (request.values == nullptr || ops->move == nullptr || ops->destroy == nullptr) [[unlikely]]
      throw UsageError(launch_name(request) +
                       ": its by-value arguments, or what moves or ends them, are null");
  // First what takes memory: nothing is moved in, or all is.
  record.futures.reserve(request.futures.size());
  AnyFuture result;
  if (request.wants_future) result = make_result(*record.plan, request);
  try {
    record.take_values(request.values, request.value_ops);
  } catch (...) { detail::fail_values(request); }
  record.begin(context_.calls - 1);
  for (detail::FutureState* future : request.futures) {
    detail::retain(future);
    record.futures.emplace_back(future);
  }
  if (request.wants_future) record.result = std::move(result);
}

void LaunchRecords::reclaim(exec::Node& node) {
  if (node.record == nullptr) return;
  auto& record = *static_cast<LaunchRecord*>(node.record);
  if (--record.unreclaimed == 0) release(record);
}

void LaunchRecords::release(LaunchRecord& record) {
  if (--record.plan->in_flight == 0)
    for (const LaunchPlan::Tree& used : record.plan->trees) used.tree->unpin();
  record.result = {};
  LaunchRecords& home = record.context->records;
  record.next_free = home.free_;
  home.free_ = &record;
}

}  // namespace refrain::runtime
