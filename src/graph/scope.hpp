#pragma once
// A scope: the execution side of a context. It holds the nodes that the context has launched and that have not come
// back, the pool of their memory, and the window that bounds what is in flight, replays included. Scopes form a tree: a
// task that launches tasks has a scope below the scope of its own node.
//
// The *owner* is the thread that runs the context's program: the launching thread for the root scope, the thread that
// runs the parent task's body for a nested one. Only the owner calls members, except where it says "any thread": the
// return list and the reducer gate.
//
// Cost: a launch takes a node from a free list and fills two cache lines; nothing is allocated in the steady state.
//
// Window: what a scope has in flight, and how much that may be. In flight are nodes, from their allocation until they
// have come back, and operations of replays that have no node. The window bounds the operations, by its size, or by the
// larger bound that replays ask for while any are in flight. Operations that the owner itself holds open do not count,
// since the owner could not wait for them.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "graph/failure.hpp"
#include "graph/node.hpp"
#include "graph/reducer_gate.hpp"

namespace refrain::exec {

struct Executed;
class Executor;
class Replays;

class Window {
 public:
  /// A thread that is alone runs a few hundred nodes at a time: their memory is still in the cache.
  static constexpr std::size_t kBurst = 256;

  explicit Window(std::uint32_t size) : size_(std::max(1U, size)), most_(size_) { look_at(0); }

  /// A node is launched: its number.
  std::uint64_t launch() {
    ++nodes_;
    return ++launched_;
  }
  /// Numbers for the operations of a replay: the first of them.
  std::uint64_t reserve(std::uint32_t count) {
    launched_ += count;
    return launched_ - count + 1;
  }
  /// A node with such a number is made.
  void launch_reserved() { ++nodes_; }
  /// A node in flight is no operation.
  void mark_auxiliary() { --excess_; }
  void came_back(const Node& node) {
    --nodes_;
    if ((node.flags & kAuxiliary) != 0) [[unlikely]]
      ++excess_;
  }
  /// Changes the number of operations in flight that have no node, those of replays that the owner has issued whole.
  void count_replayed(std::ptrdiff_t change) { excess_ += static_cast<std::size_t>(change); }
  /// Changes the number of operations (kManual) that the owner itself holds open.
  void hold_open(int change) {
    held_ += static_cast<std::size_t>(change);
    beyond_ = 0;  // what waited for it goes on
    look_at(limit_ + static_cast<std::size_t>(change));
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  /// The number given last: of a node, or of a replay's last operation.
  [[nodiscard]] std::uint64_t launched() const { return launched_; }
  [[nodiscard]] std::size_t nodes() const { return nodes_; }
  [[nodiscard]] std::size_t held() const { return held_; }
  /// Operations in flight, as of the last look: nodes, and replayed operations without one. Of the present replays only
  /// operations with a node count.
  [[nodiscard]] std::size_t operations() const { return nodes_ + excess_; }

  /// Whether the scope has to look for room (Scope::throttle).
  [[nodiscard]] bool full() const { return operations() >= limit_; }
  /// When so many operations are in flight the scope looks again.
  void look_at(std::size_t operations) {
    limit_ = std::min(most_ + held_ + beyond_, std::max(kBurst + held_, operations));
  }
  /// Whether `more` operations fit beside those in flight.
  [[nodiscard]] bool has_room(std::size_t more) const {
    return operations() + more <= most_ + held_ + beyond_;
  }
  /// The bound from here on, at least the size.
  void bound(std::size_t most) { most_ = most; }
  [[nodiscard]] bool is_widened() const { return most_ > size_; }
  /// Raises the bound by `more` operations and a window: only the owner could complete what is in flight, so a wait would
  /// not end.
  void go_beyond(std::size_t more) {
    beyond_ = operations() + more - most_ - held_ + size_;
    look_at(operations() + more + size_);
  }
  void stay_within() { beyond_ = 0; }

 private:
  std::uint64_t launched_ = 0;
  std::size_t nodes_ = 0;
  std::size_t excess_ = 0;  ///< operations without a node, less nodes that are none; may wrap
  const std::size_t size_;
  std::size_t most_;
  std::size_t beyond_ = 0;
  std::size_t held_ = 0;
  std::size_t limit_ = 0;  ///< at most the bound
};

/// The context whose operations a scope holds, as the graph knows it.
class ScopeUser {
 public:
  virtual ~ScopeUser() = default;
  /// An operation has run. From the thread that ran it; if the executor tells its users (Executor::tell_users).
  virtual void executed(const Executed& ran) = 0;
  /// The owner has taken a node back, and will use it again: releases its `record`.
  virtual void reclaim(Node& node) = 0;
  /// What a message adds to the name of an operation with this number that the owner holds open or waits to open:
  /// " to field 'x' of region 0". Called while the owner waits.
  [[nodiscard]] virtual std::string about_held(std::uint64_t seq) const = 0;
  /// An operation has failed that other shards have no name for, if there are any. Any thread.
  virtual void failed_here(const Failure& /*failure*/) noexcept {}
};

class Scope {
 public:
  /// `parent` null: the root scope. A nested scope is made and ended by the thread that runs the
  /// parent task's body.
  Scope(Executor& executor, Scope* parent, std::uint32_t window);
  ~Scope();  ///< nothing may be in flight

