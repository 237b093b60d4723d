#pragma once
// Runs the nodes of the task graph. Implementations: threads (exec/threaded_executor.cpp), the
// deterministic scheduler that interleaves everything on one thread by a seed
// (exec/seeded_executor.hpp), and the simulator's virtual time (simulate/virtual_executor.hpp).

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "graph/node.hpp"
#include "graph/replay.hpp"

namespace refrain {
class Machine;
}

namespace refrain::exec {

class BackgroundJob;
class Executor;
class Lanes;
class ScheduleTrial;

/// What Node::run is told about where and how it runs.
struct Execution {
  Executor& executor;
  int processor = 0;                 ///< id of the machine's processor that runs the node
  const Failure* failure = nullptr;  ///< set: the operation has failed; do not run the body
};

using NodeRun = void (*)(Node&, Execution&);

/// What is left to run of a node that was completed from outside: nothing.
inline void end_of_run(Node& /*node*/, Execution& /*execution*/) {}

/// For LaterCompletion and whoever has run the node: it waits for nobody any more.
inline void end_of_waiting(Node& node, ManualState end) {
  node.flags &= static_cast<std::uint8_t>(~kCompletesLater);
  if (end == ManualState::failed) node.flags |= kFailed;
}

/// Something that the executor asks, between operations and when nothing can run, whether anything has come from outside:
/// messages. One thread at a time asks.
class Outside {
 public:
  virtual ~Outside() = default;
  /// Takes in what has come, which may complete operations. Whether there was anything.
  virtual bool poll() = 0;
  /// Whether something may be on its way.
  [[nodiscard]] virtual bool may_come() const = 0;
  /// Nothing has come, nothing runs and nothing can run: told again and again while that is so.
  virtual void rest() = 0;
};

/// The completion of an operation whose run has ended, or is about to, while its work goes on elsewhere: on a device,
/// in another process. The holder calls `complete` or `fail` once, from any thread; after that it touches neither the
/// executor nor the node. What it wrote before is visible to the operation's successors. That of an operation of a replay
/// without a node is used by the thread that asks Outside.
class LaterCompletion {
 public:
  LaterCompletion(Node& node, Executor& executor) : node_(&node), executor_(&executor) {}
  LaterCompletion(LiveNode& live, Executor& executor) : live_(&live), executor_(&executor) {}
  void complete() noexcept;
  void fail(const std::exception_ptr& error) noexcept;

 private:
  void end(ManualState as) noexcept;

  Node* node_ = nullptr;  ///< or, of an operation of a replay that has none:
  LiveNode* live_ = nullptr;
  Executor* executor_;
};

/// Called by the run of an operation that has not failed, once: the operation does not complete when its run ends, but
/// when the result is used. It is counted as executed then. The executor counts what is outstanding outside: a wait for
/// it is no deadlock. Not for kManual nodes. Cost: two locks and a second way through a queue. `rest`: what the node runs
/// before it completes, on some thread, with Execution::failure if it has failed; it throws nothing.
LaterCompletion complete_later(Node& node, Execution& execution, NodeRun rest = end_of_run);
/// The same for an operation of a replay, of which the template says that it may (Template::Operation).
LaterCompletion complete_later(Replay& replay, std::uint32_t index, Execution& execution);

/// When replays run from schedules (graph/replays.hpp): where that is measured to be faster, wherever they can, never. A
/// seeded executor lets the seed decide.
enum class Scheduling : std::uint8_t { measured, always, never };

struct ExecutorOptions {
  int workers = 1;        ///< threads beside the launching one (0: it does everything itself)
  int accumulators = 64;  ///< live accumulators per scope
  /// Seeded: bodies that have begun and not ended, the program among them, each on a stack of its own. A process
  /// may have 65530 mappings (Linux' vm.max_map_count), of which a stack takes two.
  std::size_t stacks = 16384;
  bool bind = true;               ///< bind worker threads to cores (hwloc)
  bool tasks_do_nothing = false;  ///< one thread need not find out whether they are short
  bool oldest_first = false;      ///< a thread runs first what it has made ready first
  bool path_order = false;        ///< replays order what becomes ready (graph/template.hpp)
  Scheduling scheduling = Scheduling::measured;
};

/// An operation that has run. One of a replay may have no node (graph/replay.hpp).
struct Executed {
  const Scope& scope;
  const NodeInfo* info;
  NodeKind kind;
  std::uint64_t seq;
  int thread;
  std::uint64_t begin_ns, end_ns;
};

/// Counters for --refrain:stats.
struct ExecutorCounters {
  std::uint64_t executed = 0, stolen = 0, sleeps = 0;
  std::uint64_t background_jobs = 0, background_ns = 0;  ///< done, and the time they took
  double idle_share = 0;                                 ///< of the workers' time
};

class Executor {
 public:
  Executor(const ExecutorOptions& options, int threads) : options_(options), threads_(threads) {}
  virtual ~Executor() = default;

