#pragma once
// One replay of a template in flight: a *slot* with a count of unfinished predecessors per operation.
//
// This is the protocol of replays that go through the graph. A replay that is run in order (graph/replays.hpp) lowers no
// count and stores no `done`; the owner ends it by setting `sinks_left`.
//
// Life of a slot. It is *reserved* when the replay before it begins, since that one's carried edges
// lower its counts. Its own replay then begins (graph/replays.hpp), is issued by moving the watermark
// forward, and is complete when its last operation without inner successors is done. Nothing is
// initialised in between but where a chain begins: whoever starts an operation sets its count for the next
// time.
//
// **Why a count may be set again so early.** When operation i of replay r starts, all its predecessors
// have lowered the count, so nobody else touches it in r. The next to touch it are predecessors in the
// slot's next replay q, or in the one before q, p, whose carried edges lead into this slot. p begins
// after this slot was found free to be reserved for q, and q after p; so all of that comes after r is
// complete. (After a chain was left, the slot that was reserved for a replay that never came holds
// decrements: the owner sets its counts again.)
//
// **Why a complete replay is touched by nobody.** Completing an operation lowers, in this order, its
// carried successors, and then its inner ones or, without any, `sinks_left`; after the last of these it
// touches nothing of the slot. Every operation leads by inner edges to a sink, which starts after all
// counts on the way were lowered. So when the sinks are through, everybody is.
//
// **Counts.** A node's count is the number of those who hold it back: predecessors, nodes of the
// ordinary graph that it comes after (preconditions), and a *guard* of the owner's where nothing else would keep it from
// starting before it is issued (nodes without predecessors; all nodes of a replay that enters anew).
// A thread that finds the count at 1 holds the last one and does not write it: no locked instruction. It starts the node
// if that has been issued, and otherwise parks it and keeps the count at 1. As long as the node is not issued the owner
// may raise the count (Replays::add_preconditions). So a thread looks whether the count is still at 1 only after it has
// seen that the node is issued; if the count is higher, the thread lowers it and is done with the node.
//
// **Watermark and parked nodes** share a word, so that parking (compare-and-swap) and issuing (exchange)
// come one after the other: a node is parked before the exchange, which hands it to the owner, or is
// seen to be issued. Those handed over that are still not issued the owner keeps (Replays::take_parked).
//
// **Operations with a node.** Most operations (root scope, any cpu, no priority, no reduction) are run from this array.
// Each of the others has a node of the scope's pool besides, made when it is issued. The node waits for the count here
// and then goes the way of all nodes; the last thing that its run does is to complete the operation here.
//
// **Proxies.** A *proxy* names an operation of a replay outside it: a node of the ordinary graph that completes when the
// operation is done. The scope's owner makes it. It is in the executor's table of proxies until somebody takes it out, to
// complete it. No proxy is forgotten. The thread that has done an operation stores `done`, then looks at kProxies, and if
// that is set at the table; the owner sets kProxies, then enters the proxy under the table's lock, then looks at `done`.
// When the thread misses kProxies and the owner misses `done`, the entry is found later: every thread looks through the
// table, under its lock, before it sleeps. Either the entry is there by then, or the owner locks the table afterwards,
// and sees `done`. So when all other threads sleep, a proxy in the table means an operation that is not done.
//
// Who writes what: the first line the owner, before the replay is issued, except `events`; LiveNode: whoever lowers,
// holds or runs it, as said above; ReplayExtras: any thread its failures, the owner the rest.

#include <atomic>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/sure_memory.hpp"
#include "graph/failure.hpp"
#include "graph/template.hpp"

