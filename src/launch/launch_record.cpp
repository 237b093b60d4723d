#include "launch/launch_record.hpp"

#include <cxxabi.h>

#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "exec/fiber.hpp"
#include "graph/reducer_gate.hpp"
#include "graph/replay_steps.hpp"
#include "graph/scope.hpp"
#include "launch/context_core.hpp"
#include "launch/operation_detail.hpp"
#include "memory/accumulator.hpp"
#include "refrain/error.hpp"
#include "refrain/launch.hpp"

namespace refrain {

std::uint64_t detail::mix_bytes(std::uint64_t hash, const void* bytes, std::size_t size) noexcept {
  return hash_bytes(bytes, size, hash);
}

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
  if (ops == nullptr) return;
  const bool fits = ops->size <= kInlineValues && ops->alignment <= alignof(std::max_align_t);
  void* const room =
      fits ? inline_values : ::operator new(ops->size, std::align_val_t(ops->alignment));
  try {
    ops->move(room, from);
  } catch (...) {
    if (!fits) ::operator delete(room, std::align_val_t(ops->alignment));
    throw;
  }
  values = room;
  value_ops = ops;
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
  // A single launch's value comes from where it runs.
  const std::size_t points = context_.replicated != nullptr && !plan.group ? 1 : plan.own_points();
  AnyFuture result(detail::FutureState::make(type, context_.identity, points,
                                             plan.group ? plan.points : LaunchPoints{}));
  result.state()->call = context_.calls - 1;
  return result;
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
  record->unreclaimed = plan.own_points();
  if (plan.in_flight++ == 0)
    for (const data::UsedTree& used : plan.trees) used.pin();
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
  AnyFuture result = make_result(*record.plan, request);
  try {
    record.take_values(request.values, request.value_ops);
  } catch (...) { detail::fail_values(request); }
  record.begin(context_.calls - 1);
  for (detail::FutureState* future : request.futures) {
    detail::retain(future);
    record.futures.emplace_back(future);
  }
  record.result = std::move(result);
}

void ContextCore::reclaim(exec::Node& node) {
  if (node.record == nullptr) return;
  auto& record = *static_cast<LaunchRecord*>(node.record);
  if (--record.unreclaimed == 0) LaunchRecords::release(record);
}

void LaunchRecords::release(LaunchRecord& record) {
  if (--record.plan->in_flight == 0)
    for (const data::UsedTree& used : record.plan->trees) used.unpin();
  record.result = {};
  LaunchRecords& home = record.context->records;
  record.next_free = home.free_;
  home.free_ = &record;
}

// --- from a plan to nodes ------------------------------------------------------------------------------

namespace {

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

// What folds need must be there: on this shard, what is folded here.
void check_folds(ContextCore& context, const LaunchPlan& plan, const PlannedArgument& argument,
                 const analysis::Origin& origin) {
  if (context.replicated == nullptr)
    return analysis::Analysis::check_values(*argument.field, *argument.footprint, origin);
  const std::uint32_t launch_rank = plan.own.points[origin.rank].launch_rank;
  for (const ContributionPart& part :
       context.replicated->parts(launch_rank, static_cast<std::size_t>(origin.argument)))
    if (part.message == ContributionPart::kHere)
      analysis::Analysis::check_values(*argument.field,
                                       argument.field->footprint(part.points, true), origin);
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
    if (!argument.chosen()) {
      const ArgumentMapping& mapping = plan.own.mappings[argument.mapping];
      argument.instance = &context.analysis.instance_for(
          *argument.field, argument.points, {mapping.memories, mapping.layout, mapping.when_full},
          origin(argument));
      argument.instance_epoch = argument.field->instance_epoch();
      argument.memory = argument.instance->memory;
    }
    context.analysis.touch(*argument.instance);
  }
  for (PlannedArgument& argument : arguments)
    if (reads(argument.privilege))
      context.analysis.make_valid(*argument.field, *argument.footprint, *argument.instance,
                                  origin(argument));
  // Nothing throws once the task's node is made.
  for (PlannedArgument& argument : arguments)
    if (argument.privilege == Privilege::reduce)
      check_folds(context, plan, argument, origin(argument));
}

