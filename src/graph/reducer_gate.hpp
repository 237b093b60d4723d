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
// A reducer may have several folds (one per region argument, or per part of its points); its slot is free when the last has
// completed. The owner says how many before it publishes the reducer (set_folds), and for each fold
// before it publishes that one, which reducer it belongs to (attach_fold). A fold completes even when
// its reducer failed, so the slot always comes back.
//
// Threads: enroll, set_folds and attach_fold are the scope owner's; admit and folded any thread's. One lock per gate.
// Memory: two entries per reducer in flight, allocated as their number grows. Finding one is a binary search while they
// are enrolled in the order of their numbers; the numbers of replays are reserved beforehand, and may come in another
// order when several replays are issued by turns.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

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
    if (entries_.size() == entries_.capacity() || 2 * oldest_ > entries_.size()) forget_folded();
    entries_.push_back({reducer.seq, std::max(1U, reducer.reduction)});
  }
  /// A reducer has become ready. True: it starts now. False: a later call of folded() returns it.
  bool admit(Node& reducer) {
    const std::lock_guard lock(mutex_);
    const std::size_t at = find(reducer.seq);
    // Slots are handed out whenever one becomes free, so while one is free nobody older waits for it.
    if (!may_start(at)) {
      entries_[at].waiting = &reducer;
      waiting_ = std::min(waiting_, at);
      return false;
    }
    --free_;
    return true;
  }
  /// A fold has completed. The reducers that may start now, linked through `next`; null if none.
  Node* folded(const Node& fold) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[find(fold.seq - fold.reduction)];
    REFRAIN_ASSERT(entry.waiting == nullptr, "a fold completes after its reducer has run");
    if (--entry.folds_left > 0) return nullptr;
    ++free_;
    while (oldest_ < entries_.size() && entries_[oldest_].folds_left == 0) ++oldest_;
    Node* first = nullptr;
    Node** link = &first;
    for (waiting_ = std::max(waiting_, oldest_); may_start(waiting_); ++waiting_) {
      if (entries_[waiting_].waiting == nullptr) continue;
      --free_;
      *link = std::exchange(entries_[waiting_].waiting, nullptr);
      link = &(*link)->next;
      *link = nullptr;
    }
    return first;
  }

  /// Slots that are free now; -1 when the oldest reducer holds one beyond them.
  [[nodiscard]] int free() const {
    const std::lock_guard lock(mutex_);
    return free_;
  }
  /// Entries kept: at most twice as many as reducers have been in flight at once.
  [[nodiscard]] std::size_t entries() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  struct Entry {
    std::uint64_t seq;
    std::uint32_t folds_left;
    Node* waiting = nullptr;  ///< the reducer, when it is ready and waits for a slot
  };

  // An entry in the middle is not erased at once: the lock would be held for too long (the circuit on two threads took
  // 1.3 to 1.5 times as long). Half of the room is free then, so each entry that stays is moved for one that comes.
  void forget_folded() {
    std::erase_if(entries_, [](const Entry& entry) { return entry.folds_left == 0; });
    entries_.reserve(2 * entries_.size());
    oldest_ = waiting_ = 0;
  }
  [[nodiscard]] std::size_t find(std::uint64_t seq) const {
    const std::span unfolded = std::span(entries_).subspan(oldest_);
    auto at = std::ranges::lower_bound(unfolded, seq, {}, &Entry::seq);
    if (at == unfolded.end() || at->seq != seq) at = std::ranges::find(unfolded, seq, &Entry::seq);
    REFRAIN_ASSERT(at != unfolded.end() && at->folds_left > 0,
                   "a reducer is enrolled and not folded");
    return &*at - entries_.data();
  }
  [[nodiscard]] bool may_start(std::size_t at) const {
    return at < entries_.size() && (free_ > 0 || at == oldest_);
  }

  mutable std::mutex mutex_;
  std::vector<Entry, SureAllocator<Entry>> entries_;  ///< as enrolled, some of them folded
  std::size_t oldest_ = 0;                            ///< the first that is not folded
  std::size_t waiting_ = 0;                           ///< before it none waits for a slot
  int free_;                                          ///< slots
};

}  // namespace refrain::exec
