#include "runtime/tracing.hpp"

#include <algorithm>
#include <sstream>

#include "base/assert.hpp"
#include "profile/clock.hpp"
#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"
#include "runtime/explanation.hpp"
#include "runtime/recording_text.hpp"
#include "runtime/report_file.hpp"
#include "runtime/timeline_listener.hpp"

namespace refrain::runtime {

using trace::Index;

namespace {

std::string mark(const char* call, const std::string& trace, std::source_location where) {
  return std::string(call) + "('" + trace + "') at " + to_string(where);
}

}  // namespace

Tracing::Tracing(ContextImpl& context)
    : context_(context),
      enabled_(context.runtime().options().tracing),
      mark_(context.parent_ == nullptr ? "the context of the program"
                                       : "the context of " + context.task_name_) {}
Tracing::~Tracing() = default;

// --- marks -------------------------------------------------------------------------------------------

void Tracing::begin(const Trace& trace, std::source_location where) {
  if (open_ != 0)
    throw UsageError(mark("begin_trace", trace.name(), where) + ": trace '" + open_name_ +
                     "', begun at " + to_string(opened_at_) +
                     ", has not ended: traces do not nest");
  open_ = trace.id();
  open_name_ = trace.name();
  opened_at_ = where;
  mark_.begin(open_, where);
  parted_ = nullptr;
  occurrence_ = {};
  occurrence_.watched = required_.contain(open_) || context_.runtime_.explanation() != nullptr;
  if (enabled_) fork_ = &names_[open_];
}

void Tracing::end(const Trace& trace, std::source_location where) {
  if (open_ == 0)
    throw UsageError(mark("end_trace", trace.name(), where) +
                     ": no trace has been begun in this context" +
                     OpenTrace::elsewhere(trace.id()));
  if (open_ != trace.id())
    throw UsageError(mark("end_trace", trace.name(), where) + ": the trace that is open is '" +
                     open_name_ + "', begun at " + to_string(opened_at_) +
                     OpenTrace::elsewhere(trace.id()));
  close_trace();
  if (enabled_ && required_.contain(trace.id()))
    required_.judge(trace, occurrence_, opened_at_, where);
}

void Tracing::leave_trace(const Trace& trace) {
  if (open_ == trace.id()) close_trace();
}

void Tracing::require_replay(const Trace& trace, std::source_location where) {
  if (open_ == trace.id())
    throw UsageError(mark("require_replay", trace.name(), where) + ": the trace, begun at " +
                     to_string(opened_at_) + ", is open; say so before it begins");
  required_.require(trace, where);
}

void Tracing::close_trace() {
  finish_recording("the trace ended there");
  if (following_) {
    show_end(profile::Category::replaying, step_);
    note_replayed_calls();
  }
  if (Explanation* explanation = context_.runtime_.explanation(); explanation && open_ != 0)
    explanation->occurred(open_, open_name_, opened_at_, occurrence_);
  mark_.end();
  open_ = 0;
  fork_ = nullptr;
  unfollow();
}

void Tracing::close() {
  mark_.abandon();
  close_trace();
  note_bytes();
  catch_up();
}

// --- what a timeline shows ---------------------------------------------------------------------------

void Tracing::show_begin() {
  if (context_.runtime_.timeline() != nullptr) [[unlikely]]
    shown_from_ns_ = profile::now_ns();
}

void Tracing::show_end(profile::Category what, std::size_t calls) {
  if (TimelineListener* timeline = context_.runtime_.timeline()) [[unlikely]]
    timeline->traced(what, open_name_, opened_at_, calls,
                     context_.runtime_.executor().this_thread(), shown_from_ns_);
}

// --- which segment -----------------------------------------------------------------------------------

bool Tracing::next_is(const Segment& segment, Index step, const TracedCall& made) {
  const ReplayedTrace& trace = *segment.trace;
  if (step >= trace.steps()) return false;
  const RecordedCall& call = *trace.calls()[step];
  if (!std::ranges::equal(call.key, made.key)) return false;
  if (call.has_values != made.has_values) return false;
  if (call.makers.empty()) return true;
  // Futures: those that the trace makes must be made by the same operations as then.
  if (step == 0 || !following_) {
    return std::ranges::all_of(call.makers, [](Index m) { return m == RecordedCall::kOutside; });
  }
  return makers_of(made.futures, replay_->base, trace.recording().steps[step - 1].operations) ==
         call.makers;
}

// Whether the call is the next one of a segment; then `step_` is its place there. Otherwise it is to be
// analysed; outside of traces a chain may still have to be left.
bool Tracing::step_to(const TracedCall& call) {
  if (following_) {
    if (next_is(*chain_, step_, call)) return true;
    part();
  }
  return fork_ != nullptr && recorder_ == nullptr && select(call);
}

void Tracing::make_way(const LaunchPlan& plan) {
  if (chain_ == nullptr) [[likely]]
    return;
  if (!passes_by(plan)) return catch_up();
  // What is evicted follows the order of launches: the chain's uses come before those of this one.
  if (!std::exchange(noted_, true)) note_uses(*chain_->trace);
}

// The launch needs no other instances than it had, and has no field in common with the chain. So it finds its
// own pieces as they are, and leaves the chain's alone.
bool Tracing::passes_by(const LaunchPlan& plan) const {
  if (step_ != chain_->trace->steps()) return false;
  const std::vector<trace::FieldUsed>& fields = chain_->trace->recording().fields;
  const analysis::FieldState* last = nullptr;
  return std::ranges::all_of(plan.arguments, [&](const PlannedArgument& argument) {
    if (!argument.chosen()) return false;
    if (argument.field == std::exchange(last, argument.field)) return true;
    return std::ranges::find(fields, argument.field, &trace::FieldUsed::field) == fields.end();
  });
}

void Tracing::note_uses(const ReplayedTrace& trace) {
  context_.analysis_.note_uses(trace.uses().instances, trace.uses().points);
}

// The program does something else than the segment has, or goes on after its end.
void Tracing::part() {
  Segment& segment = *chain_;
  const Index step = step_;
  show_end(profile::Category::replaying, step);
  note_replayed_calls();
  unfollow();
  catch_up();
  parted_ = &segment;
  parted_at_ = step;
  fork_ = &segment.forks[step];
}

bool Tracing::select(const TracedCall& call) {
  // The segment that has just been replayed, once more: nothing needs to be looked at.
  if (chain_ != nullptr && step_ == chain_->trace->steps() &&
      chain_->trace->recording().idempotent && next_is(*chain_, 0, call) &&
      std::ranges::find(fork_->segments, chain_, &std::unique_ptr<Segment>::get) !=
          fork_->segments.end()) {
    start(*chain_, true);
    return true;
  }
  catch_up();
  drop_stale(*fork_);
  Segment* best = nullptr;
  bool same_call = false;
  for (const auto& segment : fork_->segments) {
    if (segment->trace->recording().stale() || !next_is(*segment, 0, call)) continue;
    same_call = true;
    if (best != nullptr && best->last_used > segment->last_used) continue;
    if (segment->trace->recording().holds()) best = segment.get();
  }
  if (best != nullptr) {
    start(*best, false);
    return true;
  }
  if (same_call) ++counters_.preconditions_failed;
  if (occurrence_.watched) occurrence_.add(why_not(call));
  if (fork_->pause > 0) --fork_->pause;
  else start_recording();
  return false;
}

void Tracing::drop_stale(Fork& fork) {
  for (std::size_t i = fork.segments.size(); i-- > 0;) {
    Segment& segment = *fork.segments[i];
    // One whose replays are still running goes another time.
    if (!segment.trace->recording().stale() || !at_rest(segment)) continue;
    fork.patience = segment.replayed ? 0 : std::min(2 * fork.patience + 1, kMostPatience);
    fork.pause = fork.patience;
    fork.lost = stale(segment.trace->recording());
    drop(segment);
  }
}

/// Why the call is not replayed, at `fork_`.
Reason Tracing::why_not(const TracedCall& call) {
  const Segment* latest = nullptr;
  for (const auto& segment : fork_->segments) {
    const trace::Recording& recording = segment->trace->recording();
    if (recording.stale()) return stale(recording);
    if (next_is(*segment, 0, call)) return other_state(recording, context_.runtime_.machine());
    if (latest == nullptr || segment->last_used > latest->last_used) latest = segment.get();
  }
  if (!fork_->lost.text.empty()) {
    Reason lost = fork_->lost;
    if (fork_->pause > 0) lost.text += " before it was of use, so fewer are made";
    return lost;
  }
  if (parted_ != nullptr && parted_at_ < parted_->trace->steps())
    return other_call(*parted_->trace->calls()[parted_at_], call);
  if (latest != nullptr) return other_call(*latest->trace->calls()[0], call);
  if (parted_ != nullptr) return beyond_the_end(parted_->ended_by, call);
  return {"it was recorded for the first time", true};
}

std::string Tracing::why_analysed() const {
  if (open_ == 0) return "no trace was open";
  if (!enabled_) return "--refrain:tracing is off";
  return occurrence_.why();
}

/// The trace leaves off following the chain's segment.
void Tracing::note_replayed_calls() {
  if (!occurrence_.watched) return;
  const ReplayedTrace& trace = *chain_->trace;
  if (step_ == trace.steps()) return occurrence_.sequence.add(chain_->sequence);
  for (Index step = 0; step < step_; ++step) occurrence_.sequence.add(trace.calls()[step]->token);
}

/// Nothing of it is in flight, nor of what begins in it.
bool Tracing::at_rest(Segment& segment) {
  if (!segment.trace->replays().idle()) return false;
  for (auto& [step, fork] : segment.forks)
    for (const auto& later : fork.segments)
      if (!at_rest(*later)) return false;
  return true;
}

void Tracing::drop(Segment& segment) {
  for (auto& [step, fork] : segment.forks)
    while (!fork.segments.empty()) drop(*fork.segments.back());
  std::erase(all_, &segment);
  std::erase_if(segment.home->segments, [&](const auto& owned) { return owned.get() == &segment; });
}

// --- replaying ---------------------------------------------------------------------------------------

void Tracing::start(Segment& segment, bool carried) {
  show_begin();
  ReplayedTrace& trace = *segment.trace;
  segment.last_used = ++clock_;
  segment.replayed = true;
  occurrence_.replayed = true;
  carried_ = carried;
  before_noted_ = std::exchange(noted_, false);
  if (carried) {
    before_base_ = replay_->base;
    before_values_ = &trace.values(*replay_);
  }
  trace.pin();
  replay_ = &trace.replays().begin(carried);
  trace.values(*replay_);  // made, the first time: what is issued looks there
  // A replay is remembered while it may be in flight.
  if (!carried) bases_.clear();
  if (context_.runtime_.graph_log() == nullptr)
    std::erase_if(bases_, [&trace](std::uint64_t base) {
      return std::ranges::find(trace.replays().in_flight(), base, &exec::Replay::base) ==
             trace.replays().in_flight().end();
    });
  bases_.push_back(replay_->base);
  awaited_.clear();
  chain_ = &segment;
  replays_ = &trace.replays();
  // A log is told step by step, and a mapper that is asked each time has its say first.
  quick_ = context_.runtime_.graph_log() == nullptr && !context_.runtime_.mapper().every_launch()
               ? trace.quick()
               : std::span<ReplayedTrace::Quick>();
  following_ = true;
  fork_ = nullptr;
  step_ = 0;
  if (carried) {
    for (trace::Entry& entry : standing_) {
      std::erase_if(entry.after, [this](const exec::Edge& edge) {
        // A log is told of every edge.
        return context_.runtime_.graph_log() == nullptr && exec::is_complete(edge.from) &&
               context_.scope_.failure_of(edge.from) == nullptr;
      });
      await(entry.operation, entry.after);
    }
    std::erase_if(standing_, [](const trace::Entry& entry) { return entry.after.empty(); });
  } else {
    for (const trace::Entry& entry : trace::entries(trace.recording(), false))
      await(entry.operation, entry.after);
    standing_ = trace::entries(trace.recording(), true);
  }
}

void Tracing::await(Index operation, std::span<const exec::Edge> edges) {
  if (edges.empty()) return;
  chain_->trace->replays().await(*replay_, operation, edges);
  if (context_.runtime_.graph_log() != nullptr)
    awaited_.push_back({operation, {edges.begin(), edges.end()}});
}

bool Tracing::matches(const LaunchRequest& request, ReplayedTrace::Quick& next) {
  if (next.operations == 0 || request.value_ops != nullptr || !request.futures.empty() ||
      !context_.has_key(request, chain_->trace->calls()[step_]->key))
    return false;
  next.last.remember(request, context_.forest_, context_.runtime_.mapper().epoch(), next.arguments);
  return true;
}

bool Tracing::replay_next(const LaunchRequest& request) {
  if (step_ >= quick_.size()) return false;
  ReplayedTrace::Quick& next = quick_[step_];
  if (request.value_ops != nullptr || !request.futures.empty() ||
      !next.last.is(request, context_.forest_, context_.runtime_.mapper().epoch())) [[unlikely]] {
    if (!matches(request, next)) return false;
  }
  context_.note_replayed(next.token, next.points);
  if (!context_.grants_.empty()) [[unlikely]]
    context_.lend(*chain_->trace->calls()[step_]->plan, nullptr);
  counters_.replayed_tasks += next.points;
  const Index operations = next.operations;
  if (++step_ == quick_.size()) note_whole();
  replays_->issue(*replay_, operations);
  return true;
}

void Tracing::note_whole() {
  ++counters_.replays;
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

// The task comes after what makes the futures it is given, and fails with them. Those made in this replay are
// its predecessors in the template.
void Tracing::take_futures(std::span<detail::FutureState* const> futures, Index operation) {
  for (detail::FutureState* future : futures) {
    const bool own = future->context() == context_.identity_;
    for (std::size_t rank = 0; rank < future->points(); ++rank) {
      if (own && future->producer(rank).seq >= replay_->base) continue;
      if (!future->ready(rank)) {
        const exec::Edge edge{resolve(future->producer(rank)), exec::EdgeKind::data};
        await(operation, {&edge, 1});
        continue;
      }
      if (const exec::FailureRef failure = future->failure(rank))
        replay_->aside->fail(operation, *failure.get());
      if (own && context_.runtime_.graph_log() != nullptr)
        awaited_.push_back({operation, {{future->producer(rank), exec::EdgeKind::data}}});
    }
  }
}

bool Tracing::replay_fill(const TracedCall& call, const ReplayValues::Fill& value) {
  if (!step_to(call)) return leave();
  chain_->trace->values(*replay_).step_fills[step_] = value;
  context_.note_call(chain_->trace->calls()[step_]->token);
  issue_step();
  return true;
}

bool Tracing::replay_call(const TracedCall& call) {
  if (!step_to(call)) return leave();
  context_.note_call(chain_->trace->calls()[step_]->token);
  prepare_fills();
  issue_step();
  return true;
}

bool Tracing::replay_reduction(const TracedCall& call, FutureReduction reduction) {
  if (!step_to(call)) return leave();
  ReplayedTrace& trace = *chain_->trace;
  context_.note_call(trace.calls()[step_]->token);
  const Index operation = trace.first_of(step_);
  reduction.result.state()->set_producer(0,
                                         context_.scope_.complete_ref(replay_->base + operation));
  take_futures(call.futures, operation);
  trace.reduction(*replay_, step_) = std::move(reduction);
  issue_step();
  return true;
}

// The value that is pending where a fill operation reads it.
ReplayValues::Fill Tracing::value_of(const trace::FillSource& source) {
  ReplayedTrace& trace = *chain_->trace;
  if (!source.entry) return trace.values(*replay_).step_fills[source.index];
  const Index filled_by = trace.outcome().places[source.index].fill;
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
    const exec::Edge edge{resolve(value->producer), exec::EdgeKind::data};
    await(operation, {&edge, 1});
  }
}

void Tracing::issue_step() {
  ReplayedTrace& trace = *chain_->trace;
  const trace::Step& step = trace.recording().steps[step_];
  if (context_.runtime_.graph_log() != nullptr) log_step();
  ++step_;
  if (trace.calls()[step_ - 1]->plan != nullptr)
    counters_.replayed_tasks += trace.calls()[step_ - 1]->plan->points.size();
  if (step_ == trace.steps()) note_whole();
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
    for (const exec::Edge& edge : entry.after)
      log.edge(context_.id_, edge.from.seq, replay_->base + entry.operation, edge.kind);
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
  if (following_) part();
  else catch_up();
}

void Tracing::catch_up() {
  if (chain_ == nullptr) [[likely]]
    return;
  ReplayedTrace& trace = *chain_->trace;
  exec::Replay& present = *replay_;
  const bool whole = step_ == trace.steps();
  ++counters_.catch_ups;
  if (!whole) ++counters_.early_exits;
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
    if (!before_noted_) note_uses(trace);
  }
  trace::Replayed names = names_of(present.base);
  names.fill = [&](Index step) { return trace.values(present).step_fills[step]; };
  if (whole) {
    trace::bring_forward(context_.analysis_, trace.recording(), trace.outcome(), names);
    if (!noted_) note_uses(trace);
  } else if (step_ > 0) {
    const Index effects = trace.recording().steps[step_ - 1].effects;
    trace::bring_forward(context_.analysis_, trace.recording(),
                         trace::outcome_of(trace.recording(), effects), names);
    const ReplayedTrace::Uses uses = trace.uses(step_);
    context_.analysis_.note_uses(uses.instances, uses.points);
  }
  trace.replays().leave(present);
  for (Segment* segment : all_) segment->trace->unpin_if_idle();
  chain_ = nullptr;
  replay_ = nullptr;
  unfollow();
  standing_.clear();
}