/// Whether another shard folds some of what the point contributes.
bool gives_away(Replicated& replicated, const LaunchPlan& plan, std::uint32_t launch_rank) {
  for (std::size_t i = 0; i < plan.argument_count; ++i)
    if (plan.requirements[i].privilege == Privilege::reduce)
      for (const ContributionPart& part : replicated.parts(launch_rank, i))
        if (part.message != ContributionPart::kHere) return true;
  return false;
}

// Argument by argument, what each fold needs and the fold itself. The task is published last, since it
// tells its folds their accumulators. Each fold is counted when it is issued, so a throw half-way leaves the right
// numbers.
void issue_folds(ContextCore& context, LaunchPlan& plan, LaunchRecord& record, TaskPayload& payload,
                 analysis::Edges& edges) {
  exec::Node& reducer = edges.to();
  const std::span<PlannedArgument> arguments = plan.arguments_of(payload.rank);
  analysis::FoldPayload** const folds = payload.folds(plan);
  const std::uint32_t launch_rank = plan.own.points[payload.rank].launch_rank;
  // What is given away goes with the contributions of other points in one message, which folds here may wait for in turn,
  // on other shards. So it must not wait for folds, and takes no slot of the gate.
  const bool gated =
      context.replicated == nullptr || !gives_away(*context.replicated, plan, launch_rank);
  std::uint32_t issued = 0, reductions = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const PlannedArgument& argument = arguments[i];
    if (argument.privilege != Privilege::reduce) continue;
    analysis::Origin origin{record.call, launch_rank, static_cast<int>(i), &plan.info};
    origin.on_shards = context.replicated != nullptr;
    const PlannedRequirement& requirement = plan.requirements[i];
    const ReductionOp* const relaxed = requirement.relaxed ? requirement.op : nullptr;
    const exec::NodeRef self{&reducer, reducer.seq};
    analysis::FoldPayload** link = &folds[reductions++];
    const auto issue = [&](auto make) {
      *link = &make();
      link = &(*link)->next;
      ++issued;
      ++record.unreclaimed;
      if (!gated) return;
      reducer.flags |= exec::kReducer;
      exec::ReducerGate::set_folds(reducer, issued);
    };
    const auto fold = [&](analysis::Footprint& footprint) {
      issue([&]() -> analysis::FoldPayload& {
        return context.analysis.issue_fold(self, *argument.field, footprint, *argument.instance,
                                           relaxed, origin, gated);
      });
    };
    const auto parts = context.replicated != nullptr ? context.replicated->parts(launch_rank, i)
                                                     : std::span<const ContributionPart>();
    if (parts.empty()) fold(*argument.footprint);
    for (const ContributionPart& part : parts) {
      if (part.message == ContributionPart::kHere)
        fold(argument.field->footprint(part.points, true));
      else
        issue([&]() -> analysis::FoldPayload& {
          return context.replicated->give(self, part, origin);
        });
    }
  }
  context.analysis.publish(edges);
}

// Moves `next` on when the point has a node, which will come back whatever happens from then on.
void issue_point(ContextCore& context, LaunchPlan& plan, LaunchRecord& record, std::uint32_t& next,
                 bool inline_if_ready) {
  const std::uint32_t rank = next;
  // On several shards there was room before the launch: what is in flight may wait for points that are still to come.
  if (context.scope.window().full() && context.replicated == nullptr) [[unlikely]]
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
    if (argument.privilege != Privilege::reduce) [[likely]]
      context.analysis.use(edges, *argument.footprint, *argument.instance, argument.privilege);
  }
  if (plan.reductions > 0) [[unlikely]]
    return issue_folds(context, plan, record, payload, edges);
  context.analysis.publish(edges, inline_if_ready);
}

}  // namespace

