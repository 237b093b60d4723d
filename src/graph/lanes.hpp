#pragma once
// The lanes of a schedule (graph/schedule.hpp) while replays run from it: the hand-over between threads.
//
// A lane is *held* by the thread that runs it. The holder runs the operation that the lane is at, once it is issued and its
// waits are over, and goes on to the next. Lanes change hands between operations only, so any thread may go on with a lane
// where another one has left it (Lane::held: release, acquire).
//
// **Reached.** A lane tells the others how many steps it has taken, in all replays together: replay * steps + steps in this
// replay, replays counted from 1. Its holder alone writes that, after each step that others wait for. A wait for step s of
// replay r is over when reached >= r * steps + s. What the operations up to there wrote is then visible (release, acquire).
// So the order of each edge is kept: within a lane by its list, across lanes by a wait for the operation, or for a later
// one of its lane.
//
// **No wait is for ever.** Take, of the issued operations that have not run, the first of the oldest replay. All before it
// have run. So its lane is at it, and its waits are over. Any thread may hold that lane.
//
// **Issued.** The owner counts in the same way: replay * operations + operations of this replay. Before the first
// operation of a replay is issued, its slot stands in a ring (issued_: release, acquire). The ring has more places than
// there are slots, so a place is written again when its replay is complete. Each lane has told that it is through with
// the replay then (Replay::sinks_left counts lanes), and touches nothing of it any more. When a chain is left, lanes take
// the steps of what was not issued without running it (Place::end).
//
// **Parking.** A thread that cannot go on with a lane it holds *parks* it: it notes what the lane waits for, sets the
// lane's bit in parked_ (seq_cst), and lets it go; before it sleeps it looks once more (may_go_on). A thread that takes a
// step, or issues, stores its progress (seq_cst) and then reads parked_. So at least one of the two sees the other's store:
// the bit is seen, and somebody is woken if the lane can go on; or the progress is. While no lane is parked the line of
// parked_ is only read.
//
// Cost: of an operation, the store that it is done, and of a hand-over, a seq_cst store and the way of a cache line.

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/replay.hpp"
#include "graph/replay_steps.hpp"
#include "graph/schedule.hpp"

namespace refrain::exec {

class Lanes {
 public:
  static constexpr std::uint32_t kMost = 64;  ///< lanes: one bit each

  /// `slots`: at most so many replays are in flight in the scope.
  Lanes(Scope& scope, const Template& of, Schedule cut, std::uint32_t slots);

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(lanes_.size()); }
  [[nodiscard]] Scope& scope() const { return scope_; }
  [[nodiscard]] std::size_t bytes() const;

  // --- the scope's owner

  bool active = false;  ///< an executor's threads run them
  /// The next replay is run from here. All before it that were not are complete.
  void begin(Replay& replay);
  /// Operations [0, count) of it may run. Returns how many parked lanes can go on.
  [[nodiscard]] std::uint32_t issue(std::uint32_t count) { return publish(issue_base_ + count); }
  /// No more of it will be issued than `count`. Returns the same.
  [[nodiscard]] std::uint32_t leave(std::uint32_t count);
  /// What has been issued of the replay has run. The rest goes another way. Waits until nobody holds a lane.
  void hand_back();
  /// Nobody else finds the lanes any more, and nothing is in flight. Waits until nobody holds one.
  void close();
  /// How far issuing has come, in the units of `place`.
  [[nodiscard]] std::uint64_t issued() const { return issued_.load(std::memory_order_relaxed); }

  // --- any thread

  /// Whether the lane can go on, as far as that is known without holding it.
  [[nodiscard]] bool may_go_on(std::uint32_t lane) const;
  [[nodiscard]] bool is_parked(std::uint32_t lane) const {
    return (parked_.load(std::memory_order_relaxed) & bit(lane)) != 0;
  }
  /// True: the caller holds the lane, until it parks it or lets it go.
  [[nodiscard]] bool hold(std::uint32_t lane);
  void let_go(std::uint32_t lane) { lanes_[lane].held.store(false, std::memory_order_release); }
  /// Lets go of a lane that cannot go on. The caller looks once more whether it may go on, before it sleeps.
  void park(std::uint32_t lane);
  /// Whoever holds a lane that cannot go on lets go of it.
  [[nodiscard]] bool is_wanted() const { return wanted_.load(std::memory_order_relaxed); }

