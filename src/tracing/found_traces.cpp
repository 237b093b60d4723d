#include "tracing/found_traces.hpp"

#include <algorithm>
#include <ranges>
#include <span>
#include <utility>

namespace refrain::runtime {

using autotrace::Candidates;
using autotrace::Token;
using autotrace::TraceCandidate;
using autotrace::Work;
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

/// Threads with nothing else to do.
autotrace::Miners miners_of(exec::Executor& executor) {
  const auto post = [&executor](const std::shared_ptr<autotrace::MiningJob>& job) {
    if (!executor.runs_background()) return false;
    executor.post(job);
    return true;
  };
  return {post, [&executor] { executor.hurry(); }};
}

bool goes_on_longer(const Branch& branch) {
  const auto end = branch.points.find(static_cast<Index>(branch.tokens.size()));
  return end != branch.points.end() &&
         std::ranges::any_of(end->second.branches(), [&](const auto& later) {
           return later->tokens.size() > branch.tokens.size();
         });
}

}  // namespace

autotrace::FinderOptions finder_options(const Options& options) {
  autotrace::FinderOptions chosen;
  chosen.limits.least = options.autotrace_min_length;
  if (options.autotrace_max_length > 0) chosen.limits.most = options.autotrace_max_length;
  chosen.limits.least = std::min(chosen.limits.least, chosen.limits.most);
  chosen.history = options.autotrace_history;
  chosen.sample = options.autotrace_sample;
  return chosen;
}

FoundTraces::FoundTraces(ContextCore& context, Selector& selector)
    : context_(context),
      selector_(selector),
      finder_(finder_options(context.runtime.options()), miners_of(context.runtime.executor())) {
  if (context.parent == nullptr) finder_.propose(context.runtime.warm_start());
  if (Listener* told = context.runtime.listener(Events::autotrace))
    log_ = std::make_unique<AutotraceLog>(*told, context.id);
}

std::unique_ptr<FoundTraces> FoundTraces::make(ContextCore& context, Selector& selector) {
  const Options& options = context.runtime.options();
  if (!options.tracing || !options.autotrace) return nullptr;
  return std::unique_ptr<FoundTraces>(new FoundTraces(context, selector));
}

// --- before the call's token is known ----------------------------------------------------------------

/// Replays what begins with the call: where the trace that is open has been left, or anywhere.
bool FoundTraces::select(const TracedCall& call) {
  if (!selector_.tree().has_found_roots() && candidates().empty()) return false;
  asked_ = {};
  asked_.hash = BranchPoint::hash(call.key);
  asked_.request = call.request;
  asked_.name = call.name;
  asked_.where = call.where;
  TraceRoot* const root = this->root();
  if (selector_.session().is_open()) {
    if (!recording_.is_branch || root == nullptr || recording_.tail != nullptr) return false;
    Branch* const known = begins(root->point, call);
    if (known == nullptr) return false;
    if (selector_.session().work() < context_.runtime.options().autotrace_min_length &&
        known->tokens.size() <= kTail * selector_.session().calls() && !goes_on_longer(*known)) {
      recording_.tail = known;
      recording_.tail_calls = 0;
      return false;
    }
    selector_.finish_recording("a trace that was found begins there");
  }
  if (const Selector::Place& left = selector_.left(); is_open() && left.branch != nullptr) {
    const auto here = left.branch->points.find(left.calls);
    if (here != left.branch->points.end() && replay_at(here->second, call)) return true;
    asked_.doubtful_here = asked_.doubtful != nullptr;
  }
  if (root == nullptr || begins(root->point, call) == nullptr) return false;
  if (is_open()) selector_.close();
  open(*root);
  return replay_at(root->point, call);
}

/// The branch used last of those that begin with the call and are not left alone, or null.
Branch* FoundTraces::begins(const BranchPoint& point, const TracedCall& call) {
  Branch* best = nullptr;
  point.for_each_beginning_with(call.key, [&](Branch& branch) {
    if (!selector_.begins_with(branch, call)) return;
    if (!branch.anywhere.is_open() && !may_enter(branch)) {
      if (asked_.doubtful == nullptr || branch.context == asked_.context) asked_.doubtful = &branch;
    } else if (best == nullptr || branch.last_used > best->last_used) {
      best = &branch;
    }
  });
  return best;
}

/// It is left alone, but perhaps not in its context.
bool FoundTraces::may_enter(const Branch& branch) {
  if (!asked_.context) asked_.context = finder_.context(0);
  return branch.context == asked_.context && branch.in_context.is_open();
}

bool FoundTraces::replay_at(BranchPoint& point, const TracedCall& call) {
  return begins(point, call) != nullptr && selector_.replay_at(point, call, asked_.same_call);
}

std::string FoundTraces::why_analysed() {
  if (selector_.session().is_open()) return "it was found to repeat, and recorded";
  if (asked_.doubtful != nullptr)
    return "what begins with it was often left early: it is watched until it comes in full";
  if (asked_.same_call) return selector_.execution().why();
  const TraceRoot* const root = this->root();
  if (root != nullptr && !root->point.lost.text.empty()) return root->point.lost.text;
  return "no trace was open, and none was found";
}

