#pragma once
// A node of the task graph: one operation (a task, a copy, a fill, a fold, ...) and its place in the
// order of operations.
//
// Life of a node. The thread that owns a scope (graph/scope.hpp) allocates the node and publishes it with
// its predecessors (Executor::publish), to whose lists of successors it is added. When its count of
// unfinished predecessors reaches zero it is ready and some thread runs it. When it has run, that thread *completes*
// it: the list of successors is closed and each successor's count is lowered. The memory goes back to the owner through
// the scope's return list; only the owner reuses it.
//
// Who writes what. The first cache line is written by the owner before publication. From then on it is read-only until
// the node has come back, but for `next`, `ahead` and `manual`, and for `run`, `flags`, `priority` and `processor` of an
// operation that completes later; whoever holds the ready or the complete node writes these. The second line is shared:
// the owner appends successors, the threads that complete predecessors lower `pending`, the completing thread closes the
// list.
//
// The list of successors has one producer, the owner, and ends once. The owner writes slot n and then
// moves `successor_state` from n to n + 1 with a compare-and-swap, which fails only when the list has
// been closed; the completer exchanges kClosed in and may then read the slots below the count it got.
// The slots beyond the inline ones are in blocks that the owner chains at the tail, so that the
// completer never reads a pointer that the owner could still write.
//
// NodePool: the memory of a scope's nodes and blocks. Nodes have a few sizes; the free ones of each size are a list, last
// in first out, so that the warmest node is used next. Only the scope's owner calls it. Nothing is asked of the system
// once as many nodes of each size exist as the program ever has in flight. Nothing is given back before the end: a
// NodeRef may point to a node long after it has come back. Cost: a few instructions per node.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <limits>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sure_memory.hpp"
#include "refrain/where.hpp"

namespace refrain::exec {

class Scope;
struct Execution;
struct Node;

enum class NodeKind : std::uint8_t { task, copy, fill, fold, access, detach, other };

/// What reports, timelines and error texts say of a node. Outlives every node that points to it.
struct NodeInfo {
  std::string name;  ///< task name, or what the runtime does ("copy", "fence")
  Where where;
  friend bool operator==(const NodeInfo&, const NodeInfo&) = default;
};

/// "task 'NAME' launched at FILE:LINE": what every message calls a launch.
std::string launch_name(std::string_view task, const Where& where);
/// What messages call an operation: a launch, "the inline access 'NAME' opened at FILE:LINE", or
/// "operation 'NAME' launched at FILE:LINE"; without the line where the runtime itself made it.
std::string operation_name(const NodeInfo* info, NodeKind kind);

/// Names an operation for as long as the program runs: a node and the sequence number it had then.
/// When the numbers differ the operation is complete and its node reused.
struct NodeRef {
  Node* node = nullptr;
  std::uint64_t seq = 0;
  explicit operator bool() const { return node != nullptr; }
  friend bool operator==(const NodeRef&, const NodeRef&) = default;
};

/// Successors beyond the inline ones. Owned by the node, recycled by the scope's pool.
struct SuccessorBlock {
  static constexpr int kSlots = 14;
  /// Read by the completer only when the count says that it is there.
  SuccessorBlock* next = nullptr;
  SuccessorBlock* tail = nullptr;  ///< in the first block: the last one (owner only)
  Node* slots[kSlots] = {};
};

/// Where a node with two ends stands: a kManual node between becoming ready (granted) and being ended by its owner; a
/// kCompletesLater node between the end of its run (granted) and its completion from outside, as a failure or not.
enum class ManualState : std::uint8_t { waiting, granted, ended, failed };

struct alignas(64) Node {
  // --- written by the owner before publication ---------------------------------------------------
  /// Launch order within the scope; never repeats, so it also names the operation.
  std::uint64_t seq = 0;
  Scope* scope = nullptr;
  union {
    /// Runs the operation. Also called when `Execution::failure` is set: then it must not run the body
    /// but still release what the node holds. What it throws, the scope tells (graph/failure.hpp).
    void (*run)(Node&, Execution&) = nullptr;
    /// Once complete, in the scope's return list: a node some places further on, or null.
    Node* ahead;
  };
  const NodeInfo* info = nullptr;
  void* record = nullptr;  ///< for the layer that made the node (its launch record)
  Node* next = nullptr;    ///< link in whichever single list the node is in (ready, returned, free)
  std::int16_t priority =
      0;  ///< higher first, kUrgent first of all; 0 is the common case and costs nothing
  /// Queue: 0 any cpu worker, otherwise a dedicated processor's id + 1.
  std::uint16_t processor = 0;
  NodeKind kind = NodeKind::task;
  std::uint8_t flags = 0;       ///< NodeFlag bits
  std::uint8_t size_class = 0;  ///< of the node's memory (NodePool)
  std::atomic<ManualState> manual{ManualState::waiting};
  /// Of a kReducer node: how many folds it has (0 means 1). Of a fold: how many sequence numbers
  /// back its reducer is (set both through graph/reducer_gate.hpp).
  std::uint32_t reduction = 0;

