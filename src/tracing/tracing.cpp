#include "tracing/tracing.hpp"

#include <algorithm>
#include <ranges>

#include "profile/clock.hpp"
#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"

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
                                       : "the context of " + context.task_name_),
      found_(FoundTraces::make(context.runtime(), context.id_)) {}
Tracing::~Tracing() {
  rounds_.clear();
  // What begins in a segment was recorded after it. Left to each other, they would end one within the other.
  while (!all_.empty()) {
    Segment& last = *all_.back();
    all_.pop_back();
    last.home->remove(last);
  }
}

// --- marks -------------------------------------------------------------------------------------------

void Tracing::begin(const Trace& trace, std::source_location where) {
  if (open_ != 0)
    throw UsageError(mark("begin_trace", trace.name(), where) + ": trace '" + open_name_ +
                     "', begun at " + to_string(opened_at_) +
                     ", has not ended: traces do not nest");
  context_.forget_failures();
  if (found_ != nullptr) {
    leave_unmarked();
    found_->untraceable();
  }
  open_ = trace.id();
  open_name_ = trace.name();
  opened_at_ = where;
  mark_.begin(open_, where);
  parted_ = nullptr;
  parted_by_ = nullptr;
  occurrence_ = {};
  occurrence_.watched =
      required_.contain(open_) || context_.runtime_.listener(Events::decisions) != nullptr;
  if (!enabled_) return;
  if (names_.size() >= names_limit_) forget_names();
  fork_ = root_ = &names_[open_];
  if (required_.contain(open_) || !root_->replaying.pause()) return;
  fork_ = nullptr;  // nothing begins before the next occurrence
  if (occurrence_.watched) occurrence_.add(slower_by_replaying());
}

// A program may name a trace anew each time; of most then nothing is recorded any more.
void Tracing::forget_names() {
  std::erase_if(names_, [](const auto& name) { return name.second.empty(); });
  names_limit_ = 2 * names_.size() + kNames;
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

std::string Tracing::left_open() const {
  if (open_ == 0) return {};
  return mark("begin_trace", open_name_, opened_at_) + ": the trace is still open at the end of " +
         (context_.parent_ == nullptr ? "the program" : context_.task_name_) +
         "; end_trace is missing, or call trace(), which ends what it begins";
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
    show_end(profile::Category::replaying, step_ - part_begin_);
    note_replayed_calls();
  }
  if (Listener* told = context_.runtime_.listener(Events::decisions); told && open_id() != 0)
    told->occurred(open_id(), open_name_, opened_at_, occurrence_);
  if (root_ != nullptr && occurrence_.replayed) root_->judge(occurrence_);
  root_ = nullptr;
  mark_.end();
  open_ = 0;
  root_found_ = nullptr;
  fork_ = nullptr;
  // What a whole trace was recorded as stays, however large, or it would never be replayed.
  if (parted_ != nullptr && parted_->parent != nullptr) parted_ = nullptr;
  unfollow();
  surplus_ = 0;
  drop_surplus();
}

void Tracing::close() {
  mark_.abandon();
  if (found_ != nullptr && !is_marked()) leave_unmarked();
  close_trace();
  catch_up();
}

void Tracing::abandon() noexcept {
  if (recorder_ != nullptr) context_.analysis_.set_state_log(nullptr);
  recorder_.reset();
  for (ReplayedTrace* trace : replayed_.pinned) trace->replays().abandon();
  chain_ = nullptr;
  round_ = nullptr;
  replay_ = nullptr;
  fork_ = root_ = nullptr;
  open_ = 0;
  mark_.end();
  unfollow();
}

// --- what a timeline shows ---------------------------------------------------------------------------

void Tracing::show_begin() {
  if (context_.runtime_.listener(Events::times) != nullptr) [[unlikely]]
    shown_from_ns_ = profile::now_ns();
}

void Tracing::show_end(profile::Category what, std::size_t calls) {
  if (Listener* told = context_.runtime_.listener(Events::times)) [[unlikely]]
    told->traced(what, open_name_, opened_at_, calls, context_.runtime_.executor().this_thread(),
                 shown_from_ns_);
}

// --- which segment -----------------------------------------------------------------------------------

