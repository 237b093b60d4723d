#pragma once
// The text of a Deadlock: the chain of who waits for whom.

#include <string>

#include "graph/node.hpp"

namespace refrain::exec {

/// What a thread waits for in Executor::wait.
struct WaitRecord {
  const Scope* scope = nullptr;
  NodeRef awaited;
  const NodeInfo* waiter = nullptr;
  WaitRecord* outer = nullptr;  ///< of the same thread, when waits are nested
};

/// Follows unfinished predecessors from what is awaited to where the chain ends, through operations of
/// replays as through the nodes of the ordinary graph. Cost: the nodes and edges in flight, times a logarithm.
///
/// Only when nothing runs and nothing is ready, so that everything it reads is at rest: the lists of the
/// scope's owner and what threads that complete operations write. The threads of the threaded executor all
/// sleep, and took the notifier's lock to do so, which the caller holds: what they did is visible. The
/// seeded executor has one thread. The owner itself is in Executor::wait, which replays call only where
/// their lists are whole. A thread asleep is not in the middle of completing anything: whatever is done
/// has `done` set, its successors' counts lowered and its proxies claimed (graph/replay_extras.hpp).
std::string describe_deadlock(const WaitRecord& wait);

}  // namespace refrain::exec
