#include "exec/deadlock.hpp"

#include <algorithm>
#include <map>

#include "graph/replay_steps.hpp"
#include "graph/replays.hpp"
#include "graph/scope.hpp"
#include "refrain/error.hpp"

namespace refrain::exec {

namespace {

constexpr int kLongestChain = 16;  ///< operations named in the text, but for the last

/// An operation that is not done, of the ordinary graph or of a replay.
struct Unfinished {
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
using Operations = std::map<std::uint64_t, Unfinished>;

/// Calls visit for each successor in the ordinary graph.
template <class Visit>
void for_each_successor(const Node& node, Visit visit) {
  const auto untagged = [](TaggedNode tagged) {
    return reinterpret_cast<Node*>(tagged & ~TaggedNode{1});
  };
  const std::uint32_t count = node.successor_state.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(count, Node::kInlineSuccessors); ++i) {
    visit(*untagged(node.successors[i]));
  }
  const SuccessorBlock* block = node.overflow;
  for (std::uint32_t i = Node::kInlineSuccessors, slot = 0; i < count; ++i, ++slot) {
    if (slot == SuccessorBlock::kSlots) block = block->next, slot = 0;
    visit(*untagged(block->slots[slot]));
  }
}

/// Calls visit(seq) for each successor in its replay and in the next one, if that has begun.
template <class Visit>
void for_each_successor(const Replay& replay, std::uint32_t index, Visit visit) {
  const TemplateNode& node = replay.nodes[index];
  const Successor* at = replay.successors + node.first;
  const Successor* const inner = at + node.carried();
  const Successor* const end = inner + node.inner;
  // A slot that is only reserved has the number of an earlier replay.
  const bool goes_on = replay.after != nullptr && replay.after->number == replay.number + 1;
  for (; at != inner; ++at) {
    if (goes_on) visit(replay.after->base + at->index());
  }
  for (; at != end; ++at) visit(replay.base + at->index());
}

/// The operation that a node of the ordinary graph is, stands for, or holds back.
std::uint64_t operation_of(Node& node) {
  if (node.run != run_precondition) return node.seq;
  LiveNode& live = *node.payload_as<LiveNode*>();
  return Replay::of(live).base + live.index;
}

/// Calls visit(replay, index) for each replayed operation that is issued and not done.
template <class Visit>
void for_each_replayed(const Scope& scope, Visit visit) {
  for (const Replays* replays : scope.replays()) replays->for_each_unfinished(visit);
}

Operations unfinished_operations(const Scope& scope) {
  Operations operations;
  // One of a replay that has a node besides is both: the same name and flags but for kProxy.
  for_each_replayed(scope, [&](Replay& replay, std::uint32_t index) {
    const Template::Operation& recorded = replay.extras->recorded().operation(index);
    operations[replay.base + index] = {recorded.info, recorded.kind, recorded.flags};
  });
  scope.for_each_live([&](Node& node) {
    if (node.run == run_precondition) return;
    const bool published = node.pending.load(std::memory_order_relaxed) != Node::kUnpublished;
    operations.try_emplace(node.seq, Unfinished{node.info, node.kind, node.flags, published});
  });
  // What was to come in a replay that the program has left is no operation.
  const auto note = [&](std::uint64_t seq, std::uint64_t awaits) {
    const auto found = operations.find(seq);
    if (found != operations.end()) found->second.awaits = std::max(found->second.awaits, awaits);
  };
  for_each_replayed(scope, [&](Replay& replay, std::uint32_t index) {
    for_each_successor(replay, index, [&](std::uint64_t seq) { note(seq, replay.base + index); });
  });
  scope.for_each_live([&](Node& node) {
    for_each_successor(node, [&](Node& successor) { note(operation_of(successor), node.seq); });
  });
  return operations;
}

/// What the waiter waits for; the end if everything is done.
Operations::const_iterator first_of_chain(const Operations& operations, const WaitRecord& wait) {
  // The number alone: what is replayed has no node of its own.
  if (wait.awaited) {
    const auto found = operations.find(wait.awaited.seq);
    if (found != operations.end()) return found;
  }
  // What the waiter itself holds open is the end of a chain: one that begins elsewhere says more.
  const auto oldest = std::ranges::find_if(
      operations, [](const auto& entry) { return (entry.second.flags & kManual) == 0; });
  return oldest != operations.end() ? oldest : operations.begin();
}

std::string name_of(const Scope& scope, const Operations::value_type& operation) {
  const auto& [seq, is] = operation;
  std::string name = operation_name(is.info, is.kind);
  if ((is.flags & kManual) != 0 && scope.about_held) name += scope.about_held(seq);
  return name;
}

std::string end_of_chain(const Unfinished& operation) {
  if (operation.flags & kManual) return ", which is still open";
  if (!operation.published) return ", which is not launched yet";
  if (operation.flags & kReducer) return ", which waits for an accumulator";
  return ", which nothing can run";
}

}  // namespace

std::string describe_deadlock(const WaitRecord& wait) {
  const NodeInfo* who = wait.waiter;
  NodeKind who_kind = NodeKind::task;
  if (!who && wait.scope->task()) {
    who = wait.scope->task()->info;
    who_kind = wait.scope->task()->kind;
  }
  std::string text = "deadlock: ";
  if (wait.waiter) {
    text += wait.waiter->name + " at " + to_string(wait.waiter->where);
  } else {
    text += who ? operation_name(who, who_kind) : std::string("the program");
  }
  const Operations operations = unfinished_operations(*wait.scope);
  auto at = first_of_chain(operations, wait);
  if (at == operations.end()) return text + " waits, but everything it launched is complete";
  text += " waits for " + name_of(*wait.scope, *at);
  for (int length = 1; at->second.awaits != 0; ++length) {
    at = operations.find(at->second.awaits);
    const std::string name = name_of(*wait.scope, *at);
    if (length < kLongestChain) {
      text += ", which waits for " + name;
    } else if (at->second.awaits == 0) {
      text += ", and so on, up to " + name;
    }
  }
  return text + end_of_chain(at->second);
}

}  // namespace refrain::exec
