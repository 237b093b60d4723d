// What a thread of the ThreadedExecutor does that has found nothing to run: it looks again, naps, sleeps,
// and finds out when nobody will ever wake it. A worker does chores in this time.

#include <chrono>
#include <new>

#include "base/assert.hpp"
#include "exec/spin.hpp"
#include "exec/threaded_executor.hpp"
#include "profile/clock.hpp"
#include "refrain/error.hpp"

namespace refrain::exec {

/// One look for anything an idle thread can do; a gang's loop is worked off here.
Ready ThreadedExecutor::look(Slot& slot) {
  Ready ready = find(slot, nullptr);
  while (!ready && slot.dedicated < 0 && loops_.help()) ready = find(slot, nullptr);
  return ready;
}

/// A worker with no body on its stack, which is no sleeper. False: there is no chore.
bool ThreadedExecutor::run_chore(Slot& slot) {
  if (slot.dedicated >= 0 || !chores_.any()) return false;
  const std::shared_ptr<Chore> chore = chores_.take();
  if (!chore) return false;
  look_at_exits(slot);
  const std::uint64_t begin = profile::now_ns();
  chore->run();
  add(slot.chore_ns, profile::now_ns() - begin);
  add(slot.chores);
  return true;
}

/// A worker between two nodes.
void ThreadedExecutor::run_late_chores(Slot& slot) {
  if (slot.dedicated >= 0) return;
  put_next_back(slot);
  notify_waiters();  // one may have looked for it in vain
  while (chores_.late() && run_chore(slot)) {}
}

/// A worker that has found nothing to do naps, or does chores, while the launching thread is better left
/// alone.
void ThreadedExecutor::stay_away(Slot& slot, std::uint64_t now) {
  const bool decides = slot.index == 1;
  if (decides && !(solo_.due(now) && solo_.begin(now, executed()))) return;
  while (solo_.on() && !stop_.load(std::memory_order_relaxed)) {
    if (!run_chore(slot)) chores_.nap(std::chrono::nanoseconds(Solo::kNapNs));
    if (!decides) continue;
    const std::uint64_t then = profile::now_ns();
    if (solo_.due(then)) solo_.go_on(then, executed());  // a chore may be short
  }
}

/// Null: the executor stops.
Ready ThreadedExecutor::idle(Slot& slot) {
  flush(slot);
  const std::uint64_t begin = profile::now_ns();
  const std::uint64_t chores_then = slot.chore_ns.load(std::memory_order_relaxed);
  if (slot.dedicated < 0) stay_away(slot, begin);
  const int kind = slot.dedicated < 0 ? int(kWorker) : kFirstDedicated + slot.dedicated;
  Ready ready;
  while (!ready) {
    for (Spin spin(oversubscribed_, Spin::kSearch);
         !(ready = look(slot)) && (run_chore(slot) || spin.step());) {}
    if (ready) break;
    notifier_.prepare(slot.sleeper, kind);
    look_at_exits(slot);
    ready = look(slot);
    const bool stop = stop_.load(std::memory_order_seq_cst);
    // Only looked for: a chore takes long, and a sleeper who does one keeps a notification from the others.
    const bool chore = slot.dedicated < 0 && chores_.any();
    if (ready || stop || chore) {
      notifier_.cancel(slot.sleeper);
      if (stop && !ready) return nullptr;
    } else {
      add(slot.sleeps);
      notifier_.commit(slot.sleeper);
    }
  }
  const std::uint64_t chores = slot.chore_ns.load(std::memory_order_relaxed) - chores_then;
  add(slot.idle_ns, profile::now_ns() - begin - chores);
  return ready;
}

/// Nothing to run: spins, then sleeps. False: done() is true. True: `found` is there to be run.
bool ThreadedExecutor::wait_idle(Slot& slot, const Scope* within, const std::function<bool()>& done,
                                 Ready& found) {
  flush(slot);
  look_at_exits(slot);
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
    look_at_exits(slot);
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
