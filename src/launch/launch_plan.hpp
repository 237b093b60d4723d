#pragma once
// Launch plans: everything about a launch that is the same each time it is made, worked out once: the
// checks, the regions of each point, the mapper's answers, the footprints. A launch that looks like an
// earlier one finds its plan by a raw key and goes straight to the analysis.
//
// A plan has two parts. What it says of the launch as a whole is the same on every process; the *own points* are those
// that this process analyses. Only the first part knows the whole domain.
//
// A point has a *launch rank*, its position in the order of the launch domain, which mappers and tasks' bodies are
// told, and by which programs ask for values; and, if it is an own one, an *own rank*, its position among these. Plans,
// records, nodes and futures are by own rank. Both orders are that of the domain, so one follows from the other without
// a table.
//
// Owner: the context's thread. Bounded: plans that name dropped trees go when their number has doubled, those
// not used for long when there is too much of them; never those of recordings. Which ones go is decided by the calls
// alone: a plan that launches in flight still use is not found any more, and stays for them.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/field_state.hpp"
#include "base/hash.hpp"
#include "data/index_space.hpp"
#include "data/region_tree.hpp"
#include "graph/node.hpp"
#include "launch/task_record.hpp"
#include "refrain/accessor.hpp"
#include "refrain/dynamic.hpp"
#include "refrain/mapper.hpp"

namespace refrain::runtime {

class ReplicatedPlan;

/// The points of a launch, and those of them that this process analyses. Immutable; any thread. Cost: O(1) where all
/// points are own ones, else O(log boxes).
struct LaunchPoints {
  data::IndexSpaceRef domain;                    ///< all points; of a single launch one
  data::IndexSpaceRef own;                       ///< within the domain
  std::shared_ptr<ReplicatedPlan> replicated{};  ///< null: there is one shard

  /// Nothing, if it is another process's.
  [[nodiscard]] std::optional<std::size_t> own_rank(std::size_t launch_rank) const {
    if (own == domain) return launch_rank;
    return own->rank(domain->nth(launch_rank));
  }
};

/// What messages call a launch (exec::launch_name).
inline std::string launch_name(const LaunchRequest& request) {
  return exec::launch_name(request.task->name(), request.where);
}
/// And one of its region arguments.
inline std::string argument_name(const LaunchRequest& request, std::size_t argument) {
  return launch_name(request) + ", argument " + std::to_string(argument);
}
/// The names of a launch's arguments, in one buffer: of() overwrites the name that it gave before.
class ArgumentNames {
 public:
  explicit ArgumentNames(const LaunchRequest& request) : text_(argument_name(request, 0)) {}
  const std::string& of(std::size_t argument) {
    text_.erase(text_.rfind(' ') + 1).append(std::to_string(argument));
    return text_;
  }

 private:
  std::string text_;
};

/// The one that the region or the partition is of.
inline data::RegionTree* tree_of(const Requirement& r) {
  return r.partition.tree != nullptr ? r.partition.tree : r.region.tree;
}

class NestedContext;

/// One region argument of one point task.
struct PlannedArgument {
  analysis::FieldState* field = nullptr;
  analysis::Footprint* footprint = nullptr;
  analysis::Instance* instance = nullptr;  ///< the choice made last
  std::uint32_t instance_epoch = 0;        ///< while it is the field's, the choice holds
  MemoryId memory = 0;                     ///< where it was made
  std::uint32_t mapping = 0;               ///< index into OwnPoints::mappings
  Privilege privilege = Privilege::read;   ///< the requirement's
  std::uint32_t field_index = 0;           ///< in the tree's field space
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

// On lines of the cache of its own, as what else a launch reads of a region is (the tree, the field's state, footprints,
// equivalence sets, instances): where all regions' lie alike, a launch waits less for memory (docs/performance.md).
struct alignas(64) LaunchPlan {
  // By these a launch finds the plan and its data: they come first, on two lines of the cache.
  std::vector<std::uint64_t> key;
  std::uint64_t token = 0;  ///< of the call (call_identity.hpp)
  std::uint64_t last_used = 0;
  std::uint64_t in_flight = 0;       ///< launches not yet back
  std::uint32_t argument_count = 0;  ///< requirements.size(), which takes a division
  std::uint32_t reductions = 0;      ///< how many requirements reduce
  /// The context's own trees among the arguments': what children may look at stays while in flight.
  std::vector<data::UsedTree> trees;
  OwnPoints own;

  // The launch as a whole.
  std::shared_ptr<detail::TaskRecord> task;
  exec::NodeInfo info;
  int node_class = 0;  ///< of the points' nodes (graph/node.hpp)
  bool group = false;
  bool check = false;  ///< accesses are checked
  LaunchPoints points;
  std::vector<PlannedRequirement> requirements;

  /// Where the mapper is asked at every launch: the number of the plan without a mapping, which plans made of it share.
  /// It is never given again. Else 0.
  std::uint64_t number = 0;
  /// The planner's count of tidyings when its footprints were known to be awake.
  std::uint64_t awake = 0;
  std::uint32_t recordings = 0;  ///< recordings that name it: it stays
  [[nodiscard]] bool stale() const { return std::ranges::any_of(trees, &data::UsedTree::is_stale); }

