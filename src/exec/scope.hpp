#pragma once
// A scope is the execution side of a context: the nodes that one context has launched and not yet
// got back, the pool they come from, and the window that bounds them. Scopes form a tree: a task
// that launches tasks has a scope of its own below the scope that its own node belongs to.
//
// Owner: the thread that runs the context's program (the launching thread for the root, the thread
// that runs the parent task's body for a nested one). All members are the owner's, except the return
// list (written by completing threads) and, for nested scopes, the ready queue.

#include <cstddef>
#include <cstdint>

#include "exec/node.hpp"

namespace refrain::exec {

class Executor;

class Scope {
 public:
  /// `parent` null: the root scope. A nested scope is made and ended by the thread that runs the
  /// parent task's body.
  Scope(Executor& executor, Scope* parent, std::uint32_t window);
  ~Scope();  ///< nothing may be in flight
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  /// A fresh node with `payload_bytes` behind it, next sequence number, pending = kBias, no successors.
  /// Waits (and helps) when the window is full. Allocates nothing in the steady state.
  Node& allocate(std::size_t payload_bytes);

  /// Called for each node when the owner takes it back, before it is reused (releases `origin`).
  void (*reclaim)(Node&) = nullptr;

  /// Takes completed nodes back (owner). Returns how many are still in flight.
  std::size_t collect();

  /// Waits until nothing is in flight.
  void drain(const NodeInfo* waiter);

  /// The failure with the lowest sequence number among those not taken yet (tasks that threw
  /// themselves, not those that inherited it); null if none. Owner; exact when nothing is in flight.
  const Failure* take_failure();

  /// After a failed node was reclaimed: the failure that its data carries, null if it did not fail.
  /// Consulted by add_edge for references to reused nodes; costs one load while nothing ever failed.
  const Failure* failure_of(const NodeRef& ref) const;

  [[nodiscard]] std::uint64_t launched() const;   ///< nodes so far
  [[nodiscard]] std::size_t in_flight() const;    ///< as of the last collect
  [[nodiscard]] Scope* parent() const;
};

}  // namespace refrain::exec
