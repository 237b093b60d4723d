#include "launch/issue.hpp"

#include <new>

#include "graph/reducer_gate.hpp"
#include "launch/task_execution.hpp"

namespace refrain::runtime {

// The consumer of a future comes after what makes it, and fails with it.
void depend_on(ContextCore& context, analysis::Edges& edges, const detail::FutureState& state) {
  for (std::size_t rank = 0; rank < state.points(); ++rank) {
    if (state.context() == context.identity)
      edges.add(context.producer_of(state, rank), exec::EdgeKind::data);
    // What is ready says itself whether it failed: one of another context always is (check_usable), and
    // of this one's own the failure may have been forgotten (forget_failures).
    if (!state.ready(rank)) continue;
    if (const exec::FailureRef failure = state.failure(rank))
      exec::pass_failure(*failure.get(), edges.to());
  }
}

namespace {

void choose_instance(ContextCore& context, LaunchPlan& plan, PlannedArgument& argument,
                     const analysis::Origin& origin) {
  const ArgumentMapping& mapping = plan.mappings[argument.mapping];
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

  const PlannedPoint& point = plan.points[rank];
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
  for (const AnyFuture& future : record.futures) depend_on(context, edges, *future.state());
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
  const std::uint32_t points = static_cast<std::uint32_t>(plan.points.size());
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

}  // namespace refrain::runtime