void FoundTraces::open(TraceRoot& root) {
  selector_.open({false, false, &root, root.id, root.name, root.where},
                 context_.runtime.listener(Events::decisions) != nullptr);
}

void FoundTraces::leave() {
  if (selector_.session().is_open()) abandon_recording();
  if (is_open()) selector_.close();
}

void FoundTraces::interrupt() {
  leave();
  finder_.add_unique();
  watched_ = nullptr;
}

void FoundTraces::untraceable_call(const char* what) {
  selector_.settle();
  if (is_long_enough()) selector_.finish_recording(what);
  interrupt();
}

// --- when it is --------------------------------------------------------------------------------------

void FoundTraces::analysing(Token token, Work work) {
  selector_.interrupt();
  if (asked_.doubtful != nullptr && watched_ == nullptr) {
    watched_ = asked_.doubtful;
    watched_calls_ = 0;
    watched_in_context_ = watched_->context == asked_.context;
  }
  note_analysed(token, work);
  if (selector_.session().is_open()) {
    if (goes_on_recording(token)) return;
  } else if (is_open() && selector_.left().branch != nullptr) {
    if (record_from_here(token)) return;
  }
  if (is_open()) selector_.close();
  if (const Position at = candidates().begin(token); at && may_record(at)) {
    const std::uint64_t context = finder_.context(1);
    const bool expected = candidates().is_expected(token, context);
    Ledger& guessing = expected ? guessing_in_context_ : guessing_;
    if (!guessing.pause() && is_hopeful(at)) {
      TraceRoot& root = make_root(token);
      if (!root.point.recording.pause()) {
        open(root);
        return record(root.point, {.at = at, .expected = expected, .context = context});
      }
    }
  }
  take_turn();
}

/// The finder hears of the call, and a branch that is watched is compared with it.
void FoundTraces::note_analysed(Token token, Work work) {
  if (log_ != nullptr) log_->analysed(finder_.now());
  finder_.add(token, work);
  if (watched_ == nullptr) return;
  const bool same = watched_->tokens[watched_calls_] == token;
  if (same && ++watched_calls_ < watched_->tokens.size()) return;
  watched_->anywhere.watched(same);
  if (watched_in_context_) watched_->in_context.watched(same);
  watched_ = nullptr;
}

/// Nothing is recorded: takes in what was mined.
void FoundTraces::take_turn() {
  if (!finder_.is_due()) return;
  const AutotraceCounters before = finder_.counters();
  finder_.turn();
  if (log_ == nullptr) return;
  const AutotraceCounters now = finder_.counters();
  if (now.mined != before.mined || now.candidates != before.candidates)
    log_->mined(finder_.now(), now.mined_calls - before.mined_calls,
                now.candidates - before.candidates);
}

/// Whether what the candidates have there may be of use.
bool FoundTraces::is_hopeful(Position at) const {
  const std::uint64_t now = finder_.now();
  return at && Candidates::best(at, now)->is_worth_recording(now);
}

TraceRoot& FoundTraces::make_root(Token token) {
  TraceRoot& root = selector_.tree().root(TraceTree::Kind::found, asked_.hash);
  if (root.id != 0) return root;
  root.id = token;
  root.name = "found " + std::to_string(++roots_) + ", from ";
  root.name += asked_.request != nullptr ? asked_.request->task->name() : asked_.name;
  root.where = asked_.where;
  return root;
}

/// A branch that is left alone is watched instead, unless something else may begin with the call.
bool FoundTraces::may_record(Position at) const {
  if (!asked_.may_record) return false;
  if (asked_.doubtful == nullptr) return true;
  return at && Candidates::best(at, finder_.now())->recordings == 0;
}

void FoundTraces::record(BranchPoint& point, const FoundRecording& what) {
  selector_.settle();
  recording_ = what;
  selector_.record_at(point, asked_.same_call);
}

/// Whether the program has left what was found here with this call before.
bool FoundTraces::left_again(Token token) {
  if (exits_.size() >= kMostExits) exits_.clear();
  const std::uint64_t place[] = {selector_.left().branch->number, selector_.left().calls, token};
  return exits_[hash_bytes(place, sizeof place)]++ > 0;
}

/// Where the trace that is open was left: another candidate may go on there. And where the program leaves it again as
/// it did before, a branch is recorded, up to where something begins that is known; a short one together with that.
bool FoundTraces::record_from_here(Token token) {
  FoundRecording what{.at = Candidates::next(position(), token)};
  if (!is_hopeful(what.at)) what.at = {};
  what.is_branch = !what.at && left_again(token);
  // A doubtful branch elsewhere says nothing against a branch here; a doubtful one of this place is there already.
  const bool wanted =
      what.is_branch ? asked_.may_record && !asked_.doubtful_here : what.at && may_record(what.at);
  if (!wanted) return false;
  const Selector::Place left = selector_.left();
  BranchPoint& point = left.branch->points[left.calls];
  if (point.recording.pause() || (what.is_branch && point.branches().size() >= kMostBranches))
    return false;
  const std::size_t most = context_.runtime.options().autotrace_max_length;
  if (what.is_branch)
    what.calls_left = most > 0 ? most : kLongBranch + 2 * left.branch->tokens.size();
  what.context = finder_.context(1);
  record(point, what);
  return true;
}

