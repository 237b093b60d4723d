#pragma once
// What happens to a replay when an operation is issued, becomes ready, runs and completes: the part that
// the threaded and the seeded executor share (as graph/completion.hpp for nodes; graph/replay.hpp has the
// protocol). Each calls it with a sink of its own, which has, beside what graph/completion.hpp asks for:
//   sink.ready(live)   the operation, which has no node, may run now, somewhere
//   sink.keeps()       whether this thread runs the first operation that a completion makes ready; that one is not
//                      passed to ready()

#include <exception>

#include "graph/completion.hpp"
#include "graph/replay.hpp"
#include "profile/clock.hpp"

namespace refrain::exec {

/// One of those counted in `pending` is done. True: it was the last one, and the count stays at 1. False: the count has
/// been lowered.
inline bool is_last(LiveNode& live) {
  // acquire: partner of the release half below. At 1 only this thread is left that could touch the
  // count, so it need not be written.
  std::int32_t count = live.pending.load(std::memory_order_acquire);
  while (count != 1) {
    // acquire and release: who gets to 1 sees what all others have done.
    if (live.pending.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel,
                                           std::memory_order_acquire)) {
      return false;
    }
  }
  return true;
}

/// For the next time that the slot is used.
inline void set_count(LiveNode& live, const TemplateNode& node) {
  live.pending.store(static_cast<std::int32_t>(node.predecessors), std::memory_order_relaxed);
}

// --- what completes when something has come from outside -----------------------------------------------
// An operation that awaits completes when its run is over and what it has asked for has come: the second of the two
// completes it. While it runs, next_parked says which was first, as it is in no list.

enum Awaiting : std::uint32_t { kNothing, kAsked, kHasCome, kRunIsOver };

/// Before its run.
inline void begin_run(LiveNode& live, const TemplateNode& node) {
  if (node.flags & kAwaits) live.next_parked = kNothing;
}
/// Its run asks.
inline void begin_awaiting(LiveNode& live) { live.next_parked = kAsked; }
/// acquire and release: the second sees what the first has written.
inline bool is_second(LiveNode& live, Awaiting what, Awaiting other) {
  return std::atomic_ref(live.next_parked).exchange(what, std::memory_order_acq_rel) == other;
}
/// It has come. True: the caller completes the operation; else it may be gone by now.
inline bool has_come(LiveNode& live) { return is_second(live, kHasCome, kRunIsOver); }
/// The run is over. The same.
inline bool ends_now(LiveNode& live, const TemplateNode& node) {
  if ((node.flags & kAwaits) == 0) [[likely]]
    return true;
  // relaxed: this thread's own, where nothing was asked.
  return std::atomic_ref(live.next_parked).load(std::memory_order_relaxed) == kNothing ||
         is_second(live, kRunIsOver, kHasCome);
}

/// An operation with a node is issued and ready: the node goes the ordinary way.
template <class Sink>
[[gnu::noinline]] void start_node(Replay& replay, LiveNode& live, const Sink& sink) {
  node_ready(replay.node_of(live.index), sink);
}

template <class Sink>
void cancel(Replay& replay, LiveNode& live, const Sink& sink);

/// One of those that hold an operation back does so no more: a predecessor or a precondition, its guard, or, where it was
/// parked, the owner. Whether it is issued is not known.
template <class Sink>
[[gnu::noinline]] void lower_behind(Replay& replay, LiveNode& live, const Sink& sink) {
  if (!is_last(live)) return;
  Watermark::State state = replay.watermark.load();
  while (live.index >= state.issued() && !state.left()) {
    live.next_parked = state.parked();
    if (replay.watermark.park(state, live.index + 1)) return;
  }
  // The owner raises the count no more, but may have done so since.
  if (!is_last(live)) return;
  if (live.index >= state.issued()) return cancel(replay, live, sink);
  if (replay.nodes[live.index].flags & kHasNode) return start_node(replay, live, sink);
  sink.ready(live);
}

