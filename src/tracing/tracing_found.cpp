// Tracing: traces that nobody has marked. What is worth recording is the finder's to say; what was recorded is replayed
// from its first call on, without waiting to see whether the rest comes. Yadav et al., section 4.3, whose trace
// replayer waits for it.

#include <algorithm>
#include <ranges>
#include <utility>

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

bool goes_on_longer(const Branch& branch) {
  const auto end = branch.points.find(static_cast<Index>(branch.tokens.size()));
  return end != branch.points.end() &&
         std::ranges::any_of(end->second.branches(), [&](const auto& later) {
           return later->tokens.size() > branch.tokens.size();
         });
}

}  // namespace

// --- before the call's token is known ----------------------------------------------------------------

/// Replays what begins with the call: where the trace that is open has been left, or anywhere.
bool Tracing::select_found(const TracedCall& call) {
  if (found_ == nullptr || (!tree_.has_found_roots() && found_->finder().candidates().empty()))
    return false;
  asked_ = {};
  asked_.hash = BranchPoint::hash(call.key);
  asked_.request = call.request;
  asked_.name = call.name;
  asked_.where = call.where;
  TraceRoot* const root = found_root();
  if (session_.is_open()) {
    FoundRecording& what = found_recording_;
    if (!what.is_branch || root == nullptr || what.tail != nullptr) return false;
    Branch* const known = begins(root->point, call);
    if (known == nullptr) return false;
    if (session_.work() < context_.runtime.options().autotrace_min_length &&
        known->tokens.size() <= kTail * session_.calls() && !goes_on_longer(*known)) {
      what.tail = known;
      what.tail_calls = 0;
      return false;
    }
    finish_recording("a trace that was found begins there");
  }
  if (open_.root != nullptr && left_.branch != nullptr) {
    const auto here = left_.branch->points.find(left_.calls);
    if (here != left_.branch->points.end() && replay_found(here->second, call)) return true;
    asked_.doubtful_here = asked_.doubtful != nullptr;
  }
  if (root == nullptr || begins(root->point, call) == nullptr) return false;
  if (open_.root != nullptr) close_trace();
  open_found(*root);
  return replay_found(root->point, call);
}

/// The branch used last of those that begin with the call and are not left alone, or null.
Branch* Tracing::begins(const BranchPoint& point, const TracedCall& call) {
  Branch* best = nullptr;
  point.for_each_beginning_with(call.key, [&](Branch& branch) {
    if (!begins_with(branch, call)) return;
    if (!may_enter(branch)) {
      if (asked_.doubtful == nullptr || branch.context == *asked_.context)
        asked_.doubtful = &branch;
    } else if (best == nullptr || branch.last_used > best->last_used) {
      best = &branch;
    }
  });
  return best;
}

/// Whether it is not left alone, anywhere or here.
bool Tracing::may_enter(const Branch& branch) {
  if (branch.anywhere.is_open()) return true;
  if (!asked_.context) asked_.context = found_->finder().context(0);
  return branch.context == *asked_.context && branch.in_context.is_open();
}

bool Tracing::replay_found(BranchPoint& point, const TracedCall& call) {
  if (begins(point, call) == nullptr) return false;
  if (chain_ != nullptr) {
    if (goes_on(&point, call)) return true;
    leave_for_next();
  }
  tree_.drop_stale(point);
  if (replay_best(point, call, asked_.same_call)) return true;
  if (execution_.watched) {
    point_ = &point;
    execution_.add(why_not(call));
    point_ = nullptr;
  }
  return false;
}

std::string Tracing::why_not_found() {
  if (session_.is_open()) return "it was found to repeat, and recorded";
  if (asked_.doubtful != nullptr)
    return "what begins with it was often left early: it is watched until it comes in full";
  if (asked_.same_call) return execution_.why();
  const TraceRoot* const root = found_root();
  if (root != nullptr && !root->point.lost.text.empty()) return root->point.lost.text;
  return "no trace was open, and none was found";
}

void Tracing::open_found(TraceRoot& root) {
  open_ = {0, &root, root.name, root.where};
  left_ = {};
  execution_ = {};
  execution_.watched = context_.runtime.listener(Events::decisions) != nullptr;
}

/// Something comes that is no call of a trace that was found.
void Tracing::leave_unmarked() {
  if (session_.is_open()) abandon_recording();
  if (open_.root != nullptr) close_trace();
}

// --- when it is --------------------------------------------------------------------------------------

