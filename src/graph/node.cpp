#include "graph/node.hpp"

#include <algorithm>
#include <new>

#include "base/assert.hpp"
#include "graph/executor.hpp"
#include "graph/failure.hpp"
#include "graph/node_pool.hpp"
#include "graph/replay_steps.hpp"
#include "graph/scope.hpp"
#include "refrain/error.hpp"

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
  text += (info != nullptr ? info->name : std::string("unnamed")) + "'";
  if (info != nullptr && info->where.line() != 0)
    text += (access ? " opened at " : " launched at ") + to_string(info->where);
  return text;
}

// --- completion from outside ---------------------------------------------------------------------------

void LaterCompletion::complete() noexcept {
  // seq_cst (acquire and release): partner of the exchange in special_end (graph/completion.hpp). When the run is not
  // over, the node belongs to the thread that runs it, and may be gone by now.
  const auto before = node_->manual.exchange(std::uint8_t(ManualState::ended));
  const bool run_is_over = before == std::uint8_t(ManualState::granted);
  if (run_is_over) node_->flags &= static_cast<std::uint8_t>(~kCompletesLater);
  executor_->completed_outside(run_is_over ? node_ : nullptr);
}

void LaterCompletion::fail(const std::exception_ptr& error) noexcept {
  exec::fail(*node_, error);
  complete();
}

LaterCompletion complete_later(Node& node, Execution& execution) {
  REFRAIN_ASSERT((node.flags & (kManual | kCompletesLater)) == 0,
                 "an operation that completes later is not manual, and says so once");
  execution.executor.expect_completion();
  node.flags |= kCompletesLater;
  node.run = end_of_run;
  return {node, execution.executor};
}

LaterCompletion complete_later(Replay& replay, std::uint32_t index, Execution& execution) {
  REFRAIN_ASSERT((replay.nodes[index].flags & kHasNode) != 0,
                 "the template says of an operation that it may complete later");
  const ReplayExtras& extras = *replay.extras;
  Node& node = *extras.nodes[extras.recorded().operation(index).node_number];
  const LaterCompletion later = complete_later(node, execution);
  node.run = end_replayed_node;
  return later;
}

namespace detail {

bool add_overflow_edge(Node& from, std::uint32_t count, TaggedNode to) {
  const std::uint32_t beyond = count - Node::kInlineSuccessors;
  const std::uint32_t slot = beyond % SuccessorBlock::kSlots;
  if (slot == 0) {
    SuccessorBlock* block = from.scope->take_block();
    if (beyond == 0) {
      from.overflow = block;
    } else {
      from.overflow->tail->next = block;
    }
    from.overflow->tail = block;
  }
  from.overflow->tail->slots[slot] = to;
  // release: partner of the closing exchange in complete_node (graph/completion.hpp); acquire on
  // failure: what the closer wrote before it closed (the failure) is visible.
  return from.successor_state.compare_exchange_strong(count, count + 1, std::memory_order_release,
                                                      std::memory_order_acquire);
}

void inherit_failure(const NodeRef& from, Node& to) {
  if (const Failure* failure = to.scope->failure_of(from)) pass_failure(*failure, to);
}

}  // namespace detail

namespace {

constexpr std::align_val_t kAlign{64};
constexpr std::size_t kBlockAlign = 64;
constexpr int kBlocksPerSlab = 32;

Node* place_node(void* memory, int size_class) {
  Node* node = new (memory) Node;
  node->size_class = static_cast<std::uint8_t>(size_class);
  node->successor_state.store(Node::kClosed, std::memory_order_relaxed);
  return node;
}

}  // namespace

NodePool::~NodePool() {
  for (const Slab& slab : slabs_) ::operator delete(slab.begin, kAlign);
  for (void* slab : block_slabs_)
    free_surely(slab, kBlocksPerSlab * sizeof(SuccessorBlock), kBlockAlign);
}

Node* NodePool::carve(int size_class) {
  int& current = current_[size_class];
  if (current == 0 || slabs_[current - 1].used == slabs_[current - 1].end) add_slab(size_class);
  Slab& slab = slabs_[current - 1];
  Node* node = place_node(slab.used, size_class);
  slab.used += slab.stride;
  return node;
}

void NodePool::add_slab(int size_class) {
  const std::size_t stride = sizeof(Node) + payload_of(size_class);
  std::size_t& bytes = slab_bytes_[size_class];
  bytes = std::clamp(2 * bytes, kMinSlab, kMaxSlab);
  const std::size_t count = std::max<std::size_t>(1, bytes / stride);
  slabs_.reserve(slabs_.size() + 1);  // nothing throws once the slab is there
  auto* begin = static_cast<std::byte*>(::operator new(count* stride, kAlign));
  slabs_.push_back({begin, begin, begin + count * stride, stride});
  current_[size_class] = static_cast<int>(slabs_.size());
  bytes_ += count * stride;
}

void NodePool::put_blocks(Node& node) {
  for (SuccessorBlock* block = node.overflow; block;) {
    SuccessorBlock* next = block->next;
    block->next = free_blocks_;
    free_blocks_ = block;
    block = next;
  }
  node.overflow = nullptr;
}

SuccessorBlock* NodePool::take_block() noexcept {
  if (!free_blocks_) {
    auto* slab = static_cast<SuccessorBlock*>(
        allocate_surely(kBlocksPerSlab * sizeof(SuccessorBlock), kBlockAlign));
    block_slabs_.push_back(slab);
    bytes_ += kBlocksPerSlab * sizeof(SuccessorBlock);
    for (int i = 0; i < kBlocksPerSlab; ++i) {
      slab[i].next = free_blocks_;
      free_blocks_ = slab + i;
    }
  }
  SuccessorBlock* block = free_blocks_;
  free_blocks_ = block->next;
  block->next = nullptr;
  return block;
}

}  // namespace refrain::exec
