#pragma once
// The recordings of one context, as trees.
//
// A tree has a *root*: a trace that the program marks, or the first call of one that was found. At a *branch point*
// branches begin, each with its own first call or with the same one and the data elsewhere. A *branch* is a recording
// from there to the end of the trace, or to a call that cannot be traced. A new branch begins where the program once did
// something else than a branch has.
//
// Branches that follow each other in the same order again and again are joined into one recording (trace/outcome.hpp). A
// *joined recording* is replayed in their place, and goes on for as long as the calls are those of its parts.
//
// The number of recordings and their bytes are bounded: the branches that were used longest ago go first.
//
// Owner: the context's thread.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "finder/history.hpp"
#include "finder/ledger.hpp"
#include "launch/context_core.hpp"
#include "replay/compiled_trace.hpp"
#include "replay/replay_reasons.hpp"
#include "replay/trace_execution.hpp"

namespace refrain::runtime {

using autotrace::Ledger;

struct Branch;

/// A place where branches begin.
class BranchPoint {
 public:
  using Key = std::span<const std::uint64_t>;

  [[nodiscard]] bool empty() const { return branches_.empty(); }
  /// In the order in which they were recorded.
  [[nodiscard]] const std::list<std::unique_ptr<Branch>>& branches() const { return branches_; }
  Branch& add(std::unique_ptr<Branch> branch);
  std::unique_ptr<Branch> remove(Branch& branch);
  [[nodiscard]] static std::uint64_t hash(Key key) {
    return hash_bytes(key.data(), key.size_bytes());
  }
  /// Calls visit(branch) for the branches whose first call has this key, and perhaps for others.
  template <class Visit>
  void for_each_beginning_with(Key key, Visit visit) const {
    const auto [first, last] = by_first_call_.equal_range(hash(key));
    for (auto entry = first; entry != last; ++entry) visit(*entry->second);
  }
  /// How many of the branches recorded last are to be looked at: a few, and now and then all. So each is looked at a few
  /// times, however many are recorded.
  std::size_t count_to_look_at() {
    const bool all = added_ >= branches_.size() / 2 + kFew;
    if (all) added_ = 0;
    return all ? branches_.size() : std::min(branches_.size(), kFew);
  }

  /// A branch was recorded, beside others with the same first call or not.
  void note_recorded(bool beside_others) {
    recording.enter(-std::exchange(unused_, beside_others ? kBeside : 1));
  }
  /// One was replayed.
  void note_replayed() {
    unused_ = 0;
    recording.enter(Ledger::kLearning);
  }
  /// What was recorded was lost; whether it had been replayed.
  void note_lost(bool replayed) {
    unused_ = 0;
    recording.enter(replayed ? Ledger::kLearning : -Ledger::kLearning - 1);
  }

  Reason lost;  ///< why the branch recorded last is not there; no text: it is, or there was none
  /// The account of recordings here. One replayed branch outweighs all unused ones.
  Ledger recording{Ledger::kLearning, Ledger::kLearning};
  /// The account of executions of this trace. Its credit lasts until joined recordings are found.
  Ledger replaying{Ledger::kLearning, Ledger::kMemory};

 private:
  static constexpr std::size_t kFew = 8;
  /// A branch beside others with the same first call counts more: each of these is asked for its precondition whenever
  /// the call comes. So few of them, of which none is replayed, are enough.
  static constexpr std::int64_t kBeside = Ledger::kLearning / kFew;
  std::list<std::unique_ptr<Branch>> branches_;
  std::unordered_multimap<std::uint64_t, Branch*> by_first_call_;
  std::int64_t unused_ = 0;  ///< what the branch recorded last counts, until it is replayed
  std::size_t added_ = 0;    ///< since all were looked at
};

/// The first calls of a branch.
struct BranchPrefix {
  Branch* branch = nullptr;
  trace::Index steps = 0;
  bool passed_by = false;  ///< a launch after it left the chain as it was (Selector::passes_by)
  friend bool operator==(const BranchPrefix&, const BranchPrefix&) = default;
};

/// A recording that is replayed as one, and that forms chains.
struct Replayable {
  std::unique_ptr<CompiledTrace> trace;
  std::vector<BranchPrefix> prefixes;  ///< of a branch: all of itself
  /// Of a joined recording, in tries: it was left before one replay of it came to its end.
  Ledger entering;

