#pragma once
// Ready nodes behind a lock, for the cases that are not the hot one: nodes of nested scopes, nodes with
// a priority, nodes of dedicated processors. Higher priority first; equal ones in the order in which
// they became ready.
//
// Any thread may call anything. What a caller may rely on: a push is visible to size() before the push
// returns (seq_cst; the partner is Notifier::prepare of a thread that is about to sleep). The queue may
// be destroyed once every pushed node has been popped: a push touches nothing after it has let go of
// the lock.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/sure_memory.hpp"
#include "graph/node.hpp"

namespace refrain::exec {

class ReadyQueue {
 public:
  void push(Node& node) {
    const std::lock_guard lock(mutex_);
    if (node.priority == 0) {
      node.next = nullptr;
      (last_ ? last_->next : first_) = &node;
      last_ = &node;
    } else {
      heap_.push_back({node.priority, arrivals_++, &node});
      std::push_heap(heap_.begin(), heap_.end());
      if (node.priority > 0) urgent_.fetch_add(1, std::memory_order_seq_cst);
    }
    size_.fetch_add(1, std::memory_order_seq_cst);
  }

  /// The best node, or null.
  Node* pop() {
    if (size() == 0) return nullptr;
    const std::lock_guard lock(mutex_);
    if (!heap_.empty() && heap_.front().priority > 0) return pop_heap();
    if (first_) return pop_first();
    return heap_.empty() ? nullptr : pop_heap();
  }
  /// The best node of positive priority, or null.
  Node* pop_urgent() {
    if (urgent_.load(std::memory_order_relaxed) == 0) return nullptr;
    const std::lock_guard lock(mutex_);
    return !heap_.empty() && heap_.front().priority > 0 ? pop_heap() : nullptr;
  }
  /// Some node for which accepts(node), or null. Linear.
  template <class Accepts>
  Node* pop_if(Accepts accepts) {
    if (size() == 0) return nullptr;
    const std::lock_guard lock(mutex_);
    const auto in_heap = std::find_if(heap_.begin(), heap_.end(),
                                      [&](const Entry& entry) { return accepts(*entry.node); });
    if (in_heap != heap_.end()) {
      Node* node = in_heap->node;
      heap_.erase(in_heap);
      std::make_heap(heap_.begin(), heap_.end());
      return count_out(node);
    }
    Node* before = nullptr;
    for (Node* node = first_; node; before = node, node = node->next) {
      if (!accepts(*node)) continue;
      (before ? before->next : first_) = node->next;
      if (last_ == node) last_ = before;
      return count_out(node);
    }
    return nullptr;
  }

  [[nodiscard]] std::size_t size() const { return size_.load(std::memory_order_seq_cst); }

 private:
  struct Entry {
    std::int16_t priority;
    std::uint64_t arrival;
    Node* node;
    /// For the heap, whose front is the largest: higher priority, then earlier arrival.
    bool operator<(const Entry& other) const {
      return priority != other.priority ? priority < other.priority : arrival > other.arrival;
    }
  };

  Node* pop_heap() {
    std::pop_heap(heap_.begin(), heap_.end());
    Node* node = heap_.back().node;
    heap_.pop_back();
    return count_out(node);
  }
  Node* pop_first() {
    Node* node = first_;
    first_ = node->next;
    if (!first_) last_ = nullptr;
    return count_out(node);
  }
  Node* count_out(Node* node) {
    if (node->priority > 0) urgent_.fetch_sub(1, std::memory_order_relaxed);
    size_.fetch_sub(1, std::memory_order_relaxed);
    return node;
  }

  std::mutex mutex_;
  Node* first_ = nullptr;  ///< of priority 0, linked through Node::next
  Node* last_ = nullptr;
  std::vector<Entry, SureAllocator<Entry>> heap_;  ///< of other priorities
  std::uint64_t arrivals_ = 0;
  std::atomic<std::size_t> size_{0};
  std::atomic<std::size_t> urgent_{0};
};

}  // namespace refrain::exec
