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
// Threads: enroll, set_folds and attach_fold are the scope owner's; admit and folded any thread's. One
// lock per gate. Memory: one entry per reducer in flight, allocated as their number grows. Finding one is a
// binary search while they are enrolled in the order of their numbers; those of replays, which are
// reserved beforehand, may not be when several replays are issued by turns.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/assert.hpp"
#include "base/sure_memory.hpp"
#include "graph/node.hpp"

namespace refrain::exec {

class ReducerGate {
 public:
  explicit ReducerGate(int capacity) : capacity_(capacity) {}

  /// Before `reducer` is published: it has `folds` folds (at least 1; 1 when this is not called).
  static void set_folds(Node& reducer, std::uint32_t folds) { reducer.reduction = folds; }
  /// Before `fold` is published: it folds what `reducer` accumulates.
  static void attach_fold(const NodeRef& reducer, Node& fold) {
    fold.reduction = static_cast<std::uint32_t>(fold.seq - reducer.seq);
  }

  /// Publication of a reducer.
  void enroll(Node& reducer);
  /// A reducer has become ready. True: it starts now. False: a later call of folded() returns it.
  bool admit(Node& reducer);
  /// A fold has completed. The reducers that may start now, linked through `next`; null if none.
  Node* folded(const Node& fold);

  /// Accumulators held now.
  [[nodiscard]] int held() const {
    const std::lock_guard lock(mutex_);
    return held_;
  }
  /// Entries kept: at most twice as many as reducers are enrolled and not folded.
  [[nodiscard]] std::size_t entries() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  enum class State : std::uint8_t { unready, ready, started, folded };
  struct Entry {
    std::uint64_t seq;
    Node* node;
    std::uint32_t folds_left;
    State state = State::unready;
  };

  Entry& find(std::uint64_t seq);
  void drop_folded();
  bool may_start(const Entry& entry) const;
  Node* start_ready();

  mutable std::mutex mutex_;
  std::vector<Entry, SureAllocator<Entry>>
      entries_;             ///< as enrolled; folded ones are dropped now and then
  std::size_t folded_ = 0;  ///< of them
  std::size_t oldest_ = 0;  ///< the first that is not folded
  int capacity_;
  int held_ = 0;
  int ready_ = 0;
};

inline void ReducerGate::enroll(Node& reducer) {
  const std::lock_guard lock(mutex_);
  entries_.push_back({reducer.seq, &reducer, std::max(1U, reducer.reduction)});
}

inline ReducerGate::Entry& ReducerGate::find(std::uint64_t seq) {
  const auto first = entries_.begin() + static_cast<std::ptrdiff_t>(oldest_);
  auto at = std::lower_bound(first, entries_.end(), seq,
                             [](const Entry& entry, std::uint64_t s) { return entry.seq < s; });
  if (at == entries_.end() || at->seq != seq) {
    at =
        std::find_if(first, entries_.end(), [seq](const Entry& entry) { return entry.seq == seq; });
  }
  REFRAIN_ASSERT(at != entries_.end() && at->seq == seq && at->state != State::folded,
                 "a reducer must be enrolled and unfolded");
  return *at;
}

// At most half of them are folded, also behind one that is not for long; so each is moved for one that goes.
inline void ReducerGate::drop_folded() {
  ++folded_;
  while (oldest_ < entries_.size() && entries_[oldest_].state == State::folded) ++oldest_;
  if (2 * folded_ < entries_.size()) return;
  std::erase_if(entries_, [](const Entry& entry) { return entry.state == State::folded; });
  oldest_ = folded_ = 0;
}

inline bool ReducerGate::may_start(const Entry& entry) const {
  return held_ < capacity_ || &entry == &entries_[oldest_];
}

inline bool ReducerGate::admit(Node& reducer) {
  const std::lock_guard lock(mutex_);
  Entry& entry = find(reducer.seq);
  // Slots are handed out whenever one becomes free, so while one is free nobody older waits for it.
  if (may_start(entry)) {
    entry.state = State::started;
    ++held_;
    return true;
  }
  entry.state = State::ready;
  ++ready_;
  return false;
}

inline Node* ReducerGate::folded(const Node& fold) {
  const std::lock_guard lock(mutex_);
  Entry& entry = find(fold.seq - fold.reduction);
  REFRAIN_ASSERT(entry.state == State::started, "a fold completes after its reducer has run");
  if (--entry.folds_left > 0) return nullptr;
  --held_;
  entry.state = State::folded;
  drop_folded();
  return start_ready();
}

inline Node* ReducerGate::start_ready() {
  Node* first = nullptr;
  Node** link = &first;
  for (auto entry = entries_.begin() + static_cast<std::ptrdiff_t>(oldest_);
       ready_ > 0 && entry != entries_.end(); ++entry) {
    if (entry->state != State::ready) continue;
    if (!may_start(*entry)) break;
    entry->state = State::started;
    --ready_;
    ++held_;
    entry->node->next = nullptr;
    *link = entry->node;
    link = &entry->node->next;
  }
  return first;
}

}  // namespace refrain::exec