  [[nodiscard]] const ExecutorOptions& options() const { return options_; }
  [[nodiscard]] int threads() const { return threads_; }  ///< all threads that issue or execute
  /// While no operation of the one who adds it is in flight. Threaded: there is one at most.
  virtual void add(Outside& outside) = 0;
  virtual void remove(Outside& outside) = 0;
  /// Before run_root: users of scopes, which all have one, are told of everything that runs.
  void tell_users() { tells_ = true; }

  /// Runs `program` as a root program (seeded: on a stack of its own, as one actor among the others) and returns when
  /// it returns; an exception of the program passes through. The calling thread is the launching thread. Within a root
  /// program of the seeded executor (SeededExecutor::run_programs) the program is run where the call is.
  virtual void run_root(const std::function<void()>& program) = 0;
  /// For a root program that is no function: the calling thread is the launching thread from here to leave_root, which
  /// is given what this returns. Seeded: the others take their steps where it waits.
  virtual void* enter_root() { return nullptr; }
  virtual void leave_root(void* /*before*/) {}

  /// Owner thread. The node runs after its predecessors, complete ones among them or not. It may run,
  /// complete and come back at any time from here on.
  virtual void publish(Node& node, std::span<const NodeRef> predecessors) = 0;
  /// Like publish; if the node is ready at once it is run on the calling thread before this returns
  /// (the hint inline_if_ready). Kinds the calling thread cannot run are published.
  virtual void publish_inline(Node& node, std::span<const NodeRef> predecessors) = 0;
  /// Ends a kManual node (owner thread), granted or not: one that has not been granted completes
  /// when it would have been.
  void complete_manual(Node& node) {
    // seq_cst (release half): what the owner wrote under its access is visible to successors also when
    // another thread completes the node; partner: the exchange in special_ready (graph/completion.hpp).
    if (node.manual.exchange(ManualState::ended) == ManualState::granted) finish(node);
    interleave();
  }
  /// Owner: completes a node that does not run, now.
  virtual void finish(Node& node) = 0;

  /// For LaterCompletion, on the thread that runs the operation: one more is outstanding outside.
  virtual void expect_completion() = 0;
  /// The same, any thread: it has come. `node`: its run is over, and the rest of it is to be run; null: its run sees
  /// that it need not wait.
  virtual void completed_outside(Node* node) noexcept = 0;

  /// Owner of `scope`. Blocks until done() is true; runs nodes of `scope` and of scopes below it meanwhile (never
  /// others: a foreign node could wait for the caller in turn). done() is called on the calling thread only. It is
  /// computed from is_complete, is_granted, Scope::collect and what Replays says, of this scope: these are ordered
  /// against going to sleep, and the owner hears of no other scope. `awaited` names the node waited for in a Deadlock
  /// report (may be empty: everything in the scope). Throws Deadlock when nothing runs, nothing is ready and done() is
  /// false; the text is the chain of who waits for whom.
  virtual void wait(Scope& scope, const std::function<bool()>& done, NodeRef awaited,
                    const NodeInfo* waiter) = 0;

  /// A point at which the seeded scheduler may run something else (each launch); nothing otherwise.
  void interleave() {
    if (interleaves_) [[unlikely]]
      interleave_now();
  }

  /// Runs f(begin, end) over pieces of [0, count) on the caller and on idle cpu workers; returns when
  /// all are done. No barriers inside f, so one thread may run it all. Exceptions: the one of the lowest piece.
  virtual void parallel_for(std::int64_t count, std::int64_t grain,
                            const std::function<void(std::int64_t, std::int64_t)>& f) = 0;

