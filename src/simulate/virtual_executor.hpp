#pragma once
// The executor of a simulation: operations take the time that a model says, on processors and links of a described
// machine, in virtual time. The analysis, traces and the graph are those of a real run, and so are the copies, evictions
// and waits that they decide (docs/mapping.md). One thread; equal programs give equal runs.
//
// Lanes. A lane is processors that share a queue: the cpus of a rank, or one GPU. An operation that is ready waits in the
// queue of its lane for the first processor that is free; higher priorities go first, then what was ready first. A copy
// that nobody's processor makes (between GPUs with memory of their own and main memory, or between ranks) waits for its
// link, and between ranks for the adapters of both.
//
// The program's thread. It has a time of its own: each operation that it analyses or replays takes some of it. What is
// to happen before that time happens before the program goes on. While the program waits, its thread is one more cpu of
// rank 0; what it has begun then it ends before the program goes on. (exec/threaded_executor.cpp does the same.)
//
// Order. Events are processed by time; of one time, in the order in which they came about. When an operation ends, its
// run is called, which computes nothing in a simulation (RuntimeCore::is_imagined) but settles futures and failures; then
// its successors are ready.
//
// Cost: an operation takes two steps in a heap, some hundred nanoseconds. All members: the thread that runs the program.

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "capture/shared_lines.hpp"
#include "exec/background.hpp"
#include "graph/completion.hpp"
#include "graph/ready_queue.hpp"
#include "graph/replay_steps.hpp"
#include "launch/operation_detail.hpp"
#include "profile/clock.hpp"
#include "refrain/machine.hpp"
#include "simulate/link_schedule.hpp"

namespace refrain::simulate {

/// What an operation needs.
struct Work {
  static constexpr std::uint32_t kNoLane = ~std::uint32_t{0};
  double seconds = 0;            ///< on a processor of the lane, or until the copy is there
  std::uint32_t lane = kNoLane;  ///< kNoLane: by a link, or, where it is no copy, at once
  MemoryId source = 0, target = 0;
  std::uint64_t bytes = 0;
  bool is_copy = false;
  double waits = 0;      ///< for other cores, within `seconds`
  double least = 0;      ///< of a copy: that it takes where there are none to be waited for
  bool is_near = false;  ///< of a copy: so it is on a lane that has just made the values
  std::shared_ptr<const std::vector<capture::Touch>>
      touches{};  ///< of a core; null: caches do not matter
};

/// Says what operations need.
class Model {
 public:
  virtual ~Model() = default;
  /// Throws UsageError, which names the launch, for what cannot be modelled. Then it takes no time, and the simulation is
  /// refused (VirtualExecutor::check).
  virtual Work work_of(const runtime::OperationDetail& operation) = 0;
  /// A task of this plan is launched by the present call.
  virtual void launched(const runtime::LaunchPlan& plan) = 0;
  /// An operation begins on a processor that is a core. Returns the seconds that it takes longer for what others have in
  /// their caches.
  virtual double wait_for_others(const std::vector<capture::Touch>& touches,
                                 std::uint32_t processor) = 0;
};

/// The lanes of a machine: those of the ranks' cpus first, then the GPUs.
class Lanes {
 public:
  /// `workers`: threads of rank 0 beside the program's.
  Lanes(const Machine& machine, int workers);
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(lanes_.size()); }
  /// Of the processor with this id; a gang's is that of the cpus.
  [[nodiscard]] std::uint32_t of(ProcessorId processor) const { return of_processor_[processor]; }
  /// Its processors, numbered through all lanes. The first of lane 0 is the program's thread.
  [[nodiscard]] std::span<const std::uint32_t> processors(std::uint32_t lane) const {
    return lanes_[lane];
  }
  /// Whether they are cores of the machine that keep values in caches, as emulated GPUs are.
  [[nodiscard]] bool are_cores(std::uint32_t lane) const {
    return lane < cores_.size() && cores_[lane];
  }
  [[nodiscard]] const std::string& name(std::uint32_t processor) const { return names_[processor]; }
  [[nodiscard]] std::uint32_t all() const { return static_cast<std::uint32_t>(names_.size()); }

 private:
  std::vector<std::vector<std::uint32_t>> lanes_;
  std::vector<std::uint32_t> of_processor_;
  std::vector<bool> cores_;
  std::vector<std::string> names_;
};

class VirtualExecutor final : public exec::GraphExecutor<VirtualExecutor> {
 public:
  /// All outlive this.
  VirtualExecutor(const exec::ExecutorOptions& options, const Machine& machine, const Lanes& lanes,
                  Model& model);
  ~VirtualExecutor() override;

  // --- for who plays the program -----------------------------------------------------------------------

  /// The program's time, in seconds.
  [[nodiscard]] double now() const { return program_; }
  /// Before a call of the program: what was to happen until now happens.
  void advance() { process_until(program_); }
  /// The program does something itself for so long.
  void pass(double seconds) { program_ += seconds; }
  /// Of so many operations some were analysed since the last call; the others were replayed.
  void issued(std::uint64_t operations);
  /// Throws what the model first could not.
  void check() const {
    if (fault_) std::rethrow_exception(fault_);
  }

