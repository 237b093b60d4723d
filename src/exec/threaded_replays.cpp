// How threads run replays: exec/threaded_executor.hpp.

#include "exec/fiber.hpp"
#include "exec/threaded_executor.hpp"
#include "graph/replay_steps.hpp"
#include "profile/clock.hpp"

namespace refrain::exec {

/// Runs operations without a node, each the first that the one before has made ready, for a streak.
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
    const Failure* failure =
        plain ? run_operation<RunKind::plain>(*replay, index, node, execution)
              : run_operation<RunKind::per_replay>(*replay, index, node, execution);
    if (listened) tell_listener(slot.index, *replay, index, begin);
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

/// While operations without a node run on a thread: none of them opens a scope (it would have a node), nor waits, unless
/// it says how.
struct ThreadedExecutor::WithoutNode {
  explicit WithoutNode(Slot& thread) : slot(thread) {}
  ~WithoutNode() {
    set_body_local(local);
    slot.running = outer;
  }
  Slot& slot;
  const Node* const outer = std::exchange(slot.running, nullptr);
  void* const local = set_body_local(nullptr);
};

void ThreadedExecutor::drive(Slot& slot, LiveNode& first) {
  const WithoutNode among(slot);
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
  run_one(replay, index, replay.nodes[index], execution);
  if (listener_) tell_listener(slot.index, replay, index, begin);
}

bool ThreadedExecutor::runs_in_order() {
  if (threads() > 1) return single_thread_.on();
  const std::uint64_t executed = slots_[0]->executed.load(std::memory_order_relaxed);  // its own
  if (task_length_.due(executed)) task_length_.look(profile::now_ns(), executed);
  return task_length_.is_short();
}

std::uint32_t ThreadedExecutor::run_in_order(Replay& replay, std::uint32_t from, std::uint32_t to,
                                             bool to_the_end) {
  Slot& slot = slot_of(replay.extras->scope());
  const WithoutNode among(slot);
  const auto goes_on = [&] { return to_the_end || single_thread_.on(); };
  std::uint32_t index = from;
  for (;;) {
    if (listener_ == nullptr) index = run_plain_in_order(replay, index, to, goes_on);
    if (index == to || !goes_on()) break;
    run_one_in_order(slot, replay, index++);
  }
  add(slot.executed, index - from);
  return index;
}

/// A thread that is in a program of another executor within its own one runs things here as the owner.
ThreadedExecutor::ReplaySink ThreadedExecutor::sink_here(LiveNode& live) {
  const bool ours = static_cast<std::size_t>(this_slot->index) < slots_.size() &&
                    slots_[static_cast<std::size_t>(this_slot->index)].get() == this_slot;
  return {*this, ours ? *this_slot : slot_of(Replay::of(live).extras->scope())};
}

void ThreadedExecutor::look_at_proxies(Slot& slot) {
  proxies_.look([&](Node& node) { finish_here(slot, node); });
  flush(slot);  // the thread may be about to sleep
}

}  // namespace refrain::exec
