#pragma once
// A template: a recorded graph of operations, compiled into flat arrays, and replayed any number of times
// (graph/replays.hpp; execution templates: O. Mashayekhi et al., ATC 2017). It is the graph of a loop: *inner* edges lead
// from an operation to a later one of the same replay, *carried* edges into the next replay.
//
// A Template does not change once it is made (all have it const), so any thread reads it without a lock. Memory: each
// replay touches 32 bytes per operation and 4 per edge; 52 bytes per operation lie beside them.
//
// PathOrder sorts the successors of each operation by the longest remaining path (critical path scheduling). A few
// replays are timed (Durations). Then the successors are sorted by the time of the longest path that begins with them, in the replay
// and the next one. Where these times differ by less than about half the longest operation, the recorded order stays:
// neighbours in a loop share data. The thread that completes an operation leaves in its deque, in this order, the
// successors that became ready, and takes the oldest first, as thieves do (ExecutorOptions::oldest_first). Operations
// without predecessors come in launch order. Results never depend on the order; the order depends on time. After the
// timed replays it costs nothing. (An ordered queue of all ready operations would order more, and cost a lock per task.)
//
// Threads: `took` is called by any thread while a timed replay runs (relaxed: the owner reads the durations when these
// replays are complete, which it has acquired). Everything else is the owner's. The sorted arrays are made once, before
// any replay uses them.

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "graph/failure.hpp"
#include "graph/node.hpp"

namespace refrain::exec {

struct Replay;

/// What a replay runs: called with the operation's operand and its place. `Execution::failure` set: the
/// body must not run, but what the launch holds is released, and nothing is thrown. What it throws otherwise, the scope
/// tells.
using ReplayedRun = void (*)(const void* operand, Replay& replay, std::uint32_t index,
                             Execution& execution);
/// The same of an operation to which all replays are alike, for as long as there is no failure in the process. What it
/// throws is the operation's failure, with which the other run is then called.
using PlainRun = void (*)(const void* operand);

enum TemplateFlag : std::uint8_t {
  kHasNode = 1,    ///< runs as an ordinary node (graph/replay.hpp)
  kWakes = 2,      ///< somebody may sleep until it is done
  kBoundary = 4,   ///< at the end of its replay: has carried successors, or no inner ones
  kPerReplay = 8,  ///< differs between replays: its run is told which one, and its place there
  kAwaits = 16,    ///< may complete when something has come (Template::Operation::awaits)
};

/// A successor in one word.
class Successor {
 public:
  Successor() = default;
  Successor(std::uint32_t index, bool has_node) : word_(index << 1 | std::uint32_t{has_node}) {}
  [[nodiscard]] std::uint32_t index() const { return word_ >> 1; }
  [[nodiscard]] bool has_node() const { return (word_ & 1) != 0; }

 private:
  std::uint32_t word_;
};

/// What a replay reads of an operation, half a cache line.
struct alignas(32) TemplateNode {
  union {
    PlainRun plain;
    ReplayedRun run;  ///< with kPerReplay
  };
  const void* operand;
  std::uint32_t first;  ///< its successors: carried ones first, then inner ones
  union {
    std::uint32_t carried_count;  ///< with kBoundary: how many of them lead into the next replay
    Successor head;               ///< without: the first of them once more, one look less for most
  };
  std::uint32_t inner;              ///< how many stay in this one
  std::uint32_t predecessors : 24;  ///< inner and carried; 1 for a node without any: its guard
  std::uint32_t flags : 8;          ///< TemplateFlag bits; most nodes have none

  [[nodiscard]] std::uint32_t carried() const { return flags & kBoundary ? carried_count : 0; }
};
static_assert(sizeof(TemplateNode) == 32, "two operations are a cache line");

struct Template {
  static constexpr std::uint32_t kMost = 1u << 30;  ///< operations

  /// One recorded operation. What it points to outlives the template.
  struct Operation {
    ReplayedRun run = nullptr;
    const void* operand = nullptr;
    PlainRun plain = nullptr;  ///< null: `run` always runs it
    const void* plain_operand = nullptr;
    const NodeInfo* info = nullptr;
    std::int16_t priority = 0;
    std::uint16_t processor = 0;  ///< as Node::processor
    NodeKind kind = NodeKind::task;
    std::uint8_t flags = 0;  ///< kReducer or kFold (NodeFlag)
    bool wakes = false;      ///< somebody may sleep until it is done: for a future that it settles
    bool opens_scope = false;  ///< its body may launch tasks
    /// Its run may call complete_later (graph/executor.hpp). With `awaits` alone the result is used by the thread that asks
    /// what has come from outside (exec::Outside), and the operation needs no node.
    bool completes_later = false, awaits = false;
    /// Of a reducer: its folds; of a fold: how far back its reducer is.
    std::uint32_t reduction = 0;
    std::uint32_t node_number = 0;  ///< among the operations with a node (the template's)
  };
  /// Operation `to` must come after operation `from`.
  struct Edge {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };

  /// `inner`: from < to. `carried`: from any operation to any of the next replay. An edge that is named
  /// twice counts twice. `nested`: to be replayed in a nested scope, where every operation has a node.
  Template(std::vector<Operation> operations, std::span<const Edge> inner,
           std::span<const Edge> carried, bool nested);

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(nodes.size()); }
  [[nodiscard]] std::size_t bytes() const;