exec::NodeRef Tracing::resolve(const exec::NodeRef& producer) {
  for (Segment* segment : all_) {
    const exec::NodeRef named = segment->trace->replays().ref(producer.seq);
    if (!exec::is_complete(named)) return named;
  }
  return producer;
}

// --- recording ---------------------------------------------------------------------------------------

void Tracing::start_recording() {
  show_begin();
  first_seq_ = context_.scope_.launched() + 1;
  recorder_ = std::make_unique<trace::Recorder>(first_seq_);
  context_.analysis_.set_state_log(recorder_.get());
  calls_.clear();
}

void Tracing::untraceable(const char* what) {
  settle();
  finish_recording(what);
}

void Tracing::finish_recording(const char* ended_by) {
  if (recorder_ == nullptr) return;
  show_end(profile::Category::recording, calls_.size());
  context_.analysis_.set_state_log(nullptr);
  const std::unique_ptr<trace::Recorder> recorder = std::move(recorder_);
  if (recorder->fault() != nullptr) {
    fork_->lost = {std::string("a recording was given up: ") + recorder->fault()};
  } else if (recorder->operations() == 0) {
    fork_->lost = {std::string("there was no operation to record: ") + ended_by};
  } else {
    keep_recording(*recorder, ended_by);
  }
}

