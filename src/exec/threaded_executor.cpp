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
// - Nested scopes: in one queue, those of the newest scope first. A thread that waits in a nested scope runs nodes of that
//   scope and of scopes below it and nothing else; it finds them there wherever they became ready.
//   Idle workers, and the launching thread waiting in the root scope, take any.
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
// Before it sleeps it looks at the proxies (graph/replay.hpp).
//
// Schedules. Lanes (graph/lanes.hpp) are run by whoever finds nothing else to run, as loops of gang tasks are helped with:
// each thread the lane of its number. The owner runs what it issued before the last call of issue, as far as that can be
// run, whenever it issues more, so that the other lanes are never behind its issuing by more than a call. A thread that
// holds a lane which has to wait spins for a short time; then it parks the lane and looks for other work.
//
// Tiny tasks. Workers nap while the launching thread gets on better alone (exec/single_thread.hpp).
//
// Background jobs (exec/background.hpp) are in one queue. A worker takes a job where it would else spin, sleep or nap
// (but for the first nap of one that was busy), and before its next node when jobs are late; always between bodies, never
// while a body waits on its stack. A job may take long, so the worker leaves behind what others may want: its kept
// successor goes into its deque, its completed nodes to their scopes, it looks for proxies as before sleep, and it is no
// sleeper whom a notification could hit. The thread of a running job is awake, and a thread that may take a job does not
// sleep, so jobs hide no deadlock. When all workers wait in bodies, a job that nobody has begun is no reason to go on.
//
// Completion from outside. The node of an operation that completes later stays where it is. When it is completed, by any
// thread, the rest of it goes into the queue of nested scopes, or into the ordered queue of the root scope, urgent.
// The notifier counts what is outstanding, so that nobody is told of a deadlock meanwhile.
//
// Messages. What sends is urgent: it runs before all else that is ready, also before the successor that a thread has kept,
// as another process may wait for it for as long as that takes. Between two nodes, every few microseconds, and while it
// spins, a thread asks whether anything has come from outside. Of those that sleep one *watches*: it sleeps for a short
// time, asks, and sleeps again. When it finds something to do, it wakes another one, who watches from then on. A watcher
// that sleeps is asleep like others, so deadlocks are found as without messages: an operation that waits for one is
// completed from outside.
//
// Shutdown (destructor, the launching thread):
//   1. No scope is alive (asserted): so no node is ready or running and no queue holds any. The thread that completed
//      the last one from outside is awaited, since it may still be notifying. Background jobs that nobody has begun
//      are dropped, so that nobody begins one that the join would wait for.
//   2. The notifier is stopped: a thread that is about to sleep sees it in its second look, one that naps when it wakes,
//      and those asleep wake and see it.
//   3. The threads are joined where `threads_` ends, each when its job is done; after that nobody touches the slots, the
//   queues or the notifier.

#include <algorithm>
#include <atomic>
#include <boost/container/static_vector.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "exec/active_lanes.hpp"
#include "exec/background.hpp"
#include "exec/deadlock.hpp"
#include "exec/deque.hpp"
#include "exec/fiber.hpp"
#include "exec/gang_loops.hpp"
#include "exec/notifier.hpp"
#include "exec/shared_queues.hpp"
#include "exec/single_thread.hpp"
#include "exec/threads.hpp"
#include "graph/completion.hpp"
#include "graph/replay_steps.hpp"
#include "graph/schedule_trial.hpp"
#include "profile/clock.hpp"
#include "refrain/error.hpp"

// Where a loop of seven instructions falls among the blocks that a processor decodes would be chance, and is worth a tenth of
// a replay.
#ifdef __clang__
#define REFRAIN_ALIGNED_LOOP
#else
#define REFRAIN_ALIGNED_LOOP [[gnu::optimize("align-labels=32")]]
#endif

