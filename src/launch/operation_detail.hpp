#pragma once
// What an operation works on, for whoever models the time that it takes.

#include <cstdint>
#include <memory>
#include <vector>

#include "graph/node.hpp"
#include "refrain/machine.hpp"

namespace refrain::runtime {

struct LaunchPlan;

struct OperationDetail {
  exec::NodeKind kind = exec::NodeKind::other;
  const LaunchPlan* plan = nullptr;  ///< of a task
  std::uint32_t rank = 0;            ///< of a task: own rank
  MemoryId source = 0;               ///< of a copy
  MemoryId target = 0;               ///< of a copy, a fill or a fold
  std::uint64_t bytes = 0;           ///< of the same: that are moved
};

/// Of the operation of a node that is not one of a replay.
OperationDetail detail_of(exec::Node& node);

/// Of a template's operations (Template::user). `modelled`: for whoever has looked at them.
struct OperationDetails {
  std::vector<OperationDetail> all;
  mutable std::shared_ptr<void> modelled;
};

}  // namespace refrain::runtime
