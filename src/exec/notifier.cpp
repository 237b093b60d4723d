#include "exec/notifier.hpp"

#include <algorithm>

namespace refrain::exec {

Notifier::Notifier(int threads, int kinds, std::function<Sleeper*()> all_asleep)
    : waiting_(kinds),
      threads_(threads),
      all_asleep_(std::move(all_asleep)),
      counts_(std::make_unique<std::atomic<std::uint32_t>[]>(kinds)) {}

void Notifier::prepare(Sleeper& sleeper, int kind) {
  const std::lock_guard lock(mutex_);
  sleeper.wake_ = Wake::none;
  sleeper.committed_ = false;
  sleeper.kind_ = kind;
  waiting_[kind].push_back(&sleeper);
  // seq_cst: before the caller's second look; partner: the load in any().
  counts_[kind].fetch_add(1, std::memory_order_seq_cst);
}

void Notifier::cancel(Sleeper& sleeper) {
  bool pass_on = false;
  {
    const std::lock_guard lock(mutex_);
    if (sleeper.wake_ == Wake::none) {
      auto& list = waiting_[sleeper.kind_];
      list.erase(std::find(list.begin(), list.end(), &sleeper));
      counts_[sleeper.kind_].fetch_sub(1, std::memory_order_relaxed);
    } else {
      pass_on = true;
    }
  }
  if (pass_on) notify_one(sleeper.kind_);
}

Wake Notifier::commit(Sleeper& sleeper) {
  std::unique_lock lock(mutex_);
  if (sleeper.wake_ == Wake::none) {
    sleeper.committed_ = true;
    ++asleep_;
    look_for_deadlock();
    sleeper.woken_.wait(lock, [&] { return sleeper.wake_ != Wake::none; });
  }
  return sleeper.wake_;
}

/// Under the lock.
void Notifier::look_for_deadlock() {
  if (asleep_ < threads_ || expected_ > 0) return;
  if (Sleeper* victim = all_asleep_()) wake(*victim, Wake::deadlock);
}

void Notifier::expect() {
  const std::lock_guard lock(mutex_);
  ++expected_;
}

void Notifier::arrived() {
  const std::lock_guard lock(mutex_);
  if (--expected_ > 0) return;
  look_for_deadlock();
  none_expected_.notify_all();  // under the lock: whoever waits may end the notifier
}

void Notifier::await_expected() {
  std::unique_lock lock(mutex_);
  none_expected_.wait(lock, [this] { return expected_ == 0; });
}

bool Notifier::notify(int kind, bool all) {
  const std::lock_guard lock(mutex_);
  bool found = false;
  while (!waiting_[kind].empty() && (all || !found)) {
    wake(*waiting_[kind].back(), Wake::notified);
    found = true;
  }
  return found;
}

void Notifier::wake(Sleeper& sleeper, Wake reason) {
  auto& list = waiting_[sleeper.kind_];
  list.erase(std::find(list.begin(), list.end(), &sleeper));
  counts_[sleeper.kind_].fetch_sub(1, std::memory_order_relaxed);
  sleeper.wake_ = reason;
  if (sleeper.committed_) --asleep_;
  sleeper.woken_.notify_one();
}

}  // namespace refrain::exec
