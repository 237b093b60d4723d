#pragma once
// The chores that nobody has begun, in the order in which they were posted, and whether they are late.
//
// All functions: any thread. A chore is seen by a thread that is about to sleep, or its poster sees that
// thread (exec/notifier.hpp): `post` makes the change, the caller then notifies. Cost: `late` is one relaxed
// load of a line that is written when somebody hurries and when the queue is empty again; `any` one load of a
// line that is written with each chore.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include "exec/chore.hpp"

namespace refrain::exec {

class ChoreQueue {
 public:
  void post(std::shared_ptr<Chore> chore);
  /// The oldest; null: there is none.
  std::shared_ptr<Chore> take();
  /// Those that are here are late, and so is what comes before the queue is empty.
  void hurry();
  /// Lets go of all.
  void drop();
  /// Sleeps for so long, or until there is one.
  void nap(std::chrono::nanoseconds most);

  // seq_cst: for the second look before sleep; partner: the notifier's load after `post`.
  [[nodiscard]] bool any() const { return size_.load(std::memory_order_seq_cst) != 0; }
  // relaxed: who sees it too late takes one node more before the chore.
  [[nodiscard]] bool late() const { return late_.load(std::memory_order_relaxed); }

 private:
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::shared_ptr<Chore>> chores_;
  std::atomic<std::size_t> size_{0};  ///< of chores_
  alignas(64) std::atomic<bool> late_{false};
};

}  // namespace refrain::exec
