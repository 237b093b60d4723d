#include "launch/planner.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "analysis/independence.hpp"
#include "base/assert.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "data/projection.hpp"
#include "launch/call_identity.hpp"
#include "machine/machine.hpp"
#include "mapping/mapping.hpp"
#include "refrain/error.hpp"

namespace refrain::runtime {

namespace {

std::string argument_of(const LaunchRequest& request, std::size_t i) {
  return launch_name(request) + ", argument " + std::to_string(i);
}

Point<3> colour_of(const LaunchPlan& plan, std::size_t rank, const Requirement& r,
                   const std::string& who) {
  const Point<3>& point = plan.own.points[rank].point;
  try {
    return data::project(r.projection.impl(), point);
  } catch (...) {
    fail_around(who + ": projection " + data::describe(r.projection.impl()) + " threw for point " +
                data::to_string(point, plan.dim()));
  }
}

[[noreturn]] void fail_colour(const LaunchPlan& plan, std::size_t rank, const Requirement& r,
                              const Point<3>& colour, const std::string& who) {
  const data::IndexSpaceRef& colours = r.partition.tree->partition(r.partition.index).colours;
  int dim = colours->dim();
  for (int d = dim; d < 3; ++d)
    if (colour[d] != 0) dim = d + 1;
  const bool surplus = dim > colours->dim();
  throw UsageError(who + ": point " + data::to_string(plan.own.points[rank].point, plan.dim()) +
                   " gets colour " + data::to_string(colour, dim) + " by projection " +
                   data::describe(r.projection.impl()) + ", which " + r.partition.name() +
                   " does not have: its colours are " +
                   data::to_string(colours->bounds(), colours->dim()) +
                   (surplus ? ", of " + std::to_string(colours->dim()) +
                                  " dimensions: the coordinates beyond those must be 0"
                            : std::string()));
}

/// UsageError when own points or their arguments conflict.
void check_independence(const LaunchPlan& plan, const LaunchRequest& request) {
  const std::size_t count = plan.requirements.size();
  std::vector<analysis::PointUses> uses(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Requirement& r = request.requirements[i];
    analysis::PointUses& use = uses[i];
    if (plan.own.points.empty()) return;
    use.data = plan.own.arguments[i].field;
    use.privilege = r.privilege;
    use.op = r.op;
    const bool partitioned = r.partition.tree != nullptr;
    use.disjoint_pieces = partitioned && r.partition.tree->is_disjoint(r.partition.index);
    for (std::size_t rank = 0; rank < (partitioned ? plan.own.points.size() : 1); ++rank)
      use.sets.push_back(plan.own.arguments[rank * count + i].points.get());
  }
  const auto conflict = analysis::find_conflict(plan.own.points.size(), uses);
  if (!conflict) return;
  auto describe = [&](std::size_t rank, std::size_t use) {
    const std::size_t i = use;
    std::string text = "argument " + std::to_string(i) + " (" +
                       plan.own.arguments[rank * count + i].region.name() + ", field '" +
                       plan.requirements[i].field + "', " +
                       std::string(to_string(plan.requirements[i].privilege)) + ")";
    if (plan.group) text += " of point " + data::to_string(plan.own.points[rank].point, plan.dim());
    return text;
  };
  throw UsageError(
      launch_name(request) + ": " + describe(conflict->first_point, conflict->first_use) +
      " conflicts with " + describe(conflict->second_point, conflict->second_use) +
      ": both use point " +
      data::to_string(conflict->shared, plan.own.arguments[conflict->first_use].points->dim()) +
      (plan.group ? ", so the points of the group are not independent" : ""));
}

// --- the mapper ----------------------------------------------------------------------------------------

/// Appends the answer, all of it, in a form of which no other begins with it.
void write_down(const MappingOutput& answer, std::vector<std::uint64_t>& words) {
  words.push_back(std::uint64_t{answer.processor} << 32 |
                  static_cast<std::uint32_t>(answer.priority));
  for (const ArgumentMapping& argument : answer.arguments) {
    words.push_back(argument.memories.size() << 16 |
                    static_cast<std::uint64_t>(argument.layout.order) << 8 |
                    static_cast<std::uint64_t>(argument.layout.extent));
    words.insert(words.end(), argument.memories.begin(), argument.memories.end());
  }
}

// Answers repeat from point to point, mostly with the period of the machine's processors.
std::uint32_t remember_mapping(OwnPoints& own, const ArgumentMapping& answer) {
  constexpr std::size_t reach = 64;
  const std::size_t size = own.mappings.size();
  for (std::size_t back = 1; back <= std::min(size, reach); ++back) {
    const ArgumentMapping& known = own.mappings[size - back];
    if (known.memories == answer.memories && known.layout == answer.layout)
      return static_cast<std::uint32_t>(size - back);
  }
  own.mappings.push_back(answer);
  return static_cast<std::uint32_t>(size);
}

}  // namespace

// Flat: the check that a handle is alive would be a call for each argument.
[[gnu::flatten]] std::span<const std::uint64_t> Planner::make_key(const LaunchRequest& request) {
  const std::size_t most = kMostKeyWords + kKeyWordsOfArgument * request.requirements.size();
  if (key_.size() < most) key_.resize(most);
  std::uint64_t* next = key_.data();
  give_key(request, context_.forest, context_.runtime.mapper().epoch(), [&next](std::uint64_t w) {
    *next++ = w;
    return true;
  });
  return {key_.data(), next};
}

// --- first sight ---------------------------------------------------------------------------------------

LaunchPlan& Planner::add_plan(const LaunchRequest& request, std::span<const std::uint64_t> key,
                              std::uint64_t hash) {
  std::unique_ptr<LaunchPlan> plan = make_unmapped(request, key);
  std::vector<std::uint64_t> words;
  ask(*plan, request, words, [&](std::size_t rank, const MappingOutput& answer) {
    take_answer(*plan, request, rank, answer);
  });
  plan->own.mapping = hash_bytes(words.data(), words.size() * sizeof(std::uint64_t));
  return plans_.insert(std::move(plan), hash);
}

std::unique_ptr<LaunchPlan> Planner::make_unmapped(const LaunchRequest& request,
                                                   std::span<const std::uint64_t> key) {
  context_.deferred->settle();  // pieces may be cut
  const Planning now(context_);
  auto plan = std::make_unique<LaunchPlan>();
  plan->key.assign(key.begin(), key.end());  // before anything of the program's runs
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
    plan->requirements.push_back({r.privilege, r.relaxed, r.op, std::string(r.field.name),
                                  *r.field.type, r.projection,
                                  r.partition.tree != nullptr ? r.partition.tree : r.region.tree});
  }
  plan->argument_count = static_cast<std::uint32_t>(plan->requirements.size());
  plan->node_class = exec::NodePool::class_of(TaskPayload::bytes(*plan));
  plan_points(*plan, request);
  plan_arguments(*plan, request);
  check_independence(*plan, request);
  plan->token = token_of(request);
  return plan;
}

