#pragma once
// What an operation works on, for whoever models the time that it takes.

#include <cstdint>
#include <memory>
#include <vector>

#include "data/index_space.hpp"
#include "graph/node.hpp"
#include "refrain/machine.hpp"

namespace refrain::analysis {
class FieldState;
struct Instance;
}  // namespace refrain::analysis

namespace refrain::runtime {

struct LaunchPlan;

struct OperationDetail {
  exec::NodeKind kind = exec::NodeKind::other;
  const LaunchPlan* plan = nullptr;  ///< of a task
  std::uint32_t rank = 0;            ///< of a task: own rank
  MemoryId source = 0;               ///< of a copy
  MemoryId target = 0;               ///< of a copy, a fill or a fold
  std::uint64_t bytes = 0;           ///< of the same: that are moved
  const analysis::FieldState* source_field = nullptr;
  const analysis::FieldState* target_field = nullptr;
  const data::IndexSpace* points = nullptr;  ///< that are moved

  void reads(const analysis::Instance& instance);
  /// So many bytes for each of the points.
  void writes(const analysis::Instance& instance, const data::IndexSpaceRef& where,
              std::size_t value_size);
};

/// Of the operation of a node that is not one of a replay.
OperationDetail detail_of(exec::Node& node);

/// Of a template's operations (Template::user). `modelled`: for whoever has looked at them.
struct OperationDetails {
  std::vector<OperationDetail> all;
  mutable std::shared_ptr<void> modelled;
};

}  // namespace refrain::runtime
