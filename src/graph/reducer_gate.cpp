#include "graph/reducer_gate.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace refrain::exec {

void ReducerGate::enroll(Node& reducer) {
  const std::lock_guard lock(mutex_);
  entries_.push_back({reducer.seq, &reducer, std::max(1U, reducer.reduction)});
}

ReducerGate::Entry& ReducerGate::find(std::uint64_t seq) {
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
void ReducerGate::drop_folded() {
  ++folded_;
  while (oldest_ < entries_.size() && entries_[oldest_].state == State::folded) ++oldest_;
  if (2 * folded_ < entries_.size()) return;
  std::erase_if(entries_, [](const Entry& entry) { return entry.state == State::folded; });
  oldest_ = folded_ = 0;
}

bool ReducerGate::may_start(const Entry& entry) const {
  return held_ < capacity_ || &entry == &entries_[oldest_];
}

bool ReducerGate::admit(Node& reducer) {
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

Node* ReducerGate::folded(const Node& fold) {
  const std::lock_guard lock(mutex_);
  Entry& entry = find(fold.seq - fold.reduction);
  REFRAIN_ASSERT(entry.state == State::started, "a fold completes after its reducer has run");
  if (--entry.folds_left > 0) return nullptr;
  --held_;
  entry.state = State::folded;
  drop_folded();
  return start_ready();
}

Node* ReducerGate::start_ready() {
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

std::size_t ReducerGate::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

int ReducerGate::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

}  // namespace refrain::exec
