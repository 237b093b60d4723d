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
// *Scheduled.* The operations are run in lanes (graph/lanes.hpp), where ExecutorOptions::scheduling allows it: carried
// replays of templates without operations that have a node. Before the first scheduled replay the others are complete, and
// before the first one that is not, the scheduled ones. An operation that has to wait for the ordinary graph ends it as
// above, when the operations issued before are done.
//
// All members are the scope's owner's. A `Replay&` that is complete and no longer the present one is valid until
// something collects: `begin`, `collect`, `idle`, `in_flight`, `ref` by number, a wait, a throttle or a drain of the
// scope. The next `begin` uses its slot again.
//
// Cost: `issue`, one locked instruction, and work for parked operations; `begin`, some ten words, and if it enters anew
// one count per operation, and it may run tasks; `leave`, a pass over the operations that were not issued, and with
// carried edges a slot's counts. Memory in the steady state: nodes of the scope's pool for preconditions, proxies and
// operations with a node. A failure, and the first proxy of a slot, allocate.

#include <boost/circular_buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "base/sure_memory.hpp"
#include "graph/lanes.hpp"
#include "graph/node.hpp"
#include "graph/replay.hpp"
#include "graph/schedule_trial.hpp"
#include "graph/template.hpp"

namespace refrain::exec {

class Executor;

class Replays {
 public:
  /// `recorded` outlives this. `slots`: how many there are at most, 0 for enough to fill the scope's window; at least 4
  /// with any number.
  Replays(Executor& executor, Scope& scope, const Template& recorded, std::uint32_t slots = 0);
  ~Replays();  ///< the chain has been left and nothing is in flight

  /// The next replay, nothing of it issued. `carried`: it follows the present one, all of which has been
  /// issued; otherwise the chain before has been left. Reserves sequence numbers for all its operations.
  /// Waits, and helps, while no slot is free, or while the scope, with this replay, would have more operations in flight
  /// than its window and than four replays of this size. Present replays of other templates do not count.
  Replay& begin(bool carried);

  /// Preconditions: an operation that is not issued yet also comes after these nodes of the ordinary graph.
  void add_preconditions(Replay& replay, std::uint32_t index, std::span<const NodeRef> outside);

  /// Operations [0, count) of the present replay may run. A reducer is issued together with its folds.
  void issue(Replay& replay, std::uint32_t count) {
    REFRAIN_ASSERT(&replay == present_ && count >= issued_, "operations are issued in order");
    if (count > simple_until_) return issue_in_full(replay, count);
    issued_ = count;
    const std::uint32_t parked = replay.watermark.advance(count, false);
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
  /// From the oldest replay of which not all is done to the present one, in that order.
  const boost::circular_buffer<Replay*>& in_flight();
  /// Calls visit(replay, index) for each operation that has been issued and is not done. Only while no other
  /// thread does anything with the scope. What is run in order is done: it does not wait.
  template <class Visit>
  void for_each_unfinished(Visit visit) const {
    for (Replay* replay : in_flight_) {
      const bool in_order = replay->way == Way::in_order;
      const std::uint32_t issued = in_order ? 0 : replay->watermark.load().issued();
      for (std::uint32_t index = 0; index < issued; ++index)
        if (!replay->is_done(index)) visit(*replay, index);
    }
  }

  [[nodiscard]] std::uint32_t issued() const { return issued_; }  ///< of the present replay
  [[nodiscard]] std::size_t bytes() const {
    return slots_.size() * (sizeof(Replay) + template_.size() * sizeof(LiveNode)) +
           (durations_ != nullptr ? durations_->bytes() : 0) +
           (order_ != nullptr ? order_->bytes() : 0) + (lanes_ != nullptr ? lanes_->bytes() : 0);
  }

 private:
  void set_counts(Replay& slot, bool anew);
  void add_slot();
  Replay& take_free();
  [[nodiscard]] std::uint32_t to_be_done() const;
  void count(Replay& replay);
  void finish(Replay& replay);
  void end_slot(Replay& slot);
  void make_nodes(Replay& replay, std::uint32_t to);
  void issue_in_full(Replay& replay, std::uint32_t count);
  [[gnu::noinline]] void issue_in_graph(Replay& replay, std::uint32_t count);
  [[gnu::noinline]] void issue_to_lanes(Replay& replay, std::uint32_t count);
  void release(Replay& replay, std::uint32_t from, std::uint32_t to, std::uint32_t parked);
  void find_simple_until();
  Way choose_way(bool carried);
  bool can_run_in_order(bool carried);
  void deactivate_lanes();
  void forget_schedule();
  /// What runs in order does so to its end. With one thread there are no others to take part. Reducers go on to their
  /// folds, since the gate has not heard of them (graph/reducer_gate.hpp).
  [[nodiscard]] bool goes_to_the_end() const;
  void make_lanes();
  void leave_way(Replay& replay);
  [[nodiscard]] bool all_complete();
  [[nodiscard]] bool in_order() const {
    return present_ != nullptr && present_->way == Way::in_order;
  }

  Executor& executor_;
  Scope& scope_;
  const Template& template_;
  const std::unique_ptr<Durations> durations_;  ///< null: nobody asks
  const std::unique_ptr<PathOrder> order_;      ///< null: that of the template
  const std::uint32_t most_slots_;
  std::unique_ptr<Lanes> lanes_;  ///< null: not made yet
  ScheduleTrial trial_;
  std::vector<std::unique_ptr<Replay>> slots_;
  std::vector<Replay*> free_;                  ///< with their counts set
  boost::circular_buffer<Replay*> in_flight_;  ///< in the order in which they were begun

  Replay* present_ = nullptr;  ///< null: the chain was left
  bool anew_ = false;          ///< all its operations have a guard
  std::uint32_t issued_ = 0;
  /// Up to here, to issue is to move the watermark: no operation has a node, is a source, or ends a burst.
  std::uint32_t simple_until_ = 0;
  /// Parked operations of the present replay, which the owner holds until they are issued: the lowest first.
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t, SureAllocator<std::uint32_t>>,
                      std::greater<>>
      early_;
  std::uint32_t next_source_ = 0;  ///< position in Template::sources
  std::uint32_t next_node_ = 0;    ///< position in Template::with_node
  std::uint32_t done_ = 0;         ///< operations before this one are known to be done
  std::uint32_t relieve_at_;       ///< when so many are issued, the burst ends
  std::uint32_t number_ = 0;
};

}  // namespace refrain::exec
