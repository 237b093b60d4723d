#pragma once
// The executor that runs everything on one thread, interleaved in an order that a seed decides, so
// that a test can try thousands of orders and a failing seed fails again in the same way.
//
// Actors are what can take a step: the root program, every ready node's body (on a stack of its own,
// since it may wait), and every finished body's completion. A step ends where the actor calls
// interleave, publish or wait, or is done. Each background job comes with an actor of one step, which does one of the
// jobs that wait. A job whose turn has not come when the program ends is left for the next program, and dropped with
// the executor.
//
// Order: probabilistic concurrency testing (S. Burckhardt, P. Kothari, M. Musuvathi, S. Nagarakatte, "A
// randomized scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010). Every actor gets a
// random priority, the runnable one of highest priority takes the next step, and at random change
// points the running actor falls below all others. The paper draws d change points among a known number
// of steps; here the number is unknown, so each step is a change point with a probability that the seed picks: from
// every second step to almost never.
//
// Completion from outside. An operation that is completed later becomes an actor again when it is completed, by any
// thread, so the seed decides when the others see it. A test that completes operations in background jobs lets the seed
// decide when that is, too. While nothing can take a step and completions are outstanding, the thread sleeps.
//
// A world. Several root programs may run at once, each an actor (run_programs): several runtimes on one executor, each
// with scopes, failures and a body-local pointer of its own.
//
// Nothing depends on addresses or time: equal seeds and programs give equal runs. Waiting, failures,
// accumulators and deadlocks mean what they mean in the threaded executor. Helping is not needed, as
// a waiting body's stack simply stays. Priorities of nodes and kinds of processors do not restrict the
// order: what they forbid is no error of the program's. All members: the thread of run_root, but
// for completed_outside.
//
// Waiting. Only the owner of a scope waits for what is in it, so a scope has one waiter at most, which is
// *told* of each operation of the scope that ends, is granted, or ends a replay. Before the next step those
// that were told look whether they may go on; the others are left alone, however many they are.
//
// Cost: a step is two context switches or less, some microseconds, whatever waits meanwhile; an operation
// that ends makes its scope's waiter look once at most.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/sure_memory.hpp"
#include "exec/active_lanes.hpp"
#include "exec/background.hpp"
#include "exec/deadlock.hpp"
#include "exec/fiber.hpp"
#include "exec/gang_loops.hpp"
#include "exec/notifier.hpp"
#include "exec/threads.hpp"
#include "graph/completion.hpp"
#include "graph/ready_queue.hpp"
#include "graph/replay_steps.hpp"
#include "profile/clock.hpp"
#include "refrain/error.hpp"

namespace refrain::exec {

class SeededExecutor final : public GraphExecutor<SeededExecutor> {
  static constexpr std::size_t kProgramStack = 8 << 20;

  struct Actor {
    std::uint64_t id = 0;  ///< in order of creation; settles ties
    std::uint64_t priority = 0;
    Ready work;                     ///< an operation; none: a program or a background job
    Fiber* fiber = nullptr;         ///< a program's, or a body's that has begun
    const Node* running = nullptr;  ///< innermost node whose body is on its stack
    bool completing = false;        ///< the body has ended: its step completes the operation
    Lanes* lanes = nullptr;         ///< of an operation that runs in one of these
    std::uint32_t lane = 0;
    const std::function<bool()>* done = nullptr;  ///< what it waits for
    WaitRecord* waits = nullptr;                  ///< innermost
  };
  static constexpr auto by_priority = [](const Actor* a, const Actor* b) {
    return a->priority != b->priority ? a->priority < b->priority : a->id > b->id;
  };
  /// Of what happens in one scope.
  struct Sink {
    SeededExecutor& executor;
    Scope& scope;
    void ready(Node& node) const { executor.make_runnable(executor.add_actor(&node)); }
    void ready(LiveNode& live) const { executor.make_runnable(executor.add_actor(&live)); }
    [[nodiscard]] static constexpr bool keeps() { return false; }
    void tell_owner() const { executor.tell_waiter(scope); }
    [[nodiscard]] bool owns(const Node&) const { return true; }  // there is one thread
    void finish(Node& node) const { executor.finish(node); }
    void lane_can_go_on() const {}  // all are looked at
  };
  Sink sink_of(Scope& scope) { return {*this, scope}; }

