#include "tracing/selector.hpp"

#include <cstring>
#include <utility>

#include "profile/clock.hpp"
#include "tracing/found_traces.hpp"

namespace refrain::runtime {

using trace::Index;

Selector::Selector(ContextCore& context, FoundTraces& found)
    : context_(context),
      cursor_(context),
      tree_(context, cursor_.traces(),
            [this](const Branch& branch) {
              recent_.clear();
              found_.dropped(branch);
            }),
      session_(context),
      found_(found) {}

// --- the trace that is open --------------------------------------------------------------------------

void Selector::open(bool marked, TraceRoot* root, std::uint64_t id, const std::string& name,
                    const Where& where, bool required) {
  // Member by member: the name keeps its memory, and nothing is copied twice.
  open_.name = name;
  open_.marked = marked;
  open_.root = root;
  open_.id = id;
  open_.where = where;
  open_.required = required;
  left_ = {};
  execution_.begin(required || context_.runtime.listener(Events::decisions) != nullptr);
  point_ = marked && root != nullptr ? &root->point : nullptr;
}

void Selector::close() {
  finish_recording("the trace ended there");
  if (cursor_.is_following()) note_replayed_calls();
  if (Listener* told = context_.runtime.listener(Events::decisions);
      told != nullptr && (open_.marked || open_.root != nullptr))
    told->trace_ended(open_.id, open_.name, open_.where, execution_);
  if (open_.marked && open_.root != nullptr && execution_.replayed)
    open_.root->point.replaying.enter(execution_.gain);
  open_.marked = false;  // the rest of it is read only while one is open
  open_.root = nullptr;
  point_ = nullptr;
  // What a whole trace was recorded as stays, however large, or it would never be replayed.
  if (left_.branch != nullptr && left_.branch->parent != nullptr) left_.branch = nullptr;
  cursor_.unfollow();
  tree_.look_again();
  tree_.drop_surplus(left_.branch, chain_);
}

void Selector::skip(Reason (*why)()) {
  point_ = nullptr;
  if (execution_.watched) execution_.add(why());
}

void Selector::abandon() noexcept {
  session_.abandon();
  cursor_.abandon();
  chain_ = nullptr;
  point_ = nullptr;
  open_ = {};
}

// --- what a timeline shows ---------------------------------------------------------------------------

void Selector::show_begin() {
  if (context_.runtime.listener(Events::times) != nullptr) [[unlikely]]
    shown_from_ns_ = profile::now_ns();
}

void Selector::show_end(profile::Category what, std::size_t calls) {
  if (Listener* told = context_.runtime.listener(Events::times)) [[unlikely]]
    told->timed(context_.runtime.executor().this_thread(),
                until_now(what, open_.name, open_.where, shown_from_ns_,
                          {"calls", static_cast<std::int64_t>(calls)}));
}

// --- selecting ---------------------------------------------------------------------------------------

bool Selector::offer(Ticket& ticket) { return step_to(ticket) && make_instances(ticket); }

/// Outside of traces a chain may still have to be left.
bool Selector::step_to(Ticket& ticket) {
  if (cursor_.is_following()) {
    if (cursor_.is_next(ticket.call)) return true;
    if (is_marked() && goes_on(&prefix().branch->points[cursor_.followed()], ticket.call))
      return true;
    if (!is_marked() && cursor_.at_end()) leave_prefix();
    else leave_for_next();
  }
  return is_marked() ? select(ticket) : found_.select(ticket);
}

// Where there is no room the analysis gives up other instances, or fails: it goes on from those that there was room for.
bool Selector::make_instances(Ticket& ticket) {
  const analysis::Instance* missing = nullptr;
  try {
    missing = cursor_.make_instances();
  } catch (...) {  // made again, the call finds what there is
    leave_branch();
    throw;
  }
  if (missing == nullptr) return true;
  leave_branch();
  point_ = nullptr;  // what is given up now is not recorded
  ticket.may_record = false;
  if (execution_.watched) execution_.add(no_room(*missing, context_.runtime.machine()));
  return false;
}

bool Selector::select(Ticket& ticket) {
  if (point_ == nullptr || session_.is_open()) return false;
  if (replay_at(*point_, ticket)) return true;
  if (!open_.required && point_->recording.pause()) {
    point_ = nullptr;  // nothing begins here before the next execution
  } else {
    start_recording(ticket.same_call);
  }
  return false;
}

/// Replays the branch used last of those that begin there with the call and whose precondition holds, or a joined
/// recording that begins with it. No chain goes on.
bool Selector::replay_best(BranchPoint& point, Ticket& ticket) {
  Branch* best = nullptr;
  bool same_call = false;
  point.for_each_beginning_with(ticket.call.key, [&](Branch& branch) {
    if (branch.trace->recording().stale() || !begins_with(branch, ticket.call)) return;
    ticket.same_call = same_call = true;
    if (!found_.may_enter(branch, ticket)) return;
    if (best != nullptr && best->last_used > branch.last_used) return;
    if (branch.trace->recording().holds()) best = &branch;
  });
  if (best == nullptr) {
    recent_.clear();
    if (same_call) ++cursor_.traces().counters.preconditions_failed;
    return false;
  }
  point.note_replayed();
  Replayable* const joined = tree_.joined_from(*best, recent_.twice(), chain_);
  start(joined != nullptr ? *joined : *best, false);
  return true;
}

bool Selector::replay_at(BranchPoint& point, Ticket& ticket) {
  if (chain_ != nullptr) {
    if (goes_on(&point, ticket.call)) return true;
    leave_for_next();
  }
  tree_.drop_stale(point);
  if (replay_best(point, ticket)) return true;
  if (execution_.watched) execution_.add(why_not(point, ticket));
  return false;
}

/// Whether the chain goes on with the call, without a look at the state: with the next prefix of a joined recording, or
/// with all of it once more. `here`: where branches begin now.
bool Selector::goes_on(const BranchPoint* here, const TracedCall& call) {
  if (!cursor_.at_end()) return false;
  const std::size_t next = (prefix_ + 1) % chain_->prefixes.size();
  if (next == 0 && !chain_->trace->recording().idempotent) return false;
  const Index begin = next == 0 ? 0 : cursor_.step();
  if (chain_->prefixes[next].branch->home != here ||
      !cursor_.is_step(*chain_->trace, begin, begin, call))
    return false;
  if (cursor_.is_following()) note_replayed_calls();  // in the middle of a trace
  recent_.add({prefix().branch, prefix().steps, cursor_.has_noted_uses()});
  if (next == 0) start(*chain_, true);
  else enter_prefix(next);
  return true;
}

/// Why the call is not replayed, at the point.
Reason Selector::why_not(const BranchPoint& point, Ticket& ticket) {
  const TracedCall& call = ticket.call;
  const Branch* alike = nullptr;
  point.for_each_beginning_with(call.key, [&](const Branch& branch) {
    if (alike == nullptr && found_.may_enter(branch, ticket) && begins_with(branch, call))
      alike = &branch;
  });
  if (alike != nullptr) {
    const trace::Recording& recording = alike->trace->recording();
    return recording.stale() ? stale(recording)
                             : other_state(recording, context_.runtime.machine());
  }
  if (!point.lost.text.empty()) {
    Reason lost = point.lost;
    if (!point.recording.is_open())
      lost.text += "; so were others before they were replayed, and fewer are made";
    return lost;
  }
  if (left_.branch != nullptr && left_.by != nullptr) return left_before(call, left_.by);
  if (left_.branch != nullptr && left_.calls < left_.branch->trace->steps())
    return other_call(*left_.branch->trace->calls()[left_.calls], call);
  if (!point.empty()) {
    const auto& latest = *std::ranges::max_element(
        point.branches(), {}, [](const auto& branch) { return branch->last_used; });
    return other_call(*latest->trace->calls()[0], call);
  }
  if (left_.branch != nullptr) return beyond_the_end(left_.branch->ended_by, call);
  return {"it was recorded for the first time", true};
}

// --- replaying ---------------------------------------------------------------------------------------

void Selector::start(Replayable& replayed, bool carried) {
  if (!carried) execution_.note_entered();
  cursor_.start(*replayed.trace, carried);
  chain_ = &replayed;
  enter_prefix(0);
}

/// Everything before the prefix has been issued.
void Selector::enter_prefix(std::size_t number) {
  show_begin();
  prefix_ = number;
  Branch& entered = *prefix().branch;
  tree_.note_use(entered);
  entered.replayed = true;
  execution_.replayed = true;
  point_ = nullptr;
  cursor_.follow(prefix().steps);
}

/// The trace leaves off following the chain, which may go on.
void Selector::leave_prefix() {
  left_ = {prefix().branch, cursor_.followed(), nullptr};
  note_replayed_calls();
  cursor_.unfollow();
}

/// The program does something else than the branch has, or goes on after its end.
void Selector::leave_branch() {
  leave_prefix();
  catch_up();
  point_ = is_marked() ? &left_.branch->points[left_.calls] : nullptr;
}

/// The chain is left, and the next replay follows directly.
void Selector::leave_for_next() {
  Repetition<BranchPrefix> recent = std::move(recent_);
  recent.add({prefix().branch, cursor_.followed(), cursor_.has_noted_uses()});
  settle();
  recent_ = std::move(recent);
}

void Selector::note_replayed_calls() {
  const CompiledTrace& trace = cursor_.trace();
  const Branch& branch = *prefix().branch;
  const Index steps = cursor_.followed();
  show_end(profile::Category::replaying, steps);
  if (branch.was_found()) found_.replayed(branch, steps);
  execution_.note_replayed(trace.first_of(cursor_.step()) - trace.first_of(cursor_.begin()));
  if (!cursor_.at_end()) execution_.note_left_early(trace.recording().operations.size());
  if (!execution_.watched) return;
  if (steps == branch.trace->steps()) return execution_.sequence.add(branch.sequence);
  for (Index step = 0; step < steps; ++step)
    execution_.sequence.add(branch.trace->calls()[step]->mapped_token);
}

void Selector::make_way(const LaunchPlan& plan) {
  if (chain_ == nullptr) [[likely]]
    return;
  if (!passes_by(plan)) return catch_up();
  cursor_.note_uses();
}

/// The launch needs no other instances than it had, and has no field in common with the chain. So it finds its
/// equivalence sets as they are, and leaves the chain's alone.
bool Selector::passes_by(const LaunchPlan& plan) const {
  // On several shards its messages may need other instances, and it may have no part in the data here.
  if (!cursor_.is_whole() || context_.replicated != nullptr) return false;
  const std::vector<trace::FieldUsed>& fields = cursor_.trace().recording().fields;
  const analysis::FieldState* last = nullptr;
  return std::ranges::all_of(plan.own.arguments, [&](const PlannedArgument& argument) {
    if (!argument.chosen()) return false;
    if (argument.field == std::exchange(last, argument.field)) return true;
    return std::ranges::find(fields, argument.field, &trace::FieldUsed::field) == fields.end();
  });
}

void Selector::interrupt() {
  // Unless a chain would have to be left first: the call looks at the state, between what was replayed and what will be.
  if (chain_ == nullptr) recent_.clear();
}

void Selector::settle() {
  if (cursor_.is_following()) leave_branch();
  else catch_up();
}

void Selector::catch_up() {
  if (chain_ == nullptr) [[likely]]
    return;
  judge_chain();
  cursor_.catch_up();
  tree_.free_retired();
  chain_ = nullptr;
  recent_.clear();
}

/// The chain is left: was it of use to enter it?
void Selector::judge_chain() {
  // A joined recording of a marked trace is of use if one replay of it came to its end.
  const bool came_to_an_end = cursor_.is_carried() || cursor_.is_whole();
  if (!prefix().branch->was_found()) return chain_->entering.enter(came_to_an_end ? 1 : -1);
  const CompiledTrace& trace = cursor_.trace();
  const std::uint64_t operations = trace.recording().operations.size();
  TraceExecution gained;
  gained.note_entered();
  gained.note_replayed(cursor_.whole_replays() * operations + trace.first_of(cursor_.step()));
  if (!cursor_.at_end()) gained.note_left_early(operations);
  found_.left(!cursor_.at_end());
  Branch& entered = *chain_->prefixes.front().branch;
  // Left alone anywhere, it was entered because of the context of its first call.
  (entered.anywhere.is_open() ? entered.anywhere : entered.in_context).enter(gained.gain);
  chain_->entering.enter(gained.gain > 0 && came_to_an_end ? 1 : -1);
}

// --- recording ---------------------------------------------------------------------------------------

void Selector::start_recording(bool beside_others) {
  beside_others_ = beside_others;
  show_begin();
  session_.begin();
}

void Selector::record_at(BranchPoint& point, bool beside_others) {
  settle();
  recent_.clear();
  point_ = &point;
  start_recording(beside_others);
}

BranchPoint* Selector::abandon_recording(const char* why) {
  show_end(profile::Category::recording, session_.calls());
  session_.abandon();
  point_->lost = {why};
  return std::exchange(point_, nullptr);
}

void Selector::added_call() {
  if (session_.fault() != nullptr) {
    finish_recording("");
    if (!is_marked()) close();
  } else if (session_.operations() >= options().trace_length) {
    finish_recording("it reached --refrain:trace-length");
  } else if (!is_marked()) {
    found_.recorded_call();
  }
}

void Selector::untraceable(const char* what) {
  const bool in_the_middle = cursor_.is_following() && !cursor_.at_end();
  settle();
  finish_recording(what);
  left_.by = in_the_middle ? what : nullptr;
}

void Selector::note_untraceable_call(const char* what) {
  untraceable(what);
  if (is_marked()) execution_.sequence.add(hash_bytes(what, std::strlen(what)));
}

/// False: nothing is kept.
bool Selector::finish_recording(const char* ended_by) {
  if (!session_.is_open()) return false;
  show_end(profile::Category::recording, session_.calls());
  RecordingSession::Result recorded = session_.end();
  if (recorded.recording != nullptr) {
    keep_recording(std::move(recorded), ended_by);
    return true;
  }
  if (!is_marked()) found_.not_recorded();
  if (recorded.fault != nullptr) {
    point_->lost = {std::string("a recording was given up: ") + recorded.fault,
                    recorded.may_work_next_time};
    if (!recorded.may_work_next_time) point_->note_lost(false);
    point_ = nullptr;  // what follows would not follow what is recorded
  } else {
    // The next time as well: but who requires replays misses none.
    execution_.vacuous += recorded.calls.size();
    point_->lost = {std::string("there was no operation to record: ") + ended_by, true};
    if (!is_marked()) point_->note_lost(false);
  }
  return false;
}

void Selector::keep_recording(RecordingSession::Result recorded, const char* ended_by) {
  auto branch = std::make_unique<Branch>();
  branch->ended_by = ended_by;
  branch->trace_id = open_.id;
  for (const auto& call : recorded.calls) branch->sequence.add(call->mapped_token);
  branch->trace = std::make_unique<CompiledTrace>(context_, std::move(recorded.recording),
                                                  std::move(recorded.calls), cursor_.traces());
  branch->prefixes = {{branch.get(), branch->trace->steps()}};
  branch->name = open_.name;
  branch->begun_at = open_.where;
  if (left_.branch != nullptr) {
    branch->parent = left_.branch;
    branch->calls_before = left_.branch->calls_before + left_.calls;
  }
  if (!is_marked()) found_.recorded(*branch);
  point_->lost = {};
  point_->note_recorded(beside_others_);
  execution_.note_recorded(branch->trace->recording().operations.size());
  left_ = {&tree_.add(*point_, std::move(branch)), 0, nullptr};
  left_.calls = left_.branch->trace->steps();
  point_ = &left_.branch->points[left_.calls];
  tree_.drop_surplus(left_.branch, chain_);
}

}  // namespace refrain::runtime