AnyFuture issue(ContextCore& context, LaunchPlan& plan, const LaunchRequest& request) {
  context.note_launch(plan);
  const std::uint32_t points = plan.own_points();
  Replicated* const replicated = context.replicated.get();
  if (points == 0 && replicated == nullptr) return context.records.make_result(plan, request);
  if (replicated != nullptr) {
    if (context.scope.window().full()) context.make_room();
    replicated->begin(plan, context.calls - 1);
  }
  if (points == 0) {
    AnyFuture result = context.records.make_result(plan, request);
    replicated->end(plan, result);
    return result;
  }
  LaunchRecord* taken = nullptr;
  AnyFuture result;
  std::uint32_t rank = 0;
  try {
    taken = &context.records.take(plan, request);
    result = taken->result;
    while (rank < points) {
      if (replicated != nullptr) replicated->fold_before(plan, plan.own.points[rank].launch_rank);
      issue_point(context, plan, *taken, rank, request.hints.inline_if_ready);
    }
    if (replicated != nullptr) replicated->end(plan, result);
  } catch (...) {
    // Others may have no point, or have sent and received already.
    if (replicated != nullptr) replicated->end_run(std::current_exception());
    if (taken == nullptr) throw;
    LaunchRecord& record = *taken;
    // What is left of the launch will not run: no memory for it, or nothing to read.
    for (std::uint32_t left = rank; left < points; ++left) record.point_done();
    record.unreclaimed -= points - rank;
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

// The running body, as its TaskFrame reaches it. A context of its own is made when the body first asks, and waits for
// futures from then on.
class RunningTask final : public detail::ContextSource, public detail::Waiter {
 public:
  RunningTask(LaunchRecord& record, TaskPayload& payload, exec::Execution& execution)
      : record_(record), payload_(payload), execution_(execution) {}
  /// Before the body's context ends: until then the thread may wait by it.
  ~RunningTask() { Waiter::set_current(before_); }
  RunningTask(const RunningTask&) = delete;

  [[nodiscard]] const LaunchRecord& record() const { return record_; }
  [[nodiscard]] std::uint32_t rank() const { return payload_.rank; }

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
      if (Waiter::current() == this) Waiter::set_current(nested_.get());
      for (std::size_t i = 0; infos_ && i < record_.plan->argument_count; ++i)
        infos_[i].context = nested_.get();
    }
    return nested_->facade();
  }
  void parallel_for(std::int64_t count, std::int64_t grain,
                    const std::function<void(std::int64_t, std::int64_t)>& f) override {
    execution_.executor.parallel_for(count, grain, f);
  }

  /// The body's own context, once it has asked for one.
  [[nodiscard]] NestedContext* nested() { return nested_.get(); }

 private:
  /// This thread runs the bodies that wait for each other one above the other on its stack.
  [[noreturn]] void fail_depth() const {
    throw Error("its body gets no context, " + std::to_string(record_.context->scope.depth() + 1) +
                " tasks deep: the stack of the thread that runs it is nearly full, because tasks "
                "that wait for their children stay there; nest less deeply, or give the program a "
                "larger stack (ulimit -s)");
  }

  [[gnu::noinline]] void make_accumulators() {
    if (record_.context->runtime.is_imagined()) return;
    LaunchPlan& plan = *record_.plan;
    const std::span<const PlannedArgument> planned = plan.arguments_of(payload_.rank);
    analysis::FoldPayload** fold = payload_.folds(plan);
    for (std::size_t i = 0; i < planned.size(); ++i) {
      if (planned[i].privilege != Privilege::reduce) continue;
      const auto made = std::make_shared<detail::Accumulator>(
          *plan.requirements[i].op, *planned[i].points,
          plan.own.mappings[planned[i].mapping].layout.sparse);
      payload_.arguments()[i].accumulator = made.get();
      for (analysis::FoldPayload* each = *fold++; each != nullptr; each = each->next)
        each->accumulator = made;
    }
  }

  /// Every access is to be checked.
  [[gnu::noinline]] void watch() {
    const std::size_t count = record_.plan->argument_count;
    infos_ = std::make_unique<detail::ArgumentInfo[]>(count);
    for (std::size_t i = 0; i < count; ++i) {
      infos_[i] = {record_.plan, payload_.rank, i, nullptr};
      payload_.arguments()[i].info = &infos_[i];
    }
  }

  LaunchRecord& record_;
  TaskPayload& payload_;
  exec::Execution& execution_;
  Waiter* const before_ = Waiter::set_current(this);
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

/// Not of a reduction, which has an accumulator there.
const analysis::Instance& instance_of(const PhysicalArgument& argument) {
  return static_cast<const analysis::Instance&>(*argument.placement);
}

// The first failure of what the task reads.
[[gnu::noinline]] exec::FailureRef failure_for(TaskPayload& payload) {
  const LaunchRecord& record = *payload.record;
  const PhysicalArgument* physical = payload.arguments();
  exec::FailureRef first;
  for (const PlannedArgument& argument : record.plan->arguments_of(payload.rank)) {
    const PhysicalArgument& used = *physical++;
    if (reads(argument.privilege))
      first = exec::first_of(first, instance_of(used).poison.first_at(argument.points));
  }
  for (const AnyFuture& future : record.futures)
    first = exec::first_of(first, future.state()->first_failure());
  return first;
}

// What the task writes has values now, or this failure.
[[gnu::noinline]] void note_end(TaskPayload& payload, const exec::FailureRef& failure) {
  LaunchRecord& record = *payload.record;
  const PhysicalArgument* physical = payload.arguments();
  analysis::FoldPayload** fold = payload.folds(*record.plan);
  for (const PlannedArgument& argument : record.plan->arguments_of(payload.rank)) {
    const PhysicalArgument& used = *physical++;
    if (argument.privilege == Privilege::reduce)
      for (analysis::FoldPayload* each = *fold++; each != nullptr; each = each->next)
        each->failure = failure;
    else if (writes(argument.privilege)) instance_of(used).poison.write(argument.points, failure);
  }
}

void return_zeros(const TaskFrame& frame) {
  if (frame.result == nullptr) return;
  const auto& running = static_cast<const RunningTask&>(*frame.source);
  const ResultType& type = running.record().plan->task->result();
  if (type.destroy != nullptr)
    throw UsageError("in a dry run results are zeros, and this one has a destructor");
  std::memset(frame.result, 0, type.size);
}

void run_timed(const TaskFrame& frame) {
  auto& running = static_cast<RunningTask&>(*frame.source);
  LaunchPlan& plan = *running.record().plan;
  const RuntimeCore& runtime = running.record().context->runtime;
  const PlannedPoint& point = plan.own.points[running.rank()];
  const std::uint64_t begin = profile::now_ns();
  plan.task->variant(runtime.machine().processor(point.processor).kind)->body(frame);
  const std::uint64_t ns = profile::now_ns() - begin;
  Listener* const told = runtime.listener(Events::bodies);
  if (told == nullptr) return;
  std::vector<Listener::Used> used;
  for (std::size_t i = 0; i < frame.arguments.size(); ++i) {
    const PlannedArgument& argument = plan.arguments_of(running.rank())[i];
    if (argument.privilege == Privilege::reduce) continue;
    used.push_back({frame.arguments[i].placement, argument.points.get(),
                    argument.points->volume() * plan.requirements[i].type.size,
                    reads(argument.privilege), writes(argument.privilege)});
  }
  told->ran({plan, running.rank(), ns, running.nested() != nullptr, used});
}

void run_body(TaskPayload& payload, exec::Execution& execution) {
  LaunchRecord& record = *payload.record;
  const LaunchPlan& plan = *record.plan;
  RunningTask running(record, payload, execution);
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
    if (NestedContext* nested = running.nested()) nested->finish();
    if (result != nullptr) result->finish(payload.rank);
  } catch (const abi::__forced_unwind&) { end_with_thread(plan.info); } catch (...) {
    if (NestedContext* nested = running.nested()) nested->abandon();
    throw;
  }
}

