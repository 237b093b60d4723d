#pragma once
// One replay of a template in flight: a *slot* with a count of unfinished predecessors per operation.
//
// This is the protocol of replays that go through the graph. The two other ways (Way) lower no count. A replay that is run
// in order stores no `done`, but of what it awaits, and the owner ends it by setting `sinks_left`. A scheduled one counts its lanes there.
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
// **Counts.** An operation's count is the number of those that hold it back: its predecessors, nodes of the
// ordinary graph that it comes after (preconditions), and a *guard* of the owner's where nothing else would keep it from
// starting before it is issued (operations without predecessors; all operations of a replay that enters anew).
// A thread that finds the count at 1 holds the last one and does not write it: no locked instruction. It starts the
// operation if that has been issued, and otherwise parks it and keeps the count at 1. Until the operation is issued the
// owner may raise the count (Replays::add_preconditions). So a thread looks whether the count is still at 1 only after it
// has seen that the operation is issued; if the count is higher, the thread lowers it and is done with the operation.
//
// **Watermark and parked operations** share a word, so that parking (compare-and-swap) and issuing (exchange)
// come one after the other: an operation is parked before the exchange, which hands it to the owner, or is
// seen to be issued. Those handed over that are still not issued the owner keeps (Replays::release).
//
// **Operations with a node.** Most operations (root scope, any cpu, no priority, no reduction) are run from this array.
// What sends to other processes is urgent, so it has one.
// Each of the others has a node of the scope's pool besides, made when it is issued. The node waits for the count here
// and then goes the way of all nodes; the last thing that its run does is to complete the operation here.
//
// **Proxies.** A *proxy* names an operation of a replay outside it: a node of the ordinary graph that completes when the
// operation is done. The scope's owner makes it; who takes it (`take_proxy`) completes it. No proxy is forgotten. The
// thread that has done an operation stores `done`, then looks at kProxies, and if that is set at the operation's proxy. The
// owner sets kProxies, enters the proxy, notes it in the executor's table under a lock, then looks at `done`. When the thread
// misses the proxy and the owner misses `done`, the table has it: before it sleeps, every thread looks under the lock
// through the entries that are new since its last look. Older entries need none: the thread has had the lock since they
// were made, so of an operation that it did afterwards it saw the proxy. When the entry is not there yet, the owner locks
// the table later, and sees `done`. So when all other threads sleep, a proxy that is left means an operation that is not
// done.
//
// Who writes what:
//   the first line of Replay   the owner, before the replay is issued; `events` as said there
//   LiveNode                   the thread that lowers, holds or runs the operation, as said above
//   `proxies`                  the owner enters, any thread takes out
//   `noted`                    the owner, under the lock of Proxies
//   other rare state           the owner

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "base/sure_memory.hpp"
#include "graph/failure.hpp"
#include "graph/template.hpp"