/// An operation without inner successors is done. After this the slot may be used again.
template <class Sink>
inline void sink_done(Replay& replay, const Sink& sink) {
  // acquire and release: the owner, who reads 0, sees what all operations wrote. seq_cst: before the
  // look for sleepers; partner: Notifier::prepare and Replay::is_complete.
  if (replay.sinks_left.fetch_sub(1, std::memory_order_seq_cst) == 1) sink.tell_owner();
}

/// Operations that were not issued when the chain was left pass on what reaches them, and do nothing, so
/// that the replay comes to an end. All that follow one in the replay are such, too.
template <class Sink>
[[gnu::noinline]] void cancel(Replay& replay, LiveNode& first, const Sink& sink) {
  first.next_parked = 0;
  for (std::uint32_t top = first.index + 1; top != 0;) {
    LiveNode& live = replay.live()[top - 1];
    const TemplateNode& node = replay.nodes[live.index];
    top = live.next_parked;
    set_count(live, node);
    const Successor* at = replay.successors + node.first;
    const Successor* const inner = at + node.carried();
    const Successor* const end = inner + node.inner;
    for (; at != inner; ++at) lower_behind(*replay.after, replay.after->live()[at->index()], sink);
    if (at == end) sink_done(replay, sink);
    for (; at != end; ++at) {
      LiveNode& successor = replay.live()[at->index()];
      if (!is_last(successor)) continue;
      successor.next_parked = top;
      top = at->index() + 1;
    }
  }
}

/// An operation of the replay fails with `error`. `who` is what the text calls it: if not given, operation_name.
/// It is known by what Template::name_failure says. Without that the scope's user hears (ScopeUser::failed_here).
FailureRef fail(const Replay& replay, std::uint32_t index, const std::exception_ptr& error,
                const Failure::Who& who = nullptr) noexcept;
/// The same under a name that all shards know. The scope's user does not hear of it.
FailureRef fail(const Replay& replay, std::uint32_t index, const Failure::Origin& origin,
                const std::exception_ptr& error, const Failure::Who& who = nullptr) noexcept;

/// Runs an operation while there is a failure in the process, or in a replay that is timed.
void run_unusual(Replay& replay, std::uint32_t index, Execution& execution) noexcept;

/// While an operation's run is throwing: it fails.
void end_failed(Replay& replay, std::uint32_t index, Execution& execution) noexcept;

/// Runs an operation on this thread. Another loop over operations is run_plain_in_order. `plain`: it has no TemplateFlag.
template <bool plain>
inline void run_operation(Replay& replay, std::uint32_t index, const TemplateNode& node,
                          Execution& execution) {
  if (!plain) begin_run(replay.live()[index], node);
  // relaxed: set before the operation was issued.
  if (Failure::any() || (replay.events.load(std::memory_order_relaxed) & kTimed) != 0) [[unlikely]]
    return run_unusual(replay, index, execution);
  try {
    if (plain || (node.flags & kPerReplay) == 0) node.plain(node.operand);
    else node.run(node.operand, replay, index, execution);
  } catch (...) { end_failed(replay, index, execution); }
}

/// Completes the operation's proxy if it has one.
template <class Sink>
[[gnu::noinline]] void tell_proxy(Replay& replay, const LiveNode& live, const Sink& sink) {
  if (Node* proxy = replay.take_proxy(live.index)) sink.finish(*proxy);
}

constexpr std::uint32_t kNoNode = ~std::uint32_t{0};