  // --- shared ------------------------------------------------------------------------------------
  static constexpr int kInlineSuccessors = 6;
  /// In `pending`: the predecessors are not known yet.
  static constexpr std::int32_t kUnpublished = -1;
  static constexpr std::uint32_t kClosed = 1u << 31;  ///< in `successor_state`: complete
  alignas(64) std::atomic<std::int32_t> pending{kUnpublished};
  std::atomic<std::uint32_t> successor_state{0};  ///< number of successors | kClosed
  Node* successors[kInlineSuccessors] = {};
  SuccessorBlock* overflow = nullptr;

  /// The bytes after the node: arguments of the operation, laid out by the layer that made it.
  void* payload() { return this + 1; }
  template <class T>
  T& payload_as() {
    return *static_cast<T*>(payload());
  }
};
static_assert(sizeof(Node) == 128, "a node is two cache lines");

/// Of what other shards may wait for: it runs before everything else that is ready, as it takes little time.
inline constexpr std::int16_t kUrgent = std::numeric_limits<std::int16_t>::max();

enum NodeFlag : std::uint8_t {
  kReducer = 1,  ///< needs an accumulator slot before it starts (graph/reducer_gate.hpp)
  kFold = 2,     ///< gives an accumulator slot back when it completes
  kManual = 4,   ///< does not complete when run; Executor::complete_manual ends it (inline access)
  kProxy = 8,    ///< stands for a replayed operation and completes with it (graph/replay.hpp)
  kPrecondition = 16,    ///< holds a replayed operation back (Replays::add_preconditions)
  kCompletesLater = 32,  ///< set by its run: somebody else completes it (LaterCompletion)
  kFailed = 64,  ///< before its run, or before what is left of it: its scope has the failure
  /// What was to make it was interrupted (Scope::give_up_unpublished): it has failed, and may lack arguments.
  kGivenUp = 128,
  /// No operation: the replayed one is counted (Window::operations).
  kAuxiliary = kProxy | kPrecondition,
};

/// Owner thread only. True once a kManual node has become ready (acquire: what its predecessors wrote
/// is visible).
inline bool is_granted(const Node& node) {
  // seq_cst: partner of the exchange in special_ready() (graph/completion.hpp) and of Notifier::prepare.
  return node.manual.load(std::memory_order_seq_cst) == ManualState::granted;
}

/// Owner thread only. True once the operation has completed (acquire: what it wrote is visible).
inline bool is_complete(const NodeRef& ref) {
  // seq_cst: a thread that is about to sleep asks this after it has registered with the Notifier; the
  // partner is the exchange in complete_node() (graph/completion.hpp), which precedes the look for sleepers.
  return ref.node->seq != ref.seq ||
         (ref.node->successor_state.load(std::memory_order_seq_cst) & Node::kClosed) != 0;
}

/// Calls visit(node) for each of a list (Node::next). From then on the node may be in another one.
template <class Visit>
inline void for_each_linked(Node* first, Visit visit) {
  while (first != nullptr) visit(*std::exchange(first, first->next));
}

/// Calls visit(node) for each of the first `count` successors.
template <class Visit>
inline void for_each_successor(const Node& node, std::uint32_t count, Visit visit) {
  const std::uint32_t in_node = count < Node::kInlineSuccessors ? count : Node::kInlineSuccessors;
  for (std::uint32_t i = 0; i < in_node; ++i) visit(*node.successors[i]);
  if (count > Node::kInlineSuccessors) [[unlikely]] {
    const SuccessorBlock* block = node.overflow;
    for (std::uint32_t i = 0, left = count - Node::kInlineSuccessors; left > 0; --left, ++i) {
      if (i == SuccessorBlock::kSlots) block = block->next, i = 0;
      visit(*block->slots[i]);
    }
  }
}

/// For add_edge: appends behind the inline slots; false when the list is closed.
bool add_overflow_edge(Node& from, std::uint32_t count, Node& to);

/// Owner thread only, while `to` is being published (graph/completion.hpp). Adds the edge unless `from` is
/// complete; says whether it did.
inline bool add_edge(const NodeRef& from, Node& to) {
  Node& node = *from.node;
  if (node.seq != from.seq) return false;
  // acquire: partner of the closing exchange, what a complete node wrote is visible.
  std::uint32_t count = node.successor_state.load(std::memory_order_acquire);
  if ((count & Node::kClosed) != 0) return false;
  if (count >= Node::kInlineSuccessors) return add_overflow_edge(node, count, to);
  node.successors[count] = &to;
  // release: partner of the closing exchange, which makes the slot readable to the completer.
  return node.successor_state.compare_exchange_strong(count, count + 1, std::memory_order_release,
                                                      std::memory_order_acquire);
}

class NodePool {
 public:
  static constexpr int kClasses = 24;
  static constexpr std::size_t kFirstBuffer = 4096;  ///< a nested scope has few nodes

