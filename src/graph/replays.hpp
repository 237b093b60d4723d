#pragma once
// The owner's side of replaying one template in one scope: begins replays, issues their operations,
// leaves them. Several replays are in flight, each in a slot (graph/replay.hpp).
//
// A *chain* is a run of replays of which each directly follows a complete one. Its first enters *anew*:
// its operations wait for each other and for what `await` says. The later ones are *carried*: they also
// wait for their predecessors in the replay before. `leave` ends a chain, after a whole replay or in the
// middle of one.
//
// Operations run as soon as they are issued and their predecessors are done, whatever became of others; so
// several replays overlap as the edges allow. Each operation of each replay runs once; those of a replay
// that was left in the middle which were not issued do not run.
//
// *In order.* When the owner gets on best by itself (the only thread, or exec/single_thread.hpp), it runs what it
// issues at once. The order of issue is an order of the graph, so nobody needs a count: they stay as they
// are set, and what was issued is done. Such a replay begins when those before it are complete and its
// template has no operation that has to run elsewhere, in a scope of its own, or by priority. As soon as
// an operation has to wait, or other threads are to take part, what was run is completed in the ordinary
// way and the rest goes on as a replay that entered anew.
//
// All members are the owner's of the scope. A `Replay&` that is complete and no longer the
// present one may be used until anything collects: `begin`, `collect`, `idle`, `in_flight`, `ref` by number, a wait, the
// scope when it throttles or drains. Its slot is used again by the next `begin`, not before. Cost: `issue`, a
// locked instruction, and what is to be done for nodes that were parked; `begin`, some ten words, and anew a
// count per operation; after `leave`, what was not issued is gone through once and, where edges are carried, a
// slot's counts are set again. `begin` may run tasks. Memory in the steady state: nodes of the scope's
// pool, for what `await`, `ref` and heavy operations need; a failure and a slot's first exit allocate.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "base/sure_memory.hpp"
#include "graph/node.hpp"
#include "graph/replay.hpp"
#include "graph/replay_extras.hpp"
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

  /// An operation that is not issued yet also comes after these nodes of the ordinary graph.
  void add_preconditions(Replay& replay, std::uint32_t index, std::span<const Edge> outside);

  /// Operations [0, count) of the present replay may run. A reducer is issued together with its folds.
  void issue(Replay& replay, std::uint32_t count) {
    REFRAIN_ASSERT(&replay == present_ && count >= issued_, "operations are issued in order");
    if (count > simple_until_) return issue_in_full(replay, count);
    issued_ = count;
    const std::uint32_t parked = advance(replay, count);
    if (parked != 0 || early_count_ != 0) [[unlikely]]
      release_parked(replay, parked);
  }

  /// Names an issued operation for the ordinary graph: its number is `base` + index.
  NodeRef ref(Replay& replay, std::uint32_t index);
  /// The same by number, whatever has become of the replay since.
  NodeRef ref(std::uint64_t seq);

  /// The chain ends after what has been issued.
  void leave(Replay& replay);
  /// The same if a chain is open, wherever an exception has left it.
  void abandon() noexcept;

  /// Lets go of the oldest replays, as far as they are complete.
  void collect();
  /// Whether all that was issued is done.
  bool idle();
  /// Whether, as of the last look, nothing is in flight and no chain is open: then the scope need not ask until
  /// the next `begin`, and lets go of it (`detached`).
  [[nodiscard]] bool at_rest() const { return in_flight_.empty(); }
  /// The scope has let go of it; `begin` attaches it again.
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
  struct Slot {
    std::unique_ptr<Replay, FreeSlot> replay;
    std::unique_ptr<ReplayExtras> extras;
  };

  [[nodiscard]] std::size_t slot_bytes() const;
  void set_counts(Replay& slot, bool anew);
  [[nodiscard]] bool has_free(std::size_t count) const;
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
  void release_parked(Replay& replay, std::uint32_t first);
  std::uint32_t take_parked(Replay& replay, std::uint32_t first, std::uint32_t to);
  void keep_early(std::uint32_t index);
  bool take_early(std::uint32_t index);
  std::span<const std::uint32_t> take_sources(std::uint32_t to);
  void find_simple_until();
  bool can_run_in_order(bool carried);
  void leave_order(Replay& replay);
  [[nodiscard]] bool runs_to_the_end() const;
  [[nodiscard]] bool all_complete();
  void take_order(Replay& replay);
  static bool is_complete(const Replay& replay);
  static bool is_done(Replay& replay, std::uint32_t index);
  [[nodiscard]] bool in_order() const { return present_ != nullptr && present_->extras->in_order; }

  Executor& executor_;
  Scope& scope_;
  const Template& template_;
  const std::unique_ptr<PathOrder> order_;  ///< null: that of the template
  const std::uint32_t most_slots_;
  std::uint32_t burst_;  ///< operations issued between two looks whether this thread is alone
  bool alone_;           ///< no other thread ever runs anything
  std::vector<Slot> slots_;
  std::vector<Replay*> free_;  ///< with their counts set
  /// As begun; the first `collected_` have been collected.
  std::vector<Replay*> in_flight_;
  std::size_t collected_ = 0;
  bool attached_ = false;  ///< to the scope: something is in flight, or a chain is open

  Replay* present_ = nullptr;  ///< null: the chain was left
  bool anew_ = false;          ///< all its operations have a guard
  std::uint32_t issued_ = 0;
  /// Up to here issuing is moving the watermark: no operation needs a node, waits for nobody but the owner,
  /// or ends a burst.
  std::uint32_t simple_until_ = 0;
  /// Operations of the present replay that were parked when something before them was issued, a bit each, all
  /// clear between replays; and their number.
  std::vector<std::uint64_t, SureAllocator<std::uint64_t>> early_;
  std::uint32_t early_count_ = 0;
  std::uint32_t next_early_ = 0;       ///< those before it have been taken
  std::uint32_t next_source_ = 0;      ///< in Template::sources
  std::uint32_t next_node_ = 0;        ///< in Template::with_node
  std::uint32_t done_ = 0;             ///< operations before this one are known to be done
  std::uint32_t relieve_at_ = burst_;  ///< when so many are issued, the burst ends
  std::uint32_t number_ = 0;
};

}  // namespace refrain::exec