  /// splitmix64.
  std::uint64_t draw() {
    std::uint64_t z = random_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  std::uint64_t draw_priority() { return draw() | kFresh; }
  int draw_processor() { return plan_.cpus[draw() % plan_.cpus.size()].processor; }

 public:
  SeededExecutor(ProcessorPlan plan, const ExecutorOptions& options, std::uint64_t seed)
      : GraphExecutor(options, 1), plan_(std::move(plan)), fibers_(options.stacks), random_(seed) {
    constexpr std::uint64_t scales[] = {2, 5, 20, 100, 1000, 10000};
    change_every_ = scales[draw() % std::size(scales)];
    interleaves_ = true;
  }

  /// Who completed the last operation from outside may not have left yet.
  ~SeededExecutor() override { outside_.await_expected(); }

  /// Steps taken so far.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  /// How often a waiter has looked whether it may go on.
  [[nodiscard]] std::uint64_t looks() const { return looks_; }

  /// For GraphExecutor.
  Sink sink_here(LiveNode& live) { return sink_of(Replay::of(live).scope); }

  // --- actors ----------------------------------------------------------------------------------------

  Actor& add_actor(Ready work) {
    const std::uint64_t id = actors_made_++;
    return actors_.try_emplace(id, Actor{id, draw_priority(), work}).first->second;
  }

  void make_runnable(Actor& actor) {
    runnable_.push_back(&actor);
    std::ranges::push_heap(runnable_, by_priority);
  }

  void run_root(const std::function<void()>& program) override {
    if (current_ != nullptr) return program();
    run_programs({&program, 1});
  }

  /// Runs several root programs, each an actor on a stack of its own: a world of several runtimes, whose run_root is
  /// called in their programs. Returns when all have returned; throws the exception of the first in the list that
  /// threw, or for which there was no stack. A wait is a deadlock when no program can go on.
  void run_programs(std::span<const std::function<void()>> programs) {
    std::vector<std::exception_ptr> errors(programs.size());
    std::size_t left = 0;
    for (std::size_t i = 0; i < programs.size(); ++i) {
      const auto run = [&, i] {
        try {
          programs[i]();
        } catch (...) { errors[i] = std::current_exception(); }
        --left;
      };
      try {
        Fiber& stack = fibers_.start(run, kProgramStack);
        Actor& actor = add_actor(nullptr);
        actor.fiber = &stack;
        make_runnable(actor);
        ++left;
      } catch (const std::bad_alloc&) { errors[i] = std::current_exception(); }
    }
    schedule([&left] { return left == 0; });
    for (const std::exception_ptr& error : errors)
      if (error) std::rethrow_exception(error);
  }

  /// On the thread's own stack: steps until `until`.
  void schedule(const std::function<bool()>& until) {
    REFRAIN_ASSERT(current_ == nullptr, "only the thread's own stack schedules");
    while (!until()) {
      ask_told();
      if (runnable_.empty()) {
        if (await_outside()) continue;
        // Where ranks are in one process, what could come would be on its way.
        if (!outsides_.empty() || !await_completed()) declare_deadlock();
        continue;
      }
      std::ranges::pop_heap(runnable_, by_priority);
      Actor& actor = *runnable_.back();
      runnable_.pop_back();
      step(actor);
    }
  }

  void step(Actor& actor) {
    ++steps_;
    if (actor.completing) {
      const Ready work = actor.work;
      const auto [lanes, lane] = std::pair(actor.lanes, actor.lane);
      actors_.erase(actor.id);
      if (lanes != nullptr) return end_in_lane(*lanes, lane, Replay::of(work.live()).scope);
      if (!work.is_live()) return finish(work.node());
      LiveNode& live = work.live();
      if (ends_now(live, Replay::of(live).nodes[live.index])) complete_replayed(live);
      return;
    }
    if (!actor.work && !actor.fiber) {  // a job: it launches nothing and waits for nothing
      actors_.erase(actor.id);
      background_.run(*background_.take(draw()));
      return;
    }
    if (!actor.fiber) {
      try {
        actor.fiber = &fibers_.start([this, work = actor.work] { run(work); });
      } catch (const std::bad_alloc&) { return refuse(actor); }
    }
    resume(actor);
  }

  /// No stack is left for the body: so many wait, each on its own. The node fails instead.
  void refuse(Actor& actor) {
    const bool live = actor.work.is_live();
    const Scope& scope = live ? Replay::of(actor.work.live()).scope : *actor.work.node().scope;
    const auto waiting = std::ranges::count_if(
        actors_, [](const auto& entry) { return entry.second.done != nullptr; });
    std::exception_ptr error;
    try {
      error = std::make_exception_ptr(Error(
          "no stack for its body, " + std::to_string(scope.depth() + 1) +
          " tasks deep: " + std::to_string(waiting) +
          " others wait, and under a seeded schedule each keeps its stack meanwhile; nest less "
          "deeply, or have fewer wait at one time"));
    } catch (...) { error = std::current_exception(); }  // not even for the message
    current_ = &actor;  // with a failure its run only lets go of what it holds
    if (live) {
      const std::uint32_t index = actor.work.live().index;
      Replay& replay = Replay::of(actor.work.live());
      const FailureRef failure = fail(replay, index, error);
      Execution execution{*this, 0, failure.get()};
      set_count(actor.work.live(), replay.nodes[index]);
      run_unusual(replay, index, execution);
      ++executed_;
    } else {
      fail(actor.work.node(), error);
      actor.work.node().flags |= kFailed;
      run_body(actor.work.node());
    }
    current_ = nullptr;
    complete_next(actor);
  }

  void complete_next(Actor& actor) {
    actor.completing = true;
    actor.priority = draw_priority();
    make_runnable(actor);
  }

  void resume(Actor& actor) {
    current_ = &actor;
    const bool ended = actor.fiber->resume();
    current_ = nullptr;
    if (!ended) return;
    actor.fiber = nullptr;
    if (actor.work) return complete_next(actor);
    actors_.erase(actor.id);
  }

  void run(Ready work) {
    if (!work.is_live()) return run_body(work.node());
    LiveNode& live = work.live();
    Replay& replay = Replay::of(live);
    set_count(live, replay.nodes[live.index]);
    run_told(replay, live.index, draw_processor(), 0);
    ++executed_;
  }

  void run_body(Node& node) {
    Actor& actor = *current_;
    const Node* outer = std::exchange(actor.running, &node);
    run_told(node, node.processor != 0 ? node.processor - 1 : draw_processor(), 0);
    executed_ += (node.flags & kCompletesLater) == 0;  // otherwise something is left to run
    actor.running = outer;
  }

  void finish(Node& node) override {
    Scope& scope = *node.scope;
    const Sink sink = sink_of(scope);
    if (!ends_now(node, sink)) return;
    complete_node(node, sink);
    scope.give_back_own(node);
    tell_waiter(scope);
  }

  // --- what programs and bodies call -------------------------------------------------------------------

  void publish(Node& node, std::span<const NodeRef> predecessors) override {
    const bool in_clean_up = (node.flags & kGivenUp) != 0;  // nothing else runs in between
    if (connect(node, predecessors)) node_ready(node, sink_of(*node.scope));
    if (!in_clean_up) interleave();
  }

  void publish_inline(Node& node, std::span<const NodeRef> predecessors) override {
    if (!current_ || node.processor != 0 || (node.flags & (kManual | kReducer)))
      return publish(node, predecessors);
    if (!connect(node, predecessors)) return interleave();
    run_body(node);
    interleave();
    finish(node);
  }

  void interleave_now() override {
    if (current_ == nullptr || current_->fiber == nullptr) return;
    ++steps_;
    if (draw() % change_every_ == 0) current_->priority = lowest_--;
    if (!outsides_.empty() && draw() % 4 == 0) (void)ask_outside();
    ask_told();
    if (runnable_.empty() || by_priority(runnable_.front(), current_)) return;
    make_runnable(*current_);
    current_->fiber->suspend();
  }

  void post(std::shared_ptr<BackgroundJob> job) override {
    background_.post(std::move(job));
    make_runnable(add_actor(nullptr));
  }

  ExecutorCounters counters() const override {
    return {.executed = executed_,
            .background_jobs = background_.jobs_run(),
            .background_ns = background_.ns()};
  }

  void open(Scope& scope) override {
    if (scope.parent() == nullptr) return;
    REFRAIN_ASSERT(current_ && current_->running, "a nested scope is made by a running task");
    scope.set_task(current_->running);
  }

  bool relieve(Scope&, std::size_t) override {
    interleave();
    return false;
  }

  [[nodiscard]] std::uint32_t replay_burst() const override { return 1; }
  [[nodiscard]] bool runs_in_order() override { return current_ != nullptr && draw() % 4 == 0; }

  std::uint32_t run_in_order(Replay& replay, std::uint32_t from, std::uint32_t to,
                             bool to_the_end) override {
    const std::vector<std::uint32_t>& order = replay.recorded.in_order;
    std::uint32_t at = from;
    do {
      const std::uint32_t index = order.empty() ? at : order[at];
      run_told(replay, index, draw_processor(), 0);
      await_in_order(replay, index);
      ++executed_;
    } while (++at < to && (to_the_end || draw() % 16 != 0));
    interleave();
    return at;
  }

  // --- lanes -------------------------------------------------------------------------------------------
  // The operation that a lane has come to is an actor, once it can run. The lane is held until that has run.

  std::uint32_t lanes() const override { return 3; }
  bool runs_scheduled(ScheduleTrial&, std::uint32_t) override { return draw() % 2 == 0; }
  bool draw_durations(std::span<std::uint64_t> ns) override {
    for (std::uint64_t& each : ns) each = draw() % 1000;
    return true;
  }
  void add_lanes(Lanes& lanes) override { lanes_.add(lanes); }
  void remove_lanes(Lanes& lanes) override { lanes_.remove(lanes); }
  void issue_to_lanes(Lanes& lanes, std::uint32_t count, bool left) override {
    (void)(left ? lanes.leave(count) : lanes.issue(count));
    go_on(lanes);
    interleave();
  }

  void go_on(Lanes& lanes) {
    for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
      if (!lanes.may_go_on(lane) || !lanes.hold(lane)) continue;
      LiveNode* const live = lanes.next(lane, sink_of(lanes.scope()));
      if (live == nullptr) {
        lanes.let_go(lane);
        continue;
      }
      Actor& actor = add_actor(live);
      actor.lanes = &lanes;
      actor.lane = lane;
      make_runnable(actor);
    }
  }

