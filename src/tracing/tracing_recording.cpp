// Tracing: what the analysis is told to record, and what is kept of it.

#include <algorithm>
#include <cstring>
#include <iterator>
#include <ostream>
#include <queue>
#include <utility>

#include "report/listeners.hpp"
#include "runtime/context_impl.hpp"
#include "tracing/tracing.hpp"

namespace refrain::runtime {

using trace::Index;

void Tracing::start_recording(bool beside_others) {
  beside_others_ = beside_others;
  show_begin();
  first_seq_ = context_.scope_.launched() + 1;
  recorder_ =
      std::make_unique<trace::Recorder>(first_seq_, context_.analysis_.store().next_serial());
  context_.analysis_.set_state_log(recorder_.get());
  calls_.clear();
}

void Tracing::untraceable(const char* what) {
  const bool in_the_middle = following_ && step_ != part_end_;
  settle();
  finish_recording(what);
  parted_by_ = in_the_middle ? what : nullptr;
}

void Tracing::untraceable_call(const char* what) {
  if (found_ != nullptr && !is_marked()) {
    settle();
    if (is_long_enough()) finish_recording(what);
    leave_unmarked();
    return found_->untraceable();
  }
  untraceable(what);
  if (open_ != 0) occurrence_.sequence.add(hash_bytes(what, std::strlen(what)));
}

/// False: nothing is kept.
bool Tracing::finish_recording(const char* ended_by) {
  if (recorder_ == nullptr) return false;
  const FoundRecording found = std::exchange(found_recording_, {});
  show_end(profile::Category::recording, calls_.size());
  context_.analysis_.set_state_log(nullptr);
  const std::unique_ptr<trace::Recorder> recorder = std::move(recorder_);
  if (recorder->fault() != nullptr) {
    fork_->lost = {std::string("a recording was given up: ") + recorder->fault()};
    fork_->recording.judge(false);
    fork_ = nullptr;  // what follows would not follow what is recorded
  } else if (recorder->operations() == 0) {
    // The next time as well: but who requires replays misses none.
    occurrence_.vacuous += calls_.size();
    fork_->lost = {std::string("there was no operation to record: ") + ended_by, true};
    if (!is_marked()) fork_->recording.judge(false);
  } else if (auto recording = recorder->finish()) {
    keep_recording(std::move(recording), found, ended_by);
    return true;
  } else {  // it comes only once
    fork_->lost = {std::string("a recording was given up: ") + recorder->fault(), true};
    fork_ = nullptr;
  }
  return false;
}

void Tracing::keep_recording(std::unique_ptr<trace::Recording> recording,
                             const FoundRecording& found, const char* ended_by) {
  auto segment = std::make_unique<Segment>();
  segment->ended_by = ended_by;
  for (const auto& call : calls_) segment->sequence.add(call->token);
  segment->trace =
      std::make_unique<ReplayedTrace>(context_, std::move(recording), std::move(calls_),
                                      context_.runtime_.options().trace_optimize, replayed_);
  segment->parts = {{segment.get(), segment->trace->steps()}};
  segment->parent = parted_;
  segment->parent_calls = parted_ != nullptr ? parted_at_ : 0;
  segment->last_used = ++clock_;
  segment->name = open_name_;
  segment->begun_at = opened_at_;
  segment->calls_before = calls_before_fork();
  if (!is_marked()) {
    segment->candidate = found.candidate;
    segment->context = found.context;
    for (const auto& call : segment->trace->calls()) segment->tokens.push_back(call->token);
    segment->number = found_->made_segment(segment->tokens.size());
  }
  ++counters_.recordings;
  counters_.unexamined_edges += segment->trace->unexamined_edges();
  if (Listener* told = context_.runtime_.listener(Events::recordings))
    told->recorded(as_recorded(*segment, ended_by));
  fork_->lost = {};
  fork_->note_recorded(beside_others_);
  occurrence_.note_recorded(segment->trace->recording().operations.size());
  parted_ = &fork_->add(std::move(segment));
  parted_->among_all = all_.insert(all_.end(), parted_);
  parted_at_ = parted_->trace->steps();
  parted_by_ = nullptr;
  fork_ = &parted_->forks[parted_at_];
  drop_stale_found();
  drop_surplus();
}

/// Where data comes and goes the stale ones may begin with calls that are never made again, and then nobody else looks at
/// them.
void Tracing::drop_stale_found() {
  if (found_ == nullptr || found_->segments() < segments_limit_) return;
  std::vector<Segment*> gone;
  for (Segment* segment : all_)
    if (!segment->tokens.empty() && segment->is_leaf() && segment != parted_ &&
        !is_on_chain(*segment) && segment->trace->recording().stale())
      gone.push_back(segment);
  for (Segment* segment : gone) give_up(*segment, stale(segment->trace->recording()));
  segments_limit_ = 2 * found_->segments() + kSegments;
}

/// How many calls of the trace come before what begins here.
std::size_t Tracing::calls_before_fork() const {
  return parted_ == nullptr ? 0 : parted_->calls_before + parted_at_;
}

Listener::Recorded Tracing::as_recorded(const Segment& segment, const char* ended_by) const {
  std::string where = to_string(segment.begun_at);
  if (segment.calls_before > 0)
    where += ", from call " + std::to_string(segment.calls_before + 1) + " on";
  if (!context_.task_name_.empty()) where += ", in " + context_.task_name_;
  const ReplayedTrace& trace = *segment.trace;
  return {open_id(),
          ended_by,
          trace.recording(),
          trace.calls(),
          segment.name,
          where,
          context_.runtime_.options().trace_optimize};
}

void Tracing::print(std::ostream& out) const {
  for (const Segment* segment : all_)
    if (!segment->trace->recording().stale())
      runtime::print(out, as_recorded(*segment, ""), context_.runtime_.machine());
}

// Rounds go first: their parts do as well. Then what was not used for longest, if nothing begins in it and it
// is not on the chain. They are looked through once for a sixteenth of the limit, also where all have to stay.
void Tracing::drop_surplus() {
  const std::size_t most = context_.runtime().options().trace_memory;
  if (replayed_.bytes > std::max(most, surplus_)) {
    const std::size_t least = most - most / 16;
    while (replayed_.bytes > most && drop_oldest_round()) {}
    if (replayed_.bytes > most) drop_leaves(least, ~std::size_t{0});
    surplus_ = replayed_.bytes > most ? replayed_.bytes + most / 16 : 0;
  }
  // Of what was found much is never of use: it need not be kept until memory is short.
  if (found_ != nullptr && found_->segments() > FoundTraces::kMostSegments)
    drop_leaves(replayed_.bytes, FoundTraces::kMostSegments - FoundTraces::kMostSegments / 16);
  counters_.most_bytes = std::max<std::uint64_t>(counters_.most_bytes, replayed_.bytes);
}

/// The program may ask why it is not there; and whether it was of use decides what else is recorded there.
void Tracing::give_up(Segment& segment, Reason why) {
  segment.home->lost = std::move(why);
  segment.home->recording.judge(segment.replayed);
  drop(segment);
}

/// Drops segments that nothing begins in, until the recordings take no more than this, and those that were found
/// are no more.
void Tracing::drop_leaves(std::size_t bytes, std::size_t found) {
  const auto is_surplus = [&] {
    return replayed_.bytes > bytes || (found_ != nullptr && found_->segments() > found);
  };
  const bool only_found = replayed_.bytes <= bytes;
  const auto may_be_dropped = [&](Segment& segment) {
    return (!only_found || !segment.tokens.empty()) && segment.is_leaf() && &segment != parted_ &&
           !is_on_chain(segment);
  };
  const auto used_later = [](const Segment* a, const Segment* b) {
    return a->last_used > b->last_used;
  };
  std::priority_queue<Segment*, std::vector<Segment*>, decltype(used_later)> leaves(used_later);
  for (Segment* segment : all_)
    if (may_be_dropped(*segment)) leaves.push(segment);
  while (!leaves.empty() && is_surplus()) {
    Segment& oldest = *leaves.top();
    leaves.pop();
    Segment* const parent = oldest.parent;
    give_up(oldest,
            {only_found ? "what was recorded was dropped: much else was found since it was of use"
                        : "what was recorded was dropped: the recordings of this context take more "
                          "than --refrain:trace-memory"});
    if (parent != nullptr && may_be_dropped(*parent)) leaves.push(parent);
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
  call->makers = makers_of(request.futures, first_seq_, recorder_->operations());
  call->wants_result = request.wants_future && request.task->result().size != 0;
  note_uses(plan);
  add(std::move(call));
}

void Tracing::add(std::shared_ptr<RecordedCall> call) {
  recorder_->step(call->plan != nullptr ? call->plan->argument_count : 0);
  calls_.push_back(std::move(call));
  if (recorder_->fault() != nullptr) {
    finish_recording("");
    if (!is_marked()) close_trace();
    return;
  }
  if (recorder_->operations() >= context_.runtime().options().trace_length)
    finish_recording("it reached --refrain:trace-length");
  else if (!is_marked()) note_recorded_call();
}

void Tracing::note_uses(const LaunchPlan& plan) {
  for (const PlannedArgument& argument : plan.arguments) recorder_->uses(*argument.field);
  for (const LaunchPlan::Tree& used : plan.trees) recorder_->uses(*used.tree, used.uid);
  if (recorder_->fault() != nullptr) return;  // some of the instances may be gone
  for (const PlannedArgument& argument : plan.arguments) recorder_->argument(*argument.instance);
}

std::shared_ptr<RecordedCall> Tracing::describe(const TracedCall& made, std::uint64_t token) const {
  auto call = std::make_shared<RecordedCall>();
  call->key.assign(made.key.begin(), made.key.end());
  call->info = &context_.info_for(made.name, made.where);
  call->token = token;
  call->makers = makers_of(made.futures, first_seq_, recorder_->operations());
  return call;
}

void Tracing::called(const TracedCall& made, std::uint64_t token,
                     std::initializer_list<analysis::FieldState*> fields,
                     std::initializer_list<const AnyRegion*> regions) {
  occurrence_.note_analysed(token);
  if (recorder_ == nullptr) return;
  for (analysis::FieldState* field : fields) recorder_->uses(*field);
  for (const AnyRegion* region : regions)
    if (region->tree->in(context_.forest_)) recorder_->uses(*region->tree, region->tree->uid());
  add(describe(made, token));
}

void Tracing::reduced(const TracedCall& made, std::uint64_t token) {
  occurrence_.note_analysed(token);
  if (recorder_ == nullptr) return;
  const std::shared_ptr<RecordedCall> call = describe(made, token);
  call->wants_result = true;
  add(call);
}

}  // namespace refrain::runtime
