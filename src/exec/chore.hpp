#pragma once
// Work beside the task graph: computed in time that is left over, and nobody waits for it. What the graph needs
// to go on is a node; mining a history for repeats is a chore.

namespace refrain::exec {

/// Given to Executor::post. It owns its data, and has an atomic of its own by which the poster may see that it is
/// done. It may run at the same time as others and outlive the context that posted it.
class Chore {
 public:
  virtual ~Chore() = default;
  /// At most once, on a thread that is in no body. Launches nothing and waits for nothing.
  virtual void run() noexcept = 0;
};

}  // namespace refrain::exec
