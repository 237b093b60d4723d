#pragma once
// The text of a Deadlock: the chain of who waits for whom.

#include <string>

#include "exec/node.hpp"

namespace refrain::exec {

/// What a thread waits for in Executor::wait.
struct WaitRecord {
  const Scope* scope = nullptr;
  NodeRef awaited;
  const NodeInfo* waiter = nullptr;
  WaitRecord* outer = nullptr;  ///< of the same thread, when waits are nested
};

/// Follows unfinished predecessors from what is awaited to where the chain ends. Only while no other
/// thread touches the scope. Linear in the number of nodes in flight times the length of the chain.
std::string describe_deadlock(const WaitRecord& wait);

}  // namespace refrain::exec
