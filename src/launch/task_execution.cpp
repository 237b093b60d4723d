#include "launch/task_execution.hpp"

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>

#include "exec/fiber.hpp"
#include "graph/reducer_gate.hpp"
#include "graph/replay_steps.hpp"
#include "graph/scope.hpp"
#include "memory/accumulator.hpp"
#include "refrain/error.hpp"

namespace refrain::runtime {

// --- from a plan to nodes ------------------------------------------------------------------------------

namespace {

void choose_instance(ContextCore& context, LaunchPlan& plan, PlannedArgument& argument,
                     const analysis::Origin& origin) {
  const ArgumentMapping& mapping = plan.own.mappings[argument.mapping];
  argument.instance = &context.analysis.instance_for(*argument.field, argument.points,
                                                     mapping.memories, mapping.layout, origin);
  argument.instance_epoch = argument.field->instance_epoch();
  argument.memory = argument.instance->memory;
}

// Whether the instances chosen last still hold, with the latest values of all that is read: then there is
// nothing for place_data to do. Says which instances the point uses.
bool data_in_place(ContextCore& context, std::span<const PlannedArgument> arguments) {
  for (const PlannedArgument& argument : arguments) {
    if (!argument.chosen()) return false;
    if (argument.privilege == Privilege::reduce ||
        (reads(argument.privilege) &&
         !analysis::Analysis::is_valid(*argument.footprint, *argument.instance)))
      return false;
    context.analysis.touch(*argument.instance);
  }
  return true;
}

// The data of a point task where it will be used, with its latest values. What can fail does so here.
void place_data(ContextCore& context, LaunchPlan& plan, const LaunchRecord& record,
                std::uint32_t rank) {
  const std::span<PlannedArgument> arguments = plan.arguments_of(rank);
  const auto origin = [&](const PlannedArgument& argument) {
    return analysis::Origin{record.call, rank, static_cast<int>(&argument - arguments.data()),
                            &plan.info};
  };
  // All instances first: what one argument uses is not evicted for the next.
  for (PlannedArgument& argument : arguments) {
    if (!argument.chosen()) choose_instance(context, plan, argument, origin(argument));
    context.analysis.touch(*argument.instance);
  }
  for (PlannedArgument& argument : arguments)
    if (reads(argument.privilege))
      context.analysis.make_valid(*argument.field, *argument.footprint, *argument.instance,
                                  origin(argument));
  // What folds need must be there: nothing throws once the task's node is made.
  for (PlannedArgument& argument : arguments)
    if (argument.privilege == Privilege::reduce)
      analysis::Analysis::check_values(*argument.field, *argument.footprint, origin(argument));
}

// Argument by argument, what each fold needs and the fold itself. The task is published last, since it
// tells its folds their accumulators.
void issue_folds(ContextCore& context, LaunchPlan& plan, std::uint64_t call, TaskPayload& payload,
                 analysis::Edges& edges) {
  exec::Node& reducer = edges.to();
  reducer.flags |= exec::kReducer;
  exec::ReducerGate::set_folds(reducer, plan.reductions);
  const std::span<PlannedArgument> arguments = plan.arguments_of(payload.rank);
  analysis::FoldPayload** fold = payload.folds(plan);
  /// The folds that the gate waits for, and that come back, are those that there are.
  struct Issued {
    exec::Node& reducer;
    LaunchRecord& record;
    std::uint32_t missing;
    ~Issued() {
      if (missing == 0) return;
      record.unreclaimed -= missing;
      const std::uint32_t issued = reducer.reduction - missing;
      if (issued == 0) reducer.flags &= static_cast<std::uint8_t>(~exec::kReducer);
      else exec::ReducerGate::set_folds(reducer, issued);
    }
  } issued{reducer, *payload.record, static_cast<std::uint32_t>(plan.reductions)};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const PlannedArgument& argument = arguments[i];
    if (argument.privilege != Privilege::reduce) continue;
    const analysis::Origin origin{call, payload.rank, static_cast<int>(i), &plan.info};
    const PlannedRequirement& requirement = plan.requirements[i];
    *fold++ = &context.analysis.issue_fold({&reducer, reducer.seq}, *argument.field,
                                           *argument.footprint, *argument.instance,
                                           requirement.relaxed ? requirement.op : nullptr, origin);
    --issued.missing;
  }
  context.analysis.publish(edges);
}

// Moves `next` on when the point has a node, which will come back whatever happens from then on.
void issue_point(ContextCore& context, LaunchPlan& plan, LaunchRecord& record, std::uint32_t& next,
                 bool inline_if_ready) {
  const std::uint32_t rank = next;
  if (context.scope.full()) [[unlikely]]
    context.make_room();
  const std::span<const PlannedArgument> arguments = plan.arguments_of(rank);
  context.analysis.begin_point();
  if (!data_in_place(context, arguments)) [[unlikely]]
    place_data(context, plan, record, rank);

  const PlannedPoint& point = plan.own.points[rank];
  exec::Node& node = context.scope.allocate_class(plan.node_class);
  auto& payload = *::new (node.payload()) TaskPayload{&record, rank};
  node.kind = exec::NodeKind::task;
  node.run = run_task;
  node.info = &plan.info;
  node.record = &record;
  node.processor = point.queue;
  node.priority = point.priority;
  ++next;
  if (context.analysis.has_log()) [[unlikely]]
    context.analysis.log_operation(node, {record.call, rank, -1, &plan.info});
  if (record.result.valid()) [[unlikely]]
    record.result.state()->set_producer(rank, {&node, node.seq});

  analysis::Edges edges = context.analysis.edges_to(node);
  for (const AnyFuture& future : record.futures) context.depend_on(edges, *future.state());
  PhysicalArgument* physical = payload.arguments();
  for (const PlannedArgument& argument : arguments) {
    ::new (physical++) PhysicalArgument{&argument.physical_points, {argument.instance}, nullptr};
    if (argument.privilege != Privilege::reduce) [[likely]] {
      context.analysis.use(edges, *argument.footprint, *argument.instance, argument.privilege);
    }
  }
  if (plan.reductions > 0) [[unlikely]]
    return issue_folds(context, plan, record.call, payload, edges);
  context.analysis.publish(edges, inline_if_ready);
}

}  // namespace

