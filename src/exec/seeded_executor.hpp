#pragma once
// The executor that runs everything on one thread, interleaved in an order that a seed decides, so
// that a test can try thousands of orders and a failing seed fails again in the same way.
//
// Actors are what can take a step: the root program, every ready node's body (on a stack of its own,
// since it may wait), and every finished body's completion. A step ends where the actor calls
// interleave, publish or wait, or is done. A background job is an actor, too, of one step. One whose turn has not come
// when the program ends is left for the next program, and dropped with the executor.
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

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
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

class SeededExecutor final : public ReplayingExecutor<SeededExecutor> {
 public:
  SeededExecutor(ProcessorPlan plan, const ExecutorOptions& options, std::uint64_t seed);
  ~SeededExecutor() override;

  /// Runs several root programs, each an actor on a stack of its own: a world of several runtimes, whose run_root is
  /// called in their programs. Returns when all have returned; throws the exception of the first in the list that
  /// threw. A wait is a deadlock when no program can go on.
  void run_programs(std::span<const std::function<void()>> programs);
  void run_root(const std::function<void()>& program) override;
  void publish(Node& node, std::span<const Edge> predecessors) override;
  void publish_inline(Node& node, std::span<const Edge> predecessors) override;
  void complete_manual(Node& node) override;
  void expect_completion() override;
  void completed_outside(Node* node) noexcept override;
  void wait(Scope& scope, const std::function<bool()>& done, NodeRef awaited,
            const NodeInfo* waiter) override;
  void interleave() override;
  void parallel_for(std::int64_t count, std::int64_t grain,
                    const std::function<void(std::int64_t, std::int64_t)>& f) override;
  void post(std::shared_ptr<BackgroundJob> job) override;
  void hurry() override {}
  [[nodiscard]] bool runs_background() const override { return true; }
  [[nodiscard]] int threads() const override { return 1; }
  [[nodiscard]] int this_thread() const override { return 0; }
  [[nodiscard]] ExecutorCounters counters() const override { return counters_; }
  Opened open(Scope& scope) override;
  void close(Scope&) override {}
  bool relieve(Scope&, std::size_t) override;
  [[nodiscard]] const ExecutorOptions& options() const override { return options_; }
  void relieve_replays(Scope&) override { interleave(); }
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
    std::uint64_t priority = 0;
    std::uint64_t id = 0;                         ///< in order of creation; settles ties
    Fiber* fiber = nullptr;                       ///< null: not started yet, or a completion
    Ready work;                                   ///< null: the root program, or a job
    std::shared_ptr<BackgroundJob> job;           ///< until it runs
    const Failure* failure = nullptr;             ///< of an operation without a node that has run
    const Node* running = nullptr;                ///< innermost node whose body is on its stack
    bool completing = false;                      ///< its step is the node's completion
    const std::function<bool()>* done = nullptr;  ///< set while it waits
    bool told = false;                            ///< it is in told_
    WaitRecord* waits = nullptr;                  ///< innermost
    bool deadlocked = false;
    void* local = nullptr;  ///< exec/fiber.hpp, while it is suspended
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
    void ready(Node& node) { executor.add_actor(&node); }
    void ready(LiveNode& live) { executor.add_actor(&live); }
    [[nodiscard]] static constexpr bool keeps() { return false; }
    void ended() { executor.tell_waiter(scope); }
    void woken() { executor.tell_waiter(scope); }
    void granted(Node&) { executor.tell_waiter(scope); }
    [[nodiscard]] bool owns(const Node&) const { return true; }  // there is one thread
    void finish(Node& node) { executor.finish(node); }
  };

  friend class ReplayingExecutor<SeededExecutor>;
  Sink sink_of(Scope& scope) { return {*this, scope}; }
  Sink sink_here(LiveNode& live) { return sink_of(Replay::of(live).extras->scope()); }

  std::uint64_t draw();
  std::uint64_t draw_priority() { return draw() | kFresh; }
  int draw_processor() { return plan_.cpus[draw() % plan_.cpus.size()].processor; }
  bool change_point();

  Actor& add_actor(Ready work);
  void make_runnable(Actor& actor);
  void schedule(const std::function<bool()>& until);
  void step(Actor& actor);
  void resume(Actor& actor);
  void refuse(Actor& actor);
  void run_background_job(Actor& actor);
  void complete_next(Actor& actor);
  void run_body(Node& node);
  void run_replayed(LiveNode& live);
  void finish(Ready work, const Failure* failure);
  void finish(Node& node);
  static Actor* waiter_of(const Scope& scope) { return static_cast<Actor*>(scope.owner()); }
  void tell_waiter(const Scope& scope);
  void ask_told();
  void take_completed();
  bool await_completed();
  bool look(Actor& waiter);
  void wait_outside(Scope& scope, const std::function<bool()>& done);
  void declare_deadlock();
  void suspend_current();

  static constexpr std::uint64_t kFresh = 1ull << 63;  ///< set in priorities that never fell

  ExecutorOptions options_;
  ProcessorPlan plan_;
  FiberHost fibers_;
  std::uint64_t random_;
  std::uint64_t change_every_;
  std::uint64_t lowest_ = kFresh - 1;  ///< priority of the next actor that falls
  std::uint64_t steps_ = 0;
  std::uint64_t actors_ = 0;
  using Actors = std::vector<Actor*, SureAllocator<Actor*>>;
  std::deque<Actor, SureAllocator<Actor>> storage_;
  Actors unused_;
  Actors runnable_;          ///< a heap by ByPriority
  Actors told_;              ///< since they looked last; some may have gone on meanwhile
  Actors asked_;             ///< told_ as it was, while they look
  std::size_t waiting_ = 0;  ///< actors
  Actor caller_;             ///< who waits outside run_root
  std::uint64_t looks_ = 0;
  Actor* current_ = nullptr;  ///< null: on the thread's own stack
  std::string deadlock_text_;
  ExecutorCounters counters_;

  /// Written by any thread.
  struct Outside {
    std::mutex mutex;
    std::condition_variable changed;
    int expected = 0;                                    ///< completions
    std::vector<Node*, SureAllocator<Node*>> completed;  ///< nodes that no actor runs yet
    std::atomic<bool> any{false};                        ///< in `completed`
  };
  Outside outside_;
};

}  // namespace refrain::exec
