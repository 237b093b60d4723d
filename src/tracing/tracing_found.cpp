// Tracing: traces that nobody has marked. What is worth recording is the finder's to say; what was recorded is replayed
// from its first call on, without waiting to see whether the rest comes. Yadav et al., section 4.3, whose trace
// replayer waits for it.

#include <algorithm>
#include <ranges>
#include <utility>

#include "runtime/context_impl.hpp"
#include "tracing/tracing.hpp"

namespace refrain::runtime {

using autotrace::Candidates;
using autotrace::Token;
using autotrace::TraceCandidate;
using trace::Index;

namespace {

/// Periods of a loop are recorded until they have so many operations, so that replays are worth their beginning.
constexpr std::size_t kEnoughOperations = 256;
/// A branch is given up if after so many calls, and twice as many as its trace has, nothing begins that is known.
constexpr std::size_t kLongBranch = 256;
/// In one place; where there are more, each comes seldom.
constexpr std::size_t kMostBranches = 16;
/// One that is too short to be worth entering is recorded with what follows. Not so if that is so many times as long,
/// when it does not matter, or if something longer goes on there, which would be lost.
constexpr std::size_t kTail = 20;

bool goes_on_longer(const Segment& segment) {
  const auto end = segment.forks.find(static_cast<Index>(segment.tokens.size()));
  return end != segment.forks.end() &&
         std::ranges::any_of(end->second.segments(), [&](const auto& later) {
           return later->tokens.size() > segment.tokens.size();
         });
}

}  // namespace

// --- before the call's token is known ----------------------------------------------------------------

/// Replays what begins with the call: where the trace that is open has been left, or anywhere.
bool Tracing::select_found(const TracedCall& call) {
  if (found_ == nullptr || found_->empty()) return false;
  asked_ = {};
  asked_.hash = Fork::hash(call.key);
  asked_.request = call.request;
  asked_.name = call.name;
  asked_.where = call.where;
  FoundTraces::Root* const root = found_->find(asked_.hash);
  if (recorder_ != nullptr) {
    FoundRecording& branch = found_recording_;
    if (!branch.is_branch || root == nullptr || branch.tail != nullptr) return false;
    Segment* const known = begins(root->fork, call);
    if (known == nullptr) return false;
    if (calls_.size() < context_.runtime_.options().autotrace_min_length &&
        known->tokens.size() <= kTail * calls_.size() && !goes_on_longer(*known)) {
      branch.tail = known;
      branch.tail_calls = 0;
      return false;
    }
    finish_recording("a trace that was found begins there");
  }
  if (root_found_ != nullptr && parted_ != nullptr) {
    const auto fork = parted_->forks.find(parted_at_);
    if (fork != parted_->forks.end() && replay_found(fork->second, call)) return true;
    asked_.untrusted_branch = asked_.untrusted != nullptr;
  }
  if (root == nullptr || begins(root->fork, call) == nullptr) return false;
  if (root_found_ != nullptr) close_trace();
  open_found(*root);
  return replay_found(root->fork, call);
}

/// A segment that is trusted and begins with the call, or null.
Segment* Tracing::begins(const Fork& fork, const TracedCall& call) {
  Segment* trusted = nullptr;
  fork.for_each_beginning_with(call.key, [&](Segment& segment) {
    if (!next_is(segment, 0, 0, call)) return;
    if (!may_enter(segment)) {
      if (asked_.untrusted == nullptr || segment.context == *asked_.context)
        asked_.untrusted = &segment;
    } else if (trusted == nullptr || segment.last_used > trusted->last_used) trusted = &segment;
  });
  return trusted;
}

/// Whether it is trusted, here or anywhere.
bool Tracing::may_enter(const Segment& segment) {
  if (segment.trust.is_given()) return true;
  if (!asked_.context) asked_.context = found_->finder().context(0);
  return segment.context == *asked_.context && segment.trust_in_context.is_given();
}

bool Tracing::replay_found(Fork& fork, const TracedCall& call) {
  if (begins(fork, call) == nullptr) return false;
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

std::string Tracing::why_not_found() const {
  if (recorder_ != nullptr) return "it was found to repeat, and recorded";
  if (asked_.untrusted != nullptr)
    return "what begins with it was often left early: it is watched until it comes in full";
  if (asked_.same_call) return occurrence_.why();
  const FoundTraces::Root* const root = found_->find(asked_.hash);
  if (root != nullptr && !root->fork.lost.text.empty()) return root->fork.lost.text;
  return "no trace was open, and none was found";
}

void Tracing::open_found(const FoundTraces::Root& root) {
  root_found_ = &root;
  open_name_ = root.name;
  opened_at_ = root.where;
  parted_ = nullptr;
  parted_by_ = nullptr;
  occurrence_ = {};
  occurrence_.watched = context_.runtime_.listener(Events::decisions) != nullptr;
}

/// Something comes that is no call of a trace that was found.
void Tracing::leave_unmarked() {
  if (recorder_ != nullptr) abandon_recording();
  if (root_found_ != nullptr) close_trace();
}

// --- when it is --------------------------------------------------------------------------------------

void Tracing::analysing_unmarked(Token token) {
  // No chain that would have to be left first: the call looks at the state, between what was replayed and what will be.
  if (chain_ == nullptr) recent_.clear();
  if (asked_.untrusted != nullptr)
    found_->watch(*asked_.untrusted, asked_.untrusted->context == *asked_.context);
  found_->analysed(token);
  if (recorder_ != nullptr) {
    if (goes_on_recording(token)) return;
  } else if (root_found_ != nullptr && parted_ != nullptr) {
    if (record_from_here(token)) return;
  }
  if (root_found_ != nullptr) close_trace();
  if (const Candidates::Position at = found_->finder().candidates().begin(token);
      at && may_record(at)) {
    const std::uint64_t context = found_->finder().context(1);
    const bool expected = found_->finder().candidates().is_expected(token, context);
    Patience& patience = expected ? found_->guessing_in_context : found_->guessing;
    if (!patience.pause() && is_hopeful(at)) {
      FoundTraces::Root& root = root_of(token);
      if (!root.fork.recording.pause()) {
        open_found(root);
        return record_found(root.fork, {.at = at, .expected = expected, .context = context});
      }
    }
  }
  found_->take_turn();
}

/// Whether what the candidates have there may be of use.
bool Tracing::is_hopeful(Candidates::Position at) const {
  const std::uint64_t now = found_->finder().now();
  return at && Candidates::best(at, now)->is_worth_recording(now);
}

/// Where traces begin that begin with the present call.
FoundTraces::Root& Tracing::root_of(Token token) {
  FoundTraces::Root& root = found_->root(asked_.hash);
  if (root.id != 0) return root;
  root.id = token;
  root.name = "found " + std::to_string(++found_roots_) + ", from ";
  root.name += asked_.request != nullptr ? asked_.request->task->name() : asked_.name;
  root.where = asked_.where;
  return root;
}

/// Where something begins that is not trusted it is watched instead, unless something else may begin there.
bool Tracing::may_record(Candidates::Position at) const {
  if (!asked_.may_record) return false;
  if (asked_.untrusted == nullptr) return true;
  return at && Candidates::best(at, found_->finder().now())->recordings == 0;
}

/// Whether it was right to record what was found where its first call came.
void Tracing::judge_guess(const FoundRecording& guess, bool of_use) {
  (guess.expected ? found_->guessing_in_context : found_->guessing).judge(of_use);
}

void Tracing::record_found(Fork& fork, const FoundRecording& what) {
  settle();
  recent_.clear();
  fork_ = &fork;
  found_recording_ = what;
  start_recording(asked_.same_call);
}

/// Where the trace that is open was left: another candidate may go on there. And where the program leaves it again as
/// it did before, a branch is recorded, up to where something begins that is known; a short one together with that.
bool Tracing::record_from_here(Token token) {
  FoundRecording what{.at = Candidates::next(position(), token)};
  if (!is_hopeful(what.at)) what.at = {};
  what.is_branch = !what.at && found_->left_again(*parted_, parted_at_, token);
  // That something begins with the call which is not trusted elsewhere says nothing against a branch; if it is a branch
  // of this place, it is there already.
  const bool wanted = what.is_branch ? asked_.may_record && !asked_.untrusted_branch
                                     : what.at && may_record(what.at);
  if (!wanted) return false;
  Fork& fork = parted_->forks[parted_at_];
  if (fork.recording.pause() || (what.is_branch && fork.segments().size() >= kMostBranches))
    return false;
  const std::size_t most = context_.runtime_.options().autotrace_max_length;
  if (what.is_branch) what.calls_left = most > 0 ? most : kLongBranch + 2 * parted_->tokens.size();
  what.context = found_->finder().context(1);
  record_found(fork, what);
  return true;
}

/// Where in the candidates the trace that is open has got to.
Candidates::Position Tracing::position() const {
  std::vector<std::span<const Token>> path;
  Index calls = parted_at_;
  for (const Segment* segment = parted_; segment != nullptr; segment = segment->parent) {
    path.push_back(std::span(segment->tokens).first(calls));
    calls = segment->parent_calls;
  }
  Candidates::Position at;
  bool first = true;
  for (const auto& tokens : path | std::views::reverse)
    for (const Token token : tokens) {
      at = std::exchange(first, false) ? found_->finder().candidates().begin(token)
                                       : Candidates::next(at, token);
      if (!at) return at;
    }
  return at;
}

/// Whether the call is one of what is recorded.
bool Tracing::goes_on_recording(Token token) {
  FoundRecording& what = found_recording_;
  if (what.is_branch) {
    if (what.tail != nullptr && what.tail->tokens[what.tail_calls++] != token) what.tail = nullptr;
    if (--what.calls_left > 0) return true;
  } else {
    const Candidates::Position before = std::exchange(what.at, Candidates::next(what.at, token));
    if (what.at) return true;
    // A beginning is of use, too.
    if (is_long_enough()) {
      judge_guess(what, false);
      if (finish_recording("what was found went on otherwise"))
        found_->recorded_beginning(
            Candidates::best(before, found_->finder().now())->repeat.identity);
    }
  }
  if (recorder_ != nullptr) abandon_recording();
  // Nobody has looked whether something begins here that has been recorded.
  const FoundTraces::Root* const root = found_->find(asked_.hash);
  asked_.may_record = root == nullptr || root->fork.empty();
  return false;
}

/// What is recorded ends where a candidate does; periods of a loop, when they are long enough.
void Tracing::note_recorded_call() {
  FoundRecording& what = found_recording_;
  if (what.is_branch) {
    if (what.tail == nullptr || what.tail_calls < what.tail->tokens.size()) return;
    finish_recording("a trace that was found ended there");
    return close_trace();
  }
  const TraceCandidate* best = Candidates::best(what.at, found_->finder().now());
  const std::uint32_t period = best->repeat.period;
  const bool enough =
      period != 0 && what.at.length() % period == 0 && recorder_->operations() >= kEnoughOperations;
  if (!enough && Candidates::ending(what.at) != best) return;
  what.candidate = best->repeat.identity;
  const FoundRecording ended = what;
  const bool is_kept = finish_recording("what was found ended there");
  judge_guess(ended, is_kept);
  if (is_kept) found_->recorded(ended.candidate);
  close_trace();
}

/// What is recorded may be kept, though it does not end where it should.
bool Tracing::is_long_enough() const {
  return recorder_ != nullptr &&
         (found_recording_.is_branch ||
          calls_.size() >= context_.runtime_.options().autotrace_min_length);
}

void Tracing::abandon_recording() {
  show_end(profile::Category::recording, calls_.size());
  found_->abandoned(calls_.size());
  context_.analysis_.set_state_log(nullptr);
  recorder_ = nullptr;
  calls_.clear();
  fork_->lost = {"what was found did not come to its end"};
  // That a guess was wrong says nothing against recording what does come.
  if (const FoundRecording what = std::exchange(found_recording_, {}); what.is_branch)
    fork_->recording.judge(false);
  else judge_guess(what, false);
  fork_ = nullptr;
}

// --- whether it was of use -----------------------------------------------------------------------------

/// The chain is left: whether it was of use to enter it.
void Tracing::judge_found() {
  const ReplayedTrace& trace = *chain_->trace;
  const std::uint64_t operations = trace.recording().operations.size();
  Occurrence gained;
  gained.note_entered();
  gained.note_replayed(whole_replays_ * operations + trace.first_of(step_));
  if (step_ != part_end_) {
    gained.note_left_early(operations);
    found_->was_wrong();
  }
  Segment& entered = *chain_->parts.front().segment;
  (in_context_ ? entered.trust_in_context : entered.trust).judge(gained.gain);
  if (round_ != nullptr)
    round_->entering.judge(gained.gain > 0 && (carried_ || step_ == trace.steps()));
}

}  // namespace refrain::runtime
