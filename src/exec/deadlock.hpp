#pragma once
// The text of a Deadlock: the chain of who waits for whom. It follows unfinished predecessors from what is awaited to
// where the chain ends, through operations of replays as through the nodes of the ordinary graph.
//
// Only when nothing runs and nothing is ready, so that everything that is read is at rest: the lists of the scope's owner
// and what threads that complete operations write. The threads of the threaded executor all sleep, and took the
// notifier's lock to do so, which the caller holds: what they did is visible. The seeded executor has one thread. The
// owner itself is in Executor::wait, which replays call only where their lists are whole. A thread asleep is not in the
// middle of completing anything: an operation that is done has `done` set, its successors' counts lowered and its proxy
// taken (graph/replay.hpp). Cost: the nodes and edges in flight, times a logarithm.

#include <algorithm>
#include <cstdint>
#include <map>
#include <new>
#include <optional>
#include <string>

#include "graph/node.hpp"
#include "graph/replay_steps.hpp"
#include "graph/replays.hpp"
#include "graph/scope.hpp"

namespace refrain::exec {

/// What a thread waits for in Executor::wait.
struct WaitRecord {
  const Scope* scope = nullptr;
  NodeRef awaited;
  const NodeInfo* waiter = nullptr;
  /// The wait is a deadlock, and this says so. Who declares it writes this before it wakes the waiter.
  std::optional<std::string> deadlock;
};

/// An operation of a scope that is not done, of the ordinary graph or of a replay.
struct UnfinishedOperation {
  const NodeInfo* info = nullptr;
  NodeKind kind = NodeKind::task;
  std::uint8_t flags = 0;  ///< NodeFlag bits
  bool published = true;
  /// Of those it waits for, the one launched last; 0: it waits for none. Not the first: edges that others
  /// imply are left out of replays, and the last is never implied. So the chain is the same with and
  /// without tracing.
  std::uint64_t awaits = 0;
};
/// By sequence number, which names an operation whatever stands for it.
using UnfinishedOperations = std::map<std::uint64_t, UnfinishedOperation>;

inline UnfinishedOperations unfinished_operations(const Scope& scope) {
  UnfinishedOperations operations;
  // Each replayed operation that is issued and not done.
  const auto for_each_replayed = [&scope](const auto& visit) {
    for (const Replays* replays : scope.replays()) replays->for_each_unfinished(visit);
  };
  const auto note = [&operations](std::uint64_t seq, std::uint64_t awaits) {
    const auto found = operations.find(seq);
    // What was to come in a replay that the program has left is no operation.
    if (found != operations.end()) found->second.awaits = std::max(found->second.awaits, awaits);
  };
  // An operation of a replay that has a node besides is both: the same name and flags but for kProxy.
  for_each_replayed([&](Replay& replay, std::uint32_t index) {
    const Template::Operation& recorded = replay.recorded.operations[index];
    operations[replay.base + index] = {recorded.info, recorded.kind, recorded.flags};
  });
  scope.for_each_live([&](Node& node) {
    if (node.run == run_precondition) return;
    const bool published = node.pending.load(std::memory_order_relaxed) != Node::kUnpublished;
    operations.try_emplace(node.seq,
                           UnfinishedOperation{node.info, node.kind, node.flags, published});
  });
  for_each_replayed([&](Replay& replay, std::uint32_t index) {
    const TemplateNode& node = replay.nodes[index];
    const Successor* const successors = replay.successors + node.first;
    // A slot that is only reserved has the number of an earlier replay.
    const bool goes_on = replay.after != nullptr && replay.after->number == replay.number + 1;
    for (std::uint32_t i = goes_on ? 0 : node.carried(); i < node.carried() + node.inner; ++i) {
      const Replay& target = i < node.carried() ? *replay.after : replay;
      note(target.base + successors[i].index(), replay.base + index);
    }
  });
  scope.for_each_live([&](Node& node) {
    const std::uint32_t count = node.successor_state.load(std::memory_order_relaxed);
    for_each_successor(node, count, [&](Node& successor) {
      if (successor.run != run_precondition) return note(successor.seq, node.seq);
      LiveNode& held_back = *successor.payload_as<LiveNode*>();
      note(Replay::of(held_back).base + held_back.index, node.seq);
    });
  });
  return operations;
}

/// "NAME, which waits for NAME, ..., which is still open": from what is awaited on. Empty if everything is done.
inline std::string chain_of(const Scope& scope, const NodeRef& awaited) {
  constexpr int kLongestChain = 16;  // operations named in the text, but for the last
  const UnfinishedOperations operations = unfinished_operations(scope);
  // By number alone: what is replayed has no node of its own.
  auto at = awaited ? operations.find(awaited.seq) : operations.end();
  // What the waiter itself holds open is the end of a chain: one that begins elsewhere says more.
  if (at == operations.end())
    at = std::ranges::find_if(
        operations, [](const auto& entry) { return (entry.second.flags & kManual) == 0; });
  if (at == operations.end()) at = operations.begin();
  if (at == operations.end()) return {};
  const auto name = [&] {
    const auto& [seq, is] = *at;
    const bool held = (is.flags & kManual) != 0 && scope.user;
    return operation_name(is.info, is.kind) + (held ? scope.user->about_held(seq) : "");
  };
  std::string text = name();
  for (int length = 1; at->second.awaits != 0; ++length) {
    at = operations.find(at->second.awaits);
    if (length < kLongestChain) {
      text += ", which waits for " + name();
    } else if (at->second.awaits == 0) {
      text += ", and so on, up to " + name();
    }
  }
  if (at->second.flags & kManual) return text + ", which is still open";
  if (!at->second.published) return text + ", which is not launched yet";
  if (at->second.flags & kReducer) return text + ", which waits for an accumulator";
  return text + ", which nothing can run";
}

/// Writes the text into the record.
inline void declare_deadlock(WaitRecord& wait) {
  try {
    const Node* const task = wait.scope->task();
    const std::string who = wait.waiter != nullptr
                                ? wait.waiter->name + " at " + to_string(wait.waiter->where)
                            : task != nullptr ? operation_name(task->info, task->kind)
                                              : "the program";
    const std::string chain = chain_of(*wait.scope, wait.awaited);
    wait.deadlock =
        "deadlock: " + who +
        (chain.empty() ? " waits, but everything it launched is complete" : " waits for " + chain);
  } catch (const std::bad_alloc&) { wait.deadlock.emplace(); }  // it is one all the same
}

}  // namespace refrain::exec
