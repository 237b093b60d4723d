#pragma once
// The executor that runs nodes on threads: the launching thread, `workers` cpu workers, and one thread
// per dedicated processor (an emulated gpu).
//
// Where ready nodes are.
// - Root scope, priority 0: in the deque of the thread that found them ready; workers steal. A thread
//   that completes a node keeps the first successor that becomes ready as its own next node, at most
//   kStreak times in a row, so that nodes already in the deques are not starved. If the oldest come
//   first (`oldest_first`), it keeps none and takes from its own deque as thieves do.
// - Root scope, other priorities: in one ordered queue, looked at before (positive) or after
//   (negative) the deques.
// - Nested scopes: in the scope's own queue. A thread that waits in a nested scope runs nodes of that
//   scope and of scopes below it and nothing else; it finds them there wherever they became ready.
//   Idle workers, and the launching thread waiting in the root scope, look through all nested scopes.
// - Dedicated processors: each has a queue, which its thread alone serves. While that thread waits in a
//   nested scope it runs from its queue nodes of any scope at least as deep: of its own descendants
//   only would not do, because two such threads could each wait for a child in the other's queue.
//   With the rule, the waits on one stack are in ever deeper scopes. So when everybody waits, the
//   deepest of the innermost waits has no running node (that would wait deeper still), and a ready
//   node of its scope can be run, by the waiter itself or by the dedicated thread, which waits no
//   deeper.
//
// Slots. Everything that a thread writes while it works is in its Slot. The only lines that threads share on the hot path
// are the nodes, the deques' tops and the scopes' return lists. Nodes of the root scope that a worker has completed go
// back in batches.
//
// Replays. Operations without a node are in the deques as nodes are, and a thread runs a streak of them in one loop.
// Before it sleeps it looks through the proxies (graph/replay.hpp).
//
// Tiny tasks. Workers that have nothing to do nap while the launching thread gets on better alone
// (exec/single_thread.hpp).
//
// Background jobs (exec/background.hpp) are in one queue. A worker takes a job where it would else spin, sleep or nap,
// and before its next node when jobs are late; always between bodies, never while a body waits on its stack. A job may
// take long, so the worker leaves behind what others may want: its kept successor goes into its deque, its completed
// nodes to their scopes, it looks for proxies as before sleep, and it is no sleeper whom a notification could hit. The
// thread of a running job is awake, and a thread that may take a job does not sleep, so jobs hide no deadlock. When all
// workers wait in bodies, a job that nobody has begun is no reason to go on.
//
// Completion from outside. The node of an operation that completes later stays where it is. When it is completed, by any
// thread, the rest of it goes into the queue of its nested scope, or into the ordered queue of the root scope, urgent.
// The notifier counts what is outstanding, so that nobody is told of a deadlock meanwhile.
//
// Shutdown (destructor, the launching thread):
//   1. No scope is alive (asserted): so no node is ready or running and no queue holds any. The thread that completed
//      the last one from outside is awaited, since it may still be notifying. Background jobs that nobody has begun
//      are dropped, so that nobody begins one that the join would wait for.
//   2. The notifier is stopped: a thread that is about to sleep sees it in its second look, one that naps when it wakes,
//      and those asleep wake and see it.
//   3. The threads are joined, each when its job is done; after that nobody touches the slots, the queues or the notifier.

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "exec/background.hpp"
#include "exec/deadlock.hpp"
#include "exec/deque.hpp"
#include "exec/gang_loops.hpp"
#include "exec/notifier.hpp"
#include "exec/shared_queues.hpp"
#include "exec/single_thread.hpp"
#include "exec/threads.hpp"
#include "graph/executor.hpp"
#include "graph/ready_queue.hpp"
#include "graph/replay_steps.hpp"
#include "graph/scope.hpp"

namespace refrain::exec {

class ThreadedExecutor final : public GraphExecutor<ThreadedExecutor> {
 public:
  ThreadedExecutor(const ProcessorPlan& plan, const ExecutorOptions& options);
  ~ThreadedExecutor() override;

  void run_root(const std::function<void()>& program) override;
  void* enter_root() override { return std::exchange(this_slot, slots_[0].get()); }
  void leave_root(void* before) override { this_slot = static_cast<Slot*>(before); }
  void publish(Node& node, std::span<const Edge> predecessors) override;
  void publish_inline(Node& node, std::span<const Edge> predecessors) override;
  void expect_completion() override { notifier_.expect(); }
  void completed_outside(Node* node) noexcept override;
  void wait(Scope& scope, const std::function<bool()>& done, NodeRef awaited,
            const NodeInfo* waiter) override;
  void parallel_for(std::int64_t count, std::int64_t grain, const LoopBody& f) override;
  void post(std::shared_ptr<BackgroundJob> job) override;
  void hurry() override { background_.hurry(); }
  [[nodiscard]] bool runs_background() const override { return options_.workers > 0; }
  [[nodiscard]] int this_thread() const override {
    return this_slot != nullptr ? this_slot->index : 0;
  }
  [[nodiscard]] ExecutorCounters counters() const override;
  Opened open(Scope& scope) override;
  void close(Scope& scope) override;
  bool relieve(Scope& scope, std::size_t target) override;
  [[nodiscard]] std::uint32_t replay_burst() const override { return kReplayBurst; }
  [[nodiscard]] bool runs_in_order() override;
  std::uint32_t run_in_order(Replay& replay, std::uint32_t from, std::uint32_t to,
                             bool to_the_end) override;