AnyFuture issue(ContextCore& context, LaunchPlan& plan, const LaunchRequest& request) {
  context.note_launch(plan);
  const std::uint32_t points = plan.own_points();
  if (points == 0) return context.records.make_result(plan, request);
  LaunchRecord& record = context.records.take(plan, request);
  AnyFuture result = record.result;
  const bool inline_if_ready = request.hints.inline_if_ready;
  std::uint32_t rank = 0;
  try {
    while (rank < points) issue_point(context, plan, record, rank, inline_if_ready);
  } catch (...) {
    // What is left of the launch will not run: no memory for it, or nothing to read.
    for (std::uint32_t left = rank; left < points; ++left) record.point_done();
    record.unreclaimed -= plan.nodes(points - rank);
    if (record.unreclaimed == 0) LaunchRecords::release(record);
    context.grants.lend(plan, nullptr);
    throw;
  }
  if (Listener* told = context.runtime.listener(Events::decisions)) [[unlikely]]
    told->launched(plan, context.deferred->why_analysed());
  if (!context.grants.empty()) [[unlikely]]
    context.grants.lend(plan, result.state());
  return result;
}

// --- from a node to a body -----------------------------------------------------------------------------

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
  const PlannedPoint& point = plan.own.points[payload.rank];
  detail::FutureState* result = record.result.state();
  // All members given: a frame that is zeroed first costs more than an empty body.
  const TaskFrame frame{
      running.prepare(), record.values,
      record.futures,    result != nullptr ? result->storage(payload.rank) : nullptr,
      point.point,       point.launch_rank,
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

// A point has had its turn, whatever happens; the last one ends what the launch holds.
struct PointDone {
  LaunchRecord& record;
  bool replayed;
  ~PointDone() {
    if (record.holds_something) record.point_done(replayed);
  }
};

void fail_result(const TaskPayload& payload, const exec::Failure& failure) {
  if (detail::FutureState* result = payload.record->result.state())
    result->fail(payload.rank, failure);
}

}  // namespace

void run_task(exec::Node& node, exec::Execution& execution) {
  auto& payload = node.payload_as<TaskPayload>();
  const PointDone done{*payload.record, false};
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
  const PointDone done{*payload.record, true};
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