/// Lowers successors in one replay: `head`, and the `left` that follow it at `at`. Returns the first without a node that
/// became ready, if there is `room` for one that the thread goes on with, and nothing urgent did, or kNoNode; the others
/// are in the sink.
/// `issued`: so many of the replay are known to be issued; brought up to date where that is not enough.
template <class Sink>
inline std::uint32_t lower_all(Replay& replay, Successor head, const Successor* at,
                               std::uint32_t left, std::uint32_t& issued, bool room,
                               const Sink& sink) {
  std::uint32_t next = kNoNode;
  for (Successor successor = head;; successor = *at++) {
    const std::uint32_t index = successor.index();
    if (index >= issued) issued = replay.watermark.load().issued();
    LiveNode& live = replay.live()[index];
    if (index >= issued) [[unlikely]] {
      lower_behind(replay, live, sink);
    } else if (is_last(live)) {
      if (successor.has_node()) {
        // Before it starts: the replay may be over by the time that this returns, if it is the last one.
        const bool urgent = replay.recorded.operations[index].priority == kUrgent;
        start_node(replay, live, sink);
        if (urgent) {  // it runs before all others
          room = false;
          if (next != kNoNode) sink.ready(replay.live()[std::exchange(next, kNoNode)]);
        }
      } else if (room && next == kNoNode) {
        next = index;
      } else {
        sink.ready(live);
      }
    }
    if (left-- == 0) return next;
  }
}

/// An operation is done: those who ask, who wait for it, and who come after its proxy are told.
template <class Sink>
inline void mark_done(Replay& replay, LiveNode& live, const TemplateNode& node, const Sink& sink) {
  if (node.flags & kWakes) {
    // seq_cst: before the look for sleepers; partner: Notifier::prepare.
    live.done.store(replay.number, std::memory_order_seq_cst);
    sink.tell_owner();
  } else {
    // release: who finds it done sees what it wrote.
    live.done.store(replay.number, std::memory_order_release);
  }
  // acquire: partner of the release in Proxies::add.
  if (replay.events.load(std::memory_order_acquire) & kProxies) [[unlikely]]
    tell_proxy(replay, live, sink);
}

/// An operation is done. Returns what the thread goes on with, null if nothing.
template <class Sink>
[[gnu::noinline]] LiveNode* complete_any(Replay& replay, LiveNode& live, const TemplateNode& node,
                                         const Sink& sink) {
  const Successor* const first = replay.successors + node.first;
  const Successor* const inner = first + node.carried();
  LiveNode* next = nullptr;
  std::uint32_t issued = 0;
  if (inner != first) {
    const std::uint32_t index =
        lower_all(*replay.after, *first, first + 1, node.carried() - 1, issued, sink.keeps(), sink);
    if (index != kNoNode) next = replay.after->live() + index;
  }
  mark_done(replay, live, node, sink);
  if (node.inner == 0) {
    sink_done(replay, sink);
    return next;
  }
  issued = 0;
  const std::uint32_t index = lower_all(replay, *inner, inner + 1, node.inner - 1, issued,
                                        next == nullptr && sink.keeps(), sink);
  return index == kNoNode ? next : replay.live() + index;
}

/// The same for most: it has inner successors, no others, and nothing else is to be done (no TemplateFlag). Returns as
/// lower_all.
template <class Sink>
inline std::uint32_t complete_plain(Replay& replay, LiveNode& live, const TemplateNode& node,
                                    std::uint32_t& issued, const Sink& sink) {
  // release and acquire: as in mark_done.
  live.done.store(replay.number, std::memory_order_release);
  if (replay.events.load(std::memory_order_acquire) & kProxies) [[unlikely]]
    tell_proxy(replay, live, sink);
  return lower_all(replay, node.head, replay.successors + node.first + 1, node.inner - 1, issued,
                   sink.keeps(), sink);
}

