#pragma once
// Replays of one template in one scope, the owner's side: begins replays, issues their operations, leaves them. Several
// replays are in flight at a time, each in a slot (graph/replay.hpp has the protocol).
//
// A *chain* is a sequence of replays, each of which directly follows a whole one. The first replay of a chain *enters
// anew*: its operations wait for each other and for their preconditions. The later ones are *carried*: their operations
// also wait for predecessors in the replay before. `leave` ends a chain, after a whole replay or in the middle of one.
//
// An operation runs once it is issued and its predecessors are done. So replays overlap as far as the edges allow. Each
// issued operation runs once; operations that were not issued when the chain was left do not run.
//
// *In order.* An owner that is faster by itself (it is the only thread, or exec/single_thread.hpp says so) runs each
// operation when it issues it. The order of issue is an order of the graph, so no counts are needed: they stay as they
// are set, and an issued operation is done. Such a replay begins when those before it are complete, and when no
// operation of the template needs another thread, a scope of its own, or a priority. When an operation has to wait, or
// other threads are to take part, the operations that have run are completed in the ordinary way, and the replay goes on
// as one that entered anew.
//
// All members are the scope's owner's. A `Replay&` that is complete and no longer the present one is valid until
// something collects: `begin`, `collect`, `idle`, `in_flight`, `ref` by number, a wait, a throttle or a drain of the
// scope. The next `begin` uses its slot again.
//
// Cost: `issue`, one locked instruction, and work for parked operations; `begin`, some ten words, and if it enters anew
// one count per operation, and it may run tasks; `leave`, a pass over the operations that were not issued, and with
// carried edges a slot's counts. Memory in the steady state: nodes of the scope's pool for preconditions, proxies and
// operations with a node. A failure, and the first proxy of a slot, allocate.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "base/sure_memory.hpp"
#include "graph/node.hpp"
#include "graph/replay.hpp"
#include "graph/template.hpp"

namespace refrain::exec {

class Executor;
class Scope;

class Replays {
 public:
  /// `recorded` outlives this. `slots`: how many there are at most, 0 for as many as the operations of the
  /// scope's window fill; at least 4 with any number.
  Replays(Executor& executor, Scope& scope, const Template& recorded, std::uint32_t slots = 0);
  ~Replays();  ///< the chain has been left and nothing is in flight
  Replays(const Replays&) = delete;
  Replays& operator=(const Replays&) = delete;

  /// The next replay, nothing of it issued. `carried`: it follows the present one, all of which has been
  /// issued; otherwise the chain before has been left. Reserves sequence numbers for all its operations.
  /// Waits, and helps, while no slot is free, or while all replays of the scope and its ordinary nodes, with
  /// this replay and without what others have present, are more operations than the scope's window and than
  /// four such replays.
  Replay& begin(bool carried);

  /// Preconditions: an operation that is not issued yet also comes after these nodes of the ordinary graph.
  void add_preconditions(Replay& replay, std::uint32_t index, std::span<const Edge> outside);

  /// Operations [0, count) of the present replay may run. A reducer is issued together with its folds.
  void issue(Replay& replay, std::uint32_t count) {
    REFRAIN_ASSERT(&replay == present_ && count >= issued_, "operations are issued in order");
    if (count > simple_until_) return issue_in_full(replay, count);
    issued_ = count;
    const std::uint32_t parked = advance(replay, count);
    if (parked != 0 || !early_.empty()) [[unlikely]]
      release(replay, count, count, parked);
  }

  /// Names an issued operation for the ordinary graph: its number is `base` + index.
  NodeRef ref(Replay& replay, std::uint32_t index);
  /// The same by number, whatever has become of the replay since.
  NodeRef ref(std::uint64_t seq);

  /// The chain ends after what has been issued.
  void leave(Replay& replay);
  /// The same if a chain is open, wherever an exception has left it.
  void abandon() noexcept;