  void end_in_lane(Lanes& lanes, std::uint32_t lane, Scope& scope) {
    lanes.done(lane, sink_of(scope));
    lanes.let_go(lane);
    go_on(lanes);
  }

  void parallel_for(std::int64_t count, std::int64_t grain, const LoopBody& f) override {
    ParallelLoop loop(count, grain, 1 + options_.workers, f);
    std::vector<std::int64_t> order(static_cast<std::size_t>(loop.pieces()));
    for (std::size_t i = 0; i < order.size(); ++i) {
      order[i] = static_cast<std::int64_t>(i);
      std::swap(order[i], order[draw() % (i + 1)]);
    }
    for (const std::int64_t piece : order) {
      interleave();
      loop.run(piece);
    }
    loop.rethrow();
  }

  // --- completion from outside -------------------------------------------------------------------------

  void add(Outside& outside) override { outsides_.push_back(&outside); }
  void remove(Outside& outside) override { std::erase(outsides_, &outside); }

  void expect_completion() override { outside_.expect(); }

  void completed_outside(Node* node) noexcept override {
    if (node != nullptr) completed_.push(*node);
    outside_.notify_one(0);
    outside_.arrived();
  }

  bool ask_outside() {
    bool any = false;
    for (Outside* outside : outsides_) any |= outside->poll();
    return any;
  }