  std::vector<Operation> operations;
  std::vector<TemplateNode> nodes;  ///< of each operation
  std::vector<Successor> successors;
  std::vector<std::uint32_t> inner_predecessors;  ///< how many each operation has in its replay
  std::vector<std::uint32_t> sources;             ///< operations without predecessors, ascending
  std::vector<std::uint32_t> with_node;           ///< those with a node, ascending
  /// How many have no inner successor: a replay is complete with the last of them.
  std::uint32_t sinks = 0;
  /// The operations in the order in which they are run where they are run in order, if it is not their own: parts of them
  /// that are issued together are each by themselves.
  std::vector<std::uint32_t> in_order;
  const void* user = nullptr;  ///< for the layer above
  /// What a failure of an operation of a replay is known by. Null: its number in its scope.
  std::function<Failure::Origin(const Replay&, std::uint32_t)> name_failure{};
  bool has_carried = false;
  bool has_awaiting = false;
  /// Any thread of the scope may run all of it: operations with a node only reduce, or are urgent.
  bool one_thread_may_run_it = true;
};

/// How long the operations of a template take in one scope, in replays that are timed.
class Durations {
 public:
  /// Replays up to the one with number `untimed` are not timed; where it is 0, all replays are worth it.
  explicit Durations(const Template& recorded, std::uint32_t untimed = 0)
      : shortest_(new std::atomic<std::uint64_t>[recorded.size()]()),
        size_(recorded.size()),
        untimed_(untimed),
        paced_(untimed == 0) {}

  /// The replay with this number begins. True: it is to be timed. `now` returns the time in ns.
  ///
  /// To time an operation takes longer than to run an empty one. So a few replays are timed as a whole before, and where
  /// an operation takes hardly more than issuing it, with all that comes between, none is timed.
  template <class Now>
  bool times(std::uint32_t number, Now now) {
    if (timed_ == kTimedReplays || number <= untimed_) return false;
    if (!paced_) [[unlikely]]
      return pace(number, now);
    ++timed_;
    last_ = number;
    return true;
  }
  /// All before the replay with number `oldest` are complete: whether the durations are known.
  [[nodiscard]] bool known(std::uint32_t oldest) const {
    return timed_ == kTimedReplays && oldest > last_;
  }
  /// Any thread: an operation of a timed replay took so long.
  void took(std::uint32_t index, std::uint64_t ns);
  [[nodiscard]] std::uint64_t of(std::uint32_t index) const {
    return shortest_[index].load(std::memory_order_relaxed);
  }
  /// They are to be timed anew, after the replay with number `untimed`. No timed one is in flight.
  void forget(std::uint32_t untimed) {
    timed_ = 0;
    untimed_ = untimed;
    paced_ = false;
    pace_from_ = 0;
    for (std::uint32_t i = 0; i < size_; ++i) shortest_[i].store(0, std::memory_order_relaxed);
  }
  /// They say that nothing is to be gained: the same after many more replays.
  void forget_for_long(std::uint32_t number) {
    constexpr std::uint32_t times = 16;  // as many, or never: numbers have 32 bits
    forget(number < UINT32_MAX / times ? times * number : UINT32_MAX);
  }
  [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(std::uint64_t); }

 private:
  static constexpr std::uint32_t kTimedReplays = 4, kPacedReplays = 8;
  static constexpr std::uint64_t kEmptyNs = 60;  ///< an operation's that is nearly empty

  template <class Now>
  bool pace(std::uint32_t number, Now now) {
    if (pace_from_ == 0) {
      pace_from_ = number;
      pace_began_ = now();
    } else if (number >= pace_from_ + kPacedReplays) {
      const std::uint64_t operations = std::uint64_t{number - pace_from_} * size_;
      if (now() - pace_began_ < kEmptyNs * operations) forget_for_long(number);
      else paced_ = true;
    }
    return false;
  }

  /// Of each operation, since a thread may be held up for long; 0: it was not timed.
  const std::unique_ptr<std::atomic<std::uint64_t>[]> shortest_;
  const std::uint32_t size_;
  std::uint32_t untimed_;         ///< replays up to this number are not timed
  std::uint32_t timed_ = 0;       ///< replays that were begun to be timed
  std::uint32_t last_ = 0;        ///< number of the last of these
  bool paced_;                    ///< they are worth it
  std::uint32_t pace_from_ = 0;   ///< the replay at whose begin this time was taken; 0: none
  std::uint64_t pace_began_ = 0;  ///< ns
};

class PathOrder {
 public:
  /// Both outlive it.
  PathOrder(const Template& recorded, const Durations& durations)
      : template_(recorded), durations_(durations) {}

  /// What replays that begin now are run from: as the template's, but for the order.
  [[nodiscard]] const TemplateNode* nodes() const {
    return is_ordered() ? nodes_.data() : template_.nodes.data();
  }
  [[nodiscard]] const Successor* successors() const {
    return is_ordered() ? successors_.data() : template_.successors.data();
  }

  /// Once, when the durations are known.
  void order() noexcept;
  [[nodiscard]] bool is_ordered() const { return !nodes_.empty(); }

  [[nodiscard]] std::size_t bytes() const;

  /// Of each operation: how long the longest path takes that begins with it, up to the end of the replay, or of the one
  /// after it.
  [[nodiscard]] std::vector<std::uint64_t> remaining(bool to_the_next_end) const;

 private:
  const Template& template_;
  const Durations& durations_;
  std::vector<TemplateNode> nodes_;
  std::vector<Successor> successors_;
};

}  // namespace refrain::exec