  // --- what has happened -------------------------------------------------------------------------------

  /// When the last operation ended.
  [[nodiscard]] double end() const { return end_; }
  /// Busy seconds, by processor of the lanes.
  [[nodiscard]] const std::vector<double>& busy() const { return busy_; }
  /// By source and target.
  [[nodiscard]] const LinkSchedule& links() const { return links_; }
  [[nodiscard]] std::uint64_t executed() const { return executed_; }

  // --- exec::Executor ----------------------------------------------------------------------------------

  void add(exec::Outside&) override {}
  void remove(exec::Outside&) override {}
  void run_root(const std::function<void()>& program) override { program(); }
  void publish(exec::Node& node, std::span<const exec::NodeRef> predecessors) override;
  void publish_inline(exec::Node& node, std::span<const exec::NodeRef> predecessors) override {
    publish(node, predecessors);
  }
  void finish(exec::Node& node) override;
  void expect_completion() override;
  void completed_outside(exec::Node* node) noexcept override;
  void wait(exec::Scope& scope, const std::function<bool()>& done, exec::NodeRef awaited,
            const exec::NodeInfo* waiter) override;
  void parallel_for(std::int64_t count, std::int64_t /*grain*/,
                    const std::function<void(std::int64_t, std::int64_t)>& f) override {
    f(0, count);
  }
  [[nodiscard]] exec::ExecutorCounters counters() const override { return {.executed = executed_}; }
  void post(std::shared_ptr<exec::BackgroundJob> job) override { background_.post(std::move(job)); }
  void open(exec::Scope&) override {}
  bool relieve(exec::Scope&, std::size_t) override { return false; }
  [[nodiscard]] std::uint32_t replay_burst() const override { return 1U << 30; }
  [[nodiscard]] bool runs_in_order() override { return false; }
  std::uint32_t run_in_order(exec::Replay& replay, std::uint32_t from, std::uint32_t to,
                             bool to_the_end) override;

  /// For GraphExecutor.
  struct Sink {
    VirtualExecutor& executor;
    void ready(exec::Node& node) const { executor.make_ready(&node); }
    void ready(exec::LiveNode& live) const { executor.make_ready(&live); }
    [[nodiscard]] static constexpr bool keeps() { return false; }
    void tell_owner() const { executor.told_ = true; }
    [[nodiscard]] static bool owns(const exec::Node&) { return true; }  // there is one thread
    void finish(exec::Node& node) const { executor.finish(node); }
  };
  Sink sink_here(exec::LiveNode&) { return {*this}; }

 private:
  static constexpr double kSpins =
      50e-6;  ///< that a thread without work looks for some, before it sleeps
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  struct Event {
    double time, begin;
    std::uint64_t number;           ///< settles ties
    exec::Ready what;               ///< none: the processor is free
    std::uint32_t processor, lane;  ///< that it has kept busy, or kNobody
    bool operator>(const Event& other) const {
      return time != other.time ? time > other.time : number > other.number;
    }
  };
  struct Waiting {
    exec::Ready what;
    double seconds, waits;
    double least;  ///< that it takes however little it waits
    std::shared_ptr<const std::vector<capture::Touch>> touches;
  };
  struct Idle {
    std::uint32_t processor;
    double since = 0;
  };
  struct Lane {
    std::vector<Idle> idle;  ///< the last goes to work first
    std::deque<Waiting> queue;
    std::map<int, std::deque<Waiting>, std::greater<>>
        prior;  ///< with priorities, the highest first
  };

  [[nodiscard]] Work modelled(const runtime::OperationDetail& operation);
  Work work_of(exec::Ready what);
  const Work& replayed_work(exec::LiveNode& live);
  void make_ready(exec::Ready what);
  void enqueue(Lane& lane, Waiting waiting);
  void dispatch(std::uint32_t lane);
  bool take(Lane& lane, Waiting& waiting);
  /// Of the work for an operation, which the ranks share: each analyses the points of its own.
  [[nodiscard]] double own_seconds(double seconds) const { return seconds / machine_.ranks(); }
  /// When something begins that is ready now, on a processor that has been idle since then.
  [[nodiscard]] double begin_after(double idle_since) const;
  /// The program's thread.
  [[nodiscard]] bool is_asleep() const;
  void process_until(double time);
  void process(const Event& event);
  void run(const Event& event);

  const Machine& machine_;
  const Lanes& lanes_of_;
  Model& model_;
  const std::uint64_t begin_ns_ = profile::now_ns();  ///< timelines are on the real clock
  double program_ = 0, now_ = 0, end_ = 0;
  std::vector<Lane> lanes_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t numbers_ = 0, executed_ = 0, analysed_ = 0;
  std::vector<double> busy_;
  LinkSchedule links_;
  std::exception_ptr fault_;
  std::uint32_t completing_ =
      Work::kNoLane;      ///< the lane of a processor that completes something just now
  bool told_ = false;     ///< something has happened that the program may wait for
  bool helping_ = false;  ///< its thread runs something
  std::optional<double>
      waits_since_;  ///< the program waits, and its thread has had nothing to do since then
  exec::BackgroundQueue background_;
};

}  // namespace refrain::simulate
