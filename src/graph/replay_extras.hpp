#pragma once
// What only some replays need, beside the slot: failures of operations, nodes of the ordinary graph that
// come after them, nodes of the heavy ones.
//
// Exits. Outside its replay an operation is named by a *stand-in*, a node of the ordinary graph that
// completes when the operation is done. The owner makes it; who claims it (`claim`, one exchange)
// completes it. The thread that has done the operation stores `done` and looks at kProxies; the owner sets
// kProxies, puts the stand-in into the table and looks at `done`. A thread that sees kProxies claims by an
// exchange on the table's entry, and so does the owner, so the later of the two exchanges sees what the
// other one's thread had done: the claim is made. Neither is made only if the thread does not see kProxies
// yet and the owner not yet `done`; ProxyRegistry says who finds it then.
//
// Threads. fail, threw, failure_of, claim: any. `heavy`, recorded, scope: read by any; the owner writes
// `heavy` before it issues the operations, and the watermark publishes it. All else: the owner.
//
// The exits of replays (graph/replay_extras.hpp) that may have been missed: by the thread that did the
// operation, because it did not see yet that there are exits, and by the owner, because it did not see
// yet that the operation was done.
//
// No exit is lost. The owner writes it down here before it looks at `done` (`open`), and everybody looks
// through the board before going to sleep. Both take the lock. When the owner is first, the thread that
// did the operation finds the exit when it looks; when that thread is first, the owner sees `done`. So
// once all others sleep, an exit that is still open is that of an operation that is not done.
//
// Threads: any. A replay stays as it is while exits of it are here: the owner calls `close`, which claims
// what is left, before it uses the slot again. Cost: a lock per exit and per look; a look goes through all
// exits of replays that are not complete.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/sure_memory.hpp"
#include "graph/failure.hpp"
#include "graph/replay.hpp"

namespace refrain::exec {

class PathOrder;
class Template;

class ReplayExtras {
 public:
  ReplayExtras(Replay& replay, const Template& recorded, Scope& scope, PathOrder* path_order)
      : nodes(recorded.with_node().size(), nullptr),
        order(path_order),
        replay_(replay),
        template_(recorded),
        scope_(scope) {}

  /// Of each heavy operation that is issued: its node.
  std::vector<Node*> nodes;
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
  [[nodiscard]] Node* proxy(std::uint32_t index) const {
    return proxies_ ? proxies_[index].named : nullptr;
  }
  /// Before the first: may throw.
  void prepare_proxies();
  void add_proxy(std::uint32_t index, Node& proxy) noexcept;
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
  Failures failures_;                // under mutex_
  std::unique_ptr<Exit[]> proxies_;  // made with the first one
  std::vector<std::uint32_t, SureAllocator<std::uint32_t>> opened_;
};

class ProxyRegistry {
 public:
  /// Owner: operation `index` has an exit. Returns its stand-in if the operation is done and nobody else has
  /// claimed it.
  Node* open(Replay& replay, std::uint32_t index) {
    const std::lock_guard lock(mutex_);
    open_[&replay].push_back(index);
    return replay.is_done(index) ? replay.extras->claim(index) : nullptr;
  }

  /// Claims the stand-ins of all operations that are done: calls finish(node) for each, without the lock.
  template <class Finish>
  void look(Finish finish) {
    Node* claimed = nullptr;
    {
      const std::lock_guard lock(mutex_);
      for (auto& [replay, exits] : open_) {
        std::erase_if(exits, [&, at = replay](std::uint32_t index) {
          if (!at->is_done(index)) return false;
          claim(*at, index, claimed);
          return true;
        });
      }
    }
    finish_all(claimed, finish);
  }
  /// The same for the replay's, which is complete.
  template <class Finish>
  void close(Replay& replay, Finish finish) {
    Node* claimed = nullptr;
    {
      const std::lock_guard lock(mutex_);
      const auto exits = open_.extract(&replay);
      if (exits.empty()) return;
      for (const std::uint32_t index : exits.mapped()) claim(replay, index, claimed);
    }
    finish_all(claimed, finish);
  }

 private:
  /// Puts the stand-in, if nobody has claimed it, before the others, which are linked through `next`.
  static void claim(Replay& replay, std::uint32_t index, Node*& claimed) {
    Node* node = replay.extras->claim(index);
    if (node == nullptr) return;
    node->next = std::exchange(claimed, node);
  }
  template <class Finish>
  static void finish_all(Node* claimed, Finish finish) {
    while (claimed != nullptr) {
      Node& node = *claimed;
      claimed = node.next;
      finish(node);
    }
  }

  std::mutex mutex_;
  using Operations = std::vector<std::uint32_t, SureAllocator<std::uint32_t>>;
  std::unordered_map<Replay*, Operations, std::hash<Replay*>, std::equal_to<>,
                     SureAllocator<std::pair<Replay* const, Operations>>>
      open_;  ///< operations with exits
};

}  // namespace refrain::exec