void Tracing::keep_recording(trace::Recorder& recorder, const char* ended_by) {
  auto segment = std::make_unique<Segment>();
  segment->ended_by = ended_by;
  for (const auto& call : calls_) segment->sequence.add(call->token);
  segment->trace = std::make_unique<ReplayedTrace>(context_, recorder.finish(), std::move(calls_),
                                                   context_.runtime_.options().trace_optimize);
  segment->parent = parted_;
  segment->home = fork_;
  segment->last_used = ++clock_;
  segment->name = open_name_;
  segment->begun_at = opened_at_;
  segment->calls_before = calls_before_fork();
  if (ReportFile* file = context_.runtime_.recordings_file()) {
    std::ostringstream text;
    print(text, *segment);
    file->append(text.str());
  }
  ++counters_.recordings;
  if (Explanation* explanation = context_.runtime_.explanation())
    explanation->recorded(open_, ended_by);
  all_.push_back(segment.get());
  fork_->lost = {};
  parted_ = fork_->segments.emplace_back(std::move(segment)).get();
  parted_at_ = parted_->trace->steps();
  fork_ = &parted_->forks[parted_at_];
  drop_surplus();
  note_bytes();
}

void Tracing::note_bytes() {
  counters_.most_bytes = std::max<std::uint64_t>(counters_.most_bytes, bytes());
}

