#pragma once
// State that few replays need, kept beside the slot: failures, nodes, and proxies.
//
// A *proxy* names an operation of a replay outside it: a node of the ordinary graph that completes when the operation is
// done. The scope's owner makes it. The thread that claims it (`claim`, one exchange) completes it.
//
// No proxy is forgotten. The thread that has done the operation stores `done`, then looks at kProxies; the owner sets
// kProxies, puts the proxy into the table, then looks at `done`.
// - A thread that sees kProxies claims by an exchange on the entry of the table, which the owner has exchanged in. The
//   later of the two exchanges sees what the other side did before, so one of them makes the claim.
// - Otherwise the thread may miss kProxies and the owner may miss `done`. For this case the owner enters the proxy into
//   the ProxyRegistry, under its lock, before it looks at `done`, and every thread looks through the registry, under the
//   same lock, before it sleeps. When the owner comes first, the thread finds the proxy; when the thread comes first,
//   the owner sees `done`. So when all other threads sleep, an open proxy means an operation that is not done.
//
// Threads. ReplayExtras: any thread calls fail, threw, failure_of and claim, and reads `nodes`, recorded and scope; the
// owner writes `nodes` before it issues the operations (the watermark publishes them), and calls everything else.
// ProxyRegistry: any thread; the owner calls `close` before the slot is used again. Cost: a lock per proxy and per look;
// a look visits the proxies of all replays that are not complete.

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

  /// The nodes of issued operations that have one.
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

  /// The proxy of an operation, null if it has none yet.
  [[nodiscard]] Node* proxy(std::uint32_t index) const {
    return proxies_ ? proxies_[index].named : nullptr;
  }
  /// Before the first: may throw.
  void prepare_proxies();
  void add_proxy(std::uint32_t index, Node& proxy) noexcept;
  /// Takes the proxy to complete it, with the operation's failure. Null: there is none, or it is taken.
  Node* claim(std::uint32_t index);

  /// The slot is about to be used again.
  void clear();

 private:
  struct Proxy {
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
  Failures failures_;                 // under mutex_
  std::unique_ptr<Proxy[]> proxies_;  // made with the first one
  std::vector<std::uint32_t, SureAllocator<std::uint32_t>> opened_;
};

class ProxyRegistry {
 public:
  /// Owner: operation `index` has a proxy. Returns it if the operation is done and nobody else has
  /// claimed it.
  Node* open(Replay& replay, std::uint32_t index) {
    const std::lock_guard lock(mutex_);
    open_[&replay].push_back(index);
    return replay.is_done(index) ? replay.extras->claim(index) : nullptr;
  }

  /// Claims the proxies of all operations that are done: calls finish(node) for each, without the lock.
  template <class Finish>
  void look(Finish finish) {
    Node* claimed = nullptr;
    {
      const std::lock_guard lock(mutex_);
      for (auto& [replay, operations] : open_) {
        std::erase_if(operations, [&, at = replay](std::uint32_t index) {
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
      const auto operations = open_.extract(&replay);
      if (operations.empty()) return;
      for (const std::uint32_t index : operations.mapped()) claim(replay, index, claimed);
    }
    finish_all(claimed, finish);
  }

 private:
  /// Puts the proxy, if nobody has claimed it, before the others, which are linked through `next`.
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
      open_;  ///< operations with proxies
};

}  // namespace refrain::exec
