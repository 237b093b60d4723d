#pragma once
// One launch in flight. Its record has its by-value arguments, the futures it was given, and where its results go; the
// nodes of its points share it. The context's thread makes the record and takes it back; the thread that runs the last
// point ends the by-value arguments, exactly once.
//
// The point tasks: from the plan to their nodes, and from a node, or a place in a replay, to a body.
// The context's own thread issues. The executor runs tasks on whatever thread it likes.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "graph/replay.hpp"
#include "launch/launch_plan.hpp"
#include "refrain/dynamic.hpp"

namespace refrain::analysis {
struct FoldPayload;
}

namespace refrain::runtime {

struct ContextCore;

struct LaunchRecord {
  static constexpr std::size_t kInlineValues = 128;

  LaunchPlan* plan = nullptr;
  ContextCore* context = nullptr;
  std::uint64_t call = 0;
  // acq_rel decrements: the last point sees what the others did with the values.
  std::atomic<std::uint32_t> unfinished{0};  ///< own points that have not run
  std::uint64_t unreclaimed = 0;             ///< nodes, folds too, that have not come back (owner)
  bool holds_something = false;              ///< values or futures, which the last point ends
  void* values = nullptr;
  const ValueOps* value_ops = nullptr;
  AnyFuture result;
  std::vector<AnyFuture> futures;
  LaunchRecord* next_free = nullptr;  ///< among the records of the context that are free
  alignas(std::max_align_t) std::byte inline_values[kInlineValues];

  /// Where memory ran out before the launch was issued, no point has ended its values: this does.
  ~LaunchRecord() { unfinished = 1, point_done(); }
  /// A launch of the plan, the context's call of this number.
  void begin(std::uint64_t number) {
    call = number;
    // Relaxed: publication of the nodes orders it before any point runs.
    unfinished.store(plan->own_points(), std::memory_order_relaxed);
  }
  /// Moves the values in.
  void take_values(void* from, const ValueOps* ops);
  /// A point has run (or will not): the last one ends the values and lets go of the futures; in a replay, where nobody
  /// else does, of the result, too.
  void point_done(bool replayed = false);
};

/// What follows a task's node: its launch, its place in it, and then its arguments, complete but for the
/// accumulators of reductions, which are made when the task starts; and of each reduction its folds, as a list.
struct TaskPayload {
  LaunchRecord* record;
  std::uint32_t rank;  ///< own rank

  [[nodiscard]] PhysicalArgument* arguments() {
    return reinterpret_cast<PhysicalArgument*>(this + 1);
  }
  [[nodiscard]] analysis::FoldPayload** folds(const LaunchPlan& plan) {
    return reinterpret_cast<analysis::FoldPayload**>(arguments() + plan.argument_count);
  }
  static std::size_t bytes(const LaunchPlan& plan) {
    return sizeof(TaskPayload) + plan.argument_count * sizeof(PhysicalArgument) +
           plan.reductions * sizeof(analysis::FoldPayload*);
  }
};

/// The launch records of one context, used again and again.
class LaunchRecords {
 public:
  explicit LaunchRecords(ContextCore& context) : context_(context) {}
  LaunchRecords(const LaunchRecords&) = delete;

  /// A record for the context's present call. It comes back when the last of its nodes does.
  LaunchRecord& take(LaunchPlan& plan, const LaunchRequest& request);
  /// Gives the record what only this launch has: its values, its futures and its result.
  void fill(LaunchRecord& record, const LaunchRequest& request);
  /// The future of a launch; none where nobody wants one.
  AnyFuture make_result(const LaunchPlan& plan, const LaunchRequest& request);
  static void release(LaunchRecord& record);

 private:
  ContextCore& context_;
  std::vector<std::unique_ptr<LaunchRecord>> all_;
  LaunchRecord* free_ = nullptr;
};

/// Places the data of each own point, gives its node predecessors from the analysis, and publishes it. Returns the future
/// that the launch asks for.
AnyFuture issue(ContextCore& context, LaunchPlan& plan, const LaunchRequest& request);

/// What runs in a dry run in place of a task's body, and in a simulation: the result is zero.
const TaskVariant& dry_variant();
/// What runs in place of a body where listeners are told how long it takes (Events::bodies): that body, and its time.
const TaskVariant& timed_variant(ProcessorKind kind);

/// A point has its turn. Its body does not run where data or a future that it reads has a failure: then what it should have
/// written has that one, too.
void run_task(exec::Node& node, exec::Execution& execution);
/// The same of a replayed task. If its launch has no values, futures and result, makes no accumulators and is not checked,
/// nothing is written to its payload, which several threads may run at once.
void run_replayed_task(TaskPayload& payload, exec::Replay& replay, std::uint32_t index,
                       exec::Execution& execution);

/// The payload of a point whose instances have been chosen, in TaskPayload::bytes of memory. Its folds are
/// the caller's to fill in.
TaskPayload* make_payload(std::byte* memory, LaunchRecord& record, std::uint32_t rank);

}  // namespace refrain::runtime
