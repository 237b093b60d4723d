#include "tracing/found_traces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <span>
#include <utility>

namespace refrain::runtime {

using autotrace::Candidates;
using autotrace::Token;
using autotrace::TraceCandidate;
using autotrace::Work;

namespace {

/// A branch is given up if after so many calls, and twice as many as its trace has, nothing begins that is known.
constexpr std::size_t kLongBranch = 256;
/// Exits of a branch that are remembered; with more they are learnt anew.
constexpr std::size_t kMostExits = 4096;
/// A branch that is too short to be worth entering is recorded with what follows. Not so if that is so many times as
/// long, when it does not matter, or if something longer goes on there, which would be lost.
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
  const auto end = branch.points.find(static_cast<trace::Index>(branch.tokens.size()));
  return end != branch.points.end() &&
         std::ranges::any_of(end->second.branches(), [&](const auto& later) {
           return later->tokens.size() > branch.tokens.size();
         });
}

}  // namespace

autotrace::FinderOptions finder_options(const Options& options) {
  autotrace::FinderOptions chosen;
  if (options.autotrace_max_length > 0) chosen.limits.most = options.autotrace_max_length;
  chosen.limits.least = std::min(options.autotrace_min_length, chosen.limits.most);
  chosen.history = options.autotrace_history;
  chosen.sample = options.autotrace_sample;
  return chosen;
}

FoundTraces::FoundTraces(Selector& selector)
    : selector_(selector),
      is_on_(options().tracing && options().autotrace),
      finder_(finder_options(options()), miners_of(selector.context().runtime.executor())) {
  ContextCore& context = selector.context();
  if (context.parent == nullptr) finder_.propose(context.runtime.warm_start());
  if (Listener* told = context.runtime.listener(Events::autotrace); told != nullptr && is_on_)
    log_ = std::make_unique<AutotraceLog>(*told, context.id);
}

// --- before the call's token is known ----------------------------------------------------------------

/// Replays what begins with the call: where the trace that is open has been left, or anywhere.
bool FoundTraces::select(Ticket& ticket) {
  if (!is_on_ || (selector_.tree().empty() && candidates().empty())) return false;
  ticket.hash = BranchPoint::hash(ticket.call.key);
  TraceRoot* const root = this->root(ticket);
  if (is_recording()) {
    if (!recording_.is_branch() || root == nullptr || recording_.tail.branch != nullptr)
      return false;
    Branch* const known = begins(root->point, ticket);
    if (known == nullptr) return false;
    if (selector_.session().work() < options().autotrace_min_length &&
        known->tokens.size() <= kTail * selector_.session().calls() && !goes_on_longer(*known)) {
      recording_.tail = {known, 0};
      return false;
    }
    selector_.finish_recording("a trace that was found begins there");
  }
  if (const Selector::Place& left = selector_.left(); is_open() && left.branch != nullptr) {
    const auto here = left.branch->points.find(left.calls);
    if (here != left.branch->points.end() && replay_at(here->second, ticket)) return true;
    ticket.doubtful_here = ticket.doubtful;
  }
  if (root == nullptr || begins(root->point, ticket) == nullptr) return false;
  if (is_open()) selector_.close();
  open(*root);
  return replay_at(root->point, ticket);
}

bool FoundTraces::replay_at(BranchPoint& point, Ticket& ticket) {
  return begins(point, ticket) != nullptr && selector_.replay_at(point, ticket);
}

/// The branch used last of those that begin with the call and are not left alone, or null. One that is left alone, the
/// one in its context before others, is compared from this call on.
Branch* FoundTraces::begins(const BranchPoint& point, Ticket& ticket) {
  Branch* best = nullptr;
  point.for_each_beginning_with(ticket.call.key, [&](Branch& branch) {
    if (!selector_.begins_with(branch, ticket.call)) return;
    if (may_enter(branch, ticket)) {
      if (best == nullptr || branch.last_used > best->last_used) best = &branch;
      return;
    }
    ticket.doubtful = true;
    const bool in_context = branch.context == ticket.context;
    if (doubtful_.branch != nullptr && (doubtful_.calls > 0 || !in_context)) return;
    doubtful_ = {&branch, 0};
    doubtful_in_context_ = in_context;
  });
  return best;
}

bool FoundTraces::may_enter(const Branch& branch, Ticket& ticket) {
  if (branch.anywhere.is_open()) return true;
  if (!ticket.context) ticket.context = finder_.context(0);
  return branch.context == ticket.context && branch.in_context.is_open();
}

std::string FoundTraces::why_analysed() const { return is_on_ ? why_ : not_looked_for(options()); }

std::string FoundTraces::why(const Ticket& ticket) {
  if (is_recording()) return "it was found to repeat, and recorded";
  if (ticket.doubtful)
    return "what begins with it was often left early: it is watched until it comes in full";
  if (ticket.same_call) return selector_.execution().why();
  const TraceRoot* const root = this->root(ticket);
  if (root != nullptr && !root->point.lost.text.empty()) return root->point.lost.text;
  return "no trace was open, and none was found";
}

