#pragma once
// The queues of ready nodes that threads share, and who is woken for what comes into them: all but the hot case, which is
// a thread's own deque (exec/threaded_executor.cpp says which node goes where). Any thread calls any function.
//
// A push is visible to a thread that is about to sleep, or finds it among the sleepers (exec/notifier.hpp). Cost: a
// lock for each push, and for each node that is found; where there is none, a load.

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

  void push(Node& node) {
    const bool nested = node.scope->parent() != nullptr;
    if (node.processor != 0) {
      const int processor = node.processor - 1;
      dedicated_.at(static_cast<std::size_t>(processor)).push(node);
      notifier_.notify_one(kDedicated + processor);
    } else if (nested) {
      nested_.push(node);
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

  [[nodiscard]] bool any_urgent() const { return prioritised_.any_urgent(); }
  /// Of the root scope: with positive priority, and any.
  Node* pop_urgent() { return prioritised_.pop_urgent(); }
  Node* pop_prioritised() { return prioritised_.pop(); }
  /// Of `within` and the scopes below it; null: of any nested scope.
  Node* pop_nested(const Scope* within) {
    return nested_.pop_if([within](const Node& ready) {
      return within == nullptr || ready.scope->is_within(*within);
    });
  }
  /// Of a dedicated processor; for its thread alone, which may wait in `within`.
  Node* pop_dedicated(int processor, const Scope* within) {
    return dedicated_[static_cast<std::size_t>(processor)].pop_if([within](const Node& ready) {
      return within == nullptr || ready.scope->depth() >= within->depth();
    });
  }

 private:
  Notifier& notifier_;
  std::vector<ReadyQueue> dedicated_;                        ///< by processor
  alignas(64) ReadyQueue prioritised_;                       ///< of the root scope
  alignas(64) ReadyQueue nested_{ReadyQueue::Order::scope};  ///< of all nested scopes
};

}  // namespace refrain::exec