void Tracing::analysing_unmarked(Token token, autotrace::Work work) {
  // No chain that would have to be left first: the call looks at the state, between what was replayed and what will be.
  if (chain_ == nullptr) recent_.clear();
  if (asked_.doubtful != nullptr)
    found_->watch(*asked_.doubtful, asked_.doubtful->context == *asked_.context);
  found_->analysed(token, work);
  if (session_.is_open()) {
    if (goes_on_recording(token)) return;
  } else if (open_.root != nullptr && left_.branch != nullptr) {
    if (record_from_here(token)) return;
  }
  if (open_.root != nullptr) close_trace();
  if (const Candidates::Position at = found_->finder().candidates().begin(token);
      at && may_record(at)) {
    const std::uint64_t context = found_->finder().context(1);
    const bool expected = found_->finder().candidates().is_expected(token, context);
    Ledger& guessing = expected ? found_->guessing_in_context : found_->guessing;
    if (!guessing.pause() && is_hopeful(at)) {
      TraceRoot& root = make_found_root(token);
      if (!root.point.recording.pause()) {
        open_found(root);
        return record_found(root.point, {.at = at, .expected = expected, .context = context});
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

/// Where traces begin that begin with the present call; null: nowhere.
TraceRoot* Tracing::found_root() { return tree_.find_root(TraceTree::Kind::found, asked_.hash); }

TraceRoot& Tracing::make_found_root(Token token) {
  TraceRoot& root = tree_.root(TraceTree::Kind::found, asked_.hash);
  if (root.id != 0) return root;
  root.id = token;
  root.name = "found " + std::to_string(++found_roots_) + ", from ";
  root.name += asked_.request != nullptr ? asked_.request->task->name() : asked_.name;
  root.where = asked_.where;
  return root;
}

/// A branch that is left alone is watched instead, unless something else may begin with the call.
bool Tracing::may_record(Candidates::Position at) const {
  if (!asked_.may_record) return false;
  if (asked_.doubtful == nullptr) return true;
  return at && Candidates::best(at, found_->finder().now())->recordings == 0;
}

/// Whether it was right to record what was found where its first call came.
void Tracing::judge_guess(const FoundRecording& guess, bool of_use) {
  (guess.expected ? found_->guessing_in_context : found_->guessing).enter(of_use ? 1 : -1);
}

void Tracing::record_found(BranchPoint& point, const FoundRecording& what) {
  settle();
  recent_.clear();
  point_ = &point;
  found_recording_ = what;
  start_recording(asked_.same_call);
}

/// Where the trace that is open was left: another candidate may go on there. And where the program leaves it again as
/// it did before, a branch is recorded, up to where something begins that is known; a short one together with that.
bool Tracing::record_from_here(Token token) {
  FoundRecording what{.at = Candidates::next(position(), token)};
  if (!is_hopeful(what.at)) what.at = {};
  what.is_branch = !what.at && found_->left_again(*left_.branch, left_.calls, token);
  // A doubtful branch elsewhere says nothing against a branch here; a doubtful one of this place is there already.
  const bool wanted =
      what.is_branch ? asked_.may_record && !asked_.doubtful_here : what.at && may_record(what.at);
  if (!wanted) return false;
  BranchPoint& point = left_.branch->points[left_.calls];
  if (point.recording.pause() || (what.is_branch && point.branches().size() >= kMostBranches))
    return false;
  const std::size_t most = context_.runtime.options().autotrace_max_length;
  if (what.is_branch)
    what.calls_left = most > 0 ? most : kLongBranch + 2 * left_.branch->tokens.size();
  what.context = found_->finder().context(1);
  record_found(point, what);
  return true;
}

/// Where in the candidates the trace that is open has got to.
Candidates::Position Tracing::position() const {
  std::vector<std::span<const Token>> path;
  Index calls = left_.calls;
  for (const Branch* branch = left_.branch; branch != nullptr; branch = branch->parent) {
    path.push_back(std::span(branch->tokens).first(calls));
    calls = branch->parent_calls;
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
  if (session_.is_open()) abandon_recording();
  // Nobody has looked whether something begins here that has been recorded.
  const TraceRoot* const root = found_root();
  asked_.may_record = root == nullptr || root->point.empty();
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
      period != 0 && what.at.length() % period == 0 && session_.operations() >= kEnoughOperations;
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
  return session_.is_open() && (found_recording_.is_branch ||
                                session_.work() >= context_.runtime.options().autotrace_min_length);
}

void Tracing::abandon_recording() {
  show_end(profile::Category::recording, session_.calls());
  found_->abandoned(session_.calls());
  session_.abandon();
  point_->lost = {"what was found did not come to its end"};
  // That a guess was wrong says nothing against recording what does come.
  if (const FoundRecording what = std::exchange(found_recording_, {}); what.is_branch)
    point_->note_lost(false);
  else judge_guess(what, false);
  point_ = nullptr;
}

}  // namespace refrain::runtime