void FoundTraces::open(TraceRoot& root) {
  selector_.open(false, &root, root.id, root.name, root.where);
}

void FoundTraces::leave() {
  if (is_recording()) abandon_recording();
  if (is_open()) selector_.close();
}

void FoundTraces::interrupt() {
  if (!is_on_) return;
  leave();
  finder_.add_unique();
  doubtful_ = {};
}

void FoundTraces::untraceable_call(const char* what) {
  if (!is_on_) return selector_.untraceable(what);
  selector_.settle();
  if (is_long_enough()) selector_.finish_recording(what);
  interrupt();
}

// --- when it is --------------------------------------------------------------------------------------

void FoundTraces::analysing(Ticket& ticket, Token token, Work work) {
  if (!is_on_) return;
  selector_.interrupt();
  note_analysed(token, work);
  const bool recorded = is_recording() ? goes_on_recording(ticket, token)
                                       : is_open() && selector_.left().branch != nullptr &&
                                             record_from_here(ticket, token);
  if (!recorded) {
    if (is_open()) selector_.close();
    if (!record_candidate(ticket, token)) take_turn();
  }
  if (selector_.context().runtime.listener(Events::decisions) != nullptr) why_ = why(ticket);
}

/// The finder hears of the call, and a branch that is left alone is compared with it.
void FoundTraces::note_analysed(Token token, Work work) {
  if (log_ != nullptr) log_->analysed(finder_.now());
  finder_.add(token, work);
  if (doubtful_.branch == nullptr) return;
  const bool same = doubtful_.goes_on(token);
  if (same && !doubtful_.is_whole()) return;
  Branch& branch = *doubtful_.branch;
  branch.anywhere.watched(same);
  if (doubtful_in_context_) branch.in_context.watched(same);
  doubtful_ = {};
}