  /// Nothing can take a step: whether something has come, or may be on its way.
  bool await_outside() {
    if (ask_outside()) return true;
    bool any = false;
    for (Outside* outside : outsides_) {
      outside->rest();
      any |= outside->may_come();
    }
    if (any) std::this_thread::yield();
    return any;
  }

  /// Nothing can take a step: sleeps until an operation is completed outside. False: none is expected.
  bool await_completed() {
    outside_.prepare(sleeper_, 0);
    if (completed_.size() == 0) return outside_.commit(sleeper_) != Wake::deadlock;
    outside_.cancel(sleeper_);
    return true;
  }

  // --- waiting ---------------------------------------------------------------------------------------

  /// Outside run_root nobody else could go on: the caller lends its stack to those that take steps.
  void wait(Scope& scope, const std::function<bool()>& done, NodeRef awaited,
            const NodeInfo* waiter) override {
    interleave();
    const bool outside = current_ == nullptr;
    Actor& self = outside ? add_actor(nullptr) : *current_;
    WaitRecord record{&scope, awaited, waiter, {}};
    struct Enter {
      SeededExecutor& executor;
      Actor& actor;
      Scope& scope;
      bool outside;
      WaitRecord* outer;
      ~Enter() {
        actor.waits = outer;
        actor.done = nullptr;
        scope.set_owner(nullptr);
        if (outside) executor.actors_.erase(actor.id);
      }
    } enter{*this, self, scope, outside, std::exchange(self.waits, &record)};
    scope.set_owner(&self);
    for (;;) {
      self.done = &done;  // before it looks: that may itself end something
      if (done()) return;
      if (!outside) {
        self.fiber->suspend();
      } else {
        schedule([&] {
          ask_told();
          return self.done == nullptr;
        });
      }
      if (record.deadlock) throw Deadlock(*record.deadlock);
    }
  }

