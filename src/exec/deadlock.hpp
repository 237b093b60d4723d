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
#include "refrain/error.hpp"

namespace refrain::exec {

/// What a thread waits for in Executor::wait.
struct WaitRecord {
  const Scope* scope = nullptr;
  NodeRef awaited;
  const NodeInfo* waiter = nullptr;
  /// The wait is a deadlock, and this says so. Who declares it writes this before it wakes the waiter.
  std::optional<std::string> deadlock;
};

/// The operations of a scope that are not done, of the ordinary graph or of replays.
class UnfinishedOperations {
 public:
  explicit UnfinishedOperations(const Scope& scope) : scope_(scope) {
    // An operation of a replay that has a node besides is both: the same name and flags but for kProxy.
    for_each_replayed([&](Replay& replay, std::uint32_t index) {
      const Template::Operation& recorded = replay.extras->recorded.operation(index);
      operations_[replay.base + index] = {recorded.info, recorded.kind, recorded.flags};
    });
    scope.for_each_live([&](Node& node) {
      if (node.run == run_precondition) return;
      const bool published = node.pending.load(std::memory_order_relaxed) != Node::kUnpublished;
      operations_.try_emplace(node.seq, Operation{node.info, node.kind, node.flags, published});
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
      for_each_successor(
          node, count, [&](TaggedNode tagged) { note(operation_of(*untagged(tagged)), node.seq); });
    });
  }

  /// "NAME, which waits for NAME, ..., which is still open": from what is awaited on. Empty if everything is done.
  [[nodiscard]] std::string chain(const NodeRef& awaited) const {
    auto at = first_of_chain(awaited);
    if (at == operations_.end()) return {};
    std::string text = name_of(*at);
    for (int length = 1; at->second.awaits != 0; ++length) {
      at = operations_.find(at->second.awaits);
      if (length < kLongestChain) {
        text += ", which waits for " + name_of(*at);
      } else if (at->second.awaits == 0) {
        text += ", and so on, up to " + name_of(*at);
      }
    }
    return text + end_of_chain(at->second);
  }

 private:
  static constexpr int kLongestChain = 16;  ///< operations named in the text, but for the last

  struct Operation {
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
  using Operations = std::map<std::uint64_t, Operation>;

  /// Calls visit(replay, index) for each replayed operation that is issued and not done.
  template <class Visit>
  void for_each_replayed(Visit visit) const {
    for (const Replays* replays : scope_.replays()) replays->for_each_unfinished(visit);
  }
  /// The operation that a node of the ordinary graph is, stands for, or holds back.
  static std::uint64_t operation_of(Node& node) {
    if (node.run != run_precondition) return node.seq;
    LiveNode& live = *node.payload_as<LiveNode*>();
    return Replay::of(live).base + live.index;
  }
  void note(std::uint64_t seq, std::uint64_t awaits) {
    const auto found = operations_.find(seq);
    // What was to come in a replay that the program has left is no operation.
    if (found != operations_.end()) found->second.awaits = std::max(found->second.awaits, awaits);
  }
  [[nodiscard]] Operations::const_iterator first_of_chain(const NodeRef& awaited) const {
    // The number alone: what is replayed has no node of its own.
    const auto found = awaited ? operations_.find(awaited.seq) : operations_.end();
    if (found != operations_.end()) return found;
    // What the waiter itself holds open is the end of a chain: one that begins elsewhere says more.
    const auto oldest = std::ranges::find_if(
        operations_, [](const auto& entry) { return (entry.second.flags & kManual) == 0; });
    return oldest != operations_.end() ? oldest : operations_.begin();
  }
  [[nodiscard]] std::string name_of(const Operations::value_type& operation) const {
    const auto& [seq, is] = operation;
    std::string name = operation_name(is.info, is.kind);
    if ((is.flags & kManual) != 0 && scope_.about_held) name += scope_.about_held(seq);
    return name;
  }
  static const char* end_of_chain(const Operation& operation) {
    if (operation.flags & kManual) return ", which is still open";
    if (!operation.published) return ", which is not launched yet";
    if (operation.flags & kReducer) return ", which waits for an accumulator";
    return ", which nothing can run";
  }

  const Scope& scope_;
  Operations operations_;
};

/// Writes the text into the record.
inline void declare_deadlock(WaitRecord& wait) {
  try {
    const Node* const task = wait.scope->task();
    const std::string who = wait.waiter != nullptr
                                ? wait.waiter->name + " at " + to_string(wait.waiter->where)
                            : task != nullptr ? operation_name(task->info, task->kind)
                                              : "the program";
    const std::string chain = UnfinishedOperations(*wait.scope).chain(wait.awaited);
    wait.deadlock =
        "deadlock: " + who +
        (chain.empty() ? " waits, but everything it launched is complete" : " waits for " + chain);
  } catch (const std::bad_alloc&) { wait.deadlock.emplace(); }  // it is one all the same
}

}  // namespace refrain::exec
