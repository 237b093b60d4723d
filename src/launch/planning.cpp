// First sight of a launch: the checks, the pieces, the mapping; all that a plan remembers.

#include <algorithm>
#include <limits>

#include "analysis/independence.hpp"
#include "base/assert.hpp"
#include "base/text.hpp"
#include "data/index_space.hpp"
#include "data/projection.hpp"
#include "launch/call_identity.hpp"
#include "launch/field_check.hpp"
#include "launch/launch_domain.hpp"
#include "launch/planner.hpp"
#include "refrain/error.hpp"

namespace refrain::runtime {

namespace {

std::string argument_of(const LaunchRequest& request, std::size_t i) {
  return launch_name(request) + ", argument " + std::to_string(i);
}

Point<3> colour_of(const LaunchPlan& plan, std::size_t rank, const Requirement& r,
                   const std::string& who) {
  const Point<3>& point = plan.points[rank].point;
  try {
    return data::project(r.projection.impl(), point);
  } catch (...) {
    fail_around(who + ": projection " + data::describe(r.projection.impl()) + " threw for point " +
                data::to_string(point, plan.dim));
  }
}

[[noreturn]] void fail_colour(const LaunchPlan& plan, std::size_t rank, const Requirement& r,
                              const Point<3>& colour, const std::string& who) {
  const data::IndexSpaceRef& colours = r.partition.tree->partition(r.partition.index).colours;
  int dim = colours->dim();
  for (int d = dim; d < 3; ++d)
    if (colour[d] != 0) dim = d + 1;
  const bool surplus = dim > colours->dim();
  throw UsageError(who + ": point " + data::to_string(plan.points[rank].point, plan.dim) +
                   " gets colour " + data::to_string(colour, dim) + " by projection " +
                   data::describe(r.projection.impl()) + ", which " + r.partition.name() +
                   " does not have: its colours are " +
                   data::to_string(colours->bounds(), colours->dim()) +
                   (surplus ? ", of " + std::to_string(colours->dim()) +
                                  " dimensions: the coordinates beyond those must be 0"
                            : std::string()));
}

/// UsageError when points or arguments conflict.
void check_independence(const LaunchPlan& plan, const LaunchRequest& request) {
  const std::size_t count = plan.requirements.size();
  std::vector<analysis::PointUses> uses(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Requirement& r = request.requirements[i];
    analysis::PointUses& use = uses[i];
    if (plan.points.empty()) return;
    use.data = plan.arguments[i].field;
    use.privilege = r.privilege;
    use.op = r.op;
    const bool partitioned = r.partition.tree != nullptr;
    use.disjoint_pieces = partitioned && r.partition.tree->is_disjoint(r.partition.index);
    for (std::size_t rank = 0; rank < (partitioned ? plan.points.size() : 1); ++rank)
      use.sets.push_back(plan.arguments[rank * count + i].points.get());
  }
  const auto conflict = analysis::find_conflict(plan.points.size(), uses);
  if (!conflict) return;
  auto describe = [&](std::size_t rank, std::size_t use) {
    const std::size_t i = use;
    std::string text = "argument " + std::to_string(i) + " (" +
                       plan.arguments[rank * count + i].region.name() + ", field '" +
                       plan.requirements[i].field + "', " +
                       std::string(to_string(plan.requirements[i].privilege)) + ")";
    if (plan.group) text += " of point " + data::to_string(plan.points[rank].point, plan.dim);
    return text;
  };
  throw UsageError(
      launch_name(request) + ": " + describe(conflict->first_point, conflict->first_use) +
      " conflicts with " + describe(conflict->second_point, conflict->second_use) +
      ": both use point " +
      data::to_string(conflict->shared, plan.arguments[conflict->first_use].points->dim()) +
      (plan.group ? ", so the points of the group are not independent" : ""));
}

}  // namespace

std::span<const std::uint64_t> Planner::make_key(const LaunchRequest& request) {
  constexpr std::size_t fixed = 13, per_requirement = 7;
  const std::size_t most = fixed + per_requirement * request.requirements.size();
  if (key_.size() < most) key_.resize(most);
  std::uint64_t* next = key_.data();
  give_key(request, context_.forest, context_.runtime.mapper().epoch(), [&next](std::uint64_t w) {
    *next++ = w;
    return true;
  });
  return {key_.data(), next};
}

LaunchPlan& Planner::add_plan(const LaunchRequest& request, std::span<const std::uint64_t> key,
                              std::uint64_t hash) {
  const std::vector<std::uint64_t> kept(key.begin(), key.end());
  std::unique_ptr<LaunchPlan> plan = make_plan(request);
  plan->key = kept;
  return plans_.insert(std::move(plan), hash);
}

std::unique_ptr<LaunchPlan> Planner::make_plan(const LaunchRequest& request) {
  std::unique_ptr<LaunchPlan> plan = make_unmapped(request);
  const Planning now(context_);
  plan_mapping(*plan, request);
  sign(*plan, request);
  return plan;
}

std::unique_ptr<LaunchPlan> Planner::make_unmapped(const LaunchRequest& request) {
  context_.deferred->settle();  // pieces may be cut
  const Planning now(context_);
  auto plan = std::make_unique<LaunchPlan>();
  plan->task = std::const_pointer_cast<detail::TaskRecord>(request.task->shared_from_this());
  plan->info = {request.task->name(), request.where};
  plan->group = request.domain != nullptr;
  plan->check = context_.runtime.options().check;
  for (std::size_t i = 0; i < request.requirements.size(); ++i) {
    const Requirement& r = request.requirements[i];
    if (r.partition.tree != nullptr && !plan->group)
      throw UsageError(argument_of(request, i) + " is the partition " + r.partition.name() +
                       ": a single launch takes a region");
    check_field(r.field, argument_of(request, i));
    if (r.privilege > Privilege::reduce)
      throw UsageError(argument_of(request, i) + " has an unknown privilege, number " +
                       std::to_string(static_cast<int>(r.privilege)));
    if (r.privilege == Privilege::reduce) {
      if (r.op == nullptr)
        throw UsageError(argument_of(request, i) + " reduces without an operator");
      if (r.op->type == nullptr || r.op->initialise == nullptr || r.op->fold == nullptr)
        throw UsageError(argument_of(request, i) + " reduces with operator '" +
                         std::string(r.op->name) + "', which lacks its type or a function");
      if (*r.op->type != *r.field.type)
        throw UsageError(argument_of(request, i) + " reduces field '" + std::string(r.field.name) +
                         "' of type " + std::string(r.field.type->name) + " with an operator on " +
                         std::string(r.op->type->name));
      ++plan->reductions;
    }
    plan->requirements.push_back(
        {r.privilege, r.relaxed, r.op, std::string(r.field.name), *r.field.type, r.projection});
  }
  plan->argument_count = static_cast<std::uint32_t>(plan->requirements.size());
  plan->node_class = exec::NodePool::class_of(TaskPayload::bytes(*plan));
  plan_points(*plan, request);
  plan_arguments(*plan, request);
  check_independence(*plan, request);
  return plan;
}

void Planner::plan_points(LaunchPlan& plan, const LaunchRequest& request) {
  if (!plan.group) {
    plan.points.resize(1);
    return;
  }
  plan.domain = detail::domain_of(request);
  plan.dim = plan.domain->dim();
  if (plan.domain->volume() > std::numeric_limits<std::uint32_t>::max())
    throw UsageError(launch_name(request) +
                     ", its domain: " + std::to_string(plan.domain->volume()) +
                     " points; a group has fewer than 2^32");
  plan.points.reserve(plan.domain->volume());
  plan.domain->for_each_point(
      [&](const data::BoxPoint& p) { plan.points.emplace_back().point = p; });
}

// The region of each point and requirement, and what the analysis needs of it.
void Planner::plan_arguments(LaunchPlan& plan, const LaunchRequest& request) {
  const std::size_t count = request.requirements.size();
  plan.arguments.resize(plan.points.size() * count);
  for (std::size_t i = 0; i < count; ++i) {
    const Requirement& r = request.requirements[i];
    const std::string who = argument_of(request, i);
    data::RegionTree* used = r.partition.tree != nullptr ? r.partition.tree : r.region.tree;
    if (used->in(context_.forest) &&
        std::ranges::find(plan.trees, used, &LaunchPlan::Tree::tree) == plan.trees.end())
      plan.trees.push_back({used, used->uid()});
    for (std::size_t rank = 0; rank < plan.points.size(); ++rank) {
      PlannedArgument& argument = plan.arguments[rank * count + i];
      if (r.partition.tree != nullptr) {
        const data::RegionTree& tree = *r.partition.tree;
        const data::PartitionNode& partition = tree.partition(r.partition.index);
        const Point<3> colour = colour_of(plan, rank, r, who);
        const auto colour_rank = partition.colours->rank(colour);
        if (!colour_rank) fail_colour(plan, rank, r, colour, who);
        argument.region =
            tree.handle(partition.first_child + static_cast<std::uint32_t>(*colour_rank));
      } else {
        argument.region = r.region;
      }
      data::RegionTree& tree = *argument.region.tree;
      argument.points = tree.node(argument.region.node).space;
      argument.physical_points = physical_points(*argument.points, argument.region);
      argument.privilege = r.privilege;
      argument.field = &context_.field_state(argument.region, r.field, r.privilege, r.op, who);
      const auto index = tree.find_field(r.field);
      REFRAIN_ASSERT(index, "a field that has a state is one of its tree");
      argument.field_index = *index;
    }
  }
  // After all that may throw: a footprint stays.
  for (PlannedArgument& argument : plan.arguments) {
    if (argument.field->overgrown()) tidy(*argument.field);
    argument.footprint = &argument.field->footprint(argument.points);
  }
}

// Footprints that nobody has used for long become dormant. Plans that know some look at theirs again.
void Planner::tidy(analysis::FieldState& field) {
  context_.deferred->untraceable("pieces were put together again");
  context_.analysis.forget_complete(field);
  field.tidy();
  ++tidied_;
}

void Planner::wake_all(LaunchPlan& plan) {
  const auto dormant = [](const PlannedArgument& argument) { return argument.footprint->dormant; };
  if (std::ranges::any_of(plan.arguments, dormant))
    context_.deferred->settle();  // pieces may be cut
  for (PlannedArgument& argument : plan.arguments) argument.field->wake(*argument.footprint);
  plan.awake = tidied_;
}

}  // namespace refrain::runtime