/// In a replay that is run in order: runs operations from `from` on, while they come before `to`, are alike in all
/// replays, and `goes_on()`; none while there is a failure in the process. Returns the first that it has not run.
template <class GoesOn>
inline std::uint32_t run_plain_in_order(Replay& replay, std::uint32_t from, std::uint32_t to,
                                        Executor& executor, int processor, GoesOn goes_on) {
  if (Failure::any()) [[unlikely]]
    return from;
  const TemplateNode* node = replay.nodes + from;
  const TemplateNode* const end = replay.nodes + to;
  const auto index = [&] { return static_cast<std::uint32_t>(node - replay.nodes); };
  try {
    const auto is_plain = [&] { return node != end && (node->flags & kPerReplay) == 0; };
    if (!is_plain()) return from;
    do {  // no jump into the loop: what it jumps to would be aligned by instructions that do nothing
      node->plain(node->operand);
      ++node;
    } while (goes_on() && is_plain());
  } catch (...) {
    Execution execution{executor, processor};
    end_failed(replay, index(), execution);
    ++node;
  }
  return index();
}

/// What the node of an operation of a replay runs; and what it runs at last if the operation completes later.
void run_replayed_node(Node& node, Execution& execution);
void end_replayed_node(Node& node, Execution& execution);
/// The run of a precondition: a node after which a replayed operation comes.
void run_precondition(Node& node, Execution& execution);

/// Whether a node's run is that of an operation, not what is left of one, nor a precondition's: users are told of it.
inline bool runs_operation(const Node& node) {
  return node.run != run_precondition && node.run != end_of_run && node.run != end_replayed_node;
}

/// What both executors do alike. `Derived` has sink_here(live), for the owner of the scope and for threads that run a
/// node.
template <class Derived>
class GraphExecutor : public Executor {
 public:
  using Executor::Executor;

  void lower(LiveNode& live) final {
    lower_behind(Replay::of(live), live, derived().sink_here(live));
  }
  void complete_replayed(LiveNode& live) final {
    const auto sink = derived().sink_here(live);
    Replay& replay = Replay::of(live);
    if (replay.way == Way::in_order) {  // what the owner awaits has come
      // seq_cst: before the look for sleepers; partner: Notifier::prepare.
      live.done.store(replay.number, std::memory_order_seq_cst);
      return sink.tell_owner();
    }
    LiveNode* next = complete_any(replay, live, replay.nodes[live.index], sink);
    if (next != nullptr) sink.ready(*next);
  }

 protected:
  /// Runs a node, and tells the scope's user.
  [[gnu::noinline]] void run_told(Node& node, int processor, int thread) {
    const bool tell = tells_ && runs_operation(node);
    const std::uint64_t begin = tell ? profile::now_ns() : 0;
    run_node(node, *this, processor);
    if (tell)
      node.scope->user->executed(
          {*node.scope, node.info, node.kind, node.seq, thread, begin, profile::now_ns()});
  }
  /// After the run of an operation in a replay that is run in order: awaits what the operation has asked for.
  void await_in_order(Replay& replay, std::uint32_t index) {
    if (ends_now(replay.live()[index], replay.nodes[index])) [[likely]]
      return;
    while (!replay.is_done(index))
      if (!derived().ask_outside()) break;
    if (replay.is_done(index)) return;
    expect_completion();
    wait(
        replay.scope, [&] { return replay.is_done(index); }, {},
        replay.recorded.operations[index].info);
    completed_outside(nullptr);
  }
  /// Runs an operation of a replay, and tells the scope's user.
  [[gnu::noinline]] void run_told(Replay& replay, std::uint32_t index, int processor, int thread) {
    Execution execution{*this, processor};
    const std::uint64_t begin = tells_ ? profile::now_ns() : 0;
    run_operation<false>(replay, index, replay.nodes[index], execution);
    if (tells_) tell_user(thread, replay, index, begin);
  }
  void tell_user(int thread, const Replay& replay, std::uint32_t index, std::uint64_t begin_ns) {
    const Template::Operation& operation = replay.recorded.operations[index];
    replay.scope.user->executed({replay.scope, operation.info, operation.kind, replay.base + index,
                                 thread, begin_ns, profile::now_ns()});
  }

 private:
  Derived& derived() { return static_cast<Derived&>(*this); }
};

}  // namespace refrain::exec