  // --- the holder of a lane

  /// The operation that it runs next; null: it has to wait.
  template <class Sink>
  [[nodiscard]] LiveNode* next(std::uint32_t lane, const Sink& sink);
  /// Where it is: below `issued`, if its operation has been issued.
  [[nodiscard]] std::uint64_t place(std::uint32_t lane) const {
    const Lane& at = lanes_[lane];
    const auto& steps = schedule_.lists[lane].steps;
    return steps.empty() ? ~std::uint64_t{0} : at.base + steps[at.step].index;
  }
  /// The operation that `next` has given has run.
  template <class Sink>
  void done(std::uint32_t lane, const Sink& sink);

 private:
  static constexpr std::uint32_t kIssue = kMost;  ///< in place of a lane

  /// A line of its own.
  struct alignas(128) Seen {
    std::uint64_t reached = 0;
  };
  /// The holder's; others read what is atomic.
  struct alignas(128) Lane {
    std::atomic<bool> held{false};
    std::uint32_t step = 0;  ///< the next one of the list
    std::uint32_t end = 0;   ///< operations of the replay from here on are not run
    std::uint64_t replay = 1;
    std::uint64_t base = 0;     ///< what issued_ is when nothing of the replay is issued
    std::uint64_t issued = 0;   ///< what is known of issued_
    Replay* current = nullptr;  ///< null: not looked up since `issued` was brought up to date
    std::vector<Seen> seen;     ///< by lane: how far it is known to have come
    /// What the lane waits for, or has waited for: a lane or kIssue, and how far that has to come.
    std::atomic<std::uint32_t> waits_for{0};
    std::atomic<std::uint64_t> until{0};
    alignas(128) std::atomic<std::uint64_t> reached{0};
  };
  struct Place {
    Replay* replay = nullptr;
    /// Relaxed: whoever has to know of a lower end has seen issued_ as it was stored after that.
    std::atomic<std::uint32_t> end{0};
  };

  static std::uint64_t bit(std::uint32_t lane) { return std::uint64_t{1} << lane; }
  [[nodiscard]] std::uint64_t length(std::uint32_t lane) const {
    return schedule_.lists[lane].steps.size();
  }
  void move_to(std::uint32_t lane, std::uint64_t replay);
  void take_all();
  void release_all();
  [[nodiscard]] std::uint32_t publish(std::uint64_t issued);
  [[nodiscard]] std::uint32_t waiting_for(std::uint32_t reaches, std::uint64_t value) const;
  [[nodiscard]] bool has_come(const Lane& lane) const;
  static std::nullptr_t wait(Lane& lane, std::uint32_t for_what, std::uint64_t until);
  template <class Sink>
  void take_step(std::uint32_t lane, bool signals, const Sink& sink);

  Scope& scope_;
  const Schedule schedule_;
  const std::uint32_t operations_;
  std::uint32_t in_use_ = 0;  ///< lanes that have operations
  std::vector<Lane> lanes_;
  std::vector<Place> ring_;
  std::uint64_t replay_ = 0;      ///< owner: the present one
  std::uint64_t issue_base_ = 0;  ///< owner: what issued_ is when nothing of that is issued
  alignas(128) std::atomic<std::uint64_t> issued_;
  alignas(128) std::atomic<std::uint64_t> parked_{0};  ///< a bit per lane
  std::atomic<bool> wanted_{false};
};

