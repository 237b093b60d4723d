#include "exec/deadlock.hpp"

#include <algorithm>
#include <map>

#include "exec/scope.hpp"
#include "refrain/error.hpp"

namespace refrain::exec {

namespace {

constexpr int kLongestChain = 16;  ///< operations named in the text

/// For every live node of the scope that has a live predecessor: the one launched first.
std::map<const Node*, const Node*> first_predecessors(const Scope& scope) {
  std::map<const Node*, const Node*> first;
  const auto note = [&](TaggedNode tagged, const Node& from) {
    const Node*& entry = first[reinterpret_cast<const Node*>(tagged & ~TaggedNode{1})];
    if (!entry || from.seq < entry->seq) entry = &from;
  };
  scope.for_each_live([&](const Node& node) {
    const std::uint32_t count = node.successor_state.load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < std::min<std::uint32_t>(count, Node::kInlineSuccessors); ++i) {
      note(node.successors[i], node);
    }
    const SuccessorBlock* block = node.overflow;
    for (std::uint32_t i = Node::kInlineSuccessors, slot = 0; i < count; ++i, ++slot) {
      if (slot == SuccessorBlock::kSlots) block = block->next, slot = 0;
      note(block->slots[slot], node);
    }
  });
  return first;
}

const Node* first_unfinished(const WaitRecord& wait) {
  if (wait.awaited && !is_complete(wait.awaited)) return wait.awaited.node;
  // What the waiter itself holds open is the end of a chain: one that begins elsewhere says more.
  const Node *oldest = nullptr, *held = nullptr;
  wait.scope->for_each_live([&](const Node& node) {
    const Node*& entry = node.flags & kManual ? held : oldest;
    if (!entry || node.seq < entry->seq) entry = &node;
  });
  return oldest ? oldest : held;
}

std::string end_of_chain(const Node& node) {
  if (node.flags & kManual) return ", which is still open";
  if (node.flags & kStandIn) return ", which is replayed and not done";
  if (node.pending.load(std::memory_order_relaxed) == Node::kUnpublished)
    return ", which is not launched yet";
  if (node.flags & kReducer) return ", which waits for an accumulator";
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
  const auto predecessors = first_predecessors(*wait.scope);
  const Node* node = first_unfinished(wait);
  if (!node) return text + " waits, but everything it launched is complete";
  text += " waits for " + operation_name(node->info, node->kind);
  for (int length = 1;; ++length) {
    const auto before = predecessors.find(node);
    if (before == predecessors.end()) return text + end_of_chain(*node);
    node = before->second;
    if (length == kLongestChain) text += ", and so on";
    if (length < kLongestChain)
      text += ", which waits for " + operation_name(node->info, node->kind);
  }
}

}  // namespace refrain::exec
