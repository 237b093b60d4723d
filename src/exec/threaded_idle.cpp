// How a thread of the ThreadedExecutor finds something to run, and what it does when there is nothing: it looks again,
// naps, sleeps, and finds out when nobody will ever wake it. A worker does background jobs in this time.

#include <chrono>
#include <new>

#include "base/assert.hpp"
#include "exec/notifier.hpp"
#include "exec/threaded_executor.hpp"
#include "profile/clock.hpp"
#include "refrain/error.hpp"

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

/// One look for anything an idle thread can do; a gang's loop is worked off here.
Ready ThreadedExecutor::look(Slot& slot) {
  Ready ready = find(slot, nullptr);
  while (!ready && slot.dedicated < 0 && loops_.help()) ready = find(slot, nullptr);
  return ready;
}

/// A worker with no body on its stack, which is no sleeper. False: there is no job.
bool ThreadedExecutor::run_background_job(Slot& slot) {
  if (slot.dedicated >= 0 || !background_.any()) return false;
  const std::shared_ptr<BackgroundJob> job = background_.take();
  if (!job) return false;
  look_at_proxies(slot);
  const std::uint64_t begin = profile::now_ns();
  job->run();
  add(slot.background_ns, profile::now_ns() - begin);
  add(slot.background_jobs);
  return true;
}

/// A worker between two nodes.
void ThreadedExecutor::run_late_jobs(Slot& slot) {
  if (slot.dedicated >= 0) return;
  put_next_back(slot);
  notify_waiters();  // one may have looked for it in vain
  while (background_.late() && run_background_job(slot)) {}
}

/// A worker that has found nothing to do naps, or does background jobs, while the launching thread is better left
/// alone.
void ThreadedExecutor::stay_away(Slot& slot, std::uint64_t now) {
  const bool decides = slot.index == 1;
  if (decides && !(single_thread_.due(now) && single_thread_.begin(now, executed()))) return;
  while (single_thread_.on() && !stop_.load(std::memory_order_relaxed)) {
    if (!run_background_job(slot))
      background_.nap(std::chrono::nanoseconds(SingleThreadMode::kNapNs));
    if (!decides) continue;
    const std::uint64_t then = profile::now_ns();
    if (single_thread_.due(then)) single_thread_.go_on(then, executed());  // a job may be short
  }
}

/// Null: the executor stops.
Ready ThreadedExecutor::idle(Slot& slot) {
  flush(slot);
  const std::uint64_t begin = profile::now_ns();
  const std::uint64_t background_then = slot.background_ns.load(std::memory_order_relaxed);
  if (slot.dedicated < 0) stay_away(slot, begin);
  const int kind = slot.dedicated < 0 ? int(kWorker) : kFirstDedicated + slot.dedicated;
  Ready ready;
  while (!ready) {
    for (Spin spin(oversubscribed_, Spin::kSearch);
         !(ready = look(slot)) && (run_background_job(slot) || spin.step());) {}
    if (ready) break;
    notifier_.prepare(slot.sleeper, kind);
    look_at_proxies(slot);
    ready = look(slot);
    const bool stop = stop_.load(std::memory_order_seq_cst);
    // Only looked for: a job takes long, and a sleeper who does one keeps a notification from the others.
    const bool job = slot.dedicated < 0 && background_.any();
    if (ready || stop || job) {
      notifier_.cancel(slot.sleeper);
      if (stop && !ready) return nullptr;
    } else {
      add(slot.sleeps);
      notifier_.commit(slot.sleeper);
    }
  }
  const std::uint64_t background =
      slot.background_ns.load(std::memory_order_relaxed) - background_then;
  add(slot.idle_ns, profile::now_ns() - begin - background);
  return ready;
}

/// Nothing to run: spins, then sleeps. False: done() is true. True: `found` is there to be run.
bool ThreadedExecutor::wait_idle(Slot& slot, const Scope* within, const std::function<bool()>& done,
                                 Ready& found) {
  flush(slot);
  look_at_proxies(slot);
  const bool alone = threads() == 1;
  const auto look_again = [&] {
    found = find(slot, within);
    while (!found && !within && loops_.help()) found = find(slot, within);
    return bool(found);
  };
  while (true) {
    for (Spin spin(oversubscribed_, Spin::kWait); !alone && spin.step();) {
      if (done()) return false;
      if (look_again()) return true;
    }
    notifier_.prepare(slot.sleeper, within != nullptr ? kWaiter : kRootWaiter);
    look_at_proxies(slot);
    const bool finished = done();
    if (finished || look_again()) {
      notifier_.cancel(slot.sleeper);
      return !finished;
    }
    add(slot.sleeps);
    if (notifier_.commit(slot.sleeper) == Wake::deadlock) throw Deadlock(deadlock_text_);
    if (done()) return false;
  }
}

/// Every thread sleeps. Names the waiter in the deepest scope: nobody below it is left who could go
/// on, while waiters above it may be waiting for its task, which the exception will end.
Sleeper* ThreadedExecutor::find_deadlocked() {
  Slot* deepest = nullptr;
  for (const auto& slot : slots_) {
    if (!slot->waits) continue;
    if (!deepest || slot->waits->scope->depth() > deepest->waits->scope->depth()) {
      deepest = slot.get();
    }
  }
  REFRAIN_ASSERT(deepest, "all threads sleep only while somebody waits");
  try {
    deadlock_text_ = describe_deadlock(*deepest->waits);
  } catch (const std::bad_alloc&) { deadlock_text_.clear(); }  // it is one all the same
  return &deepest->sleeper;
}

}  // namespace refrain::exec