/// How many calls of the trace come before what begins here.
std::size_t Tracing::calls_before_fork() const {
  return parted_ == nullptr ? 0 : parted_->calls_before + parted_at_;
}

void Tracing::print(std::ostream& out, const Segment& segment) const {
  std::string where = to_string(segment.begun_at);
  if (segment.calls_before > 0)
    where += ", from call " + std::to_string(segment.calls_before + 1) + " on";
  if (!context_.task_name_.empty()) where += ", in " + context_.task_name_;
  const ReplayedTrace& trace = *segment.trace;
  runtime::print(out,
                 {trace.recording(), trace.calls(), segment.name, where,
                  context_.runtime_.options().trace_optimize},
                 context_.runtime_.machine());
  out << "\n\n";
}

void Tracing::print(std::ostream& out) const {
  for (const Segment* segment : all_)
    if (!segment->trace->recording().stale()) print(out, *segment);
}

std::size_t Tracing::bytes() const {
  std::size_t sum = 0;
  for (const Segment* segment : all_) sum += segment->trace->bytes();
  return sum;
}

// What was not used for longest goes, if nothing begins in it and it is not in use.
void Tracing::drop_surplus() {
  const std::size_t most = context_.runtime().options().trace_memory;
  while (bytes() > most) {
    Segment* oldest = nullptr;
    for (Segment* segment : all_) {
      const bool leaf = std::ranges::all_of(
          segment->forks, [](const auto& fork) { return fork.second.segments.empty(); });
      if (!leaf || segment == parted_ || segment == chain_ || !at_rest(*segment)) continue;
      if (oldest == nullptr || segment->last_used < oldest->last_used) oldest = segment;
    }
    if (oldest == nullptr) return;
    oldest->home->lost = {
        "what was recorded was dropped: the recordings of this context take more "
        "than --refrain:trace-memory"};
    drop(*oldest);
  }
}