  /// Something has happened in the scope that its owner may wait for.
  void tell_waiter(const Scope& scope) {
    if (const auto* waiter = static_cast<const Actor*>(scope.owner())) told_.insert(waiter->id);
  }

  /// A look may itself end something: those that are told of it look before the next step.
  void ask_told() {
    REFRAIN_ASSERT(!asking_, "a look does not interleave");
    asking_ = true;
    while (Node* node = completed_.pop())
      make_runnable(add_actor(node));  // the seed decides its turn
    for (const std::uint64_t id : std::exchange(told_, {})) {
      const auto waiter = actors_.find(id);
      if (waiter != actors_.end()) look(waiter->second);
    }
    asking_ = false;
  }

  /// Whether what the waiter, if it waits still, waits for is there: then it goes on.
  bool look(Actor& waiter) {
    if (waiter.done == nullptr) return false;
    ++looks_;
    if (!(*waiter.done)()) return false;
    go_on(waiter);
    return true;
  }

  void go_on(Actor& waiter) {
    waiter.done = nullptr;
    if (waiter.fiber != nullptr) make_runnable(waiter);
  }

  /// The same choice as ThreadedExecutor::find_deadlocked: the waiter in the deepest scope.
  void declare_deadlock() {
    Actor* deepest = nullptr;
    for (auto& [id, actor] : actors_) {
      if (actor.done == nullptr) continue;
      const bool goes_on = look(actor);
      REFRAIN_ASSERT(!goes_on, "who waits is told of whatever may end its wait");
      if (!deepest || actor.waits->scope->depth() > deepest->waits->scope->depth())
        deepest = &actor;
    }
    if (!told_.empty()) return;  // a look has ended something
    if (!deepest) throw Deadlock("deadlock: nothing is left that could run");
    exec::declare_deadlock(*deepest->waits);
    go_on(*deepest);
  }

 private:
  static constexpr std::uint64_t kFresh = 1ull << 63;  ///< set in priorities that never fell
  using Actors = std::map<std::uint64_t, Actor, std::less<>,
                          SureAllocator<std::pair<const std::uint64_t, Actor>>>;

  ProcessorPlan plan_;
  FiberHost fibers_;
  std::uint64_t random_;
  std::uint64_t change_every_;         ///< a step of so many is a change point
  std::uint64_t lowest_ = kFresh - 1;  ///< priority of the next actor that falls
  std::uint64_t steps_ = 0;
  std::uint64_t looks_ = 0;
  std::uint64_t executed_ = 0;
  std::uint64_t actors_made_ = 0;
  Actors actors_;                                                            ///< by id
  std::vector<Actor*, SureAllocator<Actor*>> runnable_;                      ///< a heap
  std::set<std::uint64_t, std::less<>, SureAllocator<std::uint64_t>> told_;  ///< since they looked
  bool asking_ = false;       ///< those that were told look just now
  Actor* current_ = nullptr;  ///< null: on the thread's own stack
  BackgroundQueue background_;
  std::vector<Outside*> outsides_;
  ActiveLanes lanes_;

  // Completion from outside: the thread sleeps while nothing can take a step.
  ReadyQueue completed_;  ///< nodes that no actor runs yet
  Sleeper sleeper_;
  Notifier outside_{1, 1, [this] { return &sleeper_; }};
};

}  // namespace refrain::exec
