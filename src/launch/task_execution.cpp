#include "launch/task_execution.hpp"

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "exec/fiber.hpp"
#include "graph/replay_steps.hpp"
#include "graph/scope.hpp"
#include "launch/argument_info.hpp"
#include "launch/context_core.hpp"
#include "memory/accumulator.hpp"
#include "refrain/error.hpp"

namespace refrain::runtime {

namespace {

// The running body, as its TaskFrame reaches it. A context of its own is made when the body first asks.
class RunningTask final : public detail::ContextSource,
                          public detail::Waiter,
                          public detail::Lending {
 public:
  RunningTask(LaunchRecord& record, TaskPayload& payload, exec::Execution& execution)
      : record_(record), payload_(payload), execution_(execution) {}

  std::span<const PhysicalArgument> prepare() {
    const LaunchPlan& plan = *record_.plan;
    if (plan.reductions > 0) [[unlikely]]
      make_accumulators();
    if (plan.check) [[unlikely]]
      watch();
    return {payload_.arguments(), plan.argument_count};
  }

  Context& context() override {
    if (!nested_) {
      if (exec::Stack::current().nearly_full()) [[unlikely]]
        fail_depth();
      nested_ = record_.context->make_nested(*record_.context, record_, payload_);
    }
    return nested_->facade();
  }
  void parallel_for(std::int64_t count, std::int64_t grain,
                    const std::function<void(std::int64_t, std::int64_t)>& f) override {
    execution_.executor.parallel_for(count, grain, f);
  }

  // Futures that were given as arguments are ready; others it must have launched itself.
  [[nodiscard]] bool may_wait_for(const detail::FutureState& state) const override {
    for (const AnyFuture& given : record_.futures)
      if (given.state() == &state) return true;
    return nested_ && nested_->may_wait_for(state);
  }
  void wait_for(detail::FutureState& state, std::size_t rank_or_all) override {
    if (nested_) nested_->wait_for(state, rank_or_all);
  }
  void has_waited_for(detail::FutureState& state, std::size_t rank_or_all) override {
    if (nested_) nested_->has_waited_for(state, rank_or_all);
  }

  [[nodiscard]] const ContextCore* context_in_use() const override {
    return nested_ ? nested_->context_in_use() : nullptr;
  }

  [[nodiscard]] bool is_lent(std::size_t argument) const override {
    return nested_ && nested_->is_lent(argument);
  }

  void finish() {
    if (nested_) nested_->finish();
  }
  void abandon() noexcept {
    if (nested_) nested_->abandon();
  }

 private:
  /// This thread runs the bodies that wait for each other one above the other on its stack.
  [[noreturn]] void fail_depth() const {
    throw Error("its body gets no context, " + std::to_string(record_.context->scope.depth() + 1) +
                " tasks deep: the stack of the thread that runs it is nearly full, because tasks "
                "that wait for their children stay there; nest less deeply, or give the program a "
                "larger stack (ulimit -s)");
  }

  [[gnu::noinline]] void make_accumulators() {
    LaunchPlan& plan = *record_.plan;
    const std::span<const PlannedArgument> planned = plan.arguments_of(payload_.rank);
    analysis::FoldPayload** fold = payload_.folds(plan);
    for (std::size_t i = 0; i < planned.size(); ++i) {
      if (planned[i].privilege != Privilege::reduce) continue;
      auto* made = new detail::Accumulator(*plan.requirements[i].op, *planned[i].points);
      (*fold++)->accumulator = made;
      payload_.arguments()[i].accumulator = made;
    }
  }

  /// Every access is to be checked.
  [[gnu::noinline]] void watch() {
    const std::size_t count = record_.plan->argument_count;
    infos_ = std::make_unique<detail::ArgumentInfo[]>(count);
    for (std::size_t i = 0; i < count; ++i) {
      infos_[i] = {record_.plan, payload_.rank, i, this};
      payload_.arguments()[i].info = &infos_[i];
    }
  }

  LaunchRecord& record_;
  TaskPayload& payload_;
  exec::Execution& execution_;
  std::unique_ptr<detail::ArgumentInfo[]> infos_;
  std::unique_ptr<NestedContext> nested_;  ///< its size is not for every task's stack
};

// The thread is being ended, and others' work with it; such an exception cannot be held up.
[[noreturn, gnu::cold]] void end_with_thread(const exec::NodeInfo& info) {
  std::fflush(stdout);
  std::fprintf(
      stderr,
      "refrain: %s ends the thread that runs it, by pthread_exit or because the thread was "
      "cancelled; a body returns, or throws an exception\n",
      exec::operation_name(&info, exec::NodeKind::task).c_str());
  std::_Exit(EXIT_FAILURE);
}

inline void run_body(LaunchRecord& record, TaskPayload& payload, exec::Execution& execution) {
  const LaunchPlan& plan = *record.plan;
  RunningTask running(record, payload, execution);
  const detail::CurrentWaiter current(running);
  const PlannedPoint& point = plan.points[payload.rank];
  detail::FutureState* result = record.result.state();
  // All members given: a frame that is zeroed first costs more than an empty body.
  const TaskFrame frame{
      running.prepare(), record.values,
      record.futures,    result != nullptr ? result->storage(payload.rank) : nullptr,
      point.point,       payload.rank,
      &running};
  try {
    point.variant->body(frame);
    if (result != nullptr) result->constructed(payload.rank);
    running.finish();
    if (result != nullptr) result->finish(payload.rank);
  } catch (const abi::__forced_unwind&) { end_with_thread(plan.info); } catch (...) {
    running.abandon();
    throw;
  }
}

}  // namespace

namespace {

// A point has had its turn, whatever happens; the last one ends what the launch holds.
struct PointDone {
  LaunchRecord& record;
  void (LaunchRecord::*done)();
  ~PointDone() {
    if (record.holds_something) (record.*done)();
  }
};

void fail_result(const TaskPayload& payload, const exec::Failure& failure) {
  if (detail::FutureState* result = payload.record->result.state())
    result->fail(payload.rank, failure);
}

}  // namespace

void run_task(exec::Node& node, exec::Execution& execution) {
  auto& payload = node.payload_as<TaskPayload>();
  const PointDone done{*payload.record, &LaunchRecord::point_done};
  if (execution.failure != nullptr) [[unlikely]]
    return fail_result(payload, *execution.failure);
  try {
    run_body(*payload.record, payload, execution);
  } catch (...) {
    // One failure for the data and for the future: who has been told by either knows.
    fail_result(payload, exec::fail(node, std::current_exception()));
  }
}

void run_shared_task(TaskPayload& payload, exec::Execution& execution) {
  run_body(*payload.record, payload, execution);
}

void run_own_task(TaskPayload& payload, exec::Replay& replay, std::uint32_t index,
                  exec::Execution& execution) {
  const PointDone done{*payload.record, &LaunchRecord::replayed_point_done};
  if (execution.failure != nullptr) [[unlikely]]
    return fail_result(payload, *execution.failure);
  try {
    run_body(*payload.record, payload, execution);
  } catch (...) {
    const exec::Failure& failure = exec::fail(replay, index, std::current_exception());
    fail_result(payload, failure);
    execution.failure = &failure;
  }
}

TaskPayload* make_payload(std::byte* memory, LaunchRecord& record, std::uint32_t rank) {
  auto* payload = ::new (memory) TaskPayload{&record, rank};
  PhysicalArgument* physical = payload->arguments();
  for (const PlannedArgument& argument : record.plan->arguments_of(rank))
    ::new (physical++) PhysicalArgument{&argument.physical_points, {argument.instance}, nullptr};
  return payload;
}

}  // namespace refrain::runtime

