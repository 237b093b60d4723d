// Where a thread of the ThreadedExecutor finds ready nodes.

#include "exec/threaded_executor.hpp"

namespace refrain::exec {

Ready ThreadedExecutor::find(Slot& slot, const Scope* within) {
  if (slot.dedicated >= 0) return find_for_dedicated(slot, within);
  if (within) return find_nested(within);
  if (Node* node = prioritised_.pop_urgent()) return node;
  if (const Ready ready = take_own(slot)) return ready;
  if (Node* node = find_nested(nullptr)) return node;
  if (const Ready ready = steal(slot)) return ready;
  return prioritised_.pop();
}

Ready ThreadedExecutor::take_own(Slot& slot) {
  if (!options_.oldest_first) return Ready::of(slot.deque.take());
  while (!slot.deque.looks_empty())
    if (const Ready oldest = Ready::of(slot.deque.steal())) return oldest;
  return nullptr;
}

Node* ThreadedExecutor::find_nested(const Scope* within) {
  if (nested_ready_.load(std::memory_order_seq_cst) <= 0) return nullptr;
  const std::lock_guard lock(nested_mutex_);
  // The newest scopes first: they are the deepest, and their parents wait for them.
  for (auto at = nested_.rbegin(); at != nested_.rend(); ++at) {
    if (within && !(*at)->is_within(*within)) continue;
    if (Node* node = (*at)->ready().pop()) {
      nested_ready_.fetch_sub(1, std::memory_order_relaxed);
      return node;
    }
  }
  return nullptr;
}

Node* ThreadedExecutor::find_for_dedicated(Slot& slot, const Scope* within) {
  if (!within) return dedicated_[slot.dedicated]->pop();
  Node* node = dedicated_[slot.dedicated]->pop_if(
      [&](const Node& ready) { return ready.scope->depth() >= within->depth(); });
  return node ? node : find_nested(within);
}

Ready ThreadedExecutor::steal(Slot& slot) {
  const int all = threads();
  if (all == 1) return nullptr;
  slot.random ^= slot.random << 13;
  slot.random ^= slot.random >> 7;
  slot.random ^= slot.random << 17;
  const int start = static_cast<int>(slot.random % static_cast<std::uint64_t>(all));
  for (int i = 0; i < all; ++i) {
    Slot& victim = *slots_[(start + i) % all];
    if (&victim == &slot) continue;
    while (!victim.deque.looks_empty()) {
      if (const Ready ready = Ready::of(victim.deque.steal())) {
        add(slot.stolen);
        return ready;
      }
    }
  }
  return nullptr;
}

}  // namespace refrain::exec
