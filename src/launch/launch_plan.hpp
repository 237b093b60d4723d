#pragma once
// Launch plans: everything about a launch that is the same each time it is made, worked out once: the
// checks, the regions of each point, the mapper's answers, the footprints. A launch that looks like an
// earlier one finds its plan by a raw key and goes straight to the analysis.
//
// A plan has two parts. What it says of the launch as a whole is the same on every process; the *own points* are those
// that this process analyses (launch/launch_points.hpp). Only the first part knows the whole domain.
//
// Owner: the context's thread. Bounded: plans that name dropped trees go when their number has doubled, those
// not used for long when there is too much of them; never those of launches in flight.

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
#include "launch/launch_points.hpp"
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
  std::uint32_t mapping = 0;         ///< index into OwnPoints::mappings
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
  data::RegionTree* tree = nullptr;
};

struct PlannedPoint {
  Point<3> point{};
  ProcessorId processor = 0;
  std::uint16_t queue = 0;  ///< exec::Node::processor
  std::int16_t priority = 0;
  std::uint32_t launch_rank = 0;
  const TaskVariant* variant = nullptr;
};

/// The part of a plan that is this process's.
struct OwnPoints {
  std::vector<PlannedPoint> points;        ///< by own rank
  std::vector<PlannedArgument> arguments;  ///< points x requirements
  std::vector<ArgumentMapping> mappings;   ///< distinct answers
  std::uint64_t mapping = 0;               ///< hash of all that the mapper has answered
};

struct LaunchPlan {
  std::vector<std::uint64_t> key;
  std::uint64_t number = 0;  ///< of a plan without a mapping (mapping.cpp): never given again

  // The launch as a whole.
  std::uint64_t token = 0;  ///< of the call (call_identity.hpp)
  std::shared_ptr<detail::TaskRecord> task;
  exec::NodeInfo info;
  bool group = false;
  LaunchPoints points;
  std::vector<PlannedRequirement> requirements;
  std::uint32_t argument_count = 0;  ///< requirements.size(), which takes a division
  std::uint32_t reductions = 0;      ///< how many requirements reduce
  int node_class = 0;                ///< of the points' nodes (graph/node_pool.hpp)
  bool check = false;                ///< accesses are checked

  OwnPoints own;

  std::uint64_t last_used = 0;
  /// ContextImpl's count of tidyings when its footprints were known to be awake.
  std::uint64_t awake = 0;
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

  [[nodiscard]] int dim() const { return points.domain->dim(); }
  /// What the launch takes the analysis on all processes together, in points; at least 1.
  [[nodiscard]] std::uint32_t work() const {
    return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(points.domain->volume()));
  }
  /// Tells what is remembered here of the call apart by the mapping, too.
  [[nodiscard]] std::uint64_t mapped_token() const { return token ^ own.mapping; }
  [[nodiscard]] std::uint32_t own_points() const {
    return static_cast<std::uint32_t>(own.points.size());
  }
  /// How many nodes so many points are: tasks and their folds.
  [[nodiscard]] std::uint64_t nodes(std::uint64_t count) const { return count * (1 + reductions); }
  [[nodiscard]] std::span<PlannedArgument> arguments_of(std::size_t own_rank) {
    return {own.arguments.data() + own_rank * argument_count, argument_count};
  }
};

/// The plans of one context, by key.
class PlanCache {
 public:
  static constexpr std::size_t max_arguments = std::size_t{1} << 22;
  static constexpr std::size_t first_sweep = 1024;

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
  void place(const Entry& entry);

  /// Open addressing, a power of two, at most half full.
  std::vector<Entry> table_ = std::vector<Entry>(64);
  std::vector<std::unique_ptr<LaunchPlan>> plans_;
  std::size_t count_ = 0;
  std::size_t arguments_ = 0;
  std::size_t sweep_at_ = first_sweep;  ///< number of plans at which stale ones are dropped
};

}  // namespace refrain::runtime

namespace refrain::detail {

/// Asked whether a child task may be changing an argument at this moment.
class Lending {
 public:
  [[nodiscard]] virtual bool is_lent(std::size_t argument) const = 0;

 protected:
  ~Lending() = default;
};

/// What a checked accessor knows of its argument, for the check and for the message. Lives on the stack of the running task
/// (or in the open access of the program).
struct ArgumentInfo {
  const runtime::LaunchPlan* plan = nullptr;
  std::size_t rank = 0;  ///< own rank
  std::size_t argument = 0;
  const Lending* lending = nullptr;

  [[nodiscard]] const runtime::PlannedArgument& planned() const {
    return plan->own.arguments[rank * plan->requirements.size() + argument];
  }
  [[nodiscard]] const data::IndexSpace& points() const { return *planned().points; }
  [[nodiscard]] bool lent() const { return lending != nullptr && lending->is_lent(argument); }
};

}  // namespace refrain::detail