namespace refrain::detail {

namespace {

/// Of a task, or of an access of the program.
std::string name_of(const ArgumentInfo& info) {
  const runtime::LaunchPlan& plan = *info.plan;
  return exec::operation_name(&plan.info,
                              plan.task ? exec::NodeKind::task : exec::NodeKind::access) +
         ", argument " + std::to_string(info.argument) + " (" + info.planned().region.name() +
         ", field '" + plan.requirements[info.argument].field + "')";
}

[[noreturn]] void fail_access(const ArgumentInfo& info, const Point<3>& p, const std::string& why) {
  throw UsageError(name_of(info) + ": access to point " + data::to_string(p, info.points().dim()) +
                   " " + why);
}

}  // namespace

void fail_argument(std::size_t asked, std::size_t arguments) {
  throw UsageError("a task's body asks for its argument " + std::to_string(asked) +
                   ", but it was launched with " + std::to_string(arguments) + " region arguments");
}

void check_accessor(const ArgumentInfo& info, Privilege privilege, const ValueType& type, int dim) {
  const runtime::PlannedRequirement& given = info.plan->requirements[info.argument];
  // Asking for less is fine: a reader of what it may also write.
  const bool allowed = given.privilege == privilege ||
                       (given.privilege == Privilege::read_write && privilege != Privilege::reduce);
  if (allowed && given.type == type && info.points().dim() == dim) return;
  const auto describe = [](Privilege p, const ValueType& t, int d) {
    return std::string(to_string(p)) + " access to " + std::string(t.name) + " in " +
           std::to_string(d) + " dimensions";
  };
  throw UsageError(name_of(info) + ": the body asks for " + describe(privilege, type, dim) +
                   ", the launch gave " +
                   describe(given.privilege, given.type, info.points().dim()));
}

void check_access(const ArgumentInfo& info, const Point<3>& p) {
  if (info.lent())
    fail_access(info, p,
                "while a child may be changing it: wait for its future, or call fence(), first");
  if (!info.points().contains(p))
    fail_access(info, p,
                "outside the argument, which is " +
                    data::to_string(info.points().bounds(), info.points().dim()) +
                    (info.points().dense() ? "" : ", sparse"));
}

}  // namespace refrain::detail
