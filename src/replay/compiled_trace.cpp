#include "replay/compiled_trace.hpp"

#include <algorithm>
#include <new>
#include <unordered_map>

#include "base/assert.hpp"
#include "base/sure_memory.hpp"
#include "graph/replay_steps.hpp"
#include "launch/context_core.hpp"
#include "memory/accumulator.hpp"
#include "refrain/error.hpp"
#include "trace/optimiser.hpp"

namespace refrain::runtime {

using trace::Index;

// --- what operations run -----------------------------------------------------------------------------

struct CompiledTrace::Runs {
  /// For bodies that said that they ask for nothing.
  struct Nothing final : detail::ContextSource {
    Context& context() override { fail("its context"); }
    void parallel_for(std::int64_t, std::int64_t,
                      const std::function<void(std::int64_t, std::int64_t)>&) override {
      fail("parallel_for");
    }
    [[noreturn]] static void fail(const char* what) {
      throw UsageError(std::string("a body asks for ") + what +
                       ", but its variant is said not to (TaskVariant::may_launch)");
    }
  };
  static inline Nothing nothing;

  static const Operand& of(const void* operand) { return *static_cast<const Operand*>(operand); }
  static ReplayValues& values(const exec::Replay& replay) {
    return *static_cast<ReplayValues*>(replay.user);
  }

