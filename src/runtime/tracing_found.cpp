// Tracing: traces that nobody has marked. What is worth recording is the finder's to say; what was recorded is replayed
// from its first call on, without waiting to see whether the rest comes. Yadav et al., section 4.3, whose trace
// replayer waits for it.

#include <algorithm>
#include <ranges>
#include <string>
#include <utility>

#include "runtime/context_impl.hpp"
#include "runtime/tracing.hpp"

namespace refrain::runtime {

using autotrace::Candidates;
using autotrace::Token;
using autotrace::TraceCandidate;
using trace::Index;

namespace {

/// Rounds of a loop are recorded until they have so many operations, so that replays are worth their beginning.
constexpr std::size_t kEnoughOperations = 256;
/// A branch is recorded when it is taken for this time, ...
constexpr std::uint32_t kOften = 2;
/// ... and is given up if after so many calls, and twice as many as were replayed before, nothing begins that is known.
constexpr std::size_t kLongBranch = 256;
constexpr std::size_t kMostExits = 4096;

}  // namespace

// --- before the call's token is known ----------------------------------------------------------------

/// What begins with the call where the trace that is open has been left, or anywhere.
bool Tracing::select_found(const TracedCall& call) {
  if (finder_ == nullptr || (found_.empty() && finder_->candidates().empty())) return false;
  asked_ = {Fork::hash(call.key), call.request, call.name, call.where};
  if (recorder_ != nullptr) {
    if (branch_left_ == 0) return false;
    const auto root = found_.find(asked_.hash);
    if (root == found_.end() || !begins(root->second.fork, call)) return false;
    finish_recording("a trace that was found begins there");
  }
  if (root_found_ != nullptr && parted_ != nullptr) {
    const auto fork = parted_->forks.find(parted_at_);
    if (fork != parted_->forks.end() && replay_found(fork->second, call)) return true;
  }
  const auto root = found_.find(asked_.hash);
  if (root == found_.end() || !begins(root->second.fork, call)) return false;
  if (root_found_ != nullptr) close_trace();
  open_found(root->second);
  return replay_found(root->second.fork, call);
}

std::string Tracing::why_not_found() const {
  if (recorder_ != nullptr) return "it was found to repeat, and recorded";
  if (asked_.untrusted != nullptr)
    return "what begins with it was often left early: it is watched until it comes in full";
  if (asked_.same_call) return occurrence_.why();
  return "no trace was open, and none was found";
}

/// Whether a segment that is trusted begins with the call; one that is not is watched.
bool Tracing::begins(const Fork& fork, const TracedCall& call) {
  bool trusted = false;
  fork.for_each_beginning_with(call.key, [&](Segment& segment) {
    if (!next_is(segment, 0, 0, call)) return;
    if (segment.trust.is_given()) trusted = true;
    else asked_.untrusted = &segment;
  });
  return trusted;
}

bool Tracing::replay_found(Fork& fork, const TracedCall& call) {
  if (!begins(fork, call)) return false;
  if (chain_ != nullptr) {
    if (goes_on(&fork, call)) return true;
    leave_for_next();
  }
  drop_stale(fork);
  if (replay_best(fork, call, asked_.same_call)) return true;
  if (occurrence_.watched) {
    fork_ = &fork;
    occurrence_.add(why_not(call));
    fork_ = nullptr;
  }
  return false;
}

void Tracing::open_found(FoundRoot& root) {
  root_found_ = &root;
  open_name_ = root.name;
  opened_at_ = root.where;
  parted_ = nullptr;
  parted_by_ = nullptr;
  occurrence_ = {};
  occurrence_.watched = context_.runtime_.explanation() != nullptr;
}

/// Something comes that is no call of a trace that was found.
void Tracing::leave_unmarked() {
  if (finder_ == nullptr) return;
  if (recorder_ != nullptr) abandon_recording();
  if (root_found_ != nullptr) close_trace();
}

// --- when it is --------------------------------------------------------------------------------------

void Tracing::analysing_unmarked(Token token) {
  if (autotrace_log_ != nullptr) autotrace_log_->analysed(finder_->now());
  watch(token);
  finder_->add(token);
  if (recorder_ != nullptr) {
    if (branch_left_ > 0 ? --branch_left_ > 0 : bool(at_ = Candidates::next(at_, token))) return;
    if (branch_left_ == 0 && calls_.size() >= context_.runtime_.options().autotrace_min_length)
      finish_recording("what was found went on otherwise");
    else abandon_recording();
    guessing_.judge(false);
    // What has been recorded is not looked for while something is, so it is not known whether this call has.
    if (const auto root = found_.find(asked_.hash); root != found_.end())
      asked_.may_record = root->second.fork.empty();
  } else if (root_found_ != nullptr && parted_ != nullptr) {
    at_ = Candidates::next(position(), token);
    if (at_ && record_found(parted_->forks[parted_at_])) return;
    if (record_branch(token)) return;
  }
  if (root_found_ != nullptr) close_trace();
  at_ = finder_->candidates().begin(token);
  if (at_) {
    FoundRoot& root = root_of(token);
    open_found(root);
    if (!guessing_.pause() && record_found(root.fork)) return;
    close_trace();
  }
  if (finder_->is_due()) take_turn();
}

void Tracing::take_turn() {
  const AutotraceCounters before = finder_->counters();
  finder_->turn();
  if (autotrace_log_ == nullptr) return;
  const AutotraceCounters& now = finder_->counters();
  if (now.mined != before.mined || now.candidates != before.candidates)
    autotrace_log_->mined(finder_->now(), now.mined_calls - before.mined_calls,
                          now.candidates - before.candidates);
}

/// Where traces begin that begin with the present call.
Tracing::FoundRoot& Tracing::root_of(Token token) {
  if (found_.size() >= found_limit_) {
    std::erase_if(found_, [](const auto& root) { return root.second.fork.empty(); });
    found_limit_ = 2 * found_.size() + kNames;
  }
  FoundRoot& root = found_[asked_.hash];
  if (root.id == 0) {
    root.id = token;
    root.name = "found, from ";
    root.name += asked_.request != nullptr ? asked_.request->task->name() : asked_.name;
    root.where = asked_.where;
  }
  return root;
}

/// Where in the candidates the open trace has got to.
Candidates::Position Tracing::position() const {
  std::vector<std::span<const Token>> path;
  Index calls = parted_at_;
  for (const Segment* segment = parted_; segment != nullptr; segment = segment->parent) {
    path.push_back(std::span(segment->tokens).first(calls));
    calls = segment->parent_calls;
  }
  Candidates::Position at;
  for (const auto& tokens : path | std::views::reverse)
    for (const Token token : tokens)
      at = at.length() == 0 ? finder_->candidates().begin(token) : Candidates::next(at, token);
  return at;
}

/// Begins to record what the candidates have at `at_`, if that may be of use.
bool Tracing::record_found(Fork& fork) {
  if (!asked_.may_record || asked_.untrusted != nullptr || fork.recording.pause()) return false;
  settle();
  recent_.clear();
  fork_ = &fork;
  start_recording(asked_.same_call);
  return true;
}

/// Where the program leaves what was found, it may do the same another time: what follows is recorded, up to where
/// something begins that is known.
bool Tracing::record_branch(Token token) {
  if (exits_.size() >= kMostExits) exits_.clear();
  const std::uint64_t place[] = {parted_->number, parted_at_, token};
  if (++exits_[hash_bytes(place, sizeof place)] < kOften) return false;
  if (!record_found(parted_->forks[parted_at_])) return false;
  branch_left_ = kLongBranch + 2 * parted_->tokens.size();
  return true;
}

/// What is recorded ends where a candidate does; rounds of a loop, when they are long enough.
void Tracing::note_recorded_call() {
  if (branch_left_ > 0) return;
  const TraceCandidate* best = Candidates::best(at_, finder_->now());
  if (best == nullptr) return;
  const std::uint32_t period = best->repeat.period;
  const bool enough =
      period != 0 && at_.length() % period == 0 && recorder_->operations() >= kEnoughOperations;
  if (!enough && Candidates::ending(at_) != best) return;
  if (autotrace_log_ != nullptr) autotrace_log_->recorded(finder_->now(), open_name_, at_.length());
  recorded_ = best->repeat.identity;
  finder_->recorded(recorded_);
  finish_recording("what was found ended there");
  guessing_.judge(true);
  recorded_ = 0;
  close_trace();
}

/// The calls are no longer those of a candidate.
void Tracing::abandon_recording() {
  branch_left_ = 0;
  show_end(profile::Category::recording, calls_.size());
  if (autotrace_log_ != nullptr) autotrace_log_->abandoned(finder_->now(), calls_.size());
  context_.analysis_.set_state_log(nullptr);
  recorder_ = nullptr;
  calls_.clear();
  fork_->lost = {"what was found did not come to its end"};
  fork_->recording.judge(false);
  fork_ = nullptr;
}

// --- whether it was of use -----------------------------------------------------------------------------

void Tracing::watch(Token token) {
  if (watch_.segment == nullptr) {
    if (asked_.untrusted == nullptr) return;
    watch_ = {asked_.untrusted, 0};
  }
  Segment& segment = *watch_.segment;
  const bool same = segment.tokens[watch_.calls] == token;
  if (same && ++watch_.calls < segment.tokens.size()) return;
  segment.trust.came(same);
  watch_ = {};
}

/// The trace leaves off following the chain.
void Tracing::note_found_replayed() {
  const Segment& segment = *part().segment;
  const Index calls = step_ - part_begin_;
  if (autotrace_log_ != nullptr)
    autotrace_log_->replayed(finder_->now(), calls, calls == segment.tokens.size());
  finder_->add_replayed(std::span(segment.tokens).first(calls));
  if (calls == segment.tokens.size() && segment.candidate != 0)
    finder_->replayed(segment.candidate);
}

/// The chain is left: whether it was of use to enter it.
void Tracing::judge_found() {
  const ReplayedTrace& trace = *chain_->trace;
  const std::uint64_t operations = trace.recording().operations.size();
  Occurrence gained;
  gained.note_entered();
  gained.note_replayed(whole_replays_ * operations + trace.first_of(step_));
  if (step_ != part_end_) {
    gained.note_left_early(operations);
    finder_->was_wrong();
  }
  chain_->parts.front().segment->trust.judge(gained.gain);
  if (round_ != nullptr && gained.gain <= 0) round_->entering.judge(false);
}

}  // namespace refrain::runtime