// `fail`: makes the failure of the operation. The last point ends what the launch holds.
template <class Fail>
void run_point(TaskPayload& payload, bool replayed, exec::Execution& execution, Fail fail) {
  LaunchRecord& record = *payload.record;
  exec::FailureRef failure;
  if (exec::Failure::any()) [[unlikely]] {
    try {
      failure =
          execution.failure != nullptr ? exec::FailureRef(execution.failure) : failure_for(payload);
    } catch (...) { failure = fail(std::current_exception()); }  // no memory
  }
  if (failure == nullptr) [[likely]] {
    try {
      run_body(payload, execution);
    } catch (...) { failure = fail(std::current_exception()); }
  }
  if (exec::Failure::any()) [[unlikely]]
    note_end(payload, failure);
  // One failure for the data and for the future: who has been told by either knows.
  if (failure != nullptr) [[unlikely]]
    if (detail::FutureState* result = record.result.state()) result->fail(payload.rank, failure);
  if (record.holds_something) record.point_done(replayed);
}

}  // namespace

const TaskVariant& dry_variant() {
  static const TaskVariant variant{ProcessorKind::cpu, return_zeros, false, [](const void*) {}};
  return variant;
}

const TaskVariant& timed_variant(ProcessorKind kind) {
  static const TaskVariant variants[processor_kinds] = {{ProcessorKind::cpu, run_timed},
                                                        {ProcessorKind::gang, run_timed},
                                                        {ProcessorKind::gpu, run_timed}};
  return variants[static_cast<std::size_t>(kind)];
}