  [[nodiscard]] int dim() const { return points.domain->dim(); }
  /// The points of the launch on all processes: what its analysis costs; at least 1.
  [[nodiscard]] std::uint32_t work() const {
    return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(points.domain->volume()));
  }
  /// The token with the mapping: tells apart calls that were mapped differently.
  [[nodiscard]] std::uint64_t mapped_token() const { return token ^ own.mapping; }
  [[nodiscard]] std::uint32_t own_points() const {
    return static_cast<std::uint32_t>(own.points.size());
  }
  [[nodiscard]] std::span<PlannedArgument> arguments_of(std::size_t own_rank) {
    return {own.arguments.data() + own_rank * argument_count, argument_count};
  }
  /// Of all values of a point's arguments.
  [[nodiscard]] std::uint64_t argument_bytes(std::size_t own_rank) const {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < argument_count; ++i)
      bytes +=
          own.arguments[own_rank * argument_count + i].points->volume() * requirements[i].type.size;
    return bytes;
  }
};

/// The plans of one context, by key.
class PlanCache {
 public:
  static constexpr std::size_t max_arguments = std::size_t{1} << 22;
  static constexpr std::size_t first_sweep = 1024;

  /// The plan with this key, or null. A launch that is made again in a loop finds it without a hash.
  [[nodiscard]] LaunchPlan* find(std::span<const std::uint64_t> key) {
    const std::uint64_t sum = std::accumulate(key.begin(), key.end(), std::uint64_t{0});
    auto& [known, recent] = recent_[(sum * kOdd >> 32) & (recent_.size() - 1)];
    if (known == sum && recent != nullptr && std::ranges::equal(recent->key, key)) return recent;
    known = sum;
    return recent = look_up(key);
  }
  /// A plan that was not found.
  LaunchPlan& insert(std::unique_ptr<LaunchPlan> plan);
  /// Ends dropped plans that no launch in flight uses. Their tasks' captures may make calls meanwhile.
  void end_dropped() {
    if (std::exchange(has_dropped_, false)) [[unlikely]]
      for (auto& plan : std::exchange(dropped_, {}))
        if (plan->in_flight != 0) dropped_.push_back(std::move(plan));
  }
  [[nodiscard]] std::size_t size() const { return plans_.size(); }

 private:
  static constexpr std::size_t kFewRecent = 16, kRecent = 256;  ///< powers of two
  static constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;  ///< spreads a sum over the upper bits
  using Entry = std::pair<std::uint64_t, LaunchPlan*>;

  static std::uint64_t hash(std::span<const std::uint64_t> key) {
    return hash_bytes(key.data(), key.size_bytes());
  }
  [[nodiscard]] LaunchPlan* look_up(std::span<const std::uint64_t> key) const;
  void keep_only(const std::function<bool(const LaunchPlan&)>& wanted);
  /// Enters a plan in the table, which has room for it.
  void enter(LaunchPlan& plan);
  /// Makes the table anew, between half and a quarter full.
  void enter_all();

  /// In the order in which they were made. They end in it, too, since a task's slot becomes free with its last plan.
  std::vector<std::unique_ptr<LaunchPlan>> plans_;
  /// With their hashes, open addressing: a power of two, at most half full. (std's tables, and Boost's, follow a chain,
  /// of which each link is a miss of the cache where there are many plans.)
  std::vector<Entry> table_{16};
  /// Plans that were found last, at the place that the sum of a key's words says, with the sum. Each is in the table. Most
  /// nested contexts have a few plans: there are few places as long as the table is small.
  std::vector<Entry> recent_{kFewRecent};
  std::vector<std::unique_ptr<LaunchPlan>> dropped_;  ///< some of them in flight still
  bool has_dropped_ = false;                          ///< since end_dropped()
  std::size_t arguments_ = 0;
  std::size_t sweep_at_ = first_sweep;  ///< number of plans at which stale ones are dropped
};

}  // namespace refrain::runtime

namespace refrain::detail {

/// The points of the domain, in its number of dimensions. Any thread.
[[nodiscard]] data::IndexSpaceRef space_of(const LaunchDomain& domain);
/// The points of a launch; errors name it.
[[nodiscard]] data::IndexSpaceRef domain_of(const LaunchRequest& launch);

/// What a checked accessor knows of its argument, for the check and for the message. Lives on the stack of the running
/// task (or in the open access of the program).
struct ArgumentInfo {
  const runtime::LaunchPlan* plan = nullptr;
  std::size_t rank = 0;  ///< own rank
  std::size_t argument = 0;
  const runtime::NestedContext* context = nullptr;  ///< of the running task, once it has one

  [[nodiscard]] const runtime::PlannedArgument& planned() const {
    return plan->own.arguments[rank * plan->requirements.size() + argument];
  }
  [[nodiscard]] const data::IndexSpace& points() const { return *planned().points; }
};

}  // namespace refrain::detail