  [[nodiscard]] bool has(const Branch& branch) const {
    return std::ranges::find(prefixes, &branch, &BranchPrefix::branch) != prefixes.end();
  }
};

struct Branch : Replayable {
  BranchPoint* home = nullptr;  ///< where it begins, and its place there
  std::list<std::unique_ptr<Branch>>::iterator at_home;
  std::list<Branch*>::iterator among_all;
  Branch* parent = nullptr;                    ///< in which `home` is; null: `home` is a root
  std::map<trace::Index, BranchPoint> points;  ///< by the number of its calls made before
  std::uint64_t last_used = 0;
  bool replayed = false;
  CallSequence sequence;  ///< of its calls
  // Of a trace that was found.
  std::vector<autotrace::Token> tokens;  ///< of its calls
  std::vector<autotrace::Work> work;     ///< of each
  std::uint64_t candidate = 0;           ///< whose last call is its last; 0: none
  /// The calls with which the program has left it, each with its place: by hash.
  std::unordered_set<std::uint64_t> exits;
  std::uint64_t context = 0;  ///< in which it was recorded (finder/history.hpp)
  /// Gained by replays from its first call on: wherever that comes, and where it comes in the same context.
  Ledger anywhere{0, Ledger::kMemory}, in_context{0, Ledger::kMemory};
  // For listeners.
  std::uint64_t trace_id = 0;
  const char* ended_by = "";  ///< why it was recorded no further
  std::string name;           ///< of the trace, begun there
  Where begun_at;
  std::size_t calls_before = 0;  ///< calls of the trace that come before

  [[nodiscard]] bool was_found() const { return !tokens.empty(); }
  /// Whether no branch begins in it.
  [[nodiscard]] bool is_leaf() const {
    return std::ranges::all_of(points, [](const auto& point) { return point.second.empty(); });
  }
};

/// A trace's beginning. A marked one has the program's name, a found one the name of its first call.
struct TraceRoot {
  BranchPoint point;
  std::uint64_t id = 0;  ///< of a found one: token of the first call
  std::string name;
  Where where;
};

class TraceTree {
 public:
  /// `dropped(branch)` is called before a branch goes. `compiled` outlives this.
  TraceTree(ContextCore& context, CompiledTraces& compiled,
            std::function<void(const Branch&)> dropped)
      : context_(context), compiled_(compiled), dropped_(std::move(dropped)) {}
  ~TraceTree();
  TraceTree(const TraceTree&) = delete;

  /// Names a root: the Trace::id of a trace that is marked, or the hash of the first call of one that was found.
  struct RootName {
    bool found;
    std::uint64_t id;
    friend auto operator<=>(const RootName&, const RootName&) = default;
  };
  /// Made if it is not there.
  TraceRoot& root(RootName name);
  /// The same if it is there, or null.
  [[nodiscard]] TraceRoot* find_root(RootName name);
  [[nodiscard]] bool empty() const { return roots_.empty(); }

  /// A branch that was recorded now.
  Branch& add(BranchPoint& home, std::unique_ptr<Branch> branch);
  /// The branch is used now.
  void note_use(Branch& branch) { branch.last_used = ++clock_; }

  /// The branches that are stale go from a branch point.
  void drop_stale(BranchPoint& point);
  /// Branches go while there are too many. `keep`: where the program is; `chain`: what is replayed, or null.
  void drop_surplus(const Branch* keep, const Replayable* chain);
  /// Recordings that were dropped go when nothing of them is in flight.
  void free_retired();
  /// The trace has ended: what did not fit in may be looked at again.
  void look_again() { surplus_ = 0; }

  /// A joined recording that begins with the branch and may be replayed in its place, or null. `repeated`: what came
  /// twice, one after the other, just now. `chain`: as above.
  Replayable* joined_from(const Branch& first, std::span<const BranchPrefix> repeated,
                          const Replayable* chain);

  [[nodiscard]] std::size_t bytes() const { return compiled_.bytes; }
  /// Writes the recordings that are of use now, in graph calculus.
  void print(std::ostream& out) const;

 private:
  static constexpr std::size_t kRoots = 64, kMostJoined = 16, kMostFound = 512;

  [[nodiscard]] Listener::Recorded as_recorded(const Branch& branch) const;
  void drop(Branch& branch);
  void drop_leaves(std::size_t bytes, std::size_t found, const Branch* keep,
                   const Replayable* chain);
  bool drop_oldest_joined(const Replayable* chain);
  void retire(std::unique_ptr<CompiledTrace> trace);
  Replayable* joined_of(std::span<const BranchPrefix> prefixes, const Replayable* chain);
  std::unique_ptr<Replayable> join(std::span<const BranchPrefix> prefixes);

  ContextCore& context_;
  CompiledTraces& compiled_;
  const std::function<void(const Branch&)> dropped_;
  /// Dropped, the oldest first, and some may be in flight; the time at which those end decides nothing.
  std::deque<std::unique_ptr<CompiledTrace>> retired_;
  std::map<RootName, TraceRoot> roots_;  ///< few: a look takes less than a hash
  std::pair<const RootName, TraceRoot>* last_root_ = nullptr;  ///< that was asked for
  std::list<Branch*> all_;  ///< in the order in which they were recorded
  std::size_t found_ = 0;   ///< of them
  /// Prefixes that follow each other again and again, those joined last are last. Without a trace where they cannot be
  /// joined.
  std::vector<std::unique_ptr<Replayable>> joined_;
  std::size_t surplus_ = 0;  ///< bytes up to which none can be dropped now
  std::uint64_t clock_ = 0;
};

}  // namespace refrain::runtime
