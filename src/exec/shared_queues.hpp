#pragma once
// The queues of ready nodes that threads share, and who is woken for what comes into them: all but the hot case, which is
// a thread's own deque (exec/threaded_executor.hpp says which node goes where). Any thread calls any function.
//
// A node of a nested scope is in the queue of that scope; the list of nested scopes is here. A push is visible to a thread
// that is about to sleep, or finds it among the sleepers (exec/notifier.hpp). Cost: a lock for each push, and for each
// node that is found; where there is none, a load.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "exec/notifier.hpp"
#include "graph/ready_queue.hpp"
#include "graph/scope.hpp"

namespace refrain::exec {

/// Kinds of sleepers: workers, threads that wait in a nested scope, the launching thread, which waits in the root scope,
/// and from kDedicated on the threads of dedicated processors, by the processor's id.
enum SleeperKind : int { kWorker, kWaiter, kRootWaiter, kDedicated };

class SharedQueues {
 public:
  /// `processors`: all ids of dedicated processors are below it.
  SharedQueues(int processors, Notifier& notifier)
      : notifier_(notifier), dedicated_(static_cast<std::size_t>(processors)) {}

  /// A nested scope begins, and ends.
  void open(Scope& scope) {
    const std::lock_guard lock(mutex_);
    nested_.push_back(&scope);
  }
  void close(Scope& scope) {
    const std::lock_guard lock(mutex_);
    std::erase(nested_, &scope);
  }

  void push(Node& node) {
    const bool nested = node.scope->parent() != nullptr;
    if (node.processor != 0) {
      const int processor = node.processor - 1;
      dedicated_.at(static_cast<std::size_t>(processor)).push(node);
      notifier_.notify_one(kDedicated + processor);
    } else if (nested) {
      node.scope->ready().push(node);
      nested_ready_.fetch_add(1, std::memory_order_seq_cst);
      notifier_.notify_one(kWorker);
    } else {
      prioritised_.push(node);
      call_somebody();
    }
    if (nested) notify_waiters();  // they run what belongs to their scopes
  }
  /// Something of the root scope is ready. Where all workers are busy the launching thread may take it, if it waits: what
  /// replays make ready nobody else tells it.
  void call_somebody() {
    if (!notifier_.notify_one(kWorker)) notifier_.notify_one(kRootWaiter);
  }
  /// Something that threads may wait for has happened.
  void notify_waiters() {
    notifier_.notify_all(kWaiter);
    notifier_.notify_all(kRootWaiter);
  }

  /// Of the root scope: with positive priority, and any.
  Node* pop_urgent() { return prioritised_.pop_urgent(); }
  Node* pop_prioritised() { return prioritised_.pop(); }
  /// Of `within` and the scopes below it; null: of any nested scope.
  Node* pop_nested(const Scope* within) {
    if (nested_ready_.load(std::memory_order_seq_cst) <= 0) return nullptr;
    const std::lock_guard lock(mutex_);
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
  /// Of a dedicated processor; for its thread alone, which may wait in `within`.
  Node* pop_dedicated(int processor, const Scope* within) {
    return dedicated_[static_cast<std::size_t>(processor)].pop_if([within](const Node& ready) {
      return within == nullptr || ready.scope->depth() >= within->depth();
    });
  }

 private:
  Notifier& notifier_;
  std::vector<ReadyQueue> dedicated_;  ///< by processor
  ReadyQueue prioritised_;
  std::mutex mutex_;
  std::vector<Scope*> nested_;  ///< every live nested scope
  /// Ready nodes in all nested scopes; raised after a push (partner: Notifier::prepare).
  alignas(64) std::atomic<std::int64_t> nested_ready_{0};
};

}  // namespace refrain::exec