/// Whether the call is that of the step, in the part that begins with `part_begin`.
bool Tracing::next_is(const Unit& unit, Index step, Index part_begin, const TracedCall& made) {
  const ReplayedTrace& trace = *unit.trace;
  if (step >= trace.steps()) return false;
  const RecordedCall& call = *trace.calls()[step];
  if (!std::ranges::equal(call.key, made.key)) return false;
  if (call.has_values != made.has_values) return false;
  if (call.makers.empty()) return made.futures.empty();
  // Futures: those that the part makes must be made by the same operations as then.
  if (step == part_begin) {
    return std::ranges::all_of(call.makers, [](Index m) { return m == RecordedCall::kOutside; });
  }
  const Index first = trace.first_of(part_begin);
  return makers_of(made.futures, replay_->base + first, trace.first_of(step) - first) ==
         call.makers;
}

// Whether the call is the next one of a segment; then `step_` is its place there. Otherwise it is to be
// analysed; outside of traces a chain may still have to be left.
bool Tracing::step_to(const TracedCall& call) {
  if (following_) {
    if (step_ < part_end_ && next_is(*chain_, step_, part_begin_, call)) return make_instances();
    if (is_marked() && goes_on(&part().segment->forks[step_ - part_begin_], call))
      return make_instances();
    if (!is_marked() && step_ == part_end_) leave_part();
    else leave_for_next();
  }
  return (is_marked() ? select(call) : select_found(call)) && make_instances();
}

void Tracing::make_way(const LaunchPlan& plan) {
  if (chain_ == nullptr) [[likely]]
    return;
  if (!passes_by(plan)) return catch_up();
  // What is evicted follows the order of launches: the chain's uses come before those of this one.
  if (!std::exchange(noted_, true)) note_uses(chain_->trace->uses());
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

void Tracing::note_uses(const ReplayedTrace::Uses& uses) {
  context_.analysis_.note_uses(uses.instances, uses.points);
}

/// The trace leaves off following the chain, which may go on.
void Tracing::leave_part() {
  parted_ = part().segment;
  parted_at_ = step_ - part_begin_;
  parted_by_ = nullptr;
  show_end(profile::Category::replaying, parted_at_);
  note_replayed_calls();
  unfollow();
}

// The program does something else than the segment has, or goes on after its end.
void Tracing::leave_segment() {
  leave_part();
  catch_up();
  fork_ = is_marked() ? &parted_->forks[parted_at_] : nullptr;
}

bool Tracing::select(const TracedCall& call) {
  if (fork_ == nullptr || recorder_ != nullptr) return false;
  if (chain_ != nullptr) {
    if (goes_on(fork_, call)) return true;
    leave_for_next();
  }
  drop_stale(*fork_);
  bool same_call = false;
  if (replay_best(*fork_, call, same_call)) return true;
  if (occurrence_.watched) occurrence_.add(why_not(call));
  if (!required_.contain(open_) && fork_->recording.pause()) {
    fork_ = nullptr;  // nothing begins here before the next occurrence
  } else {
    start_recording(same_call);
  }
  return false;
}

/// Replays the segment used last of those that begin there with the call and whose precondition holds, or a round that
/// begins with it. `same_call`: there are some that begin with the call. No chain goes on.
bool Tracing::replay_best(Fork& fork, const TracedCall& call, bool& same_call) {
  Segment* best = nullptr;
  fork.for_each_beginning_with(call.key, [&](Segment& segment) {
    if (segment.trace->recording().stale() || !next_is(segment, 0, 0, call)) return;
    same_call = true;
    if (!may_enter(segment)) return;
    if (best != nullptr && best->last_used > segment.last_used) return;
    if (segment.trace->recording().holds()) best = &segment;
  });
  if (best != nullptr) {
    fork.note_replayed();
    in_context_ = !best->trust.is_given();
    round_ = round_from(*best);
    if (round_ != nullptr) start(*round_, false);
    else start(*best, false);
    return true;
  }
  recent_.clear();
  if (same_call) ++counters_.preconditions_failed;
  return false;
}

void Tracing::drop_stale(Fork& fork) {
  Reason why;
  bool replayed = false;
  fork.for_each_lately_recorded([&](Segment& segment) {
    if (!segment.trace->recording().stale()) return true;
    if (why.text.empty()) why = stale(segment.trace->recording());
    replayed |= segment.replayed;
    drop(segment);
    return false;
  });
  if (why.text.empty()) return;
  fork.lost = std::move(why);
  fork.recording.judge(replayed);
}

/// Why the call is not replayed, at `fork_`.
Reason Tracing::why_not(const TracedCall& call) {
  const Segment* alike = nullptr;
  fork_->for_each_beginning_with(call.key, [&](const Segment& segment) {
    if (alike == nullptr && may_enter(segment) && next_is(segment, 0, 0, call)) alike = &segment;
  });
  if (alike != nullptr) {
    const trace::Recording& recording = alike->trace->recording();
    return recording.stale() ? stale(recording)
                             : other_state(recording, context_.runtime_.machine());
  }
  const Segment* latest = nullptr;
  for (const auto& segment : fork_->segments())
    if (latest == nullptr || segment->last_used > latest->last_used) latest = segment.get();
  if (!fork_->lost.text.empty()) {
    Reason lost = fork_->lost;
    if (fork_->recording.is_pausing())
      lost.text += "; so were others before they were replayed, and fewer are made";
    return lost;
  }
  if (parted_ != nullptr && parted_by_ != nullptr) return left_before(call, parted_by_);
  if (parted_ != nullptr && parted_at_ < parted_->trace->steps())
    return other_call(*parted_->trace->calls()[parted_at_], call);
  if (latest != nullptr) return other_call(*latest->trace->calls()[0], call);
  if (parted_ != nullptr) return beyond_the_end(parted_->ended_by, call);
  return {"it was recorded for the first time", true};
}

std::string Tracing::why_analysed() const {
  if (!is_marked())
    return found_ != nullptr ? why_not_found() : not_looked_for(context_.runtime_.options());
  if (!enabled_) return "--refrain:tracing is off";
  return occurrence_.why();
}

/// The trace leaves off following the chain.
void Tracing::note_replayed_calls() {
  const ReplayedTrace& trace = *chain_->trace;
  if (!is_marked()) found_->replayed(*part().segment, step_ - part_begin_);
  occurrence_.note_replayed(trace.first_of(step_) - trace.first_of(part_begin_));
  if (step_ != part_end_) occurrence_.note_left_early(trace.recording().operations.size());
  if (!occurrence_.watched) return;
  const Segment& segment = *part().segment;
  const Index steps = step_ - part_begin_;
  if (steps == segment.trace->steps()) return occurrence_.sequence.add(segment.sequence);
  for (Index step = 0; step < steps; ++step)
    occurrence_.sequence.add(segment.trace->calls()[step]->token);
}

/// The segment and all that begin in it, each after the one that it begins in.
std::vector<Segment*> Tracing::with_descendants(Segment& segment) {
  std::vector<Segment*> all{&segment};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const auto& [step, fork] : all[i]->forks)
      for (const auto& later : fork.segments()) all.push_back(later.get());
  return all;
}