void Planner::plan_points(LaunchPlan& plan, const LaunchRequest& request) {
  LaunchPoints& points = plan.points;
  points.domain = detail::domain_of(request);
  if (points.domain->volume() > std::numeric_limits<std::uint32_t>::max())
    throw UsageError(launch_name(request) +
                     ", its domain: " + std::to_string(points.domain->volume()) +
                     " points; a group has fewer than 2^32");
  points.own = context_.runtime.own_points(points.domain);
  plan.own.points.reserve(points.own->volume());
  points.own->for_each_point([&](const data::BoxPoint& p) {
    const std::size_t launch_rank = points.launch_rank(plan.own.points.size());
    PlannedPoint& added = plan.own.points.emplace_back();
    added.point = p;
    added.launch_rank = static_cast<std::uint32_t>(launch_rank);
  });
}

// The region of each point and requirement, and what the analysis needs of it.
void Planner::plan_arguments(LaunchPlan& plan, const LaunchRequest& request) {
  const std::size_t count = request.requirements.size();
  plan.own.arguments.resize(plan.own.points.size() * count);
  for (std::size_t i = 0; i < count; ++i) {
    const Requirement& r = request.requirements[i];
    const std::string who = argument_of(request, i);
    data::RegionTree* used = r.partition.tree != nullptr ? r.partition.tree : r.region.tree;
    if (used->in(context_.forest) &&
        std::ranges::find(plan.trees, used, &LaunchPlan::Tree::tree) == plan.trees.end())
      plan.trees.push_back({used, used->uid()});
    for (std::size_t rank = 0; rank < plan.own.points.size(); ++rank) {
      PlannedArgument& argument = plan.own.arguments[rank * count + i];
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
  for (PlannedArgument& argument : plan.own.arguments) {
    if (argument.field->overgrown()) tidy(*argument.field);
    argument.footprint = &argument.field->footprint(argument.points);
  }
}

// --- the mapper ----------------------------------------------------------------------------------------

template <class Told>
void Planner::ask(const LaunchPlan& plan, const LaunchRequest& request,
                  std::vector<std::uint64_t>& words, Told told) {
  const Planning now(context_);
  const Machine& machine = context_.runtime.machine();
  Mapper& mapper = context_.runtime.mapper();
  const std::vector<ProcessorKind> bodies = request.task->kinds();
  std::vector<ProcessorKind> variants = bodies;
  std::erase_if(variants, [&](ProcessorKind kind) { return !machine.has(kind); });
  std::vector<MappingArgument> arguments(plan.requirements.size());
  MappingInput input{
      plan.info.name, request.where, plan.group, plan.dim(), plan.points.domain->volume(), 0, {},
      arguments,      variants,      &machine};
  MappingOutput answer;
  if (Listener* listener = context_.runtime.listener(Events::decisions)) listener->asked(plan);
  for (std::size_t rank = 0; rank < plan.own.points.size(); ++rank) {
    input.rank = plan.own.points[rank].launch_rank;
    input.point = plan.own.points[rank].point;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const PlannedArgument& argument = plan.own.arguments[rank * arguments.size() + i];
      arguments[i] = {plan.requirements[i].field, plan.requirements[i].privilege,
                      argument.field->type().size, argument.points->volume(),
                      request.requirements[i].partition.tree != nullptr};
    }
    mapping::map_by_default(input, bodies, answer);
    try {
      mapper.map(input, answer);
    } catch (...) {
      fail_mapper(request, plan.group ? ", point " + data::to_string(input.point, plan.dim()) : "");
    }
    mapping::validate(mapper, input, answer);
    write_down(answer, words);
    told(rank, answer);
  }
}

void Planner::take_answer(LaunchPlan& plan, const LaunchRequest& request, std::size_t rank,
                          const MappingOutput& answer) {
  const Processor& processor = context_.runtime.machine().processor(answer.processor);
  PlannedPoint& point = plan.own.points[rank];
  point.processor = answer.processor;
  const bool is_device = machine::traits_of(processor.kind).is_device;
  point.queue = static_cast<std::uint16_t>(is_device ? answer.processor + 1 : 0);
  point.priority = static_cast<std::int16_t>(
      std::clamp(answer.priority + request.hints.priority, -30000, 30000));
  point.variant = request.task->variant(processor.kind);
  const std::span<PlannedArgument> arguments = plan.arguments_of(rank);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    arguments[i].mapping = remember_mapping(plan.own, answer.arguments[i]);
}

void Planner::fail_mapper(const LaunchRequest& request, const std::string& where) const {
  fail_around("mapper '" + std::string(context_.runtime.mapper().name()) + "' for " +
              launch_name(request) + where + " threw");
}

LaunchPlan& Planner::plan_by_answers(const LaunchRequest& request,
                                     std::span<const std::uint64_t> key) {
  context_.check_not_planning();  // else what is asked now would be overwritten
  if (asked_ == nullptr) asked_ = std::make_unique<Asked>();
  LaunchPlan& unmapped = unmapped_plan(request, key);
  unmapped.last_used = context_.calls;
  // The key begins with a number that is no task's address, as the keys of remembered plans do.
  auto& asked_key = asked_->key;
  auto& answers = asked_->answers;
  asked_key.assign(1, unmapped.number);
  answers.resize(std::max(answers.size(), unmapped.own.points.size()));
  ask(unmapped, request, asked_key,
      [&](std::size_t rank, MappingOutput& answer) { std::swap(answers[rank], answer); });
  const std::uint64_t hash = PlanCache::hash(asked_key);
  if (LaunchPlan* known = plans_.find(asked_key, hash)) return *known;
  auto made = std::make_unique<LaunchPlan>(unmapped);
  made->key = asked_key;
  made->own.mapping = hash_bytes(&asked_key[1], (asked_key.size() - 1) * sizeof(std::uint64_t));
  for (std::size_t rank = 0; rank < made->own.points.size(); ++rank)
    take_answer(*made, request, rank, answers[rank]);
  return plans_.insert(std::move(made), hash);
}

LaunchPlan& Planner::unmapped_plan(const LaunchRequest& request,
                                   std::span<const std::uint64_t> key) {
  const std::uint64_t hash = PlanCache::hash(key);
  if (LaunchPlan* known = asked_->unmapped.find(key, hash)) return *known;
  std::unique_ptr<LaunchPlan> made = make_unmapped(request, key);
  made->number = ++asked_->last_number;
  return asked_->unmapped.insert(std::move(made), hash);
}

// --- footprints ----------------------------------------------------------------------------------------

// Footprints that nobody has used for long become dormant. Plans that know some look at theirs again.
void Planner::tidy(analysis::FieldState& field) {
  context_.deferred->untraceable("pieces were put together again");
  context_.analysis.forget_complete(field);
  field.tidy();
  ++tidied_;
}

void Planner::wake_all(LaunchPlan& plan) {
  const auto dormant = [](const PlannedArgument& argument) { return argument.footprint->dormant; };
  if (std::ranges::any_of(plan.own.arguments, dormant))
    context_.deferred->settle();  // pieces may be cut
  for (PlannedArgument& argument : plan.own.arguments) argument.field->wake(*argument.footprint);
  plan.awake = tidied_;
}

}  // namespace refrain::runtime
