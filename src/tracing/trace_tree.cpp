#include "tracing/trace_tree.hpp"

#include <queue>
#include <ranges>

#include "refrain/error.hpp"
#include "report/listeners.hpp"
#include "trace/outcome.hpp"

namespace refrain::runtime {

// --- branch points -----------------------------------------------------------------------------------

Branch& BranchPoint::add(std::unique_ptr<Branch> branch) {
  Branch& added = *branch;
  decltype(branches_) place(1);  // both places, or none
  by_first_call_.emplace(hash(added.trace->calls().front()->key), &added);
  place.front() = std::move(branch);
  branches_.splice(branches_.end(), place);
  ++added_;
  added.home = this;
  added.at_home = std::prev(branches_.end());
  return added;
}

std::unique_ptr<Branch> BranchPoint::remove(Branch& branch) {
  const auto [first, last] = by_first_call_.equal_range(hash(branch.trace->calls().front()->key));
  by_first_call_.erase(
      std::find_if(first, last, [&](const auto& entry) { return entry.second == &branch; }));
  std::unique_ptr<Branch> removed = std::move(*branch.at_home);
  branches_.erase(branch.at_home);
  return removed;
}

// --- making ------------------------------------------------------------------------------------------

TraceTree::~TraceTree() {
  joined_.clear();
  // A branch was recorded after the one in which it begins. Left to each other, they would end one within the other.
  while (!all_.empty()) {
    Branch& last = *all_.back();
    all_.pop_back();
    last.home->remove(last);
  }
}

TraceRoot& TraceTree::root(RootName name) {
  if (last_root_ != nullptr && last_root_->first == name) [[likely]]
    return last_root_->second;
  // A program may name a trace anew each time; most have no recording any more.
  if (roots_.size() >= kRoots && std::has_single_bit(roots_.size()) && !roots_.contains(name)) {
    last_root_ = nullptr;
    std::erase_if(roots_, [](const auto& root) { return root.second.point.empty(); });
  }
  last_root_ = &*roots_.try_emplace(name).first;
  return last_root_->second;
}

TraceRoot* TraceTree::find_root(RootName name) {
  const auto at = roots_.find(name);
  return at != roots_.end() ? &at->second : nullptr;
}

Branch& TraceTree::add(BranchPoint& home, std::unique_ptr<Branch> branch) {
  note_use(*branch);
  if (branch->was_found()) ++found_;
  if (Listener* told = context_.runtime.listener(Events::recordings))
    told->recorded(as_recorded(*branch));
  ++compiled_.counters.recordings;
  Branch& added = home.add(std::move(branch));
  added.among_all = all_.insert(all_.end(), &added);
  return added;
}

Listener::Recorded TraceTree::as_recorded(const Branch& branch) const {
  std::string where = to_string(branch.begun_at);
  if (branch.calls_before > 0)
    where += ", from call " + std::to_string(branch.calls_before + 1) + " on";
  if (!context_.task_name.empty()) where += ", in " + context_.task_name;
  return {branch.trace_id,
          branch.ended_by,
          branch.trace->recording(),
          branch.trace->calls(),
          branch.name,
          where,
          context_.runtime.options().trace_optimize};
}

void TraceTree::print(std::ostream& out) const {
  for (const Branch* branch : all_)
    if (!branch->trace->recording().stale())
      runtime::print(out, as_recorded(*branch), context_.runtime.machine());
}

// --- dropping ----------------------------------------------------------------------------------------

/// No chain has the branch, nor one that begins in it.
void TraceTree::drop(Branch& branch) {
  std::vector<Branch*> all{&branch};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const auto& [step, point] : all[i]->points)
      for (const auto& later : point.branches()) all.push_back(later.get());
  for (Branch* each : all | std::views::reverse) {
    if (each->was_found()) --found_;
    dropped_(*each);
    std::erase_if(joined_, [&](const auto& joined) {
      if (!joined->has(*each)) return false;
      retire(std::move(joined->trace));
      return true;
    });
    all_.erase(each->among_all);
    retire(std::move(each->home->remove(*each)->trace));
  }
  free_retired();
}

void TraceTree::retire(std::unique_ptr<CompiledTrace> trace) {
  if (trace == nullptr) return;
  trace->retire();
  retired_.push_back(std::move(trace));
}

void TraceTree::free_retired() {
  while (!retired_.empty() && retired_.front()->replays().idle()) retired_.pop_front();
}

void TraceTree::drop_stale(BranchPoint& point) {
  Reason why;
  bool replayed = false;
  auto behind = point.branches().end();
  for (std::size_t left = point.count_to_look_at(); left > 0; --left) {
    Branch& branch = **std::prev(behind);
    if (!branch.trace->recording().stale()) {
      --behind;
      continue;
    }
    if (why.text.empty()) why = stale(branch.trace->recording());
    replayed |= branch.replayed;
    drop(branch);
  }
  if (why.text.empty()) return;
  point.lost = std::move(why);
  point.note_lost(replayed);
}