 private:
  /// Completed nodes a worker holds before it gives them back.
  static constexpr std::size_t kBatch = 16;
  static constexpr int kStreak = 64;  ///< kept successors in a row
  /// Operations of replays that a thread which is alone issues before it runs them: they fit its cache.
  static constexpr std::uint32_t kReplayBurst = 1024;

  /// What one thread works with. Written by that thread alone, except the deque's top and the sleeper;
  /// the counters may be read by any.
  struct alignas(128) Slot {
    Deque deque;
    Ready next;  ///< kept successor
    int streak = 0;
    int index = 0;
    int processor = 0;         ///< id of the machine's processor
    bool dedicated = false;    ///< the processor has a queue of its own
    Node* batch[kBatch] = {};  ///< completed nodes of the root scope
    std::size_t batch_size = 0;
    const Node* running = nullptr;  ///< innermost
    WaitRecord* waits = nullptr;    ///< innermost; read by the thread that detects a deadlock
    Sleeper sleeper;
    std::uint64_t random = 0;  ///< for the choice of victims
    std::atomic<std::uint64_t> executed{0}, stolen{0}, sleeps{0}, idle_ns{0};
  };
  /// To a counter of this thread's slot: one writer, so no read-modify-write is needed.
  static void add(std::atomic<std::uint64_t>& counter, std::uint64_t by = 1) {
    counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  /// For graph/completion.hpp and graph/replay_steps.hpp. `keep`: the thread takes slot.next after this.
  struct Sink {
    ThreadedExecutor& executor;
    Slot& slot;
    bool keep = false;
    [[nodiscard]] bool keeps() const { return executor.keeps(); }
    void ready(Node& node) { executor.enqueue(slot, node, keep); }
    void ready(LiveNode& live) { executor.push(slot, &live); }
    void tell_owner() { executor.queues_.notify_waiters(); }
    [[nodiscard]] bool owns(const Node& node) const { return node.scope->owner() == &slot; }
    void finish(Node& node) { executor.finish(slot, node, keep); }
  };
  friend class GraphExecutor<ThreadedExecutor>;
  Sink sink_of(const Scope& scope) { return {*this, slot_of(scope)}; }
  Sink sink_here(LiveNode& live);

  /// The slot of this thread in the executor whose thread it is now.
  static thread_local Slot* this_slot;
  [[nodiscard]] Slot& slot_of(const Scope& scope) { return *static_cast<Slot*>(scope.owner()); }
  /// A thread goes on with what it has made ready.
  [[nodiscard]] bool keeps() const { return !options_.oldest_first; }
  /// The launching thread runs what it launches by itself.
  [[nodiscard]] bool alone() const { return threads() == 1 || single_thread_.on(); }

  // running
  void run(Slot& slot, Ready ready, bool keep);
  void enqueue(Slot& slot, Node& node, bool keep);
  void put_in_queue(Slot& slot, Node& node);
  void push(Slot& slot, Ready ready);
  void execute(Slot& slot, Node& node, bool keep);
  void finish(Slot& slot, Node& node, bool keep);
  void give_back(Slot& slot, Node& node);
  void flush(Slot& slot);
  void put_next_back(Slot& slot);
  struct WithoutNode;
  void drive(Slot& slot, LiveNode& first);
  template <bool listened>
  void drive_streak(Slot& slot, LiveNode& first);
  [[nodiscard]] std::uint64_t executed() const;

  bool run_all_ready(Slot& slot, const Scope* within);

  // finding. `within` null: anything a cpu thread may run.
  Ready next_or_find(Slot& slot, const Scope* within);
  Ready find(Slot& slot, const Scope* within);
  Ready take_own(Slot& slot);
  Ready steal(Slot& slot);

  // with nothing to run
  void work(Slot& slot);
  Ready idle(Slot& slot);
  std::uint64_t stay_away(Slot& slot);
  Ready look(Slot& slot, const Scope* within);
  void look_at_proxies(Slot& slot);
  std::uint64_t run_background_job(Slot& slot);
  void run_late_jobs(Slot& slot);
  bool wait_idle(Slot& slot, const Scope* within, const std::function<bool()>& done, Ready& found);
  Sleeper* find_deadlocked();

  std::vector<std::unique_ptr<Slot>> slots_;
  Notifier notifier_;
  SharedQueues queues_;
  GangLoops loops_;
  BackgroundQueue background_;
  SingleThreadMode single_thread_;
  std::atomic<int> scopes_{0};
  const std::uint64_t started_ns_;
  std::vector<std::thread> threads_;
};

}  // namespace refrain::exec