namespace refrain::exec {

namespace {

/// All ids of dedicated processors are below it.
int end_of_dedicated(const ProcessorPlan& plan) {
  return plan.dedicated.empty() ? 0 : 1 + std::ranges::max(plan.dedicated);
}

class ThreadedExecutor final : public GraphExecutor<ThreadedExecutor> {
  /// Completed nodes a worker holds before it gives them back.
  static constexpr std::size_t kBatch = 16;
  static constexpr int kStreak = 64;  ///< kept successors in a row
  /// Operations of replays that a thread which is alone issues before it runs them: they fit its cache.
  static constexpr std::uint32_t kReplayBurst = 1024;
  /// How often a thread looks whether a lane that it holds can go on, before it parks that: for some microseconds.
  static constexpr int kLaneLooks = 256;
  /// Looks of a thread with nothing to run before it takes lanes that other threads may come back to.
  static constexpr std::uint32_t kPatientLooks = 8;
  /// A worker that is never idle considers staying away once in so many rounds, so that most do not look at the clock.
  static constexpr std::uint32_t kRoundsToDecide = 16;
  /// How often a thread that runs nodes asks for what comes from outside.
  static constexpr std::uint64_t kAskEveryNs = 3'000;
  /// How long who watches for it sleeps: longer the longer nothing comes.
  static constexpr std::chrono::nanoseconds kShortestNap{20'000}, kLongestNap{1'000'000};

  /// What one thread works with. Written by that thread alone, except the deque's top and the sleeper;
  /// the counters may be read by any.
  struct alignas(128) Slot {
    Deque deque;
    Ready next;  ///< kept successor
    int streak = 0;
    int index = 0;
    int processor = 0;                                     ///< id of the machine's processor
    bool dedicated = false;                                ///< the processor has a queue of its own
    boost::container::static_vector<Node*, kBatch> batch;  ///< completed nodes of the root scope
    const Node* running = nullptr;                         ///< innermost
    WaitRecord* waits = nullptr;  ///< innermost; read by the thread that detects a deadlock
    Sleeper sleeper;
    const std::uint64_t made_ns = profile::now_ns();
    std::vector<int> cpus;  ///< where its thread is bound, the launching one moved; empty: neither
    std::uint64_t random = 0;        ///< for the choice of victims
    std::uint64_t jobs_ns = 0;       ///< spent on background jobs
    std::uint64_t proxies_seen = 0;  ///< how many had been added at the last look
    std::uint64_t asked_ns = 0;      ///< when it last asked for what comes from outside
    std::uint32_t idle_looks = 0;    ///< for a lane to run, in vain
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
    [[gnu::always_inline]] void ready(Node& node) const {
      if (keep && keeps() && !slot.next && (node.priority | node.processor) == 0) [[likely]] {
        slot.next = &node;
      } else {
        executor.put_in_queue(slot, node);
      }
    }
    void ready(LiveNode& live) const { executor.push(slot, &live); }
    void tell_owner() const { executor.queues_.notify_waiters(); }
    void lane_can_go_on() const { executor.queues_.call_somebody(); }
    [[nodiscard]] bool owns(const Node& node) const { return node.scope->owner() == &slot; }
    void finish(Node& node) const { executor.finish(slot, node, keep); }
  };
  Sink sink_of(const Scope& scope) { return {*this, slot_of(scope)}; }

  /// The slot of this thread in the executor whose thread it is now.
  static constinit inline thread_local Slot* this_slot = nullptr;
  [[nodiscard]] Slot& slot_of(const Scope& scope) { return *static_cast<Slot*>(scope.owner()); }
  /// A thread goes on with what it has made ready.
  [[nodiscard]] bool keeps() const { return !options_.oldest_first; }
  /// The launching thread runs what it launches by itself.
  [[nodiscard]] bool alone() const { return threads() == 1 || single_thread_.on(); }

 public:
  ThreadedExecutor(const ProcessorPlan& plan, const ExecutorOptions& options)
      : GraphExecutor(options, 1 + options.workers + static_cast<int>(plan.dedicated.size())),
        notifier_(threads(), kDedicated + end_of_dedicated(plan),
                  [this] { return find_deadlocked(); }),
        queues_(end_of_dedicated(plan), notifier_),
        single_thread_(threads() == 1) {
    const int cpu_threads = 1 + options.workers;
    for (int i = 0; i < threads(); ++i) {
      Slot& slot = *slots_.emplace_back(std::make_unique<Slot>());
      slot.index = i;
      slot.random = 0x9e3779b97f4a7c15u * (i + 1);
      slot.dedicated = i >= cpu_threads;
      slot.processor = slot.dedicated ? plan.dedicated[i - cpu_threads]
                                      : plan.cpus[i % plan.cpus.size()].processor;
    }
    const bool bind =
        options.bind &&
        static_cast<unsigned>(threads()) <= std::max(1U, std::thread::hardware_concurrency()) &&
        cpu_threads <= static_cast<int>(plan.cpus.size());
    for (int i = 0; bind && threads() > 1 && i < cpu_threads; ++i)
      slots_[i]->cpus = plan.cpus[i].cpus;
    threads_.reserve(slots_.size());
    try {
      for (int i = 1; i < threads(); ++i) {
        Slot& slot = *slots_[i];
        threads_.emplace_back([this, &slot] {
          bind_this_thread(slot.cpus);
          work(slot);
        });
      }
    } catch (const std::system_error& error) {
      std::string why;
      try {
        why = what_limits_threads();  // while those that could be started are there
      } catch (const std::bad_alloc&) {}
      notifier_.stop();
      throw Error("only " + std::to_string(threads_.size()) + " of " +
                  std::to_string(threads() - 1) + " threads could be started (" +
                  error.code().message() + "): " + why + "; ask for fewer with --refrain:workers");
    } catch (...) {
      notifier_.stop();
      throw;
    }
  }

  ~ThreadedExecutor() override {
    REFRAIN_ASSERT(scopes_.load() == 0, "scopes end before their executor");  // 1
    notifier_.await_expected();
    background_.drop();
    notifier_.stop();  // 2
  }

  void* enter_root() override { return std::exchange(this_slot, slots_[0].get()); }
  void leave_root(void* before) override { this_slot = static_cast<Slot*>(before); }
  void close(Scope&) override { scopes_.fetch_sub(1, std::memory_order_relaxed); }
  void hurry() override { background_.hurry(); }
  [[nodiscard]] bool runs_background() const override { return options_.workers > 0; }
  [[nodiscard]] int this_thread() const override {
    return this_slot != nullptr ? this_slot->index : 0;
  }

  // seq_cst: who sleeps has prepared for it before it looks whether there is something to watch for; partner: the
  // notification.
  void add(Outside& outside) override {
    REFRAIN_ASSERT(outside_.load() == nullptr, "a threaded executor is one runtime's");
    outside_.store(&outside);
    notifier_.notify_all(kWorker);
  }
  void remove(Outside&) override {
    const std::lock_guard lock(asking_);  // nobody asks it any more
    outside_.store(nullptr);
  }

  void run_root(const std::function<void()>& program) override {
    struct Entered {
      ThreadedExecutor& executor;
      void* const before = executor.enter_root();
      ~Entered() { executor.leave_root(before); }
    } entered{*this};
    // On the core of a worker it would keep that from its time slice, whenever it is woken, for some milliseconds.
    move_this_thread(slots_[0]->cpus);
    program();
  }

  void open(Scope& scope) override {
    scope.set_owner(slots_[0].get());
    if (scope.parent()) {
      REFRAIN_ASSERT(this_slot && this_slot->running, "a nested scope is made by a running task");
      scope.set_owner(this_slot);
      scope.set_task(this_slot->running);
    }
    scopes_.fetch_add(1, std::memory_order_relaxed);
  }

  void parallel_for(std::int64_t count, std::int64_t grain, const LoopBody& f) override {
    ParallelLoop loop(count, grain, 1 + options_.workers, f);
    loops_.run(loop, [this] {
      notifier_.notify_all(kWorker);
      queues_.notify_waiters();
    });
  }

  void post(std::shared_ptr<BackgroundJob> job) override {
    background_.post(std::move(job));
    notifier_.notify_one(kWorker);
  }

  std::uint64_t executed() const {
    std::uint64_t sum = 0;
    for (const auto& slot : slots_) sum += slot->executed.load(std::memory_order_relaxed);
    return sum;
  }

  ExecutorCounters counters() const override {
    ExecutorCounters sum{.executed = executed(),
                         .background_jobs = background_.jobs_run(),
                         .background_ns = background_.ns()};
    std::uint64_t idle = 0;
    for (const auto& slot : slots_) {
      sum.stolen += slot->stolen.load(std::memory_order_relaxed);
      sum.sleeps += slot->sleeps.load(std::memory_order_relaxed);
      idle += slot->idle_ns.load(std::memory_order_relaxed);
    }
    const double span = double(profile::now_ns() - slots_[0]->made_ns) * double(threads() - 1);
    sum.idle_share = span > 0 ? std::min(1.0, double(idle) / span) : 0;
    return sum;
  }

  // --- running ---------------------------------------------------------------------------------------

  void publish(Node& node, std::span<const NodeRef> predecessors) override {
    if (connect(node, predecessors)) node_ready(node, sink_of(*node.scope));
  }

  void publish_inline(Node& node, std::span<const NodeRef> predecessors) override {
    if (node.processor != 0 || (node.flags & (kManual | kReducer)))
      return publish(node, predecessors);
    if (connect(node, predecessors)) execute(slot_of(*node.scope), node, false);
  }

  void finish(Node& node) override { finish(slot_of(*node.scope), node, false); }
  std::uint32_t replay_burst() const override { return kReplayBurst; }
  void expect_completion() override { notifier_.expect(); }

  void completed_outside(Node* node) noexcept override {
    if (node != nullptr) {
      node->priority = kUrgent;
      node->processor = 0;
      queues_.push(*node);
    }
    notifier_.arrived();
  }

  void push(Slot& slot, Ready ready) {
    slot.deque.push(ready.word());
    queues_.call_somebody();
  }

  /// Apart, so that publish, which mostly has nothing ready, stays small.
  [[gnu::noinline]] void put_in_queue(Slot& slot, Node& node) {
    if ((node.priority | node.processor) == 0 && !node.scope->parent()) [[likely]]
      return push(slot, &node);
    queues_.push(node);
  }

  [[gnu::always_inline]] inline void run(Slot& slot, Ready ready, bool keep) {
    if (ready.is_live()) return drive(slot, ready.live());
    execute(slot, ready.node(), keep);
  }

  [[gnu::always_inline]] inline void execute(Slot& slot, Node& node, bool keep) {
    const Node* outer = std::exchange(slot.running, &node);
    if (tells_) [[unlikely]] {
      run_told(node, slot.processor, slot.index);
    } else {
      run_node(node, *this, slot.processor);
    }
    slot.running = outer;
    if (!ends_now(node, Sink{*this, slot, keep})) return;
    add(slot.executed);
    finish(slot, node, keep);
  }

  [[gnu::always_inline]] inline void finish(Slot& slot, Node& node, bool keep) {
    complete_node(node, Sink{*this, slot, keep});
    give_back(slot, node);
    // As notify_waiters asks itself: mostly nobody waits, and every operation comes here.
    if (notifier_.any(kWaiter) || notifier_.any(kRootWaiter)) [[unlikely]]
      queues_.notify_waiters();
  }

  [[gnu::always_inline]] inline void give_back(Slot& slot, Node& node) {
    Scope& scope = *node.scope;
    if (scope.owner() == &slot) return scope.give_back_own(node);
    if (scope.parent() || scope.window().size() < 16 * kBatch) {
      Node* const single = &node;
      return scope.give_back({&single, 1});
    }
    slot.batch.push_back(&node);
    if (slot.batch.size() == kBatch || notifier_.any(kWaiter) || notifier_.any(kRootWaiter))
      flush(slot);
  }

  void flush(Slot& slot) {
    if (slot.batch.empty()) return;
    slot.batch.front()->scope->give_back({slot.batch.data(), slot.batch.size()});
    slot.batch.clear();
    queues_.notify_waiters();
  }

  void put_next_back(Slot& slot) {
    slot.streak = 0;
    const Ready next = std::exchange(slot.next, nullptr);
    if (next.is_live()) {
      push(slot, next);
    } else if (next) {
      put_in_queue(slot, next.node());
    }
  }

  /// Runs a streak of operations without a node: each is the first that the one before it has made ready.
  template <bool tells>
  void drive_streak(Slot& slot, LiveNode& first) {
    const Sink sink{*this, slot};
    Execution execution{*this, slot.processor};
    Replay* replay = &Replay::of(first);
    std::uint32_t index = first.index;
    // How many operations of the replay are known to be issued. A successor in the same replay may go by
    // that: until it is done, the slot is used for nothing else.
    std::uint32_t issued = 0;
    int streak = 0;
    do {
      const TemplateNode& node = replay->nodes[index];
      LiveNode& live = replay->live()[index];
      const std::uint64_t begin = tells ? profile::now_ns() : 0;
      const bool plain = node.flags == 0;
      set_count(live, node);
      if (plain) run_operation<true>(*replay, index, node, execution);
      else run_operation<false>(*replay, index, node, execution);
      if (tells) tell_user(slot.index, *replay, index, begin);
      if (plain) [[likely]] {
        index = complete_plain(*replay, live, node, issued, sink);
      } else {
        LiveNode* const next =
            ends_now(live, node) ? complete_any(*replay, live, node, sink) : nullptr;
        index = next != nullptr ? next->index : kNoNode;
        if (next != nullptr) {
          replay = &Replay::of(*next);
          issued = 0;
        }
      }
    } while (++streak < kStreak && index != kNoNode);
    add(slot.executed, static_cast<std::uint64_t>(streak));
    if (index == kNoNode) return;
    LiveNode* const next = replay->live() + index;
    if (slot.next) return push(slot, next);
    slot.next = next;
    slot.streak = kStreak;
  }

  /// Lives while operations without a node run on a thread. They open no scope, since that takes a node. They wait only
  /// with a body-local pointer of their own.
  struct WithoutNode {
    explicit WithoutNode(Slot& thread) : slot(thread) {}
    ~WithoutNode() {
      set_body_local(local);
      slot.running = outer;
    }
    Slot& slot;
    const Node* const outer = std::exchange(slot.running, nullptr);
    void* const local = set_body_local(nullptr);
  };

  void drive(Slot& slot, LiveNode& first) {
    const WithoutNode among(slot);
    if (tells_) [[unlikely]]
      return drive_streak<true>(slot, first);
    drive_streak<false>(slot, first);
  }

  bool runs_in_order() override {
    const std::uint64_t executed = slots_[0]->executed.load(std::memory_order_relaxed);  // its own
    if (threads() == 1 && !options_.tasks_do_nothing && single_thread_.length_due(executed))
      single_thread_.look_at_length(profile::now_ns(), executed);
    return single_thread_.on();
  }

  REFRAIN_ALIGNED_LOOP std::uint32_t run_in_order(Replay& replay, std::uint32_t from,
                                                  std::uint32_t to, bool to_the_end) override {
    Slot& slot = slot_of(replay.scope);
    const WithoutNode among(slot);
    if (!replay.recorded.in_order.empty()) [[unlikely]]
      return run_in_given_order(replay, from, to, slot);
    std::uint32_t index = from;
    if (to_the_end && !tells_) [[likely]]  // then it is not timed (Replays::begin)
      index = run_plain_in_order(replay, from, to, *this, slot.processor, [] { return true; });
    else if (!tells_ && !is_timed(replay))
      index = run_plain_in_order(replay, from, to, *this, slot.processor,
                                 [this] { return single_thread_.on(); });
    if (index != to) index = run_others_in_order(replay, index, to, to_the_end, slot);
    add(slot.executed, index - from);
    return index;
  }

  /// From an operation that is not alike in all replays, or while somebody is told or asked before each one.
  [[gnu::noinline]] std::uint32_t run_others_in_order(Replay& replay, std::uint32_t index,
                                                      std::uint32_t to, bool to_the_end,
                                                      const Slot& slot) {
    const auto goes_on = [&] { return to_the_end || single_thread_.on(); };
    for (;;) {
      if (!tells_ && !is_timed(replay))
        index = run_plain_in_order(replay, index, to, *this, slot.processor, goes_on);
      if (index == to || !goes_on()) return index;
      run_one(replay, index, slot);
      await_in_order(replay, index++);
    }
  }

  /// As Template::in_order says, to the end: stretches of operations that follow each other.
  [[gnu::noinline]] std::uint32_t run_in_given_order(Replay& replay, std::uint32_t from,
                                                     std::uint32_t to, Slot& slot) {
    const std::vector<std::uint32_t>& order = replay.recorded.in_order;
    for (std::uint32_t first = from, last = from; first < to; first = last) {
      while (++last < to && order[last] == order[last - 1] + 1) {}
      run_others_in_order(replay, order[first], order[first] + (last - first), true, slot);
    }
    add(slot.executed, to - from);
    return to;
  }

  static bool is_timed(const Replay& replay) {
    // relaxed: set before it was issued.
    return (replay.events.load(std::memory_order_relaxed) & kTimed) != 0;
  }
  void run_one(Replay& replay, std::uint32_t index, const Slot& slot) {
    if (tells_) [[unlikely]]
      return run_told(replay, index, slot.processor, slot.index);
    Execution execution{*this, slot.processor};
    run_operation<false>(replay, index, replay.nodes[index], execution);
  }

  /// The thread's own slot, or the owner's where the thread is in a program of another executor within its own one.
  Sink sink_here(LiveNode& live) {
    const auto index = static_cast<std::size_t>(this_slot->index);
    if (index < slots_.size() && slots_[index].get() == this_slot) return {*this, *this_slot};
    return sink_of(Replay::of(live).scope);
  }

  // --- lanes -------------------------------------------------------------------------------------------

  std::uint32_t lanes() const override {
    const bool can = options_.scheduling == Scheduling::always ||
                     (options_.scheduling == Scheduling::measured && !notifier_.is_crowded());
    return can ? std::min(1 + static_cast<std::uint32_t>(options_.workers), Lanes::kMost) : 1;
  }
  bool runs_scheduled(ScheduleTrial& trial, std::uint32_t complete) override {
    if (options_.scheduling == Scheduling::measured) return trial.next(complete, profile::now_ns);
    return options_.scheduling == Scheduling::always;
  }
  bool draw_durations(std::span<std::uint64_t> ns) override {
    if (options_.scheduling != Scheduling::always) return false;
    std::ranges::fill(ns, 1000);
    return true;
  }
  void add_lanes(Lanes& lanes) override { lanes_.add(lanes); }
  void remove_lanes(Lanes& lanes) override { lanes_.remove(lanes); }

  void issue_to_lanes(Lanes& lanes, std::uint32_t count, bool left) override {
    const bool holds = lanes.hold(0);
    const std::uint64_t before = lanes.issued();
    for (std::uint32_t can = left ? lanes.leave(count) : lanes.issue(count); can > 0; --can)
      queues_.call_somebody();
    if (!holds) return;
    Slot& slot = *slots_[0];
    const WithoutNode among(slot);
    while (lanes.place(0) < before && run_step(slot, lanes, 0)) {}
    lanes.let_go(0);
    // The owner may wait for something that this runtime does not know of.
    if (lanes.may_go_on(0)) notifier_.notify_one(kWorker);
  }

  /// Of a lane that is held. False: it has to wait.
  bool run_step(Slot& slot, Lanes& lanes, std::uint32_t lane) {
    const Sink sink{*this, slot};
    LiveNode* const live = lanes.next(lane, sink);
    if (live == nullptr) return false;
    run_one(Replay::of(*live), live->index, slot);
    add(slot.executed);
    lanes.done(lane, sink);
    return true;
  }

  /// For a thread that has found nothing else: goes on with lanes while they can. False: none could.
  bool run_lanes(Slot& slot) {
    std::uint64_t ran = 0;
    // Again after a lane was parked: it may have become able to go on meanwhile.
    for (auto held = lanes_.take(slot.index, is_patient(slot)); held.of != nullptr;
         held = lanes_.take(slot.index, is_patient(slot))) {
      const std::uint64_t begin = profile::now_ns();
      const std::uint64_t steps = run_lane(slot, *held.of, held.lane);
      held.of->park(held.lane);
      if (steps > 0) slot.jobs_ns += profile::now_ns() - begin;  // not idle
      ran += steps;
    }
    slot.idle_looks = ran > 0 ? 0 : slot.idle_looks + 1;
    return ran > 0;
  }
  static bool is_patient(const Slot& slot) { return slot.idle_looks >= kPatientLooks; }

  /// Until the lane has to wait for more than a few microseconds. Returns how many operations it ran.
  std::uint64_t run_lane(Slot& slot, Lanes& lanes, std::uint32_t lane) {
    const WithoutNode among(slot);
    std::uint64_t ran = 0;
    for (int looks = 0;;) {
      if (run_step(slot, lanes, lane)) {
        ++ran;
        looks = 0;
        between_nodes(slot);
      } else if (++looks > kLaneLooks || lanes.is_wanted() || background_.late() ||
                 slot.waits != nullptr) {
        return ran;
      } else {
        pause_briefly();
      }
    }
  }

  // --- finding ---------------------------------------------------------------------------------------
  // `within` null: anything a cpu thread may run.

  Ready next_or_find(Slot& slot, const Scope* within) {
    if (slot.next) {
      if (++slot.streak < kStreak) return std::exchange(slot.next, nullptr);
      put_next_back(slot);
      if (!slot.dedicated && !within) {
        if (const Ready oldest{slot.deque.steal()}) return oldest;
      }
    }
    slot.streak = 0;
    return find(slot, within);
  }

  Ready find(Slot& slot, const Scope* within) {
    if (slot.dedicated) {
      Node* node = queues_.pop_dedicated(slot.processor, within);
      return node || !within ? node : queues_.pop_nested(within);
    }
    if (within) return queues_.pop_nested(within);
    if (Node* node = queues_.pop_urgent()) return node;
    if (const Ready ready{keeps() ? slot.deque.take() : slot.deque.steal()}) return ready;
    if (Node* node = queues_.pop_nested(nullptr)) return node;
    if (const Ready ready = steal(slot)) return ready;
    return queues_.pop_prioritised();
  }

  Ready steal(Slot& slot) {
    const int all = threads();
    if (all == 1) return nullptr;
    slot.random ^= slot.random << 13;
    slot.random ^= slot.random >> 7;
    slot.random ^= slot.random << 17;
    const int start = static_cast<int>(slot.random % static_cast<std::uint64_t>(all));
    for (int i = 0; i < all; ++i) {
      Slot& victim = *slots_[(start + i) % all];
      if (&victim == &slot) continue;
      if (const Ready ready{victim.deque.steal()}) {
        add(slot.stolen);
        return ready;
      }
    }
    return nullptr;
  }

  // --- what comes from outside -----------------------------------------------------------------------

  /// One thread at a time asks. What it takes in runs nothing here.
  bool ask_outside(bool rests = false) {
    if (outside_.load(std::memory_order_relaxed) == nullptr) return false;
    const std::unique_lock lock(asking_, std::try_to_lock);
    Outside* const outside = lock ? outside_.load() : nullptr;
    if (outside == nullptr) return false;
    const bool any = outside->poll();
    if (rests && !any) outside->rest();
    return any;
  }

  /// For a thread between two nodes.
  [[gnu::noinline]] void ask_in_passing(Slot& slot) {
    if (slot.next && queues_.any_urgent()) put_next_back(slot);
    const std::uint64_t now = profile::now_ns();
    if (now < slot.asked_ns + kAskEveryNs) return;
    slot.asked_ns = now;
    ask_outside();
  }
  [[gnu::always_inline]] void between_nodes(Slot& slot) {
    if (outside_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
      ask_in_passing(slot);
  }

  /// For a thread that is prepared for it. `nap`: how long it sleeps when it watches; longer the next time.
  Wake sleep(Slot& slot, Notifier::Nap& nap) {
    if (outside_.load() == nullptr) return notifier_.commit(slot.sleeper);
    const Wake wake = notifier_.commit(slot.sleeper, &nap);
    if (wake != Wake::none) return wake;
    nap.time = std::min(2 * nap.time, kLongestNap);
    ask_outside(nap.all_asleep);
    return wake;
  }

  // --- with nothing to run ---------------------------------------------------------------------------

  void work(Slot& slot) {
    this_slot = &slot;
    for (std::uint32_t rounds = 1;; ++rounds) {
      if (background_.late() && !slot.dedicated) [[unlikely]]
        run_late_jobs(slot);
      between_nodes(slot);
      if (rounds % kRoundsToDecide == 0 && slot.index == 1) [[unlikely]]
        stay_away_while_busy(slot);
      Ready ready = next_or_find(slot, nullptr);
      if (!ready) ready = idle(slot);
      if (!ready) return;
      // A dedicated thread keeps nothing: what becomes ready is for the cpu threads.
      run(slot, ready, !slot.dedicated);
    }
  }

  void wait(Scope& scope, const std::function<bool()>& done, NodeRef awaited,
            const NodeInfo* waiter) override {
    if (done()) return;
    Slot& slot = slot_of(scope);
    if (this_slot != &slot) [[unlikely]]
      throw UsageError(
          "a wait in a context whose program or task runs on another thread: a task launches and "
          "waits in the context that it is given");
    const Scope* within = scope.parent() ? &scope : nullptr;
    WaitRecord record{&scope, awaited, waiter, {}};
    struct Enter {
      ThreadedExecutor& executor;
      Slot& slot;
      WaitRecord* outer;
      ~Enter() {
        executor.put_next_back(slot);
        slot.waits = outer;
      }
    } enter{*this, slot, std::exchange(slot.waits, &record)};
    do {
      between_nodes(slot);
      Ready ready = next_or_find(slot, within);
      if (!ready) ready = find_or_sleep(slot, within, within ? kWaiter : kRootWaiter, done);
      if (!ready) return;
      run(slot, ready, !slot.dedicated);
    } while (!done());
  }

  bool relieve(Scope& scope, std::size_t target) override {
    if (!alone()) return false;
    Slot& slot = slot_of(scope);
    const Scope* within = scope.parent() ? &scope : nullptr;
    if (target == kAllReady) return run_all_ready(slot, within);
    // No execution gives more than its own node back, so that many can run before it pays to look again.
    for (std::size_t left; (left = scope.collect()) > target;) {
      for (; left > target; --left) {
        between_nodes(slot);
        const Ready ready = next_or_find(slot, within);
        if (!ready) return scope.collect() <= target;
        run(slot, ready, true);
      }
    }
    put_next_back(slot);
    return true;
  }

  bool run_all_ready(Slot& slot, const Scope* within) {
    while (alone()) {
      const Ready ready = next_or_find(slot, within);
      if (!ready) return true;
      run(slot, ready, true);
    }
    put_next_back(slot);
    return false;
  }

  void look_at_proxies(Slot& slot) {
    for_each_linked(proxies_.take_done_since(slot.proxies_seen),
                    [&](Node& proxy) { finish(slot, proxy, false); });
    flush(slot);  // the thread may be about to sleep
  }

  /// Looks once for anything that the thread can run. Loops of gang tasks are helped with here, and lanes are run: true in
  /// `helped` where that was so.
  Ready look(Slot& slot, const Scope* within, bool& helped) {
    Ready ready = find(slot, within);
    while (!ready && !slot.dedicated && !within && (loops_.help() || run_lanes(slot))) {
      helped = true;
      ready = find(slot, within);
    }
    return ready;
  }

  /// For a worker that has no body on its stack and is no sleeper. False: there was no job for it.
  bool run_background_job(Slot& slot) {
    const std::shared_ptr<BackgroundJob> job = slot.dedicated ? nullptr : background_.take();
    if (!job) return false;
    look_at_proxies(slot);
    slot.jobs_ns += background_.run(*job);
    return true;
  }

  /// For a worker between two nodes.
  void run_late_jobs(Slot& slot) {
    put_next_back(slot);
    queues_.notify_waiters();  // one may have looked for it in vain
    while (background_.late() && run_background_job(slot)) {}
  }

  /// For a worker that has found nothing to do, or that is `busy` and tries whether it is in the way. It naps, or does
  /// background jobs, while the launching thread is better left alone.
  void stay_away(Slot& slot, bool busy = false) {
    const auto decide = [&](auto what, auto... how) {
      const std::uint64_t now = profile::now_ns();
      return single_thread_.due(now) && (single_thread_.*what)(now, executed(), how...);
    };
    const bool decides = slot.index == 1;
    if (lanes_.any()) return single_thread_.end();
    if (decides && !decide(&SingleThreadMode::begin, busy)) return;
    // Jobs come after nodes: a busy worker begins none before a first nap has shown that others do its nodes.
    for (bool jobs = !busy; single_thread_.on() && !notifier_.stopped() && !lanes_.any();
         jobs = true) {
      const std::chrono::nanoseconds nap(SingleThreadMode::kNapNs);
      if (!jobs) std::this_thread::sleep_for(nap);
      else if (!run_background_job(slot)) background_.nap(nap);
      if (decides) decide(&SingleThreadMode::go_on);  // not due: a job may be short
    }
    if (decides) single_thread_.end();  // lanes may have come
  }

  /// For the worker that decides, between two nodes: one that always finds something may be in the way all the same. What
  /// it would have run next is left to others.
  void stay_away_while_busy(Slot& slot) {
    if (!single_thread_.due(profile::now_ns())) return;
    put_next_back(slot);
    flush(slot);
    stay_away(slot, true);
  }

  /// For a worker that has found nothing to run. Null: the executor stops.
  Ready idle(Slot& slot) {
    const std::uint64_t begin = profile::now_ns(), jobs_ns = slot.jobs_ns;
    flush(slot);
    if (!slot.dedicated) stay_away(slot);
    const int kind = slot.dedicated ? kDedicated + slot.processor : int(kWorker);
    const Ready ready = find_or_sleep(slot, nullptr, kind, [this] { return notifier_.stopped(); });
    add(slot.idle_ns, profile::now_ns() - begin - (slot.jobs_ns - jobs_ns));
    return ready;
  }

  /// For a thread that has found nothing to run: spins, then sleeps, until it finds something. Null: `ended()`. In
  /// between a worker that waits for nothing does background jobs.
  Ready find_or_sleep(Slot& slot, const Scope* within, int kind,
                      const std::function<bool()>& ended) {
    const bool waits = slot.waits != nullptr;
    flush(slot);
    Notifier::Nap nap{kShortestNap};
    bool woken = true, helped = false;
    while (true) {
      const bool for_messages = outside_.load() != nullptr;
      const bool spins = woken && (threads() > 1 || for_messages);
      const bool often = waits || lanes_.any();
      for (Spin spin = notifier_.spin(often ? Spin::kWait : Spin::kSearch, waits && for_messages);
           spins;) {
        if (ended()) return nullptr;
        if (const Ready ready = look(slot, within, helped)) return ready;
        const bool goes_on = (!waits && run_background_job(slot)) || ask_outside() || spin.step();
        if (!goes_on) break;
      }
      notifier_.prepare(slot.sleeper, kind);
      look_at_proxies(slot);
      const bool over = ended();
      helped = false;
      const Ready ready = over ? nullptr : look(slot, within, helped);
      // Only looked for: a job takes long, and a sleeper who does one keeps a notification from the others.
      const bool job = !waits && !slot.dedicated && background_.any();
      // What has been helped with may have completed proxies, and nodes that nobody has been given back yet.
      if (over || ready || job || helped) {
        notifier_.cancel(slot.sleeper);
        if (over || ready) return ready;
        woken = true;
        continue;
      }
      if (woken) add(slot.sleeps);
      const Wake wake = sleep(slot, nap);
      if (wake == Wake::deadlock) throw Deadlock(slot.waits->deadlock.value_or(""));
      woken = wake != Wake::none;
    }
  }

  /// Every thread sleeps. Names the waiter in the deepest scope: nobody below it is left who could go
  /// on, while waiters above it may be waiting for its task, which the exception will end.
  Sleeper* find_deadlocked() {
    Slot* deepest = nullptr;
    for (const auto& slot : slots_) {
      if (slot->waits && (!deepest || slot->waits->scope->depth() > deepest->waits->scope->depth()))
        deepest = slot.get();
    }
    REFRAIN_ASSERT(deepest, "all threads sleep only while somebody waits");
    declare_deadlock(*deepest->waits);
    return &deepest->sleeper;
  }

 private:
  std::vector<std::unique_ptr<Slot>> slots_;
  Notifier notifier_;
  SharedQueues queues_;
  GangLoops loops_;
  ActiveLanes lanes_;
  BackgroundQueue background_;
  SingleThreadMode single_thread_;
  std::atomic<int> scopes_{0};
  std::atomic<Outside*> outside_{nullptr};
  std::mutex asking_;                  ///< held by the thread that asks it
  std::vector<std::jthread> threads_;  ///< ends, and so joins them, before all that they use
};

}  // namespace

std::shared_ptr<Executor> make_threaded_executor(const ProcessorPlan& plan,
                                                 const ExecutorOptions& options) {
  return std::make_shared<ThreadedExecutor>(plan, options);
}

std::shared_ptr<Executor> make_threaded_executor(const Machine& machine,
                                                 const ExecutorOptions& options) {
  return make_threaded_executor(plan_processors(machine), options);
}

}  // namespace refrain::exec