  /// The calling thread, which is one of them, as the users of scopes are told it.
  [[nodiscard]] virtual int this_thread() const { return 0; }
  [[nodiscard]] virtual ExecutorCounters counters() const = 0;

  // --- background work (exec/background.hpp) ------------------------------------------------------------

  /// Any thread that launches, several at once. A worker runs the job when it finds nothing else to do;
  /// never a thread that launches or waits, nor a dedicated processor's. Seeded: an actor like others, but this
  /// call is no point at which it may run. A job that nobody has begun when the executor ends is dropped, one
  /// that runs is finished first.
  virtual void post(std::shared_ptr<BackgroundJob> job) = 0;
  /// What was posted is late: workers take it before their next node, until none is left. Seeded: nothing.
  virtual void hurry() {}
  /// Whether anybody ever runs a job. If not, the poster had better run it itself.
  [[nodiscard]] virtual bool runs_background() const { return true; }

  // --- for Scope -----------------------------------------------------------------------------------

  /// Tells the scope its owner, the calling thread, and the task whose body runs on it.
  virtual void open(Scope& scope) = 0;
  virtual void close(Scope& /*scope*/) {}
  /// While the calling thread runs alone: runs what is ready in `scope` until at most `target` nodes are in flight, or
  /// (kAllReady) until nothing is. True: so few are left. False: that many cannot be run now, or other threads are
  /// there to do it. Seeded: something else may run.
  static constexpr std::size_t kAllReady = ~std::size_t{0};
  virtual bool relieve(Scope& scope, std::size_t target) = 0;

  // --- for Replays (graph/replays.hpp) --------------------------------------------------------------

  [[nodiscard]] Proxies& proxies() { return proxies_; }
  /// So many operations are issued between two calls of `relieve`.
  [[nodiscard]] virtual std::uint32_t replay_burst() const = 0;
  /// Owner: whether it gets on best by itself, running what it issues at once and in order.
  [[nodiscard]] virtual bool runs_in_order() = 0;
  /// Owner: runs operations [from, to), whose predecessors have run, one after the other on this thread,
  /// without their counts. It stops when this thread is no longer alone, unless `to_the_end`. Returns the first
  /// operation that has not run. The order is Template::in_order.
  virtual std::uint32_t run_in_order(Replay& replay, std::uint32_t from, std::uint32_t to,
                                     bool to_the_end) = 0;
  /// How many lanes schedules have (graph/lanes.hpp). 1: none are made, and what follows is not called.
  [[nodiscard]] virtual std::uint32_t lanes() const { return 1; }
  /// Owner: whether the next replay runs from its schedule. `complete`: replays that are.
  virtual bool runs_scheduled(ScheduleTrial& /*trial*/, std::uint32_t /*complete*/) {
    return false;
  }
  /// How long operations are taken to last, where that is not measured. False: it is. Of none: only asks.
  virtual bool draw_durations(std::span<std::uint64_t> /*ns*/) { return false; }
  /// Owner: threads run these lanes from here on, until nothing of them is in flight.
  virtual void add_lanes(Lanes& /*lanes*/) {}
  virtual void remove_lanes(Lanes& /*lanes*/) {}
  /// Owner: operations [0, count) of the present replay may run. `left`: no others will be issued.
  virtual void issue_to_lanes(Lanes& /*lanes*/, std::uint32_t /*count*/, bool /*left*/) {}
  /// Owner, or a thread that runs a node: one of those that hold a replayed operation back does so no more.
  virtual void lower(LiveNode& live) = 0;
  /// The same threads, and the one that polls: the operation is done. In order the owner, who awaits it, is told so.
  virtual void complete_replayed(LiveNode& live) = 0;

 protected:
  virtual void interleave_now() {}

  const ExecutorOptions options_;
  bool tells_ = false;        ///< users of scopes hear of what runs
  bool interleaves_ = false;  ///< at each launch; a flag, since that takes less than a virtual call
  Proxies proxies_;

 private:
  const int threads_;
};

/// Shared: several runtimes may be given one seeded executor, a world of its own.
std::shared_ptr<Executor> make_threaded_executor(const Machine& machine,
                                                 const ExecutorOptions& options);
std::shared_ptr<Executor> make_seeded_executor(const Machine& machine,
                                               const ExecutorOptions& options, std::uint64_t seed);

}  // namespace refrain::exec
