#include "replay/replay_cursor.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "launch/call_identity.hpp"

namespace refrain::runtime {

using trace::Index;

void ReplayCursor::follow(Index calls) {
  begin_ = step_;
  end_ = step_ + calls;
  // A log is told step by step, and a mapper that is asked each time has its say first: what it throws, the launch tells.
  bool is_quick = context_.runtime.graph_log() == nullptr;
  try {
    is_quick = is_quick && !is_mapper_asked(context_);
  } catch (...) { is_quick = false; }
  quick_ = trace_->quick().first(is_quick ? end_ : 0);
  following_ = true;
}

void ReplayCursor::start(CompiledTrace& trace, bool carried) {
  // Unless some of the replay before is known, all is as it was found.
  if (carried && on_shards_ > 0) catch_up_on_shards();
  on_shards_ = 0;
  before_noted_ = std::exchange(noted_, false);
  whole_replays_ = carried ? whole_replays_ + 1 : 0;
  if (carried) {
    before_base_ = replay_->base;
    before_values_ = &trace.values(*replay_);
  }
  trace.pin();
  trace.count_replay();
  replay_ = &trace.replays().begin(carried);
  trace.values(*replay_);  // made, the first time: what is issued looks there
  if (!trace.recording().own.empty()) trace.give_found(*replay_);
  // A replay is remembered while it may be in flight.
  if (!carried) bases_.clear();
  if (context_.runtime.graph_log() == nullptr) {
    const std::uint64_t oldest = trace.replays().in_flight().front()->base;
    while (!bases_.empty() && bases_.front() < oldest) bases_.pop_front();
  }
  bases_.push_back(replay_->base);
  awaited_.clear();
  trace_ = &trace;
  replays_ = &trace.replays();
  step_ = 0;
  const auto matters = [this](const exec::NodeRef& earlier) {
    // A log is told of every edge.
    return context_.runtime.graph_log() != nullptr || !exec::is_complete(earlier);
  };
  if (carried) {
    std::erase_if(entries_, [&](const trace::Entry& entry) { return !matters(entry.after); });
    await(entries_);
  } else {
    trace::Entries entries = trace::entries(trace.recording(), matters);
    await(entries.first);
    entries_ = std::move(entries.later);
  }
}

bool ReplayCursor::is_step(const CompiledTrace& trace, Index step, Index begin,
                           const TracedCall& made) const {
  if (step >= trace.steps()) return false;
  const RecordedCall& call = *trace.calls()[step];
  if (!std::ranges::equal(call.key, made.key) || call.has_values != made.has_values) return false;
  if (call.makers.empty()) return made.futures.empty();
  // Futures that the stretch makes must be made by the same operations as then.
  if (step == begin)
    return std::ranges::all_of(call.makers, [](Index m) { return m == trace::kNone; });
  const Index first = trace.first_of(begin);
  return makers_of(context_.identity, made.futures, replay_->base + first,
                   trace.first_of(step) - first) == call.makers;
}

/// Each operation with all that it comes after.
void ReplayCursor::await(std::span<const trace::Entry> entries) {
  for (auto first = entries.begin(); first != entries.end();) {
    const auto last = std::find_if(first, entries.end(), [&](const trace::Entry& entry) {
      return entry.operation != first->operation;
    });
    after_.clear();
    std::ranges::transform(first, last, std::back_inserter(after_), &trace::Entry::after);
    trace_->replays().add_preconditions(*replay_, first->operation, after_);
    first = last;
  }
  if (context_.runtime.graph_log() != nullptr)
    awaited_.insert(awaited_.end(), entries.begin(), entries.end());
}

/// The operation reads what the producer makes.
void ReplayCursor::await(Index operation, const exec::NodeRef& producer) {
  const trace::Entry entry{operation, resolve(producer)};
  await({&entry, 1});
}

bool ReplayCursor::matches(const LaunchRequest& request, CompiledTrace::Quick& next) {
  if (next.operations == 0 || (request.value_ops != nullptr) != next.has_values ||
      !request.futures.empty() ||
      !has_key(request, context_.forest, context_.runtime.mapper().epoch(),
               trace_->calls()[step_]->key))
    return false;
  next.last.remember(request, context_.forest, context_.runtime.mapper().epoch(), next.words.get());
  return true;
}

bool ReplayCursor::replay_next(const LaunchRequest& request) {
  if (step_ >= quick_.size()) return false;
  CompiledTrace::Quick& next = quick_[step_];
  if ((request.value_ops != nullptr) != next.has_values || !request.futures.empty() ||
      !next.last.is(request, context_.forest, context_.runtime.mapper().epoch())) [[unlikely]] {
    if (!matches(request, next)) return false;
  }
  context_.note_launch(next.token, {}, next.points);
  if (next.has_values && next.points > 0) {
    LaunchRecord& record = *trace_->record(*replay_, step_);
    context_.records.fill(record, request);
    record.holds_something = true;
  }
  if (!context_.grants.empty()) [[unlikely]]
    context_.grants.lend(*trace_->calls()[step_]->plan, nullptr);
  if (context_.replicated != nullptr) [[unlikely]] {
    context_.replicated->replayed(*trace_->calls()[step_]->plan);
    trace_->number(*replay_, step_, context_.calls - 1);
  }
  traces_.counters.replayed_tasks += next.points;
  const Index operations = next.operations;
  if (++step_ == quick_.size()) count_whole();
  replays_->issue(*replay_, operations);
  return true;
}

/// The stretch has been issued to its end.
void ReplayCursor::count_whole() {
  ++traces_.counters.replays;
  if (is_whole()) context_.analysis.counters() += trace_->counts();
}

void ReplayCursor::take_launch(const LaunchRequest& request, AnyFuture& result) {
  CompiledTrace& trace = *trace_;
  LaunchPlan& plan = *trace.calls()[step_]->plan;
  context_.note_launch(plan);
  if (Listener* told = context_.runtime.listener(Events::decisions)) [[unlikely]]
    told->launched(plan, "");
  if (LaunchRecord* record = trace.record(*replay_, step_)) {
    if (plan.own.points.empty()) {
      result = context_.records.make_result(plan, request);
    } else {
      context_.records.fill(*record, request);
      record->holds_something = true;
      result = record->result;
    }
  }
  if (context_.replicated != nullptr) {
    context_.replicated->replayed(plan);
    if (result.valid() && !plan.group) result.state()->at = trace.calls()[step_]->runs_at;
  }
  if (result.valid() || !request.futures.empty()) {
    std::uint32_t rank = 0;
    const Index to = trace.recording().steps[step_].operations;
    for (Index i = trace.first_of(step_); i < to; ++i) {
      if (trace.recording().operations[i].kind != exec::NodeKind::task) continue;
      if (result.valid())
        result.state()->set_producer(rank++, context_.scope.complete_ref(replay_->base + i));
      take_futures(request.futures, i);
    }
  }
  if (!context_.grants.empty()) context_.grants.lend(plan, result.state());
}

// The task comes after what makes the futures it is given. Those made in this part are its predecessors in the template.
void ReplayCursor::take_futures(std::span<detail::FutureState* const> futures, Index operation) {
  const std::uint64_t first = replay_->base + trace_->first_of(begin_);
  for (detail::FutureState* future : futures) {
    const bool own = future->context() == context_.identity;
    for (std::size_t rank = 0; rank < future->points(); ++rank) {
      if (own && future->producer(rank).seq >= first) continue;
      if (!future->ready(rank)) await(operation, future->producer(rank));
      else if (own && context_.runtime.graph_log() != nullptr)
        awaited_.push_back({operation, future->producer(rank)});
    }
  }
}

void ReplayCursor::take_reduction(std::span<detail::FutureState* const> values,
                                  FutureReduction reduction) {
  const Index operation = trace_->first_of(step_);
  reduction.result.state()->set_producer(0, context_.scope.complete_ref(replay_->base + operation));
  take_futures(values, operation);
  trace_->work(*replay_, operation) = std::move(reduction);
}

void ReplayCursor::take_exchanges(std::span<const CallExchange> exchanges,
                                  detail::FutureState& given) {
  detail::FutureState* const futures[] = {&given};
  Index operation = trace_->first_of(step_);
  for (const CallExchange& each : exchanges) {
    if (each.makes.valid())
      each.makes.state()->set_producer(0, context_.scope.complete_ref(replay_->base + operation));
    if (each.reads) take_futures(futures, operation);
    trace_->work(*replay_, operation++) = each.exchange;
  }
}

void ReplayCursor::take_end(data::RegionTree& tree) {
  const auto ended = trace_->ended_by(step_);
  const trace::Replayed names = names_of(replay_->base);
  // The state knows those from before the chain.
  const auto users_of = [&](analysis::Instance& instance) {
    std::vector<exec::NodeRef> users;
    const auto own = std::ranges::find(ended, &instance, [](const trace::PerReplayInstance* each) {
      return each->placeholder->bound_to;
    });
    if (own == ended.end()) return users;
    for (const Index user : (*own)->users)
      if (const exec::NodeRef named = names.operation(user); !exec::is_complete(named))
        users.push_back(named);
    (*own)->placeholder->bound_to = nullptr;
    return users;
  };
  analysis::TreeState::of(tree).for_each(
      [&](analysis::FieldState& field) { context_.analysis.end_field(field, users_of); });
}

const analysis::Instance* ReplayCursor::make_instances() {
  if (trace_->recording().own.empty()) [[likely]]
    return nullptr;
  for (const trace::PerReplayInstance& own : trace_->made_by(step_)) {
    const analysis::Instance& name = *own.placeholder;
    const LaunchPlan* plan = trace_->calls()[step_]->plan;
    analysis::Instance* made = context_.analysis.make_instance(
        *name.field, name.space, name.memory, name.layout, trace_->calls()[step_]->info,
        plan != nullptr ? exec::NodeKind::task : exec::NodeKind::copy);
    if (made == nullptr) return &name;
    trace_->give(*replay_, own, *made);
  }
  return nullptr;
}

// The value that is pending where a fill operation reads it.
ReplayValues::Fill ReplayCursor::value_of(const trace::FillSource& source) {
  if (!source.entry) return trace_->values(*replay_).step_fills[source.index];
  const Index filled_by = trace_->outcome().places[source.index].fill.step;
  if (is_carried() && filled_by != trace::kNone) return before_values_->step_fills[filled_by];
  return trace_->recording().places[source.index].set->fill;
}

void ReplayCursor::prepare_fills() {
  if (!trace_->has_fills(step_)) [[likely]]
    return;
  const trace::Recording& recording = trace_->recording();
  for (Index i = trace_->first_of(step_); i < recording.steps[step_].operations; ++i) {
    const auto* fill = recording.operations[i].work_as<trace::Fill>();
    if (fill == nullptr) continue;
    ReplayValues::Fill value = value_of(fill->source);
    if (value->producer) await(i, value->producer);
    trace_->work(*replay_, i) = std::move(value);
  }
}

void ReplayCursor::issue_step(std::optional<std::uint64_t> part_of) {
  CompiledTrace& trace = *trace_;
  prepare_fills();
  const trace::Step& step = trace.recording().steps[step_];
  const RecordedCall& call = *trace.calls()[step_];
  if (call.plan == nullptr && !part_of) context_.note_call(call.token, {});
  if (call.plan != nullptr) traces_.counters.replayed_tasks += call.plan->own_points();
  const std::uint64_t number = part_of.value_or(context_.calls - 1);
  if (context_.replicated != nullptr) trace.number(*replay_, step_, number);
  if (context_.runtime.graph_log() != nullptr) log_step(number);
  ++step_;
  if (step_ == end_) count_whole();
  trace.replays().issue(*replay_, step.operations);
}

void ReplayCursor::log_step(std::uint64_t call) {
  const trace::Recording& recording = trace_->recording();
  analysis::GraphLog& log = *context_.runtime.graph_log();
  const auto log_edges = [&](const std::vector<trace::RecordedEdge>& edges, Index to,
                             std::uint64_t base) {
    for (const auto& edge : std::ranges::equal_range(edges, to, {}, &trace::RecordedEdge::to))
      log.edge(context_.id, base + edge.from, replay_->base + to);
  };
  for (Index i = trace_->first_of(step_); i < recording.steps[step_].operations; ++i) {
    const trace::Operation& operation = recording.operations[i];
    analysis::LoggedOperation logged;
    logged.scope = context_.id;
    logged.seq = replay_->base + i;
    logged.kind = operation.kind;
    logged.call = call;
    logged.rank = operation.rank;
    logged.argument = operation.argument;
    logged.info = operation.info;
    trace::describe_work(operation, logged);
    log.operation(logged);
    log_edges(trace_->edges().inner, i, replay_->base);
    if (is_carried()) log_edges(trace_->edges().carried, i, before_base_);
  }
  std::erase_if(awaited_, [&](const trace::Entry& entry) {
    if (entry.operation >= recording.steps[step_].operations) return false;
    log.edge(context_.id, entry.after.seq, replay_->base + entry.operation);
    return true;
  });
}

// --- leaving -----------------------------------------------------------------------------------------

/// A replay of the chain, whose first operation has this sequence number; with its values, if they are asked for.
trace::Replayed ReplayCursor::names_of(std::uint64_t base, const ReplayValues* values) {
  return {[this, base](Index operation) { return replays_->ref(base + operation); },
          [values](Index step) { return values->step_fills[step]; }};
}

void ReplayCursor::catch_up_on_shards() {
  if (trace_ == nullptr) return;
  const std::vector<trace::OnShardsAfter>& after = trace_->recording().on_shards_after;
  for (; on_shards_ < after.size() && after[on_shards_].step < step_; ++on_shards_) {
    const trace::OnShardsAfter& each = after[on_shards_];
    if (each.ended) {
      context_.replicated->forget(*each.field);
      continue;
    }
    each.field->on_shards = each.after;
    if (each.used != nullptr) context_.replicated->keep_extent(*each.field, *each.used);
  }
}

void ReplayCursor::catch_up() {
  catch_up_on_shards();
  CompiledTrace& trace = *trace_;
  exec::Replay& present = *replay_;
  const bool whole = is_whole();
  ++traces_.counters.catch_ups;
  if (!at_end()) ++traces_.counters.early_exits;
  if (!whole && step_ > 0)
    context_.analysis.counters() += trace.counts(trace.recording().steps[step_ - 1].operations);
  for (std::uint64_t base : bases_)
    if (base != present.base && (whole || base != before_base_))
      trace::add_standing_readers(context_.analysis, trace.outcome(), names_of(base));
  if (!whole && is_carried()) {
    trace::bring_forward(context_.analysis, trace.outcome(),
                         names_of(before_base_, before_values_));
    if (!before_noted_) note_uses(trace.uses());
  }
  const trace::Replayed names = names_of(present.base, &trace.values(present));
  if (whole) {
    trace::bring_forward(context_.analysis, trace.outcome(), names);
    if (!noted_) note_uses(trace.uses());
  } else if (step_ > 0) {
    const Index effects = trace.recording().steps[step_ - 1].effects;
    trace::bring_forward(context_.analysis, trace::Outcome(trace.recording(), effects), names);
    note_uses(trace.uses(step_));
  }
  trace.replays().leave(present);
  CompiledTrace::unpin_idle(traces_);
  trace_ = nullptr;
  replay_ = nullptr;
  unfollow();
  entries_.clear();
}

void ReplayCursor::note_uses() {
  if (!std::exchange(noted_, true)) note_uses(trace_->uses());
}

void ReplayCursor::abandon() noexcept {
  for (CompiledTrace* trace : traces_.pinned) trace->replays().abandon();
  trace_ = nullptr;
  replay_ = nullptr;
  unfollow();
}

exec::NodeRef ReplayCursor::resolve(const exec::NodeRef& producer) const {
  for (CompiledTrace* trace : traces_.pinned) {  // others have nothing in flight
    const exec::NodeRef named = trace->replays().ref(producer.seq);
    if (!exec::is_complete(named)) return named;
  }
  return producer;
}

}  // namespace refrain::runtime