  /// Waits (and helps) while the window is full. Called between operations, when the owner holds no
  /// node that it has not published; an operation of several nodes may go beyond the window a little.
  void throttle() {
    if (window_.full()) [[unlikely]]
      make_room(1, false);
  }

  /// A fresh node with `payload_bytes` behind it, next sequence number, not published, no successors.
  /// Never waits. Allocates nothing in the steady state.
  Node& allocate(std::size_t payload_bytes) {
    return allocate_class(NodePool::class_of(payload_bytes));
  }
  /// The same, the size having been looked up.
  Node& allocate_class(int size_class) {
    Node* node = take(size_class);
    node->seq = window_.launch();
    return *node;
  }
  /// A fresh node with one of the numbers that Window::reserve has given.
  Node& allocate_reserved(std::size_t payload_bytes, std::uint64_t seq) {
    Node* node = take(NodePool::class_of(payload_bytes));
    window_.launch_reserved();
    node->seq = seq;
    return *node;
  }
  /// Called before a replay begins. Waits, and helps, until `more` operations fit beside those in flight, `most` in all.
  /// Later launches are bounded by `most`, too, while replays are in flight. Does not wait for operations that the
  /// owner holds back itself.
  void make_room_to_replay(std::size_t most, std::size_t more) {
    window_.bound(most);
    if (!window_.has_room(more)) [[unlikely]]
      make_room(more, true);
  }
  /// Names an operation of a replay that is complete.
  static NodeRef complete_ref(std::uint64_t seq) { return {&nobody_, seq}; }
  /// Replays of a template in this scope: drain waits for them, too, and detaches them when they are at rest.
  void attach(Replays& replays) {
    detach(replays);
    replays_.push_back(&replays);
  }
  void detach(Replays& replays) { std::erase(replays_, &replays); }
  [[nodiscard]] std::span<Replays* const> replays() const { return replays_; }

  /// Null: there is none. An executor that tells its users wants one of each scope.
  ScopeUser* user = nullptr;

  /// The owner is just now running operations of a replay in order: it launches nothing meanwhile.
  bool runs_in_order = false;

  /// Takes completed nodes back (owner). Returns how many are still in flight.
  std::size_t collect();

  /// Waits until nothing is in flight but what the owner itself holds open.
  void drain(const NodeInfo* waiter);

  /// An exception has come between the making of nodes and their publication. They complete without having run,
  /// and fail with it. What was decided in between is lost: nothing more may be launched.
  void give_up_unpublished(const std::exception_ptr& error) noexcept;

  /// The failures of its operations that nobody has been told of. All are there when nothing is in flight.
  [[nodiscard]] FailureLog& failures() { return failures_; }

  /// Never repeats in the process.
  [[nodiscard]] std::uint64_t identity() const { return identity_; }
  [[nodiscard]] Window& window() { return window_; }
  /// Nodes, as of the last collect.
  [[nodiscard]] std::size_t in_flight() const { return window_.nodes(); }
  [[nodiscard]] Scope* parent() const { return parent_; }
  /// The memory of the nodes. Owner.
  [[nodiscard]] NodePool& pool() { return pool_; }