namespace refrain::exec {

/// An operation of a replay.
struct LiveNode {
  std::atomic<std::int32_t> pending{0};
  std::uint32_t index = 0;             ///< constant
  std::atomic<std::uint32_t> done{0};  ///< number of the last replay that has done it
  /// index + 1; belongs to whoever holds the last count. While an operation runs that awaits what comes from outside:
  /// Awaiting, written by the thread that runs it and the one that polls (graph/replay_steps.hpp).
  std::uint32_t next_parked = 0;
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
  /// Owner, while nobody else looks.
  void reset() { word_.store(0, std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t kLeft = 1u << 31, kIssued = kLeft - 1;
  static constexpr std::uint64_t kParked = ~std::uint64_t{0} << 32;
  std::atomic<std::uint64_t> word_{0};
};

/// What makes a replay unusual.
enum ReplayEvent : std::uint32_t {
  kProxies = 1,  ///< nodes of the ordinary graph come after some of its operations
  kTimed = 2,    ///< it is noted how long its operations take (graph/template.hpp)
};

/// How a replay is run (graph/replays.hpp).
enum class Way : std::uint8_t {
  graph,      ///< each operation when its predecessors are done, by counts, as said above
  in_order,   ///< by the owner, when it issues them; without counts
  scheduled,  ///< in lanes (graph/lanes.hpp); without counts
};

struct alignas(64) Replay {
  /// With all operations behind it. Their counts are not set.
  Replay(const Template& template_, Scope& its_scope, Durations* its_durations);

  const TemplateNode* nodes;
  const Successor* successors;
  Replay* after = nullptr;   ///< the slot that carried edges lead into
  std::uint64_t base = 0;    ///< sequence number of operation 0
  void* user = nullptr;      ///< for the layer above
  std::uint32_t number = 0;  ///< of this replay, counted from 1
  std::atomic<std::uint32_t> events{0};

  alignas(64) Watermark watermark;
  alignas(64) std::atomic<std::uint32_t> sinks_left{0};

  // --- what few replays need
  alignas(64) const Template& recorded;
  Scope& scope;
  Durations* const durations;  ///< of a replay with kTimed
  /// The nodes of issued operations that have one. Written before these are issued; the watermark publishes them.
  std::vector<Node*> graph_nodes;
  /// By operation: its proxy until somebody takes it, or null.
  std::vector<std::atomic<Node*>> proxies;
  /// The numbers of its entries in the table of proxies.
  std::vector<std::uint64_t, SureAllocator<std::uint64_t>> noted;
  /// Owner: the chain was left here, the replay that a slot is reserved for will not come.
  bool ends_chain = false;
  /// Owner: how its operations are run.
  Way way = Way::graph;
  /// Owner: of so many operations the window has been told (Window::count_replayed).
  std::uint32_t counted = 0;

  /// The operations follow the slot in memory.
  LiveNode* live() { return reinterpret_cast<LiveNode*>(this + 1); }
  static Replay& of(LiveNode& live) { return *(reinterpret_cast<Replay*>(&live - live.index) - 1); }
  static void* operator new(std::size_t bytes, std::uint32_t operations) {
    return ::operator new(bytes + operations * sizeof(LiveNode), kAlign);
  }
  static void operator delete(void* memory, std::uint32_t /*operations*/) { delete_(memory); }
  static void operator delete(void* memory) { delete_(memory); }

  /// Of an operation that is issued, in a replay that is not run in order; there of one that is awaited.
  [[nodiscard]] bool is_done(std::uint32_t index) {
    // acquire: partner of the store in complete_any and complete_plain, what it wrote is visible.
    return live()[index].done.load(std::memory_order_acquire) == number;
  }
  /// Any thread: takes the operation's proxy, to complete it. Null: it has none, or it was taken.
  [[nodiscard]] Node* take_proxy(std::uint32_t index) {
    // relaxed: who misses it finds it in the table. Mostly there is none, and nothing is written.
    if (proxies[index].load(std::memory_order_relaxed) == nullptr) return nullptr;
    // acquire: partner of the release in Proxies::add, the node is readable.
    return proxies[index].exchange(nullptr, std::memory_order_acquire);
  }
  [[nodiscard]] bool is_complete() const {
    // seq_cst: a thread about to sleep looks here; partner: sink_done (graph/replay_steps.hpp).
    return sinks_left.load(std::memory_order_seq_cst) == 0;
  }
  [[nodiscard]] Node& node_of(std::uint32_t index) const {
    return *graph_nodes[recorded.operations[index].node_number];
  }
  /// Owner, of a complete replay: the slot may be used again.
  void clear();

 private:
  static constexpr std::align_val_t kAlign{64};
  /// Apart: GCC 12, which does not see into operator new above, would take this for another's counterpart.
  [[gnu::noinline]] static void delete_(void* memory) { ::operator delete(memory, kAlign); }
};

/// The table of an executor's proxies, so that none is missed. Cost: a lock for each call. Memory: in proportion to the
/// proxies of replays that are not complete.
class Proxies {
 public:
  /// Owner: an issued operation gets a proxy. It may be done by now: the caller then takes the proxy.
  void add(Replay& replay, std::uint32_t index, Node& proxy);
  // Both return the proxies that they have taken as a list (Node::next), for the caller to complete.
  /// Owner, of a complete replay: takes those that are left, and forgets its entries.
  [[nodiscard]] Node* remove(Replay& replay);
  /// Any thread, before it sleeps: takes those of done operations among the entries that are new since its last look.
  /// `looked`: how many had been added then; brought up to date.
  [[nodiscard]] Node* take_done_since(std::uint64_t& looked);

 private:
  struct Entry {
    std::uint64_t number;  ///< so many had been added with it
    Replay* replay;        ///< null: it is forgotten
    std::uint32_t index;
    /// Puts the proxy, if it is left, before those that are taken.
    void take(Node*& taken) const;
  };
  std::mutex mutex_;
  std::uint64_t added_ = 0;
  std::size_t forgotten_ = 0;
  std::vector<Entry, SureAllocator<Entry>> entries_;  ///< by number
};

}  // namespace refrain::exec
