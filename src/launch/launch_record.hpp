#pragma once
// One launch in flight: its by-value arguments, the futures it was given, and where its results go.
// Shared by the nodes of its points. The context's thread makes it and takes it back; the thread that
// runs the last point ends the by-value arguments, exactly once.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

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

  /// A launch of the plan, the context's call of this number.
  void begin(std::uint64_t number) {
    call = number;
    // Relaxed: publication of the nodes orders it before any point runs.
    unfinished.store(plan->own_points(), std::memory_order_relaxed);
  }
  /// Moves the values in.
  void take_values(void* from, const ValueOps* ops);
  /// A point has run (or will not): the last one ends the values and lets go of the futures; in a replay, where nobody else
  /// does, of the result, too.
  void point_done(bool replayed = false);
};

/// What follows a task's node: its launch, its place in it, and then its arguments, complete but for the
/// accumulators of reductions, which are made when the task starts; and of each reduction its fold.
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
  /// A node has come back (Scope::reclaim).
  static void reclaim(exec::Node& node);
  static void release(LaunchRecord& record);

 private:
  ContextCore& context_;
  std::vector<std::unique_ptr<LaunchRecord>> all_;
  LaunchRecord* free_ = nullptr;
};

}  // namespace refrain::runtime