  /// Frees the slots of the oldest replays, as far as they are complete.
  void collect();
  /// Whether all that was issued is done.
  bool idle();
  /// Whether, as of the last look, nothing is in flight and no chain is open. The scope then detaches it, until the next
  /// `begin`.
  [[nodiscard]] bool at_rest() const { return in_flight_.empty(); }
  /// The scope has detached it; `begin` attaches it again.
  void detached() {
    REFRAIN_ASSERT(at_rest(), "replays stay attached to their scope while any are in flight");
    attached_ = false;
  }
  /// From the oldest replay of which not all is done to the present one, in that order.
  std::span<Replay* const> in_flight();
  /// Waits, and helps, until all that was issued is done.
  void drain(const NodeInfo* waiter);
  /// Calls visit(replay, index) for each operation that has been issued and is not done. Only while no other
  /// thread does anything with the scope. What is run in order is done: it does not wait.
  template <class Visit>
  void for_each_unfinished(Visit visit) const {
    for (std::size_t i = collected_; i < in_flight_.size(); ++i) {
      Replay& replay = *in_flight_[i];
      if (replay.extras->in_order) continue;
      const std::uint32_t issued = replay.watermark.load().issued();
      for (std::uint32_t index = 0; index < issued; ++index) {
        if (!replay.is_done(index)) visit(replay, index);
      }
    }
  }

  [[nodiscard]] const Template& recorded() const { return template_; }
  [[nodiscard]] std::uint32_t issued() const { return issued_; }  ///< of the present replay
  [[nodiscard]] std::size_t bytes() const {
    return slots_.size() * slot_bytes() + (order_ != nullptr ? order_->bytes() : 0);
  }

 private:
  struct FreeSlot {
    void operator()(Replay* slot) const;
  };

  [[nodiscard]] std::size_t slot_bytes() const;
  void set_counts(Replay& slot, bool anew);
  void add_slot();
  void prepare_slots(std::size_t count);
  Replay& take_free();
  [[nodiscard]] std::uint32_t to_be_done() const;
  void count(Replay& replay);
  [[nodiscard]] Replay& oldest() const { return *in_flight_[collected_]; }
  void finish(Replay& replay);
  void note_failures(const Replay& replay, std::uint32_t count);
  void end_slot(Replay& slot);
  void make_nodes(Replay& replay, std::uint32_t to);
  std::uint32_t advance(Replay& replay, std::uint32_t count) {
    return alone_ ? replay.watermark.advance_alone(count) : replay.watermark.advance(count, false);
  }
  void issue_in_full(Replay& replay, std::uint32_t count);
  [[gnu::noinline]] void issue_in_graph(Replay& replay, std::uint32_t count);
  void release(Replay& replay, std::uint32_t from, std::uint32_t to, std::uint32_t parked);
  std::uint32_t take_parked(Replay& replay, std::uint32_t first, std::uint32_t to);
  std::span<const std::uint32_t> take_sources(std::uint32_t to);
  void find_simple_until();
  bool can_run_in_order(bool carried);
  void leave_order(Replay& replay);
  [[nodiscard]] bool all_complete();
  static bool is_complete(const Replay& replay);
  [[nodiscard]] bool in_order() const { return present_ != nullptr && present_->extras->in_order; }

  Executor& executor_;
  Scope& scope_;
  const Template& template_;
  const std::unique_ptr<PathOrder> order_;  ///< null: that of the template
  const std::uint32_t most_slots_;
  const std::uint32_t burst_;  ///< operations issued between two looks whether this thread is alone
  const bool alone_;           ///< no other thread ever runs anything
  std::vector<std::unique_ptr<Replay, FreeSlot>> slots_;
  std::vector<Replay*> free_;  ///< with their counts set
  /// As begun; the first `collected_` have been collected.
  std::vector<Replay*> in_flight_;
  std::size_t collected_ = 0;
  bool attached_ = false;  ///< to the scope: something is in flight, or a chain is open

  Replay* present_ = nullptr;  ///< null: the chain was left
  bool anew_ = false;          ///< all its operations have a guard
  std::uint32_t issued_ = 0;
  /// Up to here, to issue is to move the watermark: no operation has a node, is a source, or ends a burst.
  std::uint32_t simple_until_ = 0;
  /// The operations of the present replay that are parked and were beyond the watermark when the owner took the parked
  /// ones: a heap, the lowest first.
  std::vector<std::uint32_t, SureAllocator<std::uint32_t>> early_;
  std::uint32_t next_source_ = 0;      ///< position in Template::sources
  std::uint32_t next_node_ = 0;        ///< position in Template::with_node
  std::uint32_t done_ = 0;             ///< operations before this one are known to be done
  std::uint32_t relieve_at_ = burst_;  ///< when so many are issued, the burst ends
  std::uint32_t number_ = 0;
};

}  // namespace refrain::exec
