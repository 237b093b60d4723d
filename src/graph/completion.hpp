#pragma once
// What happens to the graph when a node is published, becomes ready, and completes: the part that the
// threaded and the seeded executor share. Each calls it with a sink of its own:
//   sink.executor       the executor
//   sink.ready(node)    the node may run now, somewhere
//   sink.tell_owner()   something has happened that the owner of the scope may wait for
//   sink.owns(node)     this thread is the owner of the node's scope
//   sink.finish(node)   complete the node (with complete_node) and give it back to its owner

#include <span>

#include "graph/executor.hpp"
#include "graph/failure.hpp"
#include "graph/node.hpp"
#include "graph/reducer_gate.hpp"
#include "graph/scope.hpp"

namespace refrain::exec {

/// Runs the node's operation on this thread. What it throws becomes the node's failure.
[[gnu::always_inline]] inline void run_node(Node& node, Executor& executor, int processor) {
  Execution execution{executor, processor};
  if ((node.flags & kFailed) != 0) [[unlikely]]
    execution.failure = node.scope->failures().find(node.seq);
  try {
    node.run(node, execution);
  } catch (...) { fail(node, std::current_exception()); }
}

/// The same as node_ready for those few that do not simply run. Apart, so that complete_node stays small. The run of a
/// kManual node (may be null, must be short) is called here and now, then the owner may go on. The owner may have ended
/// the node already, without having waited.
template <class Sink>
[[gnu::noinline]] void special_ready(Node& node, const Sink& sink) {
  if ((node.flags & kManual) == 0) {
    if (node.scope->gate().admit(node)) sink.ready(node);
    return;
  }
  if (node.run) run_node(node, sink.executor, 0);
  // seq_cst: orders what the predecessors wrote before is_granted; and before the look for sleepers
  // that follows in sink.tell_owner. Acquire half: partner of the exchange in Executor::complete_manual.
  if (node.manual.exchange(ManualState::granted) == ManualState::ended) return sink.finish(node);
  sink.tell_owner();
}

/// All predecessors of `node` are complete.
template <class Sink>
inline void node_ready(Node& node, const Sink& sink) {
  if ((node.flags & (kReducer | kManual)) == 0) [[likely]]
    return sink.ready(node);
  special_ready(node, sink);
}

/// Gives `node` its predecessors. True: they are all complete, so it is ready. Otherwise the one that
/// completes last makes it ready, perhaps at once: unless this returns true, the caller must not look at
/// the node again.
inline bool connect(Node& node, std::span<const NodeRef> predecessors) {
  if (node.flags & kReducer) node.scope->gate().enroll(node);
  const auto count = static_cast<std::int32_t>(predecessors.size());
  // Relaxed: the release in add_edge orders it before any predecessor lowers the count.
  node.pending.store(count, std::memory_order_relaxed);
  std::int32_t complete = 0;
  for (const NodeRef& from : predecessors) complete += add_edge(from, node) ? 0 : 1;
  if (complete == count) {
    // No unfinished predecessor knows the node: nobody else looks at the count.
    node.pending.store(0, std::memory_order_relaxed);
    return true;
  }
  if (complete == 0) return false;
  // acquire: partner of the releases in lower_pending, so that the runner sees what they wrote.
  // release: what the owner wrote into the node is visible to whoever lowers the count to zero.
  return node.pending.fetch_sub(complete, std::memory_order_acq_rel) == complete;
}

/// One predecessor of `node` is complete. True: it was the last one.
inline bool lower_pending(Node& node) {
  // acquire: partner of the release half below (other predecessors) and of connect (the owner).
  // At 1 only this thread is left that could touch the count, so it need not be written.
  return node.pending.load(std::memory_order_acquire) == 1 ||
         node.pending.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

/// Ends the list of successors; returns how many there are.
inline std::uint32_t close_successors(Node& node, bool by_owner) {
  if (by_owner) {
    // Only the owner appends to the list and asks whether the node is complete: nobody meets this thread
    // here, and no waiter can be asleep for it.
    const std::uint32_t count = node.successor_state.load(std::memory_order_relaxed);
    node.successor_state.store(Node::kClosed, std::memory_order_relaxed);
    return count;
  }
  // acquire: partner of the owner's compare-and-swap in add_edge, the slots are readable. release: what
  // the operation wrote is visible to whoever sees kClosed (is_complete, add_edge). seq_cst: comes
  // before the look for sleeping waiters; partner: Notifier::prepare and is_complete.
  return node.successor_state.exchange(Node::kClosed, std::memory_order_seq_cst);
}

/// What ends in another way than by completing. False: the node completes later.
template <class Sink>
[[gnu::noinline]] bool special_end(Node& node, const Sink& sink) {
  if (node.flags & kCompletesLater) {
    // seq_cst (acquire and release): of this exchange and the one in LaterCompletion::complete the second sees what
    // was written before the first.
    const ManualState before = node.manual.exchange(ManualState::granted);
    if (before == ManualState::waiting) return false;
    end_of_waiting(node, before);
    sink.ready(node);  // runs what is left to do
    return false;
  }
  for_each_linked(node.scope->gate().folded(node), [&](Node& reducer) { sink.ready(reducer); });
  return true;
}

/// The run of `node` has ended. True: the node completes now. False: it is no longer the caller's.
template <class Sink>
inline bool ends_now(Node& node, const Sink& sink) {
  if ((node.flags & (kFold | kCompletesLater)) == 0) [[likely]]
    return true;
  return special_end(node, sink);
}

/// The operation of `node` is done: closes its list of successors and lowers their counts. The node is
/// still the caller's to give back.
template <class Sink>
void complete_node(Node& node, const Sink& sink) {
  const std::uint32_t count = close_successors(node, sink.owns(node));
  for_each_successor(node, count, [&](Node& successor) {
    if (lower_pending(successor)) node_ready(successor, sink);
  });
}

}  // namespace refrain::exec
