// The way of a launch: find its plan, move its values into a record, and hand each point task to the
// analysis.

#include "base/assert.hpp"
#include "base/exception_text.hpp"
#include "data/index_space.hpp"
#include "graph/reducer_gate.hpp"
#include "launch/task_execution.hpp"
#include "profile/clock.hpp"
#include "refrain/error.hpp"
#include "replay/replay_reasons.hpp"
#include "report/explanation.hpp"
#include "report/timeline_listener.hpp"
#include "runtime/context_impl.hpp"

namespace refrain::runtime {

namespace {

std::uint64_t word(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

[[noreturn]] void fail_dead(const LaunchRequest& request, std::size_t i) {
  const Requirement& r = request.requirements[i];
  const std::string who = launch_name(request) + ", argument " + std::to_string(i);
  if (r.partition.tree != nullptr) data::check_alive(r.partition, who.c_str());
  data::check_alive(r.region, who.c_str());
  throw UsageError(who + " names neither a region nor a partition");
}

bool asked_each_time(const Mapper& mapper, const LaunchRequest& request) {
  try {
    return mapper.every_launch();
  } catch (...) {
    fail_around("mapper '" + std::string(mapper.name()) + "' for " + launch_name(request) +
                ": every_launch() threw");
  }
}

}  // namespace

// Everything that the plan depends on, as words of this process: gives them to `put` in order, until it
// returns false.
template <class Put>
inline bool ContextImpl::give_key(const LaunchRequest& request, Put put) const {
  if (!put(word(request.task)) || !put(word(request.where.file_name())) ||
      !put(std::uint64_t{request.where.line()} << 32 |
           static_cast<std::uint32_t>(request.hints.priority)) ||
      !put(runtime_.mapper().epoch()) ||
      !put(request.requirements.size() << 34 | request.futures.size() << 2 |
           std::uint64_t{request.hints.inline_if_ready} << 1 | std::uint64_t{request.wants_future}))
    return false;
  if (const LaunchDomain* domain = request.domain) {
    if (!put(static_cast<std::uint64_t>(domain->dim))) return false;
    if (domain->sparse != nullptr) {
      if (!put(word(domain->sparse->space.get()))) return false;
    } else {
      for (int d = 0; d < std::min(domain->dim, 3); ++d)
        if (!put(static_cast<std::uint64_t>(domain->rect.lo[d])) ||
            !put(static_cast<std::uint64_t>(domain->rect.hi[d])))
          return false;
    }
  }
  for (std::size_t i = 0; i < request.requirements.size(); ++i) {
    const Requirement& r = request.requirements[i];
    const bool partitioned = r.partition.tree != nullptr;
    const data::RegionTree* tree = partitioned ? r.partition.tree : r.region.tree;
    // A tree of an enclosing context may have been destroyed since this task was launched: it may still
    // use what it was given.
    if (tree == nullptr ||
        !(tree->in(forest_)
              ? (partitioned ? tree->names_living(r.partition) : tree->names_living(r.region))
              : (partitioned ? tree->knows(r.partition) : tree->knows(r.region)))) [[unlikely]] {
      fail_dead(request, i);
    }
    if (!put(tree->uid()) ||
        !put(std::uint64_t{partitioned ? r.partition.index : r.region.node} << 32 |
             std::uint64_t{partitioned} << 16 | std::uint64_t{r.relaxed} << 8 |
             static_cast<std::uint64_t>(r.privilege)) ||
        !put(r.field.key) || !put(word(r.field.name.data())) || !put(word(r.field.type)) ||
        !put(word(r.op)) || !put(word(r.projection.impl())))
      return false;
  }
  return true;
}

std::span<const std::uint64_t> ContextImpl::make_key(const LaunchRequest& request) {
  constexpr std::size_t fixed = 13, per_requirement = 7;
  const std::size_t most = fixed + per_requirement * request.requirements.size();
  if (key_.size() < most) key_.resize(most);
  std::uint64_t* next = key_.data();
  give_key(request, [&next](std::uint64_t w) {
    *next++ = w;
    return true;
  });
  return {key_.data(), next};
}

// Whether this is what make_key would make, without making it.
bool ContextImpl::has_key(const LaunchRequest& request, std::span<const std::uint64_t> key) const {
  const std::uint64_t* next = key.data();
  const std::uint64_t* const end = next + key.size();
  return give_key(request, [&next, end](std::uint64_t w) { return next != end && *next++ == w; }) &&
         next == end;
}

AnyFuture ContextImpl::launch_in_full(const LaunchRequest& request) {
  runtime_.executor().interleave();
  if (!runtime_.times_launches()) [[likely]]
    return analyse(request);
  const std::uint64_t begin = profile::now_ns(), waited = analysis_.counters().waited_ns;
  AnyFuture result = analyse(request);
  analysis_ns_ += profile::now_ns() - begin - (analysis_.counters().waited_ns - waited);
  if (TimelineListener* timeline = runtime_.timeline(); timeline != nullptr && tracing_ == nullptr)
    timeline->analysed(request.task->name(), request.where, runtime_.executor().this_thread(),
                       begin);
  return result;
}

// Waiting for room in the window is no part of the analysis, nor is waiting for memory.
void ContextImpl::make_room() {
  forget_failures();
  if (!runtime_.times_launches()) [[likely]]
    return scope_.throttle();
  const std::uint64_t begin = profile::now_ns();
  scope_.throttle();
  analysis_ns_ -= profile::now_ns() - begin;
}

[[gnu::always_inline]] inline LaunchPlan& ContextImpl::plan_of(const LaunchRequest& request,
                                                               std::span<const std::uint64_t> key) {
  if (asked_each_time(runtime_.mapper(), request)) [[unlikely]]
    return asked_plan(request, key);
  const std::uint64_t hash = PlanCache::hash(key);
  LaunchPlan* plan = plans_.find(key, hash);
  if (plan == nullptr) [[unlikely]] {
    const std::vector<std::uint64_t> kept(key.begin(), key.end());
    std::unique_ptr<LaunchPlan> made = make_plan(request);
    made->key = kept;
    plan = &plans_.insert(std::move(made), hash);
  }
  return *plan;
}

AnyFuture ContextImpl::analyse(const LaunchRequest& request) {
  if (request.task == nullptr) [[unlikely]]
    throw UsageError("a launch at " + to_string(request.where) + " names no task");
  for (const detail::FutureState* future : request.futures)
    if (future == nullptr || future->context() != identity_) [[unlikely]]
      check_usable(future, launch_name(request));
  if (tracing_ != nullptr || start_tracing()) [[likely]]
    return trace_launch(request);
  LaunchPlan& plan = plan_of(request, make_key(request));
  wake(plan);
  return issue(plan, request);
}

AnyFuture ContextImpl::trace_launch(const LaunchRequest& request) {
  // Where the mapper is asked each time, the launch is what it was and how it was answered.
  std::span<const std::uint64_t> key = make_key(request);
  LaunchPlan* plan = nullptr;
  if (asked_each_time(runtime_.mapper(), request)) {
    plan = &asked_plan(request, key);
    key = plan->key;
  }
  AnyFuture result;
  if (tracing_->replay_launch(request, key, result)) return result;
  const ShownAnalysis shown(runtime_.timeline(), runtime_.executor(), request.task->name(),
                            request.where);
  if (plan == nullptr) plan = &plan_of(request, key);
  wake(*plan);
  tracing_->analysing(plan->token);
  tracing_->make_way(*plan);
  try {
    result = issue(*plan, request);
  } catch (...) {
    tracing_->untraceable("a launch failed");
    throw;
  }
  tracing_->launched(*plan, request);
  return result;
}

AnyFuture ContextImpl::issue(LaunchPlan& plan, const LaunchRequest& request) {
  note_launch(plan);
  const std::uint32_t points = static_cast<std::uint32_t>(plan.points.size());
  if (points == 0) return make_result(plan, request);
  LaunchRecord& record = take_record(plan, request);
  AnyFuture result = record.result;
  const bool inline_if_ready = request.hints.inline_if_ready;
  std::uint32_t rank = 0;
  try {
    while (rank < points) issue_point(plan, record, rank, inline_if_ready);
  } catch (...) {
    // What is left of the launch will not run: no memory for it, or nothing to read.
    for (std::uint32_t left = rank; left < points; ++left) record.point_done();
    record.unreclaimed -= plan.nodes(points - rank);
    if (record.unreclaimed == 0) release(record);
    if (!grants_.empty()) lend(plan, nullptr);
    throw;
  }
  if (runtime_.explanation() != nullptr) [[unlikely]]
    explain(plan);
  if (!grants_.empty()) [[unlikely]]
    lend(plan, result.state());
  return result;
}

void ContextImpl::explain(LaunchPlan& plan) {
  runtime_.explanation()->launched(
      plan, tracing_ != nullptr ? tracing_->why_analysed() : not_looked_for(runtime_.options()));
}

void ContextImpl::choose_instance(LaunchPlan& plan, PlannedArgument& argument,
                                  const analysis::Origin& origin) {
  const ArgumentMapping& mapping = plan.mappings[argument.mapping];
  argument.instance = &analysis_.instance_for(*argument.field, argument.points, mapping.memories,
                                              mapping.layout, origin);
  argument.instance_epoch = argument.field->instance_epoch();
  argument.memory = argument.instance->memory;
}

// Whether the instances chosen last still hold, with the latest values of all that is read: then there is
// nothing for place_data to do. Says which instances the point uses.
bool ContextImpl::data_in_place(std::span<const PlannedArgument> arguments) {
  for (const PlannedArgument& argument : arguments) {
    if (!argument.chosen()) return false;
    if (argument.privilege == Privilege::reduce ||
        (reads(argument.privilege) &&
         !analysis::Analysis::is_valid(*argument.footprint, *argument.instance)))
      return false;
    analysis_.touch(*argument.instance);
  }
  return true;
}

// The data of a point task where it will be used, with its latest values. What can fail does so here.
void ContextImpl::place_data(LaunchPlan& plan, const LaunchRecord& record, std::uint32_t rank) {
  const std::span<PlannedArgument> arguments = plan.arguments_of(rank);
  const auto origin = [&](const PlannedArgument& argument) {
    return analysis::Origin{record.call, rank, static_cast<int>(&argument - arguments.data()),
                            &plan.info};
  };
  // All instances first: what one argument uses is not evicted for the next.
  for (PlannedArgument& argument : arguments) {
    if (!argument.chosen()) choose_instance(plan, argument, origin(argument));
    analysis_.touch(*argument.instance);
  }
  for (PlannedArgument& argument : arguments)
    if (reads(argument.privilege))
      analysis_.make_valid(*argument.field, *argument.footprint, *argument.instance,
                           origin(argument));
  // What folds need must be there: nothing throws once the task's node is made.
  for (PlannedArgument& argument : arguments)
    if (argument.privilege == Privilege::reduce)
      analysis::Analysis::check_values(*argument.field, *argument.footprint, origin(argument));
}

// Moves `next` on when the point has a node, which will come back whatever happens from then on.
void ContextImpl::issue_point(LaunchPlan& plan, LaunchRecord& record, std::uint32_t& next,
                              bool inline_if_ready) {
  const std::uint32_t rank = next;
  if (scope_.full()) [[unlikely]]
    make_room();
  const std::span<const PlannedArgument> arguments = plan.arguments_of(rank);
  analysis_.begin_point();
  if (!data_in_place(arguments)) [[unlikely]]
    place_data(plan, record, rank);

  const PlannedPoint& point = plan.points[rank];
  exec::Node& node = scope_.allocate_class(plan.node_class);
  auto& payload = *::new (node.payload()) TaskPayload{&record, rank};
  node.kind = exec::NodeKind::task;
  node.run = run_task;
  node.info = &plan.info;
  node.record = &record;
  node.processor = point.queue;
  node.priority = point.priority;
  ++next;
  if (analysis_.has_log()) [[unlikely]]
    analysis_.log_operation(node, {record.call, rank, -1, &plan.info});
  if (record.result.valid()) [[unlikely]]
    record.result.state()->set_producer(rank, {&node, node.seq});

  analysis::Edges edges = analysis_.edges_to(node);
  for (const AnyFuture& future : record.futures) depend_on(edges, *future.state());
  PhysicalArgument* physical = payload.arguments();
  for (const PlannedArgument& argument : arguments) {
    ::new (physical++) PhysicalArgument{&argument.physical_points, {argument.instance}, nullptr};
    if (argument.privilege != Privilege::reduce) [[likely]] {
      analysis_.use(edges, *argument.footprint, *argument.instance, argument.privilege);
    }
  }
  if (plan.reductions > 0) [[unlikely]]
    return issue_folds(plan, record.call, payload, edges);
  analysis_.publish(edges, inline_if_ready);
}

// Argument by argument, what each fold needs and the fold itself. The task is published last, since it
// tells its folds their accumulators.
void ContextImpl::issue_folds(LaunchPlan& plan, std::uint64_t call, TaskPayload& payload,
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
    *fold++ = &analysis_.issue_fold({&reducer, reducer.seq}, *argument.field, *argument.footprint,
                                    *argument.instance,
                                    requirement.relaxed ? requirement.op : nullptr, origin);
    --issued.missing;
  }
  analysis_.publish(edges);
}

// What was replayed is named by its number alone until somebody has to come after it.
exec::NodeRef ContextImpl::producer_of(const detail::FutureState& state, std::size_t rank) {
  const exec::NodeRef& producer = state.producer(rank);
  return tracing_ == nullptr || state.ready(rank) ? producer : tracing_->resolve(producer);
}

// The consumer of a future comes after what makes it, and fails with it.
void ContextImpl::depend_on(analysis::Edges& edges, const detail::FutureState& state) {
  for (std::size_t rank = 0; rank < state.points(); ++rank) {
    if (state.context() == identity_) edges.add(producer_of(state, rank), exec::EdgeKind::data);
    // What is ready says itself whether it failed: one of another context always is (check_usable), and
    // of this one's own the failure may have been forgotten (forget_failures).
    if (!state.ready(rank)) continue;
    if (const exec::FailureRef failure = state.failure(rank))
      exec::pass_failure(*failure.get(), edges.to());
  }
}

void ContextImpl::check_usable(const detail::FutureState* future, const std::string& who) const {
  if (future == nullptr) throw UsageError(who + ": the future is empty");
  if (future->context() == identity_ || future->ready()) return;
  throw UsageError(
      who +
      ": the future is of another context and not there yet: a task may use the futures "
      "that it launched itself or was given as arguments");
}

}  // namespace refrain::runtime
