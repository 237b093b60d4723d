#include "graph/node.hpp"

#include <new>

#include "base/assert.hpp"
#include "graph/executor.hpp"
#include "graph/failure.hpp"
#include "graph/replay_steps.hpp"
#include "graph/scope.hpp"

namespace refrain::exec {

std::string launch_name(std::string_view task, const Where& where) {
  const NodeInfo info{std::string(task), where};
  return operation_name(&info, NodeKind::task);
}

std::string operation_name(const NodeInfo* info, NodeKind kind) {
  const bool access = kind == NodeKind::access;
  std::string text = kind == NodeKind::task ? "task '"
                     : access               ? "the inline access '"
                                            : "operation '";
  text.append(info != nullptr ? std::string_view(info->name) : "unnamed").append("'");
  if (info != nullptr && info->where.line() != 0)
    text.append(access ? " opened at " : " launched at ").append(to_string(info->where));
  return text;
}

// --- completion from outside ---------------------------------------------------------------------------

void LaterCompletion::end(ManualState as) noexcept {
  if (live_ != nullptr) {
    // The owner itself says what it expects in order. Read before it is complete.
    const bool is_expected = Replay::of(*live_).way != Way::in_order;
    if (has_come(*live_)) executor_->complete_replayed(*live_);
    return is_expected ? executor_->completed_outside(nullptr) : void();
  }
  // seq_cst (acquire and release): partner of the exchange in special_end (graph/completion.hpp). When the run is not
  // over, the node belongs to the thread that runs it, and may be gone by now.
  const bool run_is_over = node_->manual.exchange(as) == ManualState::granted;
  if (run_is_over) end_of_waiting(*node_, as);
  executor_->completed_outside(run_is_over ? node_ : nullptr);
}

void LaterCompletion::complete() noexcept { end(ManualState::ended); }

void LaterCompletion::fail(const std::exception_ptr& error) noexcept {
  if (live_ != nullptr) exec::fail(Replay::of(*live_), live_->index, error);
  else exec::fail(*node_, error);
  end(ManualState::failed);
}

LaterCompletion complete_later(Node& node, Execution& execution, NodeRun rest) {
  REFRAIN_ASSERT((node.flags & (kManual | kCompletesLater)) == 0,
                 "an operation that completes later is not manual, and says so once");
  execution.executor.expect_completion();
  node.flags |= kCompletesLater;
  node.run = rest;
  return {node, execution.executor};
}

LaterCompletion complete_later(Replay& replay, std::uint32_t index, Execution& execution) {
  const std::uint8_t flags = replay.nodes[index].flags;
  REFRAIN_ASSERT((flags & (kHasNode | kAwaits)) != 0,
                 "the template says of an operation that it may complete later");
  if (flags & kHasNode) return complete_later(replay.node_of(index), execution, end_replayed_node);
  if (replay.way != Way::in_order) execution.executor.expect_completion();
  begin_awaiting(replay.live()[index]);
  return {replay.live()[index], execution.executor};
}

bool add_overflow_edge(Node& from, std::uint32_t count, Node& to) {
  const std::uint32_t beyond = count - Node::kInlineSuccessors;
  const std::uint32_t slot = beyond % SuccessorBlock::kSlots;
  if (slot == 0) {
    SuccessorBlock* block = from.scope->pool().take_block();
    (beyond == 0 ? from.overflow : from.overflow->tail->next) = block;
    from.overflow->tail = block;
  }
  from.overflow->tail->slots[slot] = &to;
  // release: partner of the closing exchange in complete_node (graph/completion.hpp); acquire where the list is closed:
  // what the closer wrote before it closed is visible.
  return from.successor_state.compare_exchange_strong(count, count + 1, std::memory_order_release,
                                                      std::memory_order_acquire);
}

Node* NodePool::carve(int size_class) {
  nodes_.emplace_back();
  try {
    void* const memory = memory_.allocate(sizeof(Node) + payload_of(size_class), alignof(Node));
    Node* node = nodes_.back() = new (memory) Node;
    node->size_class = static_cast<std::uint8_t>(size_class);
    node->successor_state.store(Node::kClosed, std::memory_order_relaxed);
    return node;
  } catch (...) {
    nodes_.pop_back();
    throw;
  }
}

void NodePool::put_blocks(Node& node) {
  while (SuccessorBlock* block = node.overflow) {
    node.overflow = std::exchange(block->next, free_blocks_);
    free_blocks_ = block;
  }
}

SuccessorBlock* NodePool::take_block() noexcept {
  if (!free_blocks_) return &blocks_.emplace_front();
  return std::exchange(free_blocks_, std::exchange(free_blocks_->next, nullptr));
}

std::size_t NodePool::bytes() const {
  std::size_t bytes = std::ranges::distance(blocks_) * sizeof(SuccessorBlock);
  for (const Node* node : nodes_) bytes += sizeof(Node) + payload_of(node->size_class);
  return bytes;
}

}  // namespace refrain::exec