/// The chain, which may go on, consists of it or has it as a part.
bool Tracing::is_on_chain(const Segment& segment) const {
  return chain_ != nullptr && chain_->has(segment);
}

/// No chain has any of them.
void Tracing::drop(Segment& segment) {
  recent_.clear();
  for (Segment* each : with_descendants(segment) | std::views::reverse) {
    if (!each->tokens.empty()) found_->dropped(*each);
    if (asked_.untrusted == each) asked_.untrusted = nullptr;
    if (found_recording_.tail == each) found_recording_.tail = nullptr;
    std::erase_if(rounds_, [&](const auto& round) {
      if (!round->has(*each)) return false;
      retire(std::move(round->trace));
      return true;
    });
    all_.erase(each->among_all);
    retire(std::move(each->home->remove(*each)->trace));
  }
  free_retired();
}

/// Stays until nothing of it is in flight.
void Tracing::retire(std::unique_ptr<ReplayedTrace> trace) {
  if (trace == nullptr) return;
  trace->retire();
  retired_.push_back(std::move(trace));
}

void Tracing::free_retired() {
  while (!retired_.empty() && retired_.front()->replays().idle()) retired_.pop_front();
}

// --- what a context is asked ------------------------------------------------------------------------

bool ContextImpl::start_tracing() {
  const Options& options = runtime_.options();
  if (!options.tracing || !options.autotrace) return false;
  // Most tasks launch a few others and are done; what looks for traces costs as much as some launches.
  if (parent_ != nullptr && launches_ < std::min<std::size_t>(32, options.autotrace_sample / 2))
    return false;
  tracing_ = std::make_unique<Tracing>(*this);
  return true;
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