std::vector<Index> Tracing::makers_of(std::span<detail::FutureState* const> futures,
                                      std::uint64_t base, Index count) const {
  std::vector<Index> makers;
  for (const detail::FutureState* future : futures) {
    if (future->points() == 0) makers.push_back(RecordedCall::kOutside);
    for (std::size_t rank = 0; rank < future->points(); ++rank) {
      const std::uint64_t seq =
          future->context() == context_.identity_ ? future->producer(rank).seq : 0;
      makers.push_back(seq >= base && seq - base < count ? static_cast<Index>(seq - base)
                                                         : RecordedCall::kOutside);
    }
  }
  return makers;
}

void Tracing::launched(LaunchPlan& plan, const LaunchRequest& request) {
  occurrence_.note_analysed(plan.token);
  if (recorder_ == nullptr) return;
  auto call = std::make_shared<RecordedCall>();
  call->key = plan.key;
  call->info = &plan.info;
  call->plan = &plan;
  call->token = plan.token;
  call->has_values = request.value_ops != nullptr;
  call->wants_result = request.wants_future && request.task->result().size != 0;
  call->makers = makers_of(request.futures, first_seq_, recorder_->operations());
  note_uses(plan);
  add(std::move(call));
}

void Tracing::add(std::shared_ptr<RecordedCall> call) {
  calls_.push_back(std::move(call));
  recorder_->step();
  if (recorder_->operations() >= context_.runtime().options().trace_length)
    finish_recording("it reached --refrain:trace-length");
}