  /// 64, 192, 448, 960, ... bytes: with its 128 bytes a node is a multiple of 64.
  static constexpr std::size_t payload_of(int size_class) {
    return 64 * ((std::size_t{2} << size_class) - 1);
  }
  static int class_of(std::size_t payload_bytes) {
    const std::size_t lines = std::max<std::size_t>(1, (payload_bytes + 63) / 64);
    return static_cast<int>(std::bit_width(lines)) - 1;
  }

  /// A free node of the class without asking the system, or null.
  Node* take_free(int size_class) {
    Node* node = free_[size_class];
    if (node) free_[size_class] = node->next;
    return node;
  }
  /// A node of the class that has not been used before. Its list of successors is closed.
  Node* carve(int size_class);
  /// Takes a node back, with its overflow blocks.
  void put(Node& node) {
    if (node.overflow) put_blocks(node);
    node.next = free_[node.size_class];
    free_[node.size_class] = &node;
  }
  /// Always there: an edge is never lost.
  SuccessorBlock* take_block() noexcept;

  /// Every node ever handed out.
  [[nodiscard]] std::span<Node* const> nodes() const { return nodes_; }
  /// Of all nodes and blocks. Cost: a walk.
  [[nodiscard]] std::size_t bytes() const;

 private:
  void put_blocks(Node& node);

  Node* free_[kClasses] = {};
  SuccessorBlock* free_blocks_ = nullptr;
  std::pmr::monotonic_buffer_resource memory_{kFirstBuffer};
  std::pmr::vector<Node*> nodes_{&memory_};
  std::forward_list<SuccessorBlock, SureAllocator<SuccessorBlock>> blocks_;
};

}  // namespace refrain::exec
