// How threads run replays: exec/threaded_executor.hpp.

#include "exec/body_local.hpp"
#include "exec/threaded_executor.hpp"
#include "graph/replay_steps.hpp"
#include "profile/clock.hpp"

namespace refrain::exec {

struct ThreadedExecutor::ReplaySink {
  ThreadedExecutor& executor;
  Slot& slot;

  [[nodiscard]] bool keeps() const { return executor.keeps_; }
  void ready(LiveNode& live) { executor.push(slot, &live); }
  void ready(Node& node) { executor.put_in_queue(slot, node); }
  void granted(Node&) { executor.notify_waiters(); }
  [[nodiscard]] bool owns(const Node& node) const { return node.scope->owner() == &slot; }
  void finish(Node& node) { executor.finish_here(slot, node); }
  void ended() { executor.notify_waiters(); }
  void woken() { executor.notify_waiters(); }
};

/// Runs light operations, each the first that the one before has made ready, for a streak.
template <bool listened>
void ThreadedExecutor::drive_streak(Slot& slot, LiveNode& first) {
  ReplaySink sink{*this, slot};
  Execution execution{*this, slot.processor};
  Replay* replay = &Replay::of(first);
  std::uint32_t index = first.index;
  // How many operations of the replay are known to be issued. A successor in the same replay may go by
  // that: until it is done, the slot is used for nothing else.
  std::uint32_t issued = 0;
  int streak = 0;
  do {
    const TemplateNode& node = replay->nodes[index];
    LiveNode& live = replay->live()[index];
    const std::uint64_t begin = listened ? profile::now_ns() : 0;
    const bool plain = node.flags == 0;
    const Failure* failure = plain ? run_plain(*replay, live, index, node, execution)
                                   : run_live(*replay, live, index, node, execution);
    if (listened) tell_listener(slot, *replay, index, begin);
    if (plain && failure == nullptr) [[likely]] {
      index = complete_plain(*replay, live, node, issued, sink);
    } else if (LiveNode* next = complete_any(*replay, live, node, failure, sink)) {
      replay = &Replay::of(*next);
      index = next->index;
      issued = 0;
      execution.failure = nullptr;
    } else {
      index = kNoNode;
    }
  } while (++streak < kStreak && index != kNoNode);
  add(slot.executed, static_cast<std::uint64_t>(streak));
  if (index == kNoNode) return;
  LiveNode* const next = replay->live() + index;
  if (slot.next) return push(slot, next);
  slot.next = next;
  slot.streak = kStreak;
}

/// While light operations run on a thread: nobody opens a scope from there, the operation would be a heavy one;
/// nor waits, unless it says how.
struct ThreadedExecutor::AmongLight {
  explicit AmongLight(Slot& thread) : slot(thread) {}
  ~AmongLight() {
    set_body_local(local);
    slot.running = outer;
  }
  Slot& slot;
  const Node* const outer = std::exchange(slot.running, nullptr);
  void* const local = set_body_local(nullptr);
};

void ThreadedExecutor::drive(Slot& slot, LiveNode& first) {
  const AmongLight among(slot);
  if (listener_) [[unlikely]] {
    drive_streak<true>(slot, first);
  } else {
    drive_streak<false>(slot, first);
  }
}

[[gnu::noinline]] void ThreadedExecutor::run_one_in_order(Slot& slot, Replay& replay,
                                                          std::uint32_t index) {
  Execution execution{*this, slot.processor};
  const std::uint64_t begin = listener_ ? profile::now_ns() : 0;
  run_next(replay, index, replay.nodes[index], execution);
  if (listener_) tell_listener(slot, replay, index, begin);
}

bool ThreadedExecutor::runs_in_order() {
  if (threads() > 1) return solo_.on();
  const std::uint64_t executed = slots_[0]->executed.load(std::memory_order_relaxed);  // its own
  if (pace_.due(executed)) pace_.look(profile::now_ns(), executed);
  return pace_.is_short();
}

std::uint32_t ThreadedExecutor::run_in_order(Replay& replay, std::uint32_t from, std::uint32_t to,
                                             bool to_the_end) {
  Slot& slot = slot_of(replay.aside->scope());
  const AmongLight among(slot);
  const auto goes_on = [&] { return to_the_end || solo_.on(); };
  std::uint32_t index = from;
  for (;;) {
    if (listener_ == nullptr) index = run_alike(replay, index, to, goes_on);
    if (index == to || !goes_on()) break;
    run_one_in_order(slot, replay, index++);
  }
  add(slot.executed, index - from);
  return index;
}

void ThreadedExecutor::complete_in_order(Replay& replay, std::uint32_t count) {
  ReplaySink sink{*this, slot_of(replay.aside->scope())};
  complete_first(replay, count, sink);
}

void ThreadedExecutor::tell_listener(Slot& slot, const Replay& replay, std::uint32_t index,
                                     std::uint64_t begin_ns) {
  const Template::Operation& operation = replay.aside->recorded().operation(index);
  listener_->replayed(operation.info, operation.kind, replay.base + index, slot.index, begin_ns,
                      profile::now_ns());
}

void ThreadedExecutor::release_replay(Replay& replay, const Issued& issued) {
  ReplaySink sink{*this, slot_of(replay.aside->scope())};
  release(replay, issued, sink);
}

/// The slot of this thread, which runs what belongs to `live`. A thread that is in a program of another executor
/// within its own one runs things here as the owner.
ThreadedExecutor::Slot& ThreadedExecutor::here(LiveNode& live) {
  const bool ours = static_cast<std::size_t>(this_slot->index) < slots_.size() &&
                    slots_[static_cast<std::size_t>(this_slot->index)].get() == this_slot;
  return ours ? *this_slot : slot_of(Replay::of(live).aside->scope());
}

void ThreadedExecutor::let_go(LiveNode& live) {
  ReplaySink sink{*this, here(live)};
  lower_behind(Replay::of(live), live, sink);
}

void ThreadedExecutor::complete_heavy(LiveNode& live, const Failure* failure) {
  ReplaySink sink{*this, here(live)};
  complete_apart(live, failure, sink);
}

void ThreadedExecutor::open_exit(Replay& replay, std::uint32_t index) {
  if (Node* done = exits_.open(replay, index)) finish_here(slot_of(replay.aside->scope()), *done);
}

void ThreadedExecutor::close_exits(Replay& replay) {
  Slot& slot = slot_of(replay.aside->scope());
  exits_.close(replay, [&](Node& node) { finish_here(slot, node); });
}

void ThreadedExecutor::look_at_exits(Slot& slot) {
  exits_.look([&](Node& node) { finish_here(slot, node); });
  flush(slot);  // the thread may be about to sleep
}

}  // namespace refrain::exec