// Joined recordings go first, as their parts are there too. Then the leaves that were used longest ago. They are looked
// through once for a sixteenth of the limit, also where all have to stay.
void TraceTree::drop_surplus(const Branch* keep, const Replayable* chain) {
  const std::size_t most = context_.runtime.options().trace_memory;
  if (bytes() > std::max(most, surplus_)) {
    while (bytes() > most && drop_oldest_joined(chain)) {}
    if (bytes() > most) drop_leaves(most - most / 16, ~std::size_t{0}, keep, chain);
    surplus_ = bytes() > most ? bytes() + most / 16 : 0;
  }
  // Much of what was found is never of use: it goes before memory is short.
  if (found_ > kMostFound) drop_leaves(bytes(), kMostFound - kMostFound / 16, keep, chain);
  compiled_.counters.most_bytes = std::max<std::uint64_t>(compiled_.counters.most_bytes, bytes());
}

/// Until the recordings take no more bytes than this, and no more of them were found.
void TraceTree::drop_leaves(std::size_t most_bytes, std::size_t most_found, const Branch* keep,
                            const Replayable* chain) {
  const bool only_found = bytes() <= most_bytes;
  const auto may_be_dropped = [&](const Branch& branch) {
    return (!only_found || branch.was_found()) && branch.is_leaf() && &branch != keep &&
           (chain == nullptr || !chain->has(branch));
  };
  const auto used_later = [](const Branch* a, const Branch* b) {
    return a->last_used > b->last_used;
  };
  std::priority_queue<Branch*, std::vector<Branch*>, decltype(used_later)> leaves(used_later);
  for (Branch* branch : all_)
    if (may_be_dropped(*branch)) leaves.push(branch);
  while (!leaves.empty() && (bytes() > most_bytes || found_ > most_found)) {
    Branch& oldest = *leaves.top();
    leaves.pop();
    Branch* const parent = oldest.parent;
    // The program may ask why it is not there; and its use decides what else is recorded there.
    oldest.home->lost = {
        only_found ? "what was recorded was dropped: much else was found since it was of use"
                   : "what was recorded was dropped: the recordings of this context take more "
                     "than --refrain:trace-memory"};
    oldest.home->note_lost(oldest.replayed);
    drop(oldest);
    if (parent != nullptr && may_be_dropped(*parent)) leaves.push(parent);
  }
}

bool TraceTree::drop_oldest_joined(const Replayable* chain) {
  const auto oldest =
      std::ranges::find_if(joined_, [&](const auto& joined) { return joined.get() != chain; });
  if (oldest == joined_.end()) return false;
  retire(std::move((*oldest)->trace));
  joined_.erase(oldest);
  return true;
}

// --- joined recordings -------------------------------------------------------------------------------

Replayable* TraceTree::joined_from(const Branch& first, std::span<const BranchPrefix> repeated,
                                   const Replayable* chain) {
  Replayable* joined = nullptr;
  if (!repeated.empty() && repeated.front().branch == &first) joined = joined_of(repeated, chain);
  for (std::size_t i = joined_.size(); joined == nullptr && i-- > 0;)
    if (joined_[i]->prefixes.front().branch == &first) joined = joined_[i].get();
  if (joined == nullptr || joined->trace == nullptr || joined->entering.pause()) return nullptr;
  const trace::Recording& recording = joined->trace->recording();
  return !recording.stale() && recording.holds() ? joined : nullptr;
}

/// Made when the prefixes are seen to repeat for the first time.
Replayable* TraceTree::joined_of(std::span<const BranchPrefix> prefixes, const Replayable* chain) {
  const bool is_one_branch =
      prefixes.size() == 1 && prefixes[0].steps == prefixes[0].branch->trace->steps();
  // A launch that passes by would pass in the middle.
  if (is_one_branch ||
      std::ranges::any_of(prefixes.first(prefixes.size() - 1), &BranchPrefix::passed_by))
    return nullptr;
  const auto found = std::ranges::find_if(
      joined_, [&](const auto& joined) { return std::ranges::equal(joined->prefixes, prefixes); });
  if (found != joined_.end()) {
    std::rotate(found, found + 1, joined_.end());
  } else {
    if (joined_.size() >= kMostJoined && !drop_oldest_joined(chain)) return nullptr;
    joined_.push_back(join(prefixes));
    if (joined_.back()->trace != nullptr) ++compiled_.counters.rounds;
  }
  return joined_.back().get();
}

// Without a trace where there is nothing to do, or too much, or where it could not be repeated; nor of prefixes whose
// replays have instances of their own, which would need names that tell the prefixes apart.
std::unique_ptr<Replayable> TraceTree::join(std::span<const BranchPrefix> prefixes) {
  auto joined = std::make_unique<Replayable>();
  joined->prefixes.assign(prefixes.begin(), prefixes.end());
  std::vector<trace::Prefix> recordings;
  CompiledTrace::Calls calls;
  std::size_t operations = 0, more = 0;
  for (const BranchPrefix& prefix : prefixes) {
    const CompiledTrace& trace = *prefix.branch->trace;
    if (trace.recording().has_per_replay()) return joined;
    recordings.push_back({&trace.recording(), prefix.steps});
    calls.insert(calls.end(), trace.calls().begin(), trace.calls().begin() + prefix.steps);
    operations += trace.recording().steps[prefix.steps - 1].operations;
    more += trace.bytes();
  }
  if (operations == 0 || bytes() + more > context_.runtime.options().trace_memory) return joined;
  std::unique_ptr<trace::Recording> recording = trace::join(recordings);
  if (recording->idempotent)
    joined->trace = std::make_unique<CompiledTrace>(context_, std::move(recording),
                                                    std::move(calls), compiled_);
  return joined;
}

}  // namespace refrain::runtime