void OperationDetail::reads(const analysis::Instance& instance) {
  source = instance.memory;
  source_field = instance.field;
}

void OperationDetail::writes(const analysis::Instance& instance, const data::IndexSpaceRef& where,
                             std::size_t value_size) {
  target = instance.memory;
  target_field = instance.field;
  points = where.get();
  bytes = where->volume() * value_size;
}

OperationDetail detail_of(exec::Node& node) {
  OperationDetail detail{.kind = node.kind};
  if (node.kind == exec::NodeKind::task) {
    const auto& task = node.payload_as<TaskPayload>();
    detail.plan = task.record->plan;
    detail.rank = task.rank;
  } else if (node.kind == exec::NodeKind::copy) {
    const auto& copy = node.payload_as<analysis::CopyPayload>();
    detail.reads(*copy.source);
    detail.writes(*copy.target, copy.points, copy.value_size);
  } else if (node.kind == exec::NodeKind::fill) {
    const auto& fill = node.payload_as<analysis::FillPayload>();
    detail.writes(*fill.target, fill.points, fill.value_size);
  } else if (node.kind == exec::NodeKind::fold) {
    const auto& fold = node.payload_as<analysis::FoldPayload>();
    detail.writes(*fold.target, fold.points, fold.target->field->type().size);
  }
  return detail;
}

void run_task(exec::Node& node, exec::Execution& execution) {
  auto& payload = node.payload_as<TaskPayload>();
  if ((node.flags & exec::kGivenUp) != 0) [[unlikely]] {
    LaunchRecord& record = *payload.record;
    if (detail::FutureState* result = record.result.state())
      result->fail(payload.rank, exec::FailureRef(execution.failure));
    if (record.holds_something) record.point_done();
    return;
  }
  run_point(payload, false, execution, [&](const std::exception_ptr& error) {
    const LaunchRecord& record = *payload.record;
    const std::uint32_t rank = record.plan->own.points[payload.rank].launch_rank;
    analysis::Origin origin{record.call, rank};
    origin.on_shards = record.context->replicated != nullptr;
    return exec::fail(node, analysis::failure_origin(node, origin), error);
  });
}

void run_replayed_task(TaskPayload& payload, exec::Replay& replay, std::uint32_t index,
                       exec::Execution& execution) {
  run_point(payload, true, execution,
            [&](const std::exception_ptr& error) { return exec::fail(replay, index, error); });
}

TaskPayload* make_payload(std::byte* memory, LaunchRecord& record, std::uint32_t rank) {
  auto* payload = ::new (memory) TaskPayload{&record, rank};
  PhysicalArgument* physical = payload->arguments();
  for (const PlannedArgument& argument : record.plan->arguments_of(rank))
    ::new (physical++) PhysicalArgument{&argument.physical_points, {argument.instance}, nullptr};
  return payload;
}

}  // namespace refrain::runtime