void Tracing::note_uses(const LaunchPlan& plan) {
  for (const PlannedArgument& argument : plan.arguments) recorder_->uses(*argument.field);
  for (const LaunchPlan::Tree& used : plan.trees) recorder_->uses(*used.tree, used.uid);
}

void Tracing::called(const TracedCall& made, std::uint64_t token,
                     std::initializer_list<analysis::FieldState*> fields,
                     std::initializer_list<const AnyRegion*> regions) {
  occurrence_.note_analysed(token);
  if (recorder_ == nullptr) return;
  for (analysis::FieldState* field : fields) recorder_->uses(*field);
  for (const AnyRegion* region : regions)
    if (region->tree->in(context_.forest_)) recorder_->uses(*region->tree, region->tree->uid());
  auto call = std::make_shared<RecordedCall>();
  call->key.assign(made.key.begin(), made.key.end());
  call->info = &context_.info_for(made.name, made.where);
  call->token = token;
  add(std::move(call));
}

void Tracing::reduced(const TracedCall& made, std::uint64_t token) {
  occurrence_.note_analysed(token);
  if (recorder_ == nullptr) return;
  auto call = std::make_shared<RecordedCall>();
  call->key.assign(made.key.begin(), made.key.end());
  call->info = &context_.info_for(made.name, made.where);
  call->token = token;
  call->wants_result = true;
  call->makers = makers_of(made.futures, first_seq_, recorder_->operations());
  add(std::move(call));
}

void ContextImpl::begin_trace(const Trace& trace, Where where) {
  if (tracing_ == nullptr) tracing_ = std::make_unique<Tracing>(*this);
  tracing_->begin(trace, where);
}

void ContextImpl::end_trace(const Trace& trace, Where where) {
  if (tracing_ == nullptr) tracing_ = std::make_unique<Tracing>(*this);
  tracing_->end(trace, where);
}

void ContextImpl::print_recordings(std::ostream& out) const {
  if (tracing_ != nullptr) tracing_->print(out);
}

void ContextImpl::leave_trace(const Trace& trace) {
  if (tracing_ != nullptr) tracing_->leave_trace(trace);
}

void ContextImpl::require_replay(const Trace& trace, Where where) {
  if (tracing_ == nullptr) tracing_ = std::make_unique<Tracing>(*this);
  tracing_->require_replay(trace, where);
}

}  // namespace refrain::runtime
