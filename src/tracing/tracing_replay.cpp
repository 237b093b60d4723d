// Tracing: issuing the replays of a segment, and bringing the state up to date when a chain is left.

#include <algorithm>
#include <iterator>

#include "refrain/error.hpp"
#include "report/explanation.hpp"
#include "runtime/context_impl.hpp"
#include "tracing/tracing.hpp"

namespace refrain::runtime {

using trace::Index;

/// The trace begins to follow a part of the present replay, all before it has been issued.
void Tracing::enter_part(std::size_t number) {
  show_begin();
  const Part& entered = chain_->parts[part_ = number];
  entered.segment->last_used = ++clock_;
  entered.segment->replayed = true;
  occurrence_.replayed = true;
  part_begin_ = step_;
  part_end_ = step_ + entered.steps;
  // A log is told step by step, and a mapper that is asked each time has its say first.
  quick_ = context_.runtime_.graph_log() == nullptr && !context_.runtime_.mapper().every_launch()
               ? chain_->trace->quick().first(part_end_)
               : std::span<ReplayedTrace::Quick>();
  following_ = true;
  fork_ = nullptr;
}

void Tracing::start(Unit& unit, bool carried) {
  ReplayedTrace& trace = *unit.trace;
  carried_ = carried;
  if (!carried) occurrence_.note_entered();
  before_noted_ = std::exchange(noted_, false);
  whole_replays_ = carried ? whole_replays_ + 1 : 0;
  if (carried) {
    before_base_ = replay_->base;
    before_values_ = &trace.values(*replay_);
  }
  trace.pin();
  replay_ = &trace.replays().begin(carried);
  trace.values(*replay_);  // made, the first time: what is issued looks there
  if (!trace.recording().own.empty()) trace.give_found(*replay_);
  // A replay is remembered while it may be in flight.
  if (!carried) bases_.clear();
  if (context_.runtime_.graph_log() == nullptr) {
    const std::uint64_t oldest = trace.replays().in_flight().front()->base;
    while (!bases_.empty() && bases_.front() < oldest) bases_.pop_front();
  }
  bases_.push_back(replay_->base);
  awaited_.clear();
  chain_ = &unit;
  replays_ = &trace.replays();
  step_ = 0;
  enter_part(0);
  const auto matters = [this](const exec::Edge& edge) {
    // A log is told of every edge.
    return context_.runtime_.graph_log() != nullptr || !exec::is_complete(edge.from) ||
           context_.scope_.failure_of(edge.from) != nullptr;
  };
  if (carried) {
    std::erase_if(standing_, [&](const trace::Entry& entry) { return !matters(entry.after); });
    await(standing_);
  } else {
    standing_ = trace::entries(trace.recording(), matters);
    await(standing_);
    std::erase_if(standing_, [](const trace::Entry& entry) { return !entry.standing; });
  }
}

/// Each operation with all that it comes after.
void Tracing::await(std::span<const trace::Entry> entries) {
  for (auto first = entries.begin(); first != entries.end();) {
    const auto last = std::find_if(first, entries.end(), [&](const trace::Entry& entry) {
      return entry.operation != first->operation;
    });
    after_.clear();
    std::ranges::transform(first, last, std::back_inserter(after_), &trace::Entry::after);
    chain_->trace->replays().await(*replay_, first->operation, after_);
    first = last;
  }
  if (context_.runtime_.graph_log() != nullptr)
    awaited_.insert(awaited_.end(), entries.begin(), entries.end());
}

/// The operation reads what the producer makes.
void Tracing::await(Index operation, const exec::NodeRef& producer) {
  const trace::Entry entry{operation, {resolve(producer), exec::EdgeKind::data}};
  await({&entry, 1});
}

bool Tracing::matches(const LaunchRequest& request, ReplayedTrace::Quick& next) {
  if (next.operations == 0 || (request.value_ops != nullptr) != next.has_values ||
      !request.futures.empty() || !context_.has_key(request, chain_->trace->calls()[step_]->key))
    return false;
  next.last.remember(request, context_.forest_, context_.runtime_.mapper().epoch(), next.arguments);
  return true;
}

bool Tracing::replay_next(const LaunchRequest& request) {
  if (step_ >= quick_.size()) return false;
  ReplayedTrace::Quick& next = quick_[step_];
  if ((request.value_ops != nullptr) != next.has_values || !request.futures.empty() ||
      !next.last.is(request, context_.forest_, context_.runtime_.mapper().epoch())) [[unlikely]] {
    if (!matches(request, next)) return false;
  }
  context_.note_launch(next.token, {}, next.points);
  if (next.has_values) {
    LaunchRecord& record = *chain_->trace->record(*replay_, step_);
    context_.fill_record(record, request);
    record.holds_something = true;
  }
  if (!context_.grants_.empty()) [[unlikely]]
    context_.lend(*chain_->trace->calls()[step_]->plan, nullptr);
  counters_.replayed_tasks += next.points;
  const Index operations = next.operations;
  if (++step_ == quick_.size()) note_whole();
  replays_->issue(*replay_, operations);
  return true;
}

/// A part has been issued to its end.
void Tracing::note_whole() {
  ++counters_.replays;
  if (step_ < chain_->trace->steps()) return;
  context_.analysis_.counters() += chain_->trace->counts();
}

bool Tracing::replay_launch(const LaunchRequest& request, Key key, AnyFuture& result) {
  if (!step_to(TracedCall::of(request, key))) return false;
  take_launch(request, result);
  prepare_fills();
  issue_step();
  return true;
}

void Tracing::take_launch(const LaunchRequest& request, AnyFuture& result) {
  ReplayedTrace& trace = *chain_->trace;
  LaunchPlan& plan = *trace.calls()[step_]->plan;
  context_.note_launch(plan);
  if (Explanation* explanation = context_.runtime_.explanation()) [[unlikely]]
    explanation->launched(plan, "");
  if (LaunchRecord* record = trace.record(*replay_, step_)) {
    if (plan.points.empty()) {
      result = context_.make_result(plan, request);
    } else {
      context_.fill_record(*record, request);
      record->holds_something = true;
      result = record->result;
    }
  }
  if (result.valid() || !request.futures.empty()) {
    std::uint32_t rank = 0;
    const Index to = trace.recording().steps[step_].operations;
    for (Index i = trace.first_of(step_); i < to; ++i) {
      if (trace.recording().operations[i].kind != exec::NodeKind::task) continue;
      if (result.valid())
        result.state()->set_producer(rank++, context_.scope_.complete_ref(replay_->base + i));
      take_futures(request.futures, i);
    }
  }
  if (!context_.grants_.empty()) context_.lend(plan, result.state());
}

// The task comes after what makes the futures it is given, and fails with them. Those made in this part are
// its predecessors in the template.
void Tracing::take_futures(std::span<detail::FutureState* const> futures, Index operation) {
  const std::uint64_t first = replay_->base + chain_->trace->first_of(part_begin_);
  for (detail::FutureState* future : futures) {
    const bool own = future->context() == context_.identity_;
    for (std::size_t rank = 0; rank < future->points(); ++rank) {
      if (own && future->producer(rank).seq >= first) continue;
      if (!future->ready(rank)) {
        await(operation, future->producer(rank));
        continue;
      }
      if (const exec::FailureRef failure = future->failure(rank))
        replay_->aside->fail(operation, *failure.get());
      if (own && context_.runtime_.graph_log() != nullptr)
        awaited_.push_back({operation, {future->producer(rank), exec::EdgeKind::data}});
    }
  }
}

bool Tracing::replay_fill(const TracedCall& call, const ReplayValues::Fill& value) {
  if (!step_to(call)) return leave();
  chain_->trace->values(*replay_).step_fills[step_] = value;
  context_.note_call(chain_->trace->calls()[step_]->token, {});
  issue_step();
  return true;
}

bool Tracing::replay_call(const TracedCall& call) {
  if (!step_to(call)) return leave();
  context_.note_call(chain_->trace->calls()[step_]->token, {});
  prepare_fills();
  issue_step();
  return true;
}

bool Tracing::replay_reduction(const TracedCall& call, FutureReduction reduction) {
  if (!step_to(call)) return leave();
  ReplayedTrace& trace = *chain_->trace;
  context_.note_call(trace.calls()[step_]->token, {});
  const Index operation = trace.first_of(step_);
  reduction.result.state()->set_producer(0,
                                         context_.scope_.complete_ref(replay_->base + operation));
  take_futures(call.futures, operation);
  trace.reduction(*replay_, step_) = std::move(reduction);
  issue_step();
  return true;
}

bool Tracing::replay_end(const TracedCall& call, data::RegionTree& tree) {
  if (!step_to(call)) return leave();
  const ReplayedTrace& trace = *chain_->trace;
  context_.note_call(trace.calls()[step_]->token, {});
  const ReplayedTrace::OwnInstances ended = trace.ended_by(step_);
  const trace::Replayed names = names_of(replay_->base);
  // The state knows those from before the chain.
  const auto users_of = [&](analysis::Instance& instance) {
    std::vector<exec::NodeRef> users;
    const auto own = std::ranges::find(
        ended, &instance, [](const trace::OwnInstance* each) { return each->name->counterpart; });
    if (own == ended.end()) return users;
    for (const Index user : (*own)->users)
      if (const exec::NodeRef named = names.operation(user); !exec::is_complete(named))
        users.push_back(named);
    (*own)->name->counterpart = nullptr;
    return users;
  };
  analysis::TreeState::of(tree).for_each(
      [&](analysis::FieldState& field) { context_.analysis_.end_field(field, users_of); });
  issue_step();
  return true;
}

// The instances that the next call makes, in the same order as the analysis. Where there is no room the analysis
// gives up others, or fails: it goes on from the instances that there was room for.
bool Tracing::make_instances() {
  ReplayedTrace& trace = *chain_->trace;
  if (trace.recording().own.empty()) [[likely]]
    return true;
  try {
    for (const trace::OwnInstance* own : trace.made_by(step_)) {
      const analysis::Instance& name = *own->name;
      analysis::Instance* made = context_.analysis_.make_instance(
          *name.field, name.space, name.memory, name.layout, trace.calls()[step_]->info,
          trace.calls()[step_]->plan != nullptr ? exec::NodeKind::task : exec::NodeKind::copy);
      if (made == nullptr) {
        leave_segment();
        fork_ = nullptr;  // what is given up now is not recorded
        asked_.may_record = false;
        if (occurrence_.watched) occurrence_.add(no_room(name, context_.runtime_.machine()));
        return false;
      }
      trace.give(*replay_, *own, *made);
    }
  } catch (
      ...) {  // nobody will ever be done with the room: made again, the call finds what there is
    leave_segment();
    throw;
  }
  return true;
}

// The value that is pending where a fill operation reads it.
ReplayValues::Fill Tracing::value_of(const trace::FillSource& source) {
  ReplayedTrace& trace = *chain_->trace;
  if (!source.entry) return trace.values(*replay_).step_fills[source.index];
  const Index filled_by = trace.outcome().places[source.index].fill.step;
  if (carried_ && filled_by != trace::kNone) return before_values_->step_fills[filled_by];
  return trace.recording().places[source.index].piece->fill;
}

void Tracing::prepare_fills() {
  ReplayedTrace& trace = *chain_->trace;
  const ReplayedTrace::FillsOfStep fills = trace.fills_of(step_);
  if (fills.operations.empty()) [[likely]]
    return;
  ReplayValues& values = trace.values(*replay_);
  for (std::size_t i = 0; i < fills.operations.size(); ++i) {
    const Index operation = fills.operations[i];
    const auto& fill = std::get<trace::Fill>(trace.recording().operations[operation].work);
    ReplayValues::Fill& value = values.filled[fills.first + i];
    value = value_of(fill.source);
    if (!value->producer) continue;
    await(operation, value->producer);
  }
}

void Tracing::issue_step() {
  ReplayedTrace& trace = *chain_->trace;
  const trace::Step& step = trace.recording().steps[step_];
  if (context_.runtime_.graph_log() != nullptr) log_step();
  ++step_;
  if (trace.calls()[step_ - 1]->plan != nullptr)
    counters_.replayed_tasks += trace.calls()[step_ - 1]->plan->points.size();
  if (step_ == part_end_) note_whole();
  trace.replays().issue(*replay_, step.operations);
}

void Tracing::log_step() {
  ReplayedTrace& trace = *chain_->trace;
  const trace::Recording& recording = trace.recording();
  analysis::GraphLog& log = *context_.runtime_.graph_log();
  const Index from = trace.first_of(step_);
  for (Index i = from; i < recording.steps[step_].operations; ++i) {
    const trace::Operation& operation = recording.operations[i];
    analysis::LoggedOperation logged;
    logged.scope = context_.id_;
    logged.seq = replay_->base + i;
    logged.kind = operation.kind;
    logged.call = context_.calls_ - 1;
    logged.rank = operation.rank;
    logged.argument = operation.argument;
    logged.info = operation.info;
    trace::describe_work(operation, logged);
    log.operation(logged);
    for (const trace::RecordedEdge& edge : trace.inner_of(i))
      log.edge(context_.id_, replay_->base + edge.from, logged.seq, edge.kind);
    if (!carried_) continue;
    for (const trace::RecordedEdge& edge : trace.carried_of(i))
      log.edge(context_.id_, before_base_ + edge.from, logged.seq, edge.kind);
  }
  std::erase_if(awaited_, [&](const trace::Entry& entry) {
    if (entry.operation >= recording.steps[step_].operations) return false;
    log.edge(context_.id_, entry.after.from.seq, replay_->base + entry.operation, entry.after.kind);
    return true;
  });
}

// --- leaving -----------------------------------------------------------------------------------------

/// A replay of the chain, whose first operation has this sequence number.
trace::Replayed Tracing::names_of(std::uint64_t base) {
  return {[this, base](Index operation) { return replays_->ref(base + operation); }, nullptr};
}

/// For a call that is to be analysed.
bool Tracing::leave() {
  catch_up();
  return false;
}

void Tracing::settle() {
  if (following_) leave_segment();
  else catch_up();
}

void Tracing::catch_up() {
  if (chain_ == nullptr) [[likely]]
    return;
  ReplayedTrace& trace = *chain_->trace;
  exec::Replay& present = *replay_;
  const bool whole = step_ == trace.steps();
  ++counters_.catch_ups;
  if (step_ != part_end_) ++counters_.early_exits;
  if (part().segment->tokens.empty()) note_round();
  else judge_found();
  if (!whole && step_ > 0)
    context_.analysis_.counters() += trace.counts(trace.recording().steps[step_ - 1].operations);
  for (std::uint64_t base : bases_)
    if (base != present.base && (whole || base != before_base_))
      trace::add_standing_readers(context_.analysis_, trace.recording(), trace.outcome(),
                                  names_of(base));
  if (!whole && carried_) {
    trace::Replayed names = names_of(before_base_);
    names.fill = [this](Index step) { return before_values_->step_fills[step]; };
    trace::bring_forward(context_.analysis_, trace.recording(), trace.outcome(), names);
    if (!before_noted_) note_uses(trace.uses());
  }
  trace::Replayed names = names_of(present.base);
  names.fill = [&](Index step) { return trace.values(present).step_fills[step]; };
  if (whole) {
    trace::bring_forward(context_.analysis_, trace.recording(), trace.outcome(), names);
    if (!noted_) note_uses(trace.uses());
  } else if (step_ > 0) {
    const Index effects = trace.recording().steps[step_ - 1].effects;
    trace::bring_forward(context_.analysis_, trace.recording(),
                         trace::outcome_of(trace.recording(), effects), names);
    note_uses(trace.uses(step_));
  }
  trace.replays().leave(present);
  ReplayedTrace::unpin_idle(replayed_);
  free_retired();
  chain_ = nullptr;
  round_ = nullptr;
  replay_ = nullptr;
  unfollow();
  standing_.clear();
  recent_.clear();
}

exec::NodeRef Tracing::resolve(const exec::NodeRef& producer) {
  for (ReplayedTrace* trace : replayed_.pinned) {  // others have nothing in flight
    const exec::NodeRef named = trace->replays().ref(producer.seq);
    if (!exec::is_complete(named)) return named;
  }
  return producer;
}

}  // namespace refrain::runtime
