#pragma once
// Launch plans: everything about a launch that is the same each time it is made, worked out once: the
// checks, the regions of each point, the mapper's answers, the footprints. A launch that looks like an
// earlier one finds its plan by a raw key and goes straight to the analysis.
//
// The key holds addresses and unique numbers of this process, compared in full. The signature and its
// token (launch/signature.hpp) hold names and slots only and are worked out when the plan is made.
//
// Owner: the context's thread. Bounded: plans that name dropped trees go when their number has doubled, those
// not used for long when there is too much of them; never those of recordings. Which ones go is decided by the calls
// alone: a plan that launches in flight still use is not found any more, and stays for them.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/field_state.hpp"
#include "data/region_tree.hpp"
#include "graph/node.hpp"
#include "launch/task_record.hpp"
#include "refrain/accessor.hpp"
#include "refrain/dynamic.hpp"
#include "refrain/mapper.hpp"

namespace refrain::runtime {

/// What messages call a launch (exec::launch_name).
inline std::string launch_name(const LaunchRequest& request) {
  return exec::launch_name(request.task->name(), request.where);
}

/// One region argument of one point task.
struct PlannedArgument {
  analysis::FieldState* field = nullptr;
  analysis::Footprint* footprint = nullptr;
  analysis::Instance* instance = nullptr;  ///< the choice made last ...
  std::uint32_t instance_epoch = 0;  ///< ... which holds while the field's instance_epoch is this
  MemoryId memory = 0;               ///< where it was made
  std::uint32_t mapping = 0;         ///< index into LaunchPlan::mappings
  Privilege privilege = Privilege::read;  ///< the requirement's
  std::uint32_t field_index = 0;          ///< in the tree's field space
  data::IndexSpaceRef points;
  AnyRegion region;
  detail::ArgumentPoints physical_points;

  [[nodiscard]] bool chosen() const {
    return instance != nullptr && instance_epoch == field->instance_epoch();
  }
};

/// Points into `points`.
detail::ArgumentPoints physical_points(const data::IndexSpace& points, const AnyRegion& region);

/// What is the same for all points of one requirement.
struct PlannedRequirement {
  Privilege privilege = Privilege::read;
  bool relaxed = false;
  const ReductionOp* op = nullptr;
  std::string field;
  ValueType type;
  Projection projection;  ///< kept alive: its address is part of the key
};

struct PlannedPoint {
  Point<3> point{};
  ProcessorId processor = 0;
  std::uint16_t queue = 0;  ///< exec::Node::processor
  std::int16_t priority = 0;
  const TaskVariant* variant = nullptr;
};

struct LaunchPlan {
  std::vector<std::uint64_t> key;
  std::vector<std::uint64_t> signature;
  std::uint64_t token = 0;
  std::uint64_t number = 0;  ///< of a plan without a mapping (mapping.cpp): never given again

  std::shared_ptr<detail::TaskRecord> task;
  exec::NodeInfo info;
  bool group = false;
  int dim = 1;
  data::IndexSpaceRef domain;  ///< of a group launch
  std::vector<PlannedRequirement> requirements;
  std::uint32_t argument_count = 0;  ///< requirements.size(), which takes a division
  std::uint32_t reductions = 0;      ///< how many requirements reduce
  int node_class = 0;                ///< of the points' nodes (graph/node.hpp)
  bool check = false;                ///< accesses are checked
  std::vector<PlannedPoint> points;
  std::vector<PlannedArgument> arguments;  ///< points x requirements
  std::vector<ArgumentMapping> mappings;   ///< distinct answers
  std::uint64_t last_used = 0;
  std::uint64_t awake =
      0;  ///< ContextImpl's count of tidyings when its footprints were known to be awake
  std::uint64_t in_flight = 0;   ///< launches not yet back
  std::uint32_t recordings = 0;  ///< recordings that name it: it stays
  /// The context's own trees among the arguments': what children may look at stays while in flight.
  struct Tree {
    data::RegionTree* tree;
    std::uint64_t uid;  ///< when the plan was made; once it differs, no launch can find the plan
  };
  std::vector<Tree> trees;
  [[nodiscard]] bool stale() const {
    return std::ranges::any_of(trees,
                               [](const Tree& used) { return used.tree->uid() != used.uid; });
  }

  /// How many nodes so many points are: tasks and their folds.
  [[nodiscard]] std::uint64_t nodes(std::uint64_t count) const { return count * (1 + reductions); }
  [[nodiscard]] std::span<PlannedArgument> arguments_of(std::size_t rank) {
    return {arguments.data() + rank * argument_count, argument_count};
  }
};

/// The plans of one context, by key.
class PlanCache {
 public:
  static constexpr std::size_t max_arguments = std::size_t{1} << 22;
  static constexpr std::size_t first_sweep = 1024;

  PlanCache();
  /// The plan with this key, or null.
  [[nodiscard]] LaunchPlan* find(std::span<const std::uint64_t> key, std::uint64_t hash) const {
    const std::size_t mask = table_.size() - 1;
    for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
      const Entry& entry = table_[i];
      if (entry.plan == nullptr) return nullptr;
      if (entry.hash == hash && std::ranges::equal(entry.plan->key, key)) return entry.plan;
    }
  }
  LaunchPlan& insert(std::unique_ptr<LaunchPlan> plan, std::uint64_t hash);
  [[nodiscard]] std::size_t size() const { return count_; }

  /// A multiplication per word: keys are short, and a collision costs one comparison.
  static std::uint64_t hash(std::span<const std::uint64_t> key) {
    std::uint64_t h = 0x243F6A8885A308D3ull ^ key.size();
    for (std::uint64_t word : key) {
      const unsigned __int128 product =
          static_cast<unsigned __int128>(h ^ word) * 0x9E3779B97F4A7C15ull;
      h = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    }
    return h;
  }

 private:
  struct Entry {
    std::uint64_t hash = 0;
    LaunchPlan* plan = nullptr;
  };
  void keep_only(const std::function<bool(const LaunchPlan&)>& wanted);
  void rebuild(std::size_t capacity);

  std::vector<Entry> table_;  ///< open addressing, a power of two, at most half full
  std::vector<std::unique_ptr<LaunchPlan>> plans_;
  std::vector<std::unique_ptr<LaunchPlan>> dropped_;  ///< in flight when they were
  std::size_t count_ = 0;
  std::size_t arguments_ = 0;
  std::size_t sweep_at_ = first_sweep;  ///< number of plans at which stale ones are dropped
};

}  // namespace refrain::runtime