/// Where in the candidates the trace that is open has got to.
FoundTraces::Position FoundTraces::position() const {
  std::vector<std::span<const Token>> path;
  Index calls = selector_.left().calls;
  for (const Branch* branch = selector_.left().branch; branch != nullptr; branch = branch->parent) {
    path.push_back(std::span(branch->tokens).first(calls));
    calls = branch->parent_calls;
  }
  Position at;
  bool first = true;
  for (const auto& tokens : path | std::views::reverse)
    for (const Token token : tokens) {
      at = std::exchange(first, false) ? candidates().begin(token) : Candidates::next(at, token);
      if (!at) return at;
    }
  return at;
}

/// Whether the call is one of what is recorded.
bool FoundTraces::goes_on_recording(Token token) {
  FoundRecording& what = recording_;
  if (what.is_branch) {
    if (what.tail != nullptr && what.tail->tokens[what.tail_calls++] != token) what.tail = nullptr;
    if (--what.calls_left > 0) return true;
  } else {
    const Position before = std::exchange(what.at, Candidates::next(what.at, token));
    if (what.at) return true;
    // A beginning is of use, too.
    if (is_long_enough()) {
      judge_guess(what, false);
      if (selector_.finish_recording("what was found went on otherwise"))
        finder_.recorded(Candidates::best(before, finder_.now())->repeat.identity, false);
    }
  }
  if (selector_.session().is_open()) abandon_recording();
  // Nobody has looked whether something begins here that has been recorded.
  const TraceRoot* const root = this->root();
  asked_.may_record = root == nullptr || root->point.empty();
  return false;
}

/// What is recorded ends where a candidate does; periods of a loop, when they are long enough.
void FoundTraces::recorded_call() {
  FoundRecording& what = recording_;
  if (what.is_branch) {
    if (what.tail == nullptr || what.tail_calls < what.tail->tokens.size()) return;
    selector_.finish_recording("a trace that was found ended there");
    return selector_.close();
  }
  const TraceCandidate* best = Candidates::best(what.at, finder_.now());
  const std::uint32_t period = best->repeat.period;
  const bool enough = period != 0 && what.at.length() % period == 0 &&
                      selector_.session().operations() >= kEnoughOperations;
  if (!enough && Candidates::ending(what.at) != best) return;
  what.candidate = best->repeat.identity;
  const FoundRecording ended = what;
  const bool is_kept = selector_.finish_recording("what was found ended there");
  judge_guess(ended, is_kept);
  if (is_kept) finder_.recorded(ended.candidate, true);
  selector_.close();
}

/// What is recorded may be kept, though it does not end where it should.
bool FoundTraces::is_long_enough() const {
  return selector_.session().is_open() &&
         (recording_.is_branch ||
          selector_.session().work() >= context_.runtime.options().autotrace_min_length);
}

void FoundTraces::abandon_recording() {
  if (log_ != nullptr) log_->abandoned(finder_.now(), selector_.session().calls());
  BranchPoint& point = *selector_.abandon_recording("what was found did not come to its end");
  // That a guess was wrong says nothing against recording what does come.
  if (const FoundRecording what = std::exchange(recording_, {}); what.is_branch)
    point.note_lost(false);
  else judge_guess(what, false);
}

// --- what became of them -----------------------------------------------------------------------------

void FoundTraces::recorded(Branch& branch) {
  branch.candidate = recording_.candidate;
  branch.context = recording_.context;
  recording_ = {};
  for (const auto& call : branch.trace->calls()) {
    branch.tokens.push_back(call->token);
    branch.work.push_back(call->work);
  }
  branch.number = ++branches_;
  if (log_ != nullptr) log_->recorded(finder_.now(), branch.tokens.size());
}

void FoundTraces::replayed(const Branch& branch, std::size_t calls) {
  watched_ = nullptr;
  const bool whole = calls == branch.tokens.size();
  if (log_ != nullptr) log_->replayed(finder_.now(), calls, whole);
  finder_.add_replayed(std::span(branch.tokens).first(calls), std::span(branch.work).first(calls));
  if (whole && branch.candidate != 0) finder_.replayed(branch.candidate);
}

void FoundTraces::dropped(const Branch& branch) {
  if (asked_.doubtful == &branch) asked_.doubtful = nullptr;
  if (recording_.tail == &branch) recording_.tail = nullptr;
  if (watched_ == &branch) watched_ = nullptr;
}

}  // namespace refrain::runtime
