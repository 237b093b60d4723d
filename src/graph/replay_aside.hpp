#pragma once
// What only some replays need, beside the slot: failures of operations, nodes of the ordinary graph that
// come after them, nodes of the heavy ones.
//
// Exits. Outside its replay an operation is named by a *stand-in*, a node of the ordinary graph that
// completes when the operation is done. The owner makes it; who claims it (`claim`, one exchange)
// completes it. The thread that has done the operation stores `done` and looks at kExits; the owner sets
// kExits, puts the stand-in into the table and looks at `done`. A thread that sees kExits claims by an
// exchange on the table's entry, and so does the owner, so the later of the two exchanges sees what the
// other one's thread had done: the claim is made. Neither is made only if the thread does not see kExits
// yet and the owner not yet `done`; ExitBoard says who finds it then.
//
// Threads. fail, threw, failure_of, claim: any. `heavy`, recorded, scope: read by any; the owner writes
// `heavy` before it issues the operations, and the watermark publishes it. All else: the owner.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/sure_memory.hpp"
#include "graph/failure.hpp"
#include "graph/replay.hpp"

namespace refrain::exec {

class PathOrder;
class Template;

class ReplayAside {
 public:
  ReplayAside(Replay& replay, const Template& recorded, Scope& scope, PathOrder* path_order)
      : heavy(recorded.heavy().size(), nullptr),
        order(path_order),
        replay_(replay),
        template_(recorded),
        scope_(scope) {}

  /// Of each heavy operation that is issued: its node.
  std::vector<Node*> heavy;
  /// Owner: the chain was left here, the replay that a slot is reserved for will not come.
  bool ends_chain = false;
  /// Owner: its operations are run in order, without counts (graph/replays.hpp).
  bool in_order = false;
  /// Gets the durations of a replay with kTimed.
  PathOrder* const order;
  /// Owner: of so many operations its scope has been told (Scope::count_replayed).
  std::uint32_t counted = 0;

  [[nodiscard]] const Template& recorded() const { return template_; }
  [[nodiscard]] Scope& scope() const { return scope_; }

  /// Gives `failure` to an operation that has not started, unless it carries an earlier one.
  void fail(std::uint32_t index, const Failure& failure);
  /// The operation itself has thrown `failure`.
  void threw(std::uint32_t index, FailureRef failure);
  /// Null if it carries none. Valid until the slot is used again.
  const Failure* failure_of(std::uint32_t index) const;
  /// Calls visit(index, failure) for each operation that carries one.
  template <class Visit>
  void for_each_failure(Visit visit) const {
    // acquire: partner of set_event.
    if ((replay_.events.load(std::memory_order_acquire) & kFailures) == 0) return;
    const std::lock_guard lock(mutex_);
    for (const auto& [index, failure] : failures_) visit(index, failure);
  }

  /// The stand-in of an operation, null if it has none yet.
  [[nodiscard]] Node* stand_in(std::uint32_t index) const {
    return exits_ ? exits_[index].named : nullptr;
  }
  /// Before the first: may throw.
  void prepare_exits();
  void open_exit(std::uint32_t index, Node& stand_in) noexcept;
  /// Takes the stand-in to complete it, with the operation's failure. Null: there is none, or it is taken.
  Node* claim(std::uint32_t index);

  /// The slot is about to be used again.
  void clear();

 private:
  struct Exit {
    std::atomic<Node*> open{nullptr};
    Node* named = nullptr;
  };

  void set_event(ReplayEvent event) {
    // release: partner of the acquire by those who find the event.
    replay_.events.fetch_or(event, std::memory_order_release);
  }

  Replay& replay_;
  const Template& template_;
  Scope& scope_;
  mutable std::mutex mutex_;
  using Failures = std::map<std::uint32_t, FailureRef, std::less<>,
                            SureAllocator<std::pair<const std::uint32_t, FailureRef>>>;
  Failures failures_;              // under mutex_
  std::unique_ptr<Exit[]> exits_;  // made with the first one
  std::vector<std::uint32_t, SureAllocator<std::uint32_t>> opened_;
};

}  // namespace refrain::exec
