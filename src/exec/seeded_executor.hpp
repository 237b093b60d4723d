#pragma once
// The executor that runs everything on one thread, interleaved in an order that a seed decides, so
// that a test can try thousands of orders and a failing seed fails again in the same way.
//
// Actors are what can take a step: the root program, every ready node's body (on a stack of its own,
// since it may wait), and every finished body's completion. A step ends where the actor calls
// interleave, publish or wait, or is done. Each background job comes with an actor of one step, which does one of the jobs
// that wait. A job whose turn has not come when the program ends is left for the next program, and dropped with the
// executor.
//
// Order: probabilistic concurrency testing (S. Burckhardt, P. Kothari, M. Musuvathi, S. Nagarakatte, "A
// randomized scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010). Every actor gets a
// random priority, the runnable one of highest priority takes the next step, and at random change
// points the running actor falls below all others. The paper draws d change points among a known number
// of steps; here the number is unknown, so each step is one with a probability that the seed picks
// among several scales, from every second step to almost never.
//
// Completion from outside. An operation that is completed later becomes an actor again when it is completed, by any
// thread, so the seed decides when the others see it. A test that completes operations in background jobs lets the seed
// decide when that is, too. While nothing can take a step and completions are outstanding, the thread sleeps.
//
// A world. Several root programs may run at once, each an actor (run_programs): several runtimes on one executor, each
// with scopes, failures and a body-local pointer of its own. A listener hears of all of them.
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

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "base/sure_memory.hpp"
#include "exec/background.hpp"
#include "exec/deadlock.hpp"
#include "exec/fiber.hpp"
#include "exec/threads.hpp"
#include "graph/executor.hpp"
#include "graph/ready_queue.hpp"
#include "graph/replay_steps.hpp"
#include "graph/scope.hpp"

namespace refrain::exec {

class SeededExecutor final : public GraphExecutor<SeededExecutor> {
 public:
  SeededExecutor(ProcessorPlan plan, const ExecutorOptions& options, std::uint64_t seed);
  ~SeededExecutor() override;

  /// Runs several root programs, each an actor on a stack of its own: a world of several runtimes, whose run_root is
  /// called in their programs. Returns when all have returned; throws the exception of the first in the list that
  /// threw, or for which there was no stack. A wait is a deadlock when no program can go on.
  void run_programs(std::span<const std::function<void()>> programs);
  void run_root(const std::function<void()>& program) override;
  void publish(Node& node, std::span<const Edge> predecessors) override;
  void publish_inline(Node& node, std::span<const Edge> predecessors) override;
  void expect_completion() override;
  void completed_outside(Node* node) noexcept override;
  void wait(Scope& scope, const std::function<bool()>& done, NodeRef awaited,
            const NodeInfo* waiter) override;
  void interleave() override;
  void parallel_for(std::int64_t count, std::int64_t grain,
                    const std::function<void(std::int64_t, std::int64_t)>& f) override;
  void post(std::shared_ptr<BackgroundJob> job) override;
  [[nodiscard]] ExecutorCounters counters() const override;
  Opened open(Scope& scope) override;
  bool relieve(Scope&, std::size_t) override;
  [[nodiscard]] std::uint32_t replay_burst() const override { return 1; }
  [[nodiscard]] bool runs_in_order() override { return current_ != nullptr && draw() % 4 == 0; }
  std::uint32_t run_in_order(Replay& replay, std::uint32_t from, std::uint32_t to,
                             bool to_the_end) override;

  /// Steps taken so far.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  /// How often a waiter has looked whether it may go on.
  [[nodiscard]] std::uint64_t looks() const { return looks_; }

 private:
  struct Actor {
    std::uint64_t id = 0;  ///< in order of creation; settles ties
    std::uint64_t priority = 0;
    Ready work;                        ///< an operation; none: a program or a background job
    Fiber* fiber = nullptr;            ///< a program's, or a body's that has begun
    const Node* running = nullptr;     ///< innermost node whose body is on its stack
    bool completing = false;           ///< the body has ended: its step completes the operation
    const Failure* failure = nullptr;  ///< of an operation without a node that has run
    const std::function<bool()>* done = nullptr;  ///< what it waits for
    WaitRecord* waits = nullptr;                  ///< innermost
  };
  struct ByPriority {
    bool operator()(const Actor* a, const Actor* b) const {
      return a->priority != b->priority ? a->priority < b->priority : a->id > b->id;
    }
  };
  /// Of what happens in one scope.
  struct Sink {
    SeededExecutor& executor;
    Scope& scope;
    void ready(Node& node) { executor.make_runnable(executor.add_actor(&node)); }
    void ready(LiveNode& live) { executor.make_runnable(executor.add_actor(&live)); }
    [[nodiscard]] static constexpr bool keeps() { return false; }
    void tell_owner() { executor.tell_waiter(scope); }
    [[nodiscard]] bool owns(const Node&) const { return true; }  // there is one thread
    void finish(Node& node) { executor.finish(node); }
  };
  friend class GraphExecutor<SeededExecutor>;
  Sink sink_of(Scope& scope) { return {*this, scope}; }
  Sink sink_here(LiveNode& live) { return sink_of(Replay::of(live).extras->scope); }

  std::uint64_t draw();
  std::uint64_t draw_priority() { return draw() | kFresh; }
  int draw_processor() { return plan_.cpus[draw() % plan_.cpus.size()].processor; }

  Actor& add_actor(Ready work);
  void make_runnable(Actor& actor);
  void schedule(const std::function<bool()>& until);
  void step(Actor& actor);
  void resume(Actor& actor);
  void refuse(Actor& actor);
  void complete_next(Actor& actor);
  void run_body(Node& node);
  void run_replayed(LiveNode& live);
  void finish(Node& node);
  void tell_waiter(const Scope& scope);
  void ask_told();
  bool look(Actor& waiter);
  void go_on(Actor& waiter);
  void declare_deadlock();
  void take_completed();
  bool await_completed();

  static constexpr std::uint64_t kFresh = 1ull << 63;  ///< set in priorities that never fell
  template <class Key, class Value>
  using Map = std::map<Key, Value, std::less<>, SureAllocator<std::pair<const Key, Value>>>;

  ProcessorPlan plan_;
  FiberHost fibers_;
  std::uint64_t random_;
  std::uint64_t change_every_;         ///< a step of so many is a change point
  std::uint64_t lowest_ = kFresh - 1;  ///< priority of the next actor that falls
  std::uint64_t steps_ = 0;
  std::uint64_t looks_ = 0;
  std::uint64_t executed_ = 0;
  std::uint64_t actors_made_ = 0;
  Map<std::uint64_t, Actor> actors_;                     ///< by id
  std::vector<Actor*, SureAllocator<Actor*>> runnable_;  ///< a heap by ByPriority
  std::set<std::uint64_t, std::less<>, SureAllocator<std::uint64_t>> told_;  ///< since they looked
  bool asking_ = false;       ///< those that were told look just now
  Actor* current_ = nullptr;  ///< null: on the thread's own stack
  BackgroundQueue background_;

  /// Written by any thread.
  struct Outside {
    std::mutex mutex;
    std::condition_variable changed;
    int expected = 0;                                    ///< completions
    std::vector<Node*, SureAllocator<Node*>> completed;  ///< nodes that no actor runs yet
  };
  Outside outside_;
};

}  // namespace refrain::exec