  /// A plain task whose body is more than a function.
  static void plain_task(const void* operand) {
    const Plain& task = *static_cast<const Plain*>(operand);
    (*task.body)(task.frame);
  }
  static void shared_task(const void* operand, exec::Replay& replay, std::uint32_t index,
                          exec::Execution& execution) {
    run_replayed_task(*of(operand).payload, replay, index, execution);
  }
  static void own_task(const void* operand, exec::Replay& replay, std::uint32_t index,
                       exec::Execution& execution) {
    std::byte* payload = values(replay).payloads.get() + of(operand).offset;
    run_replayed_task(*std::launder(reinterpret_cast<TaskPayload*>(payload)), replay, index,
                      execution);
  }
  /// A task with values or futures, and nothing else that differs between replays.
  static void valued_task(const void* operand, exec::Replay& replay, std::uint32_t index,
                          exec::Execution& execution) {
    const Plain& task = *static_cast<const Plain*>(operand);
    LaunchRecord& record = values(replay).records[task.record];
    if (execution.failure != nullptr || exec::Failure::any()) [[unlikely]]
      return run_in_full(task, record, replay, index, execution);
    TaskFrame frame = task.frame;
    frame.values = record.values;
    frame.futures = record.futures;
    try {
      (*task.body)(frame);
    } catch (...) {
      const exec::FailureRef failure = exec::fail(replay, index, std::current_exception());
      execution.failure = failure.get();
      run_in_full(task, record, replay, index, execution);
      execution.failure = nullptr;
      return;
    }
    if (record.holds_something) record.point_done(true);
  }
  [[gnu::noinline]] static void run_in_full(const Plain& task, LaunchRecord& record,
                                            exec::Replay& replay, std::uint32_t index,
                                            exec::Execution& execution) {
    std::vector<std::byte, SureAllocator<std::byte>> payload(TaskPayload::bytes(*record.plan));
    run_replayed_task(*make_payload(payload.data(), record, task.rank), replay, index, execution);
  }
  /// What a recording's instance is in this replay.
  static const analysis::Instance& in(const exec::Replay& replay, const analysis::Instance& named) {
    return named.storage == analysis::Storage::none ? *values(replay).instances[named.position]
                                                    : named;
  }
  static void copy(const void* operand, exec::Replay& replay, std::uint32_t index,
                   exec::Execution& execution) {
    const auto& copy = *static_cast<const analysis::CopyPayload*>(of(operand).work);
    if (execution.failure != nullptr) return;
    const analysis::Instance& target = in(replay, *copy.target);
    analysis::move_data(
        target, copy.points, [&] { copy.run(in(replay, *copy.source), target); },
        [&](const std::exception_ptr& error) { return exec::fail(replay, index, error); });
  }
  static void message(const void* operand, exec::Replay& replay, std::uint32_t index,
                      exec::Execution& execution) {
    if (execution.failure != nullptr) return;
    const auto& made = *static_cast<const analysis::MessagePayload*>(of(operand).work);
    const analysis::Instance& instance = in(replay, *made.instance);
    const auto& turn = std::get<analysis::Message::Turn>(values(replay).work[of(operand).number]);
    if (made.message->is_received())
      return made.message->receive(instance, turn, exec::complete_later(replay, index, execution));
    made.message->send(instance, turn);
  }
  static void fill(const void* operand, exec::Replay& replay, std::uint32_t index,
                   exec::Execution& execution) {
    const auto& recorded = *static_cast<const trace::Fill*>(of(operand).work);
    if (execution.failure != nullptr) return;
    const analysis::FillPayload fill{
        &in(replay, *recorded.target), recorded.points, {}, recorded.value_size};
    analysis::move_data(
        *fill.target, fill.points,
        [&] { fill.run(*std::get<ReplayValues::Fill>(values(replay).work[of(operand).number])); },
        [&](const std::exception_ptr& error) { return exec::fail(replay, index, error); });
  }
  static void reduce(const void* operand, exec::Replay& replay, std::uint32_t index,
                     exec::Execution& execution) {
    auto reduction = std::get<FutureReduction>(
        std::exchange(values(replay).work[of(operand).number], FutureReduction{}));
    reduction.run(exec::FailureRef(execution.failure), [&](const std::exception_ptr& error) {
      return exec::fail(replay, index, error);
    });
  }
  static void exchange(const void* operand, exec::Replay& replay, std::uint32_t index,
                       exec::Execution& execution) {
    const auto made = std::get<std::shared_ptr<analysis::Exchange>>(std::exchange(
        values(replay).work[of(operand).number], std::shared_ptr<analysis::Exchange>()));
    if (execution.failure != nullptr) return;
    made->run({[&] { return exec::complete_later(replay, index, execution); },
               [&](const std::exception_ptr& error) {
                 const auto name = values(replay).trace->shared_name(replay, index);
                 return exec::fail(replay, index, name, error);
               }});
  }
  static void fold(const void* operand, exec::Replay& replay, std::uint32_t index,
                   exec::Execution& execution) {
    auto& fold = std::get<analysis::FoldPayload>(values(replay).work[of(operand).number]);
    if (execution.failure != nullptr) return fold.accumulator.reset();
    fold.target = &in(replay, *static_cast<const trace::Fold*>(of(operand).work)->payload.target);
    fold.run([&](const std::exception_ptr& error, const exec::Failure::Who& who) {
      return exec::fail(replay, index, error, who);
    });
  }
  static void give(const void* operand, exec::Replay& replay, std::uint32_t index,
                   exec::Execution& execution) {
    auto& given = std::get<analysis::FoldPayload>(values(replay).work[of(operand).number]);
    if (execution.failure != nullptr) return given.accumulator.reset();
    given.message->put(
        given, [&](const std::exception_ptr& error) { return exec::fail(replay, index, error); });
  }
  static void take(const void* operand, exec::Replay& replay, std::uint32_t index,
                   exec::Execution& execution) {
    if (execution.failure != nullptr) return;
    const auto& take = std::get<analysis::TakePayload>(values(replay).work[of(operand).number]);
    take.taken->receive(exec::complete_later(replay, index, execution));
  }
};

namespace {

/// The contributions that an operation puts in, awaits or fetches; null: none.
template <class Work>
std::shared_ptr<analysis::Contributions> contributions_in(const Work& work) {
  if (const auto* take = std::get_if<analysis::TakePayload>(&work)) return take->taken;
  if constexpr (std::is_same_v<Work, trace::Work>) {
    const auto* fold = std::get_if<trace::Fold>(&work);
    return fold != nullptr ? fold->payload.message : nullptr;
  } else {
    const auto* fold = std::get_if<analysis::FoldPayload>(&work);
    return fold != nullptr ? fold->message : nullptr;
  }
}

}  // namespace

// --- layout ------------------------------------------------------------------------------------------

CompiledTrace::CompiledTrace(ContextCore& context,
                             std::unique_ptr<const trace::Recording> recording, Calls calls,
                             CompiledTraces& all)
    : context_(context), recording_(std::move(recording)), calls_(std::move(calls)), all_(all) {
  for (const auto& call : calls_)
    if (call->plan != nullptr) ++call->plan->recordings;
  for (const trace::PerReplayInstance& own : recording_->own)
    if (own.ended != trace::kNone) ended_.push_back(&own);
  std::ranges::stable_sort(ended_, {}, &trace::PerReplayInstance::ended);
  per_replay_arguments_ = recording_->per_replay_arguments;
  std::ranges::stable_sort(per_replay_arguments_, {}, &trace::PerReplayArgument::own);
  compile(lay_out());
  counts_ = counts(static_cast<Index>(operands_.size()));
  prepare_quick();
  count_bytes();
}

void CompiledTrace::prepare_quick() {
  quick_.resize(steps());
  for (Index step = 0; step < steps(); ++step) {
    const RecordedCall& call = *calls_[step];
    if (call.plan == nullptr || !call.makers.empty() || call.wants_result || has_fills(step) ||
        (call.plan->own.points.empty() && context_.replicated == nullptr) || !made_by(step).empty())
      continue;
    Quick& quick = quick_[step];
    quick.token = call.token;
    quick.operations = recording_->steps[step].operations;
    quick.points = call.plan->own_points();
    quick.has_values = call.has_values;
    const std::size_t words = RememberedLaunch::words_for(call.plan->argument_count);
    quick.words = std::make_unique<std::uint64_t[]>(words);
    bytes_ += words * sizeof(std::uint64_t);
  }
}

void CompiledTrace::pin() {
  if (pinned_) return;
  all_.pinned.push_back(this);
  pinned_ = true;
  for (const auto& call : calls_)
    if (call->plan != nullptr && call->plan->in_flight++ == 0)
      for (const data::UsedTree& used : call->plan->trees) used.pin();
  for (const data::UsedTree& used : recording_->trees) used.pin();
}

void CompiledTrace::unpin_idle(CompiledTraces& all) {
  std::erase_if(all.pinned, [](CompiledTrace* trace) {
    if (!trace->replays_->idle()) return false;
    trace->unpin();
    return true;
  });
}

void CompiledTrace::unpin() {
  pinned_ = false;
  for (const auto& call : calls_)
    if (call->plan != nullptr && --call->plan->in_flight == 0)
      for (const data::UsedTree& used : call->plan->trees) used.unpin();
  for (const data::UsedTree& used : recording_->trees) used.unpin();
}

// Plans that it names stay while replays of it are in flight, as those of other launches do.
void CompiledTrace::retire() {
  all_.bytes -= bytes_;
  if (std::exchange(bytes_, 0) == 0) return;
  for (const auto& call : calls_)
    if (call->plan != nullptr) --call->plan->recordings;
}

CompiledTrace::~CompiledTrace() {
  retire();
  if (pinned_) {
    std::erase(all_.pinned, this);
    unpin();
  }
}

namespace {
std::size_t payload_size(const LaunchPlan& plan) {
  return (TaskPayload::bytes(plan) + 15) / 16 * 16;
}
}  // namespace

std::vector<exec::Template::Operation> CompiledTrace::lay_out() {
  operands_.resize(recording_->operations.size());
  plain_.resize(recording_->operations.size());
  launches_ = std::make_unique<Launch[]>(steps());
  std::vector<exec::Template::Operation> operations;
  operations.reserve(operands_.size());
  const auto has_own = [this](Index step) {
    const auto& own = recording_->per_replay_arguments;
    const auto first =
        std::ranges::lower_bound(own, first_of(step), {}, &trace::PerReplayArgument::operation);
    return first != own.end() && first->operation < recording_->steps[step].operations;
  };
  for (Index step = 0; step < steps(); ++step) {
    const RecordedCall& call = *calls_[step];
    Launch& launch = launches_[step];
    if (call.plan != nullptr) {
      launch.shared.plan = call.plan;
      launch.shared.context = &context_;
      // A launch has something of its own in each replay when it is given values or futures, or makes one.
      const bool needs_own = call.has_values || !call.makers.empty() || call.wants_result;
      if (needs_own) launch.own = static_cast<std::int64_t>(own_records_++);
      // Accumulators and checks are written to the payload while the task runs, and instances of a replay's own when
      // they are made: several replays may be in flight.
      if (!call.wants_result && call.plan->reductions == 0 && !call.plan->check && !has_own(step)) {
        const std::size_t bytes = call.plan->own_points() * payload_size(*call.plan);
        launch.payloads = std::make_unique_for_overwrite<std::byte[]>(bytes);
        bytes_ += bytes;
      }
    }
    std::uint32_t rank = 0;
    for (Index i = first_of(step); i < recording_->steps[step].operations; ++i)
      lay_out(i, recording_->operations[i].kind == exec::NodeKind::task ? rank++ : 0,
              operations.emplace_back());
  }
  return operations;
}

/// What the template is to know of an operation. `rank`: of a task, in its launch.
void CompiledTrace::lay_out(Index index, std::uint32_t rank, exec::Template::Operation& made) {
  const trace::Operation& recorded = recording_->operations[index];
  Operand& operand = operands_[index];
  if (recorded.work)
    operand.work =
        std::visit([](const auto& work) -> const void* { return &work; }, *recorded.work);
  made.operand = &operand;
  made.info = recorded.info;
  made.kind = recorded.kind;
  switch (recorded.kind) {
    case exec::NodeKind::task: lay_out_task(index, rank, made); break;
    case exec::NodeKind::copy:
      made.run = Runs::copy;
      if (const auto* message = recorded.work_as<analysis::MessagePayload>()) {
        made.run = Runs::message;
        made.awaits = message->message->is_received();
        if (!made.awaits) made.priority = exec::kUrgent;
        operand.number = own_works_++;
        launches_[recorded.step].messages.push_back(index);
      }
      break;
    case exec::NodeKind::fill:
      made.run = Runs::fill;
      operand.number = own_works_++;
      launches_[recorded.step].has_fills = true;
      break;
    case exec::NodeKind::fold:
      made.run = Runs::fold;
      operand.number = own_works_++;
      if (const auto* fold = recorded.work_as<trace::Fold>(); fold->gated) {
        made.flags = exec::kFold;
        made.reduction = index - fold->reducer;
      }
      note_contributions(index);
      break;
    case exec::NodeKind::other:
      made.run = Runs::reduce;
      note_contributions(index);
      if (recorded.work_as<trace::Fold>() != nullptr) {
        made.run = Runs::give;
        made.priority = exec::kUrgent;
      }
      if (recorded.work_as<analysis::TakePayload>() != nullptr) {
        made.run = Runs::take;
        made.awaits = true;
      }
      if (const auto* exchange = recorded.work_as<analysis::ExchangePayload>()) {
        made.run = Runs::exchange;
        made.awaits = exchange->completes_later;
        if (!made.awaits) made.priority = exec::kUrgent;
      }
      operand.number = own_works_++;
      made.wakes = true;
      break;
    default: REFRAIN_ASSERT(false, "operations of other kinds are not recorded");
  }
}

void CompiledTrace::lay_out_task(Index index, std::uint32_t rank, exec::Template::Operation& made) {
  const Index step = recording_->operations[index].step;
  Launch& launch = launches_[step];
  const LaunchPlan& plan = *launch.shared.plan;
  const PlannedPoint& point = plan.own.points[rank];
  const TaskVariant& variant = *point.variant;
  made.priority = point.priority;
  made.processor = point.queue;
  made.wakes = calls_[step]->wants_result;
  made.opens_scope = variant.may_launch;
  made.reduction = recording_->operations[index].gated_folds;
  if (made.reduction > 0) made.flags = exec::kReducer;
  Operand& operand = operands_[index];
  operand.rank = rank;
  // A task that has no context and waits for nothing runs with less ado.
  const bool simple = !variant.may_launch && variant.kind != ProcessorKind::gang;
  if (launch.payloads == nullptr || (launch.own >= 0 && !simple)) {
    operand.offset = std::exchange(own_payload_bytes_, own_payload_bytes_ + payload_size(plan));
    made.run = Runs::own_task;
    return;
  }
  operand.payload =
      make_payload(launch.payloads.get() + rank * payload_size(plan), launch.shared, rank);
  made.run = Runs::shared_task;
  if (!simple) return;
  Plain& plain = plain_[index];
  plain.frame.arguments = {operand.payload->arguments(), plan.argument_count};
  plain.frame.point = point.point;
  plain.frame.rank = point.launch_rank;
  plain.frame.source = &Runs::nothing;
  plain.body = &variant.body;
  if (launch.own >= 0) {
    plain.record = static_cast<std::uint32_t>(launch.own);
    plain.rank = rank;
    made.run = Runs::valued_task;
    made.operand = &plain;
    return;
  }
  made.plain = variant.plain != nullptr ? variant.plain : Runs::plain_task;
  made.plain_operand = &plain;
  if (variant.plain != nullptr) made.plain_operand = &plain.frame;
}

/// The operation belongs to a message of contributions, if it does.
void CompiledTrace::note_contributions(Index operation) {
  const trace::Operation& recorded = recording_->operations[operation];
  const auto message_of = [this](Index each) {
    const Boxed<trace::Work>& work = recording_->operations[each].work;
    return work ? contributions_in(*work) : nullptr;
  };
  std::vector<Index>& known = launches_[recorded.step].contributions;
  const auto message = message_of(operation);
  if (message == nullptr || std::ranges::find(known, message, message_of) != known.end()) return;
  const auto argument_of = [this](Index each) { return recording_->operations[each].argument; };
  known.insert(std::ranges::upper_bound(known, recorded.argument, {}, argument_of), operation);
}

std::unique_ptr<ReplayValues> CompiledTrace::make_values() const {
  auto values = std::make_unique<ReplayValues>();
  values->trace = this;
  values->records = std::make_unique<LaunchRecord[]>(own_records_);
  values->step_fills.resize(steps());
  values->work.resize(own_works_);
  if (context_.replicated != nullptr) values->calls.resize(steps());
  values->instances.resize(recording_->own.size());
  values->payloads = std::make_unique<std::byte[]>(own_payload_bytes_);
  for (Index step = 0; step < steps(); ++step) {
    const Launch& launch = launches_[step];
    if (launch.own < 0) continue;
    LaunchRecord& record = values->records[static_cast<std::size_t>(launch.own)];
    record.plan = launch.shared.plan;
    record.context = &context_;
  }
  for (Index i = 0; i < operands_.size(); ++i) {
    const trace::Operation& recorded = recording_->operations[i];
    const Operand& operand = operands_[i];
    if (recorded.kind != exec::NodeKind::task || operand.payload != nullptr) continue;
    Launch& launch = launches_[recorded.step];
    LaunchRecord& record =
        launch.own < 0 ? launch.shared : values->records[static_cast<std::size_t>(launch.own)];
    make_payload(values->payloads.get() + operand.offset, record, operand.rank);
  }
  connect_folds(*values);
  return values;
}

/// Of each fold, and what gives contributions away, its own payload: with its message, and where its reducer finds it.
void CompiledTrace::connect_folds(ReplayValues& values) const {
  std::unordered_map<const analysis::Contributions*, std::shared_ptr<analysis::Contributions>> own;
  const auto own_of = [&own](const std::shared_ptr<analysis::Contributions>& recorded) {
    if (recorded == nullptr) return recorded;
    std::shared_ptr<analysis::Contributions>& found = own[recorded.get()];
    if (found == nullptr) found = recorded->again();
    return found;
  };
  for (Index i = 0; i < operands_.size(); ++i) {
    const trace::Operation& recorded = recording_->operations[i];
    if (const auto* take = recorded.work_as<analysis::TakePayload>())
      values.work[operands_[i].number] = analysis::TakePayload{own_of(take->taken)};
    const auto* const fold = recorded.work_as<trace::Fold>();
    if (fold == nullptr) continue;
    auto& payload = values.work[operands_[i].number].emplace<analysis::FoldPayload>(fold->payload);
    payload.message = own_of(payload.message);
    payload.next = nullptr;
    if (fold->reducer == trace::kNone) continue;
    // The folds of an argument are in a list, and the lists are by argument.
    std::byte* const at = values.payloads.get() + operands_[fold->reducer].offset;
    const LaunchPlan& plan = *launches_[recorded.step].shared.plan;
    const auto before = std::count_if(
        plan.requirements.begin(), plan.requirements.begin() + recorded.argument,
        [](const PlannedRequirement& each) { return each.privilege == Privilege::reduce; });
    analysis::FoldPayload** link =
        std::launder(reinterpret_cast<TaskPayload*>(at))->folds(plan) + before;
    while (*link != nullptr) link = &(*link)->next;
    *link = &payload;
  }
}

ReplayValues& CompiledTrace::values(exec::Replay& replay) {
  if (replay.user == nullptr) replay.user = values_.emplace_back(make_values()).get();
  return *static_cast<ReplayValues*>(replay.user);
}

// --- instances that each replay has of its own ---------------------------------------------------------

// They are in the order of their making; those that are found come first.
std::span<const trace::PerReplayInstance> CompiledTrace::made_by(Index step) const {
  const auto after_found = [](const trace::PerReplayInstance& own) { return own.made + 1; };
  return std::ranges::equal_range(recording_->own, step + 1, {}, after_found);
}

std::span<const trace::PerReplayInstance* const> CompiledTrace::ended_by(Index step) const {
  return std::ranges::equal_range(ended_, step, {}, &trace::PerReplayInstance::ended);
}

void CompiledTrace::give(exec::Replay& replay, const trace::PerReplayInstance& own,
                         analysis::Instance& instance) {
  own.placeholder->bound_to = &instance;
  const auto number = static_cast<Index>(own.placeholder->position);
  ReplayValues& mine = values(replay);
  mine.instances[number] = &instance;
  for (const auto& use : std::ranges::equal_range(per_replay_arguments_, number, {},
                                                  &trace::PerReplayArgument::own)) {
    std::byte* payload = mine.payloads.get() + operands_[use.operation].offset;
    auto& task = *std::launder(reinterpret_cast<TaskPayload*>(payload));
    task.arguments()[use.argument].placement = &instance;
  }
}

void CompiledTrace::number(exec::Replay& replay, Index step, std::uint64_t call) {
  ReplayValues& mine = values(replay);
  mine.calls[step] = call;
  for (const Index i : launches_[step].messages)
    mine.work[operands_[i].number] =
        recording_->operations[i].work_as<analysis::MessagePayload>()->message->next(call);
  for (const Index i : launches_[step].contributions)
    contributions_in(mine.work[operands_[i].number])->begin(call);
}

exec::Failure::Origin CompiledTrace::shared_name(const exec::Replay& replay,
                                                 Index operation) const {
  const trace::Operation& recorded = recording_->operations[operation];
  const LaunchPlan* const plan = launches_[recorded.step].shared.plan;
  const bool is_task = recorded.kind == exec::NodeKind::task;
  const std::size_t rank =
      is_task ? plan->own.points[operands_[operation].rank].launch_rank : recorded.rank;
  return {context_.identity, Runs::values(replay).calls[recorded.step],
          static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(recorded.argument + 1)};
}

/// Where what only moves data throws, others would wait for it, or have other data: it has no name that they know.
exec::Failure::Origin CompiledTrace::failure_origin(const exec::Replay& replay,
                                                    Index operation) const {
  const trace::Operation& recorded = recording_->operations[operation];
  const bool moves = recorded.kind == exec::NodeKind::copy ||
                     recorded.kind == exec::NodeKind::fill ||
                     recorded.work_as<analysis::ExchangePayload>() != nullptr;
  if (moves) return {context_.identity, replay.base + operation};
  return shared_name(replay, operation);
}

void CompiledTrace::give_found(exec::Replay& replay) {
  for (const trace::PerReplayInstance& own : recording_->own)
    if (own.made == trace::kNone) give(replay, own, *own.placeholder->bound_to);
}

LaunchRecord* CompiledTrace::record(exec::Replay& replay, Index step) {
  const std::int64_t own = launches_[step].own;
  return own < 0 ? nullptr : &values(replay).records[static_cast<std::size_t>(own)];
}

const trace::Outcome& CompiledTrace::outcome() {
  if (!outcome_) outcome_.emplace(*recording_, static_cast<Index>(recording_->effects.size()));
  return *outcome_;
}

const CompiledTrace::Uses& CompiledTrace::uses() {
  if (!uses_) uses_ = uses(steps());
  return *uses_;
}

CompiledTrace::Uses CompiledTrace::uses(Index steps) const {
  Uses found;
  std::unordered_map<analysis::Instance*, std::uint64_t> last;
  for (Index step = 0; step < steps; ++step) {
    if (LaunchPlan* plan = calls_[step]->plan) {
      for (Index i = first_of(step); i < recording_->steps[step].operations; ++i) {
        if (const auto* message = recording_->operations[i].work_as<analysis::MessagePayload>())
          last[const_cast<analysis::Instance*>(message->instance)] = ++found.points;
        if (const auto* fold = recording_->operations[i].work_as<trace::Fold>();
            fold != nullptr && fold->reducer == trace::kNone)
          last[const_cast<analysis::Instance*>(fold->payload.target)] = ++found.points;
        if (recording_->operations[i].kind != exec::NodeKind::task) continue;
        ++found.points;
        for (std::uint32_t argument = 0; argument < plan->argument_count; ++argument) {
          analysis::Instance* own = recording_->per_replay_argument(i, argument);
          last[own != nullptr ? own : plan->arguments_of(operands_[i].rank)[argument].instance] =
              found.points;
        }
      }
    } else if (const Index end = recording_->steps[step].operations; end > first_of(step)) {
      // Of a copy between regions: what made the source valid comes first.
      const auto* copy = recording_->operations[end - 1].work_as<analysis::CopyPayload>();
      if (copy == nullptr) continue;
      ++found.points;
      for (const analysis::Instance* instance : {copy->source, copy->target})
        last[const_cast<analysis::Instance*>(instance)] = found.points;
    }
  }
  found.instances.assign(last.begin(), last.end());
  return found;
}

analysis::AnalysisCounters CompiledTrace::counts(Index operations) const {
  const std::size_t memories = context_.runtime.machine().memories().size();
  analysis::AnalysisCounters sum;
  sum.links.resize(analysis::AnalysisCounters::links_of(context_.runtime.machine()));
  for (Index i = 0; i < operations; ++i) {
    const trace::Operation& recorded = recording_->operations[i];
    sum.edges += template_->nodes[i].carried() + template_->nodes[i].inner;
    if (const auto* copy = recorded.work_as<analysis::CopyPayload>())
      sum.count_copy(copy->source->memory * memories + copy->target->memory,
                     copy->points->volume() * copy->value_size);
    else if (recorded.work_as<trace::Fill>()) ++sum.fills;
    else if (const auto* fold = recorded.work_as<trace::Fold>())
      sum.folds += fold->reducer != trace::kNone && !fold->is_given();
  }
  return sum;
}

// --- compiling ---------------------------------------------------------------------------------------

void CompiledTrace::compile(std::vector<exec::Template::Operation> operations) {
  trace::RecordedEdges edges{recording_->edges, recording_->carried};
  if (context_.runtime.options().trace_optimize) {
    trace::OptimisedEdges optimised =
        trace::optimise(static_cast<Index>(operations.size()), std::move(edges));
    edges = std::move(optimised.edges);
    all_.counters.unexamined_edges += optimised.unexamined;
  }
  auto compiled = std::make_unique<exec::Template>(
      std::move(operations), edges.inner, edges.carried, context_.scope.parent() != nullptr);
  if (compiled->has_awaiting) compiled->in_order = order_in_steps(edges.inner, *compiled);
  if (context_.runtime.is_imagined()) compiled->user = &describe();
  if (context_.replicated != nullptr)
    compiled->name_failure = [this](const exec::Replay& replay, std::uint32_t index) {
      return failure_origin(replay, index);
    };
  template_ = std::move(compiled);
  if (context_.runtime.graph_log() != nullptr) edges_ = std::move(edges);
  replays_ =
      std::make_unique<exec::Replays>(context_.runtime.executor(), context_.scope, *template_);
}

/// In each step what awaits a message comes after all that can run without it, so that messages travel meanwhile. No two
/// shards that run in order wait for each other: what others await of a call comes before what is awaited of it.
std::vector<std::uint32_t> CompiledTrace::order_in_steps(
    const std::vector<trace::RecordedEdge>& inner, const exec::Template& compiled) const {
  // Contributions come last: those that this shard gives may take values of others.
  enum : std::uint8_t { at_once, behind_values, behind_contributions };
  std::vector<std::uint8_t> turn(operands_.size());
  std::vector<std::uint32_t> order;
  auto edge = inner.begin();  // by target
  for (Index step = 0; step < steps(); ++step) {
    const Index first = first_of(step), end = recording_->steps[step].operations;
    for (Index i = first; i < end; ++i) {
      if (recording_->operations[i].work_as<analysis::TakePayload>() != nullptr)
        turn[i] = behind_contributions;
      else if ((compiled.nodes[i].flags & exec::kAwaits) != 0) turn[i] = behind_values;
      for (; edge != inner.end() && edge->to == i; ++edge)
        if (edge->from >= first) turn[i] = std::max(turn[i], turn[edge->from]);
    }
    for (const std::uint8_t now : {at_once, behind_values, behind_contributions})
      for (Index i = first; i < end; ++i)
        if (turn[i] == now) order.push_back(i);
  }
  return order;
}

const OperationDetails& CompiledTrace::describe() {
  auto made = std::make_unique<OperationDetails>();
  for (Index i = 0; i < operands_.size(); ++i) {
    const trace::Operation& recorded = recording_->operations[i];
    OperationDetail& detail = made->all.emplace_back();
    detail.kind = recorded.kind;
    detail.plan = launches_[recorded.step].shared.plan;
    detail.rank = operands_[i].rank;
    if (const auto* copy = recorded.work_as<analysis::CopyPayload>()) {
      detail.reads(*copy->source);
      detail.writes(*copy->target, copy->points, copy->value_size);
    } else if (const auto* fill = recorded.work_as<trace::Fill>()) {
      detail.writes(*fill->target, fill->points, fill->value_size);
    } else if (const auto* fold = recorded.work_as<trace::Fold>();
               fold != nullptr && !fold->is_given()) {
      const analysis::FoldPayload& payload = fold->payload;
      detail.writes(*payload.target, payload.points, payload.target->field->type().size);
    }
  }
  details_ = std::move(made);
  return *details_;
}

void CompiledTrace::count_bytes() {
  constexpr std::size_t kAround = 1024;  // its branch, its branch points, the allocator's own
  const auto of = [](const auto& all) { return all.capacity() * sizeof(all[0]); };
  bytes_ += kAround + sizeof *this + sizeof *template_ + sizeof *replays_ + replays_->bytes() +
            recording_->bytes() + template_->bytes() + steps() * sizeof(Launch) + of(quick_) +
            of(operands_) + of(plain_) + of(edges_.inner) + of(edges_.carried) + of(ended_) +
            of(per_replay_arguments_);
  for (Index step = 0; step < steps(); ++step)
    bytes_ += of(launches_[step].messages) + of(launches_[step].contributions);
  for (const auto& call : calls_) bytes_ += sizeof *call + of(call->key) + of(call->makers);
  all_.bytes += bytes_;
  // As Scope::make_room_to_replay lets there be.
  most_replays_ = std::max<std::size_t>(4, context_.runtime.window() / operands_.size() + 1);
}

std::size_t CompiledTrace::bytes_of_replay() const {
  return sizeof(ReplayValues) + own_payload_bytes_ + own_records_ * sizeof(LaunchRecord) +
         steps() * sizeof(ReplayValues::Fill) + own_works_ * sizeof(ReplayValues::Work) +
         (context_.replicated != nullptr ? steps() * sizeof(std::uint64_t) : 0) +
         recording_->own.size() * sizeof(analysis::Instance*) + sizeof(exec::Replay) +
         operands_.size() * (sizeof(exec::LiveNode) + sizeof(std::uint64_t));
}

}  // namespace refrain::runtime