namespace refrain::exec {

class ReplayExtras;

/// An operation of a replay.
struct LiveNode {
  std::atomic<std::int32_t> pending{0};
  std::uint32_t index = 0;             ///< constant
  std::atomic<std::uint32_t> done{0};  ///< number of the last replay that has done it
  std::uint32_t next_parked = 0;       ///< index + 1; belongs to whoever holds the last count
};
static_assert(sizeof(LiveNode) == 16);

/// How much of a replay is issued, whether it was left there, and the nodes parked behind.
class Watermark {
 public:
  struct State {
    std::uint64_t word = 0;
    [[nodiscard]] std::uint32_t issued() const {
      return static_cast<std::uint32_t>(word & kIssued);
    }
    [[nodiscard]] bool left() const { return (word & kLeft) != 0; }
    [[nodiscard]] std::uint32_t parked() const { return static_cast<std::uint32_t>(word >> 32); }
  };

  /// acquire: partner of advance; what the owner wrote before it issued is visible.
  [[nodiscard]] State load() const { return {word_.load(std::memory_order_acquire)}; }
  /// Puts a node before the parked ones. False, with `state` as it is now: look again.
  bool park(State& state, std::uint32_t index_and_one) {
    const std::uint64_t parked = std::uint64_t{index_and_one} << 32 | (state.word & ~kParked);
    // release: what the node's predecessors wrote is visible to the owner. acquire: partner of advance.
    return word_.compare_exchange_weak(state.word, parked, std::memory_order_acq_rel,
                                       std::memory_order_acquire);
  }
  /// Owner. Returns the first of the nodes that were parked, which are now the caller's.
  std::uint32_t advance(std::uint32_t issued, bool left) {
    const std::uint64_t next = issued | (left ? kLeft : 0);
    // release: partner of load and park. acquire: partner of park.
    return State{word_.exchange(next, std::memory_order_acq_rel)}.parked();
  }
  /// The same, not left, where the owner's thread is the only one.
  std::uint32_t advance_alone(std::uint32_t issued) {
    const State before{word_.load(std::memory_order_relaxed)};
    word_.store(issued, std::memory_order_relaxed);
    return before.parked();
  }
  /// Owner, while nobody else looks.
  void reset() { word_.store(0, std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t kLeft = 1u << 31, kIssued = kLeft - 1;
  static constexpr std::uint64_t kParked = ~std::uint64_t{0} << 32;
  std::atomic<std::uint64_t> word_{0};
};

/// What makes a replay unusual.
enum ReplayEvent : std::uint32_t {
  kFailures = 1,  ///< some of its operations carry failures
  kProxies = 2,   ///< nodes of the ordinary graph come after some of its operations
  kTimed = 4,     ///< it is noted how long its operations take (graph/template.hpp)
};

struct alignas(64) Replay {
  const TemplateNode* nodes = nullptr;
  const Successor* successors = nullptr;
  Replay* after = nullptr;  ///< the slot that carried edges lead into
  std::uint64_t base = 0;   ///< sequence number of operation 0
  void* user = nullptr;     ///< for the layer above
  std::unique_ptr<ReplayExtras> extras;
  std::uint32_t number = 0;  ///< of this replay, counted from 1
  std::atomic<std::uint32_t> events{0};

  alignas(64) Watermark watermark;
  alignas(64) std::atomic<std::uint32_t> sinks_left{0};

  /// Of an operation that is issued, in a replay that is not run in order.
  [[nodiscard]] bool is_done(std::uint32_t index) {
    // acquire: partner of the store in complete_any and complete_plain, what it wrote is visible.
    return live()[index].done.load(std::memory_order_acquire) == number;
  }

  /// The nodes follow the slot in memory.
  LiveNode* live() { return reinterpret_cast<LiveNode*>(this + 1); }
  static Replay& of(LiveNode& live) { return *(reinterpret_cast<Replay*>(&live - live.index) - 1); }
};

/// State that few replays need, beside the slot.
class ReplayExtras {
 public:
  ReplayExtras(Replay& replay, const Template& template_, Scope& its_scope, PathOrder* path_order)
      : recorded(template_),
        scope(its_scope),
        order(path_order),
        nodes(template_.with_node().size(), nullptr),
        has_proxy(template_.size()),
        replay_(replay) {}

  const Template& recorded;
  Scope& scope;
  PathOrder* const order;  ///< gets the durations of a replay with kTimed
  /// The nodes of issued operations that have one. Written before these are issued; the watermark publishes them.
  std::vector<Node*> nodes;
  /// Which operations have an open proxy (Proxies). A thread that does not see it in time finds the proxy later.
  std::vector<std::atomic<bool>> has_proxy;
  /// Owner: the chain was left here, the replay that a slot is reserved for will not come.
  bool ends_chain = false;
  /// Owner: its operations are run in order, without counts (graph/replays.hpp).
  bool in_order = false;
  /// Owner: of so many operations the window has been told (Window::count_replayed).
  std::uint32_t counted = 0;

  [[nodiscard]] Node& node_of(std::uint32_t index) const {
    return *nodes[recorded.operation(index).node_number];
  }

  /// Any thread: gives `failure` to an operation, unless that carries an earlier one. `threw`: it is its own.
  void fail(std::uint32_t index, const FailureRef& failure, bool threw = false);
  /// Null if it carries none. Valid until the slot is used again. Any thread.
  const Failure* failure_of(std::uint32_t index) const;
  /// Calls visit(index, failure) for each operation that carries one.
  template <class Visit>
  void for_each_failure(Visit visit) const {
    if (!any_failure()) return;
    const std::lock_guard lock(mutex_);
    for (const auto& [index, failure] : failures_) visit(index, failure);
  }

  /// The slot is about to be used again.
  void clear();

 private:
  [[nodiscard]] bool any_failure() const {
    // acquire: partner of the release in fail.
    return (replay_.events.load(std::memory_order_acquire) & kFailures) != 0;
  }

  Replay& replay_;
  mutable std::mutex mutex_;
  std::map<std::uint32_t, FailureRef, std::less<>,
           SureAllocator<std::pair<const std::uint32_t, FailureRef>>>
      failures_;  ///< under mutex_
};

/// The table of an executor's proxies. Cost: a lock for each call; `look` visits all proxies.
class Proxies {
 public:
  /// Owner: an issued operation gets a proxy. True: the operation is done, and the proxy is the caller's to complete.
  bool add(Replay& replay, std::uint32_t index, Node& proxy);
  /// Owner: the proxy that the operation has, null if none.
  [[nodiscard]] Node* find(Replay& replay, std::uint32_t index);
  /// Any thread: the operation is done. Calls finish(proxy) if it has one.
  template <class Finish>
  void done(Replay& replay, std::uint32_t index, Finish finish) {
    if (!replay.extras->has_proxy[index].load(std::memory_order_relaxed)) return;
    Node* proxy = nullptr;
    {
      const std::lock_guard lock(mutex_);
      const auto found = open_.find({&replay, index});
      if (found != open_.end()) take(found, proxy);
    }
    finish_all(proxy, finish);
  }
  /// The same for all operations that are done, of this replay or (null) of any.
  template <class Finish>
  void look(Replay* replay, Finish finish) {
    Node* taken = nullptr;
    {
      const std::lock_guard lock(mutex_);
      for (auto at = open_.lower_bound({replay, 0});
           at != open_.end() && (replay == nullptr || at->first.replay == replay);) {
        const auto entry = at++;
        if (entry->first.replay->is_done(entry->first.index)) take(entry, taken);
      }
    }
    finish_all(taken, finish);
  }

 private:
  struct Key {
    Replay* replay;
    std::uint32_t index;
    auto operator<=>(const Key&) const = default;
  };
  using Open = std::map<Key, Node*, std::less<>, SureAllocator<std::pair<const Key, Node*>>>;

  /// Takes a proxy out, with its operation's failure, before the others that were taken.
  void take(Open::iterator entry, Node*& taken);
  /// Without the lock: it may make others ready.
  template <class Finish>
  static void finish_all(Node* taken, Finish finish) {
    while (taken != nullptr) finish(*std::exchange(taken, taken->next));
  }

  std::mutex mutex_;
  Open open_;
};

}  // namespace refrain::exec
