#include "exec/chore_queue.hpp"

#include <utility>

namespace refrain::exec {

void ChoreQueue::post(std::shared_ptr<Chore> chore) {
  const std::lock_guard lock(mutex_);
  chores_.push_back(std::move(chore));
  // seq_cst: before the poster's look for sleepers; partner: Notifier::prepare.
  size_.fetch_add(1, std::memory_order_seq_cst);
  posted_.notify_one();
}

void ChoreQueue::nap(std::chrono::nanoseconds most) {
  std::unique_lock lock(mutex_);
  posted_.wait_for(lock, most, [this] { return !chores_.empty(); });
}

std::shared_ptr<Chore> ChoreQueue::take() {
  const std::lock_guard lock(mutex_);
  if (chores_.empty()) return nullptr;
  std::shared_ptr<Chore> oldest = std::move(chores_.front());
  chores_.pop_front();
  size_.fetch_sub(1, std::memory_order_relaxed);
  if (chores_.empty()) late_.store(false, std::memory_order_relaxed);
  return oldest;
}

void ChoreQueue::hurry() {
  const std::lock_guard lock(mutex_);
  late_.store(!chores_.empty(), std::memory_order_relaxed);
}

void ChoreQueue::drop() {
  while (take() != nullptr) {}  // each ends without the lock
}

}  // namespace refrain::exec
