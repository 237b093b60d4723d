#pragma once
// Bounds the accumulators that are alive in a scope: a reducing task holds one from its start until it
// has been folded into the region.
//
// Rules. At most `capacity` reducers hold an accumulator, and among the reducers that are ready, the
// one enrolled first starts first: launch order, in which predecessors come first. The oldest reducer
// that has not been folded may start even when all slots are taken: the folds of younger ones may have
// to wait for its own, so making it wait could last for ever. It depends on older operations only, and
// all older reducers are folded, so it does become ready. Hence never more than capacity + 1
// accumulators, and never a deadlock.
//
// A reducer may have several folds (one per region argument); its slot is free when the last has
// completed. The owner says how many before it publishes the reducer (set_folds), and for each fold
// before it publishes that one, which reducer it belongs to (attach_fold). A fold completes even when
// its reducer failed, so the slot always comes back.
//
// Threads: enroll, set_folds and attach_fold are the scope owner's; admit and folded any thread's. One lock per gate.
// Memory: one entry per reducer in flight, allocated as their number grows. Finding one is a binary search while they
// are enrolled in the order of their numbers; the numbers of replays are reserved beforehand, and may come in another
// order when several replays are issued by turns.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

#include "base/assert.hpp"
#include "base/sure_memory.hpp"
#include "graph/node.hpp"

namespace refrain::exec {

class ReducerGate {
 public:
  explicit ReducerGate(int capacity) : free_(capacity) {}

  /// Before `reducer` is published: it has `folds` folds (at least 1; 1 when this is not called).
  static void set_folds(Node& reducer, std::uint32_t folds) { reducer.reduction = folds; }
  /// Before `fold` is published: it folds what `reducer` accumulates.
  static void attach_fold(const NodeRef& reducer, Node& fold) {
    fold.reduction = static_cast<std::uint32_t>(fold.seq - reducer.seq);
  }

  /// Publication of a reducer.
  void enroll(Node& reducer) {
    const std::lock_guard lock(mutex_);
    entries_.push_back({reducer.seq, &reducer, std::max(1U, reducer.reduction)});
  }
  /// A reducer has become ready. True: it starts now. False: a later call of folded() returns it.
  bool admit(Node& reducer) {
    const std::lock_guard lock(mutex_);
    const auto entry = find(reducer.seq);
    // Slots are handed out whenever one becomes free, so while one is free nobody older waits for it.
    if (may_start(*entry)) return start(*entry);
    entry->state = State::ready;
    ++ready_;
    return false;
  }
  /// A fold has completed. The reducers that may start now, linked through `next`; null if none.
  Node* folded(const Node& fold) {
    const std::lock_guard lock(mutex_);
    const auto entry = find(fold.seq - fold.reduction);
    REFRAIN_ASSERT(entry->state == State::started, "a fold completes after its reducer has run");
    if (--entry->folds_left > 0) return nullptr;
    ++free_;
    entries_.erase(entry);
    return start_ready();
  }

  /// Slots that are free now; -1 when the oldest reducer holds one beyond them.
  [[nodiscard]] int free() const {
    const std::lock_guard lock(mutex_);
    return free_;
  }
  /// Reducers that are enrolled and not folded.
  [[nodiscard]] std::size_t entries() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  enum class State : std::uint8_t { unready, ready, started };
  struct Entry {
    std::uint64_t seq;
    Node* node;
    std::uint32_t folds_left;
    State state = State::unready;
  };
  using Entries = std::deque<Entry, SureAllocator<Entry>>;

  Entries::iterator find(std::uint64_t seq) {
    auto at = std::ranges::lower_bound(entries_, seq, {}, &Entry::seq);
    if (at == entries_.end() || at->seq != seq) at = std::ranges::find(entries_, seq, &Entry::seq);
    REFRAIN_ASSERT(at != entries_.end(), "a reducer must be enrolled and unfolded");
    return at;
  }
  [[nodiscard]] bool may_start(const Entry& entry) const {
    return free_ > 0 || &entry == &entries_.front();
  }
  bool start(Entry& entry) {
    entry.state = State::started;
    --free_;
    return true;
  }
  Node* start_ready() {
    Node* first = nullptr;
    Node** link = &first;
    for (auto entry = entries_.begin(); ready_ > 0 && entry != entries_.end(); ++entry) {
      if (entry->state != State::ready) continue;
      if (!may_start(*entry)) break;
      start(*entry);
      --ready_;
      entry->node->next = nullptr;
      *link = entry->node;
      link = &entry->node->next;
    }
    return first;
  }

  mutable std::mutex mutex_;
  Entries entries_;  ///< as enrolled; an entry goes when it is folded, mostly near the front
  int free_;         ///< slots
  int ready_ = 0;    ///< reducers that wait for one
};

}  // namespace refrain::exec