template <class Sink>
LiveNode* Lanes::next(std::uint32_t own, const Sink& sink) {
  Lane& lane = lanes_[own];
  const Schedule::List& list = schedule_.lists[own];
  for (;;) {
    const Schedule::Step& step = list.steps[lane.step];
    const std::uint64_t issue = lane.base + step.index + 1;
    if (lane.issued < issue) {
      // seq_cst (acquire half: the replay's slot and place): may be the look before sleep.
      lane.issued = issued_.load(std::memory_order_seq_cst);
      if (lane.issued < issue) return wait(lane, kIssue, issue);
      lane.current = nullptr;
    }
    if (lane.current == nullptr) {
      const Place& place = ring_[lane.replay % ring_.size()];
      lane.current = place.replay;
      lane.end = place.end.load(std::memory_order_relaxed);
    }
    if (step.index >= lane.end) [[unlikely]] {
      take_step(own, step.signals, sink);
      continue;
    }
    const Schedule::Wait* at = list.waits.data() + (lane.step > 0 ? (&step)[-1].waits : 0);
    for (; at != list.waits.data() + step.waits; ++at) {
      const std::uint64_t until = (lane.replay - at->carried) * length(at->lane) + at->steps;
      std::uint64_t& seen = lane.seen[at->lane].reached;
      if (seen >= until) continue;
      seen = lanes_[at->lane].reached.load(std::memory_order_seq_cst);  // as above
      if (seen < until) return wait(lane, at->lane, until);
    }
    return lane.current->live() + step.index;
  }
}

template <class Sink>
void Lanes::done(std::uint32_t own, const Sink& sink) {
  Lane& lane = lanes_[own];
  const Schedule::Step& step = schedule_.lists[own].steps[lane.step];
  Replay& replay = *lane.current;
  mark_done(replay, replay.live()[step.index], replay.nodes[step.index], sink);
  take_step(own, step.signals, sink);
}

template <class Sink>
inline void Lanes::take_step(std::uint32_t own, bool signals, const Sink& sink) {
  Lane& lane = lanes_[own];
  Replay* const ended = ++lane.step == length(own) ? lane.current : nullptr;
  if (ended != nullptr) move_to(own, lane.replay + 1);
  if (signals) {
    const std::uint64_t reached = lane.replay * length(own) + lane.step;
    // seq_cst (release half): partner of the loads in next; before the look for parked lanes.
    lane.reached.store(reached, std::memory_order_seq_cst);
    for (std::uint32_t can = waiting_for(own, reached); can > 0; --can) sink.lane_can_go_on();
  }
  if (ended != nullptr) sink_done(*ended, sink);
}

/// How many parked lanes wait for no more than that.
inline std::uint32_t Lanes::waiting_for(std::uint32_t reaches, std::uint64_t value) const {
  std::uint32_t count = 0;
  std::uint64_t parked = parked_.load(std::memory_order_seq_cst);
  for (; parked != 0; parked &= parked - 1) {
    const Lane& lane = lanes_[static_cast<std::size_t>(std::countr_zero(parked))];
    if (lane.waits_for.load(std::memory_order_relaxed) == reaches &&
        lane.until.load(std::memory_order_relaxed) <= value)
      ++count;
  }
  return count;
}

inline void Lanes::move_to(std::uint32_t own, std::uint64_t replay) {
  Lane& lane = lanes_[own];
  lane.step = 0;
  lane.replay = replay;
  lane.base = replay * operations_;
  lane.current = nullptr;
}

inline std::nullptr_t Lanes::wait(Lane& lane, std::uint32_t for_what, std::uint64_t until) {
  lane.waits_for.store(for_what, std::memory_order_relaxed);  // parking publishes them
  lane.until.store(until, std::memory_order_relaxed);
  return nullptr;
}

inline bool Lanes::hold(std::uint32_t own) {
  std::atomic<bool>& held = lanes_[own].held;
  // acquire: partner of let_go and park.
  if (held.load(std::memory_order_relaxed) || held.exchange(true, std::memory_order_acquire))
    return false;
  if (is_parked(own)) parked_.fetch_and(~bit(own), std::memory_order_relaxed);
  return true;
}

inline std::uint32_t Lanes::publish(std::uint64_t issued) {
  // seq_cst (release half): partner of the load in next; before the look for parked lanes.
  issued_.store(issued, std::memory_order_seq_cst);
  return waiting_for(kIssue, issued);
}

}  // namespace refrain::exec