/// Begins to record a candidate with the call.
bool FoundTraces::record_candidate(Ticket& ticket, Token token) {
  const Position at = candidates().begin(token);
  if (!at || !may_record(ticket, at)) return false;
  const std::uint64_t context = finder_.context(1);
  Ledger& guesses = Candidates::is_expected(at, context) ? guesses_in_context_ : guesses_;
  if (guesses.pause() || pause_candidate(at)) return false;
  TraceRoot& root = make_root(ticket, token);
  if (root.point.recording.pause()) return false;
  open(root);
  recording_ = {.at = at, .guesses = &guesses, .context = context};
  selector_.record_at(root.point, ticket.same_call);
  return true;
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

/// Whether the best candidate here is not to be recorded now: its recording would not pay, or its account pauses. A pause
/// counts as a try.
bool FoundTraces::pause_candidate(Position at) {
  TraceCandidate* const best = Candidates::best(at, finder_.now());
  return !best->may_pay(finder_.now()) || best->recording.pause();
}

TraceRoot& FoundTraces::make_root(const Ticket& ticket, Token token) {
  TraceRoot& root = selector_.tree().root({true, ticket.hash});
  if (root.id != 0) return root;
  const TracedCall& call = ticket.call;
  root.id = token;
  root.name = "found " + std::to_string(++roots_) + ", from ";
  root.name += call.request != nullptr ? call.request->task->name() : call.name;
  root.where = call.where;
  return root;
}

/// A branch that is left alone is compared instead, unless something else may begin with the call.
bool FoundTraces::may_record(const Ticket& ticket, Position at) const {
  return ticket.may_record &&
         (!ticket.doubtful || Candidates::best(at, finder_.now())->recordings == 0);
}

/// Whether the program has left what was found here with this call before.
bool FoundTraces::left_again(Token token) {
  const Selector::Place& left = selector_.left();
  auto& exits = left.branch->exits;
  if (exits.size() >= kMostExits) exits.clear();
  const std::uint64_t place[] = {left.calls, token};
  return !exits.insert(hash_bytes(place, sizeof place)).second;
}

/// Where the trace that is open was left: another candidate may go on there. And where the program leaves it again as
/// it did before, a branch is recorded, up to where something begins that is known; a short one together with that.
bool FoundTraces::record_from_here(Ticket& ticket, Token token) {
  const Selector::Place left = selector_.left();
  // Where in the candidates the trace has got to, with this call.
  FoundRecording what{.at = finder_.position(left.branch->calls_before + left.calls + 1)};
  if (what.at && !pause_candidate(what.at)) {
    if (!may_record(ticket, what.at)) return false;
    what.guesses = &guesses_;
  } else {
    what.at = {};
    // A doubtful branch elsewhere says nothing against a branch here; a doubtful one of this place is there already.
    if (!left_again(token) || !ticket.may_record || ticket.doubtful_here) return false;
  }
  BranchPoint& point = left.branch->points[left.calls];
  if (point.recording.pause()) return false;
  if (what.is_branch()) {
    const std::size_t most = options().autotrace_max_length;
    what.calls_left = most > 0 ? most : kLongBranch + 2 * left.branch->tokens.size();
  }
  what.context = finder_.context(1);
  recording_ = what;
  selector_.record_at(point, ticket.same_call);
  return true;
}

/// Whether the call is one of what is recorded.
bool FoundTraces::goes_on_recording(Ticket& ticket, Token token) {
  FoundRecording& what = recording_;
  if (what.is_branch()) {
    if (what.tail.branch != nullptr && !what.tail.goes_on(token)) what.tail = {};
    if (--what.calls_left > 0) return true;
  } else {
    const Position before = std::exchange(what.at, Candidates::next(what.at, token));
    if (what.at) return true;
    // A beginning is of use, too.
    if (is_long_enough()) {
      what.guesses->enter(-1);
      if (selector_.finish_recording("what was found went on otherwise"))
        finder_.recorded(Candidates::best(before, finder_.now())->repeat.identity, false);
    }
  }
  if (is_recording()) abandon_recording();
  // Nobody has looked whether something begins here that has been recorded.
  const TraceRoot* const root = this->root(ticket);
  ticket.may_record = root == nullptr || root->point.empty();
  return false;
}

/// A candidate ends where the best one of those that went on so does; a branch, with what it is to end with.
void FoundTraces::recorded_call() {
  const FoundRecording what = recording_;
  if (what.is_branch()) {
    if (what.tail.branch == nullptr || !what.tail.is_whole()) return;
    selector_.finish_recording("a trace that was found ended there");
    return selector_.close();
  }
  const TraceCandidate* best = Candidates::best(what.at, finder_.now());
  if (Candidates::ending(what.at) != best) return;
  const std::uint64_t candidate = best->repeat.identity;
  const bool is_kept = selector_.finish_recording("what was found ended there");
  what.guesses->enter(is_kept ? 1 : -1);
  if (is_kept) {
    selector_.left().branch->candidate = candidate;
    finder_.recorded(candidate, true);
  }
  selector_.close();
}

/// What is recorded may be kept, though it does not end where it should.
bool FoundTraces::is_long_enough() const {
  return is_recording() &&
         (recording_.is_branch() || selector_.session().work() >= options().autotrace_min_length);
}

void FoundTraces::abandon_recording() {
  if (log_ != nullptr) log_->write("abandoned", finder_.now(), selector_.session().calls());
  BranchPoint& point = *selector_.abandon_recording("what was found did not come to its end");
  // That a guess was wrong says nothing against recording what does come.
  if (recording_.is_branch()) point.note_lost(false);
  else recording_.guesses->enter(-1);
  recording_ = {};
}

// --- what became of them -----------------------------------------------------------------------------

void FoundTraces::recorded(Branch& branch) {
  branch.context = recording_.context;
  recording_ = {};
  for (const auto& call : branch.trace->calls()) {
    branch.tokens.push_back(call->token);
    branch.work.push_back(call->work);
  }
  if (log_ != nullptr) log_->write("recorded", finder_.now(), branch.tokens.size());
}

void FoundTraces::replayed(const Branch& branch, std::size_t calls) {
  doubtful_ = {};
  const bool whole = calls == branch.tokens.size();
  if (log_ != nullptr) log_->replayed(finder_.now(), calls, whole);
  finder_.add_replayed(std::span(branch.tokens).first(calls), std::span(branch.work).first(calls));
  if (whole && branch.candidate != 0) finder_.replayed(branch.candidate);
}

void FoundTraces::dropped(const Branch& branch) {
  if (recording_.tail.branch == &branch) recording_.tail = {};
  if (doubtful_.branch == &branch) doubtful_ = {};
}

// --- the log ------------------------------------------------------------------------------------------

void AutotraceLog::write(const std::string& fields) {
  told_.autotraced(fmt::format("{{\"context\":{},\"event\":{}}}\n", context_, fields));
}

void AutotraceLog::write(const char* event, std::uint64_t at, std::uint64_t calls) {
  write(fmt::format(R"("{}","at":{},"calls":{})", event, at, calls));
}

void AutotraceLog::mined(std::uint64_t at, std::uint64_t calls, std::uint64_t new_candidates) {
  write(fmt::format(R"("mined","at":{},"calls":{},"new":{})", at, calls, new_candidates));
}

void AutotraceLog::extend(std::uint64_t at, std::uint64_t calls, bool are_replayed) {
  if (stretch_.is_replayed != are_replayed || stretch_.end != at) {
    flush();
    stretch_.begin = at;
    stretch_.is_replayed = are_replayed;
  }
  stretch_.end = at + calls;
}

// Where there is no memory for a line, the log goes without it. The destructor calls this.
void AutotraceLog::flush() try {
  const Stretch done = std::exchange(stretch_, {});
  if (done.begin == done.end) return;
  const char* const event = done.is_replayed ? "replayed" : "analysed";
  std::string line = fmt::format(R"("{}","from":{},"to":{})", event, done.begin, done.end);
  if (done.is_replayed) line += fmt::format(R"(,"whole":{},"left":{})", done.whole, done.left);
  write(line);
} catch (const std::bad_alloc&) {}

}  // namespace refrain::runtime