  // --- for the executors ---------------------------------------------------------------------------

  /// Scopes above this one.
  [[nodiscard]] int depth() const {
    int depth = 0;
    for (const Scope* above = parent_; above != nullptr; above = above->parent_) ++depth;
    return depth;
  }
  /// This scope or one below `other`.
  [[nodiscard]] bool is_within(const Scope& other) const {
    const Scope* scope = this;
    while (scope != nullptr && scope != &other) scope = scope->parent_;
    return scope != nullptr;
  }
  /// The task whose body made this scope; null for the root.
  [[nodiscard]] const Node* task() const { return task_; }
  void set_task(const Node* task) { task_ = task; }
  /// The executor's word about the owner: threaded, its thread's slot (Executor::open); seeded, the actor that waits
  /// in this scope, null: nobody.
  [[nodiscard]] void* owner() const { return owner_; }
  void set_owner(void* owner) { owner_ = owner; }
  [[nodiscard]] Executor& executor() const { return executor_; }
  /// Reducers of this scope. Any thread.
  ReducerGate& gate() { return gate_; }

  /// Owner: a node that the owner completed itself.
  void give_back_own(Node& node) {
    node.next = own_returns_;
    own_returns_ = &node;
  }
  /// Any other thread: completed nodes. The scope may end at once.
  void give_back(std::span<Node* const> nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      nodes[i]->next = i + 1 < nodes.size() ? nodes[i + 1] : nullptr;
      nodes[i]->ahead = i + kAhead < nodes.size() ? nodes[i + kAhead] : nullptr;
    }
    Node* head = returns_.load(std::memory_order_relaxed);
    do {
      nodes.back()->next = head;
      // release: partner of the acquire in collect, the nodes are done with. seq_cst: precedes the look
      // for sleeping waiters; partner: Notifier::prepare and the load in collect.
    } while (!returns_.compare_exchange_weak(head, nodes.front(), std::memory_order_seq_cst,
                                             std::memory_order_relaxed));
  }

  /// Calls visit(node) for each node that has been allocated and is not complete. Only while no other
  /// thread does anything with this scope.
  template <class Visit>
  void for_each_live(Visit visit) const {
    for (Node* node : pool_.nodes())
      if ((node->successor_state.load(std::memory_order_relaxed) & Node::kClosed) == 0)
        visit(*node);
  }

 private:
  /// How far the owner looks ahead while it takes nodes back that another thread has written: their
  /// lines come one by one otherwise, each when the one before has told its address.
  static constexpr std::size_t kAhead = 4;

  Node* take(int size_class) {
    Node* node = pool_.take_free(size_class);
    if (!node) [[unlikely]]
      node = take_slow(size_class);
    node->record = nullptr;
    node->run = nullptr;
    node->info = nullptr;
    node->priority = 0;
    node->processor = 0;
    node->kind = NodeKind::task;
    node->flags = 0;
    node->manual.store(ManualState::waiting, std::memory_order_relaxed);
    node->reduction = 0;
    node->pending.store(Node::kUnpublished, std::memory_order_relaxed);
    node->successor_state.store(0, std::memory_order_relaxed);
    return node;
  }
  Node* take_slow(int size_class);
  void take_back(Node& node);
  bool replays_idle();
  void make_room(std::size_t more, bool to_replay);

  static inline std::atomic<std::uint64_t> last_identity_{0};

  Executor& executor_;
  Scope* const parent_;
  const std::uint64_t identity_ = last_identity_.fetch_add(1, std::memory_order_relaxed) + 1;
  void* owner_ = nullptr;
  const Node* task_ = nullptr;
  Window window_;
  Node* own_returns_ = nullptr;
  NodePool pool_;
  FailureLog failures_;
  std::vector<Replays*> replays_;
  static inline Node nobody_;  ///< of no sequence number

  alignas(64) std::atomic<Node*> returns_{nullptr};  ///< written by completing threads
  alignas(64) ReducerGate gate_;
};

}  // namespace refrain::exec
