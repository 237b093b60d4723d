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

class ContextImpl;

struct LaunchRecord {
  static constexpr std::size_t kInlineValues = 128;

  LaunchPlan* plan = nullptr;
  ContextImpl* context = nullptr;
  std::uint64_t call = 0;
  // acq_rel decrements: the last point sees what the others did with the values.
  std::atomic<std::uint32_t> unfinished{0};  ///< points that have not run
  std::uint64_t unreclaimed = 0;             ///< nodes, folds too, that have not come back (owner)
  bool holds_something = false;              ///< values or futures, which the last point ends
  void* values = nullptr;
  const ValueOps* value_ops = nullptr;
  AnyFuture result;
  std::vector<AnyFuture> futures;
  LaunchRecord* next_free = nullptr;
  alignas(std::max_align_t) std::byte inline_values[kInlineValues];

  /// A launch of the plan, the context's call of this number.
  void begin(std::uint64_t number) {
    call = number;
    // Relaxed: publication of the nodes orders it before any point runs.
    unfinished.store(static_cast<std::uint32_t>(plan->points.size()), std::memory_order_relaxed);
  }
  /// Moves the values in.
  void take_values(void* from, const ValueOps* ops);
  /// A point has run (or will not): the last one ends the values and lets go of the futures.
  void point_done();
  /// The same in a replay, where nobody else lets go of the result.
  void replayed_point_done();
  void end_values();
};

/// What follows a task's node: its launch, its place in it, and then its arguments, complete but for the
/// accumulators of reductions, which are made when the task starts; and of each reduction its fold.
struct TaskPayload {
  LaunchRecord* record;
  std::uint32_t rank;

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

}  // namespace refrain::runtime
