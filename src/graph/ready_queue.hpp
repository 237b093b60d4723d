#pragma once
// Ready: something that a thread can run now, in one word that fits a deque: a node, or an operation of a replay that has
// no node (graph/replay.hpp). The low bit tells which; both kinds are aligned.
//
// ReadyQueue: ready nodes behind a lock, for all but the hot case: nodes of nested scopes, with a priority, or of
// dedicated processors. Higher priority comes first, then nodes of newer scopes, since a scope is newer than those that
// wait for it; or the other way round. Of one scope and one priority they come in the order in which they became ready.
//
// Any thread calls any of its functions. A push is visible to size() before it returns (seq_cst; partner:
// Notifier::prepare of a thread that is about to sleep). The queue may be destroyed once every pushed node has been
// popped: a push touches nothing after it has released the lock. Cost: a lock; a node that finds no other of its scope
// and priority allocates, but for what is urgent.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "base/sure_memory.hpp"
#include "graph/node.hpp"
#include "graph/scope.hpp"

namespace refrain::exec {

struct LiveNode;

class Ready {
 public:
  Ready(std::nullptr_t = nullptr) {}
  /// What `word` has given.
  explicit Ready(std::uintptr_t word) : word_(word) {}
  Ready(Node* node) : word_(reinterpret_cast<std::uintptr_t>(node)) {}
  Ready(LiveNode* live) : word_(reinterpret_cast<std::uintptr_t>(live) | kLive) {}

  explicit operator bool() const { return word_ != 0; }
  [[nodiscard]] std::uintptr_t word() const { return word_; }
  [[nodiscard]] bool is_live() const { return (word_ & kLive) != 0; }
  [[nodiscard]] Node& node() const { return *reinterpret_cast<Node*>(word_); }
  [[nodiscard]] LiveNode& live() const { return *reinterpret_cast<LiveNode*>(word_ - kLive); }

 private:
  static constexpr std::uintptr_t kLive = 1;
  std::uintptr_t word_ = 0;
};

class ReadyQueue {
 public:
  /// What decides first.
  enum class Order : std::uint8_t { priority, scope };

  explicit ReadyQueue(Order order = Order::priority) : order_(order) {}

  void push(Node& node) {
    const std::lock_guard lock(mutex_);
    Fifo& fifo = fifo_of(node);
    node.next = nullptr;
    (fifo.first ? fifo.last->next : fifo.first) = &node;
    fifo.last = &node;
    if (node.priority > 0) urgent_.fetch_add(1, std::memory_order_seq_cst);
    size_.fetch_add(1, std::memory_order_seq_cst);
  }

  /// The best node, or null.
  Node* pop() {
    return pop_if([](const Node&) { return true; });
  }
  /// Whether there is a node of positive priority. Relaxed: who asks looks again.
  [[nodiscard]] bool any_urgent() const { return urgent_.load(std::memory_order_relaxed) != 0; }
  /// The best node of positive priority, or null.
  Node* pop_urgent() {
    if (!any_urgent()) return nullptr;
    return pop_if([](const Node& node) { return node.priority > 0; });
  }
  /// The best node for which accepts(node), or null. Nodes of one scope and one priority must be alike to it.
  template <class Accepts>
  Node* pop_if(Accepts accepts) {
    if (size() == 0) return nullptr;
    const std::lock_guard lock(mutex_);
    Node* node = most_urgent_.first;
    if (node != nullptr && accepts(*node)) {
      most_urgent_.first = node->next;
    } else {
      const auto found = std::ranges::find_if(
          fifos_, [&](const auto& entry) { return accepts(*entry.second.first); });
      if (found == fifos_.end()) return nullptr;
      node = found->second.first;
      found->second.first = node->next;
      if (node->next == nullptr) fifos_.erase(found);
    }
    if (node->priority > 0) urgent_.fetch_sub(1, std::memory_order_relaxed);
    size_.fetch_sub(1, std::memory_order_relaxed);
    return node;
  }

  [[nodiscard]] std::size_t size() const { return size_.load(std::memory_order_seq_cst); }

 private:
  /// Linked through Node::next; not empty.
  struct Fifo {
    Node* first = nullptr;
    Node* last = nullptr;
  };
  /// Priority and Scope::identity, in this order or the other.
  using Key = std::pair<std::int64_t, std::int64_t>;

  Fifo& fifo_of(const Node& node) {
    Key key(node.priority, static_cast<std::int64_t>(node.scope->identity()));
    if (order_ == Order::scope) std::swap(key.first, key.second);
    else if (node.priority == kUrgent) return most_urgent_;
    return fifos_[key];
  }

  const Order order_;
  std::mutex mutex_;
  Fifo
      most_urgent_;  ///< kUrgent, where priority decides: before all others, as each message takes this way
  std::map<Key, Fifo, std::greater<>, SureAllocator<std::pair<const Key, Fifo>>> fifos_;
  std::atomic<std::size_t> size_{0};
  std::atomic<std::size_t> urgent_{0};
};

}  // namespace refrain::exec
