#include "launch/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <limits>
#include <utility>

#include "analysis/independence.hpp"
#include "base/assert.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "data/projection.hpp"
#include "launch/call_identity.hpp"
#include "launch/launch_record.hpp"
#include "machine/machine.hpp"
#include "mapping/mapping.hpp"
#include "refrain/error.hpp"

namespace refrain::runtime {

namespace {

[[noreturn]] void fail_colour(const LaunchPlan& plan, std::size_t rank, const Requirement& r,
                              const Point<3>& colour, const std::string& who) {
  const data::IndexSpaceRef& colours = r.partition.tree->partition(r.partition.index).colours;
  int dim = colours->dim();
  for (int d = dim; d < 3; ++d)
    if (colour[d] != 0) dim = d + 1;
  std::string text = fmt::format(
      "{}: point {} gets colour {} by projection {}, which {} does not have: its colours are {}",
      who, data::to_string(plan.own.points[rank].point, plan.dim()), data::to_string(colour, dim),
      data::describe(r.projection.impl()), r.partition.name(),
      data::to_string(colours->bounds(), colours->dim()));
  if (dim > colours->dim())
    text +=
        fmt::format(", of {} dimensions: the coordinates beyond those must be 0", colours->dim());
  throw UsageError(text);
}

/// UsageError, whatever the points.
void check_requirement(const Requirement& r, bool group, const std::string& who) {
  if (r.partition.tree != nullptr && !group)
    throw UsageError(fmt::format("{} is the partition {}: a single launch takes a region", who,
                                 r.partition.name()));
  check_field(r.field, who);
  if (r.privilege > Privilege::reduce)
    throw UsageError(
        fmt::format("{} has an unknown privilege, number {}", who, static_cast<int>(r.privilege)));
  if (r.privilege != Privilege::reduce) return;
  if (r.op == nullptr) throw UsageError(who + " reduces without an operator");
  if (r.op->type == nullptr || r.op->initialise == nullptr || r.op->fold == nullptr)
    throw UsageError(fmt::format(
        "{} reduces with operator '{}', which lacks its type or a function", who, r.op->name));
  if (*r.op->type != *r.field.type)
    throw UsageError(fmt::format("{} reduces field '{}' of type {} with an operator on {}", who,
                                 r.field.name, r.field.type->name, r.op->type->name));
}

/// Which region a point gets.
AnyRegion region_of(const LaunchPlan& plan, std::size_t rank, const Requirement& r,
                    const std::string& who) {
  if (r.partition.tree == nullptr) return r.region;
  const Point<3>& point = plan.own.points[rank].point;
  Point<3> colour{};
  try {
    colour = data::project(r.projection.impl(), point);
  } catch (...) {
    fail_around(fmt::format("{}: projection {} threw for point {}", who,
                            data::describe(r.projection.impl()),
                            data::to_string(point, plan.dim())));
  }
  const data::PartitionNode& partition = r.partition.tree->partition(r.partition.index);
  const auto colour_rank = partition.colours->rank(colour);
  if (!colour_rank) fail_colour(plan, rank, r, colour, who);
  return r.partition.tree->handle(partition.first_child + static_cast<std::uint32_t>(*colour_rank));
}

/// Whether every point gets the same region of both.
bool are_same_pieces(const Requirement& a, const Requirement& b) {
  return a.partition.tree != nullptr && a.partition.tree == b.partition.tree &&
         a.partition.index == b.partition.index && a.projection.impl() == b.projection.impl();
}

/// The points of the domain, all of them for now, and which ones are own.
void plan_points(LaunchPlan& plan, const LaunchRequest& request, ContextCore& context) {
  LaunchPoints& points = plan.points;
  points.domain = detail::domain_of(request);
  if (points.domain->volume() > std::numeric_limits<std::uint32_t>::max())
    throw UsageError(fmt::format("{}, its domain: {} points; a group has fewer than 2^32",
                                 launch_name(request), points.domain->volume()));
  points.own = points.domain;
  if (context.replicated != nullptr)
    points.own = context.replicated->own_points(request, points.domain);
  plan.own.points.reserve(points.domain->volume());
  points.domain->for_each_point([&, rank = std::uint32_t{0}](const data::BoxPoint& p) mutable {
    plan.own.points.push_back({.point = p, .launch_rank = rank++});
  });
}

/// What is planned of other points goes.
void keep_own(LaunchPlan& plan) {
  const LaunchPoints& points = plan.points;
  if (points.own->volume() == points.domain->volume()) return;
  const std::size_t count = plan.requirements.size();
  OwnPoints own;
  points.own->for_each_point([&](const data::BoxPoint& p) {
    const auto rank = points.domain->rank(p);
    REFRAIN_ASSERT(rank, "own points are points of the domain");
    own.points.push_back(plan.own.points[*rank]);
    for (std::size_t i = 0; i < count; ++i)
      own.arguments.push_back(std::move(plan.own.arguments[*rank * count + i]));
  });
  plan.own = std::move(own);
}

/// UsageError when points or their arguments conflict.
void check_independence(const LaunchPlan& plan, const LaunchRequest& request) {
  if (plan.own.points.empty()) return;
  const std::size_t count = plan.requirements.size();
  std::vector<analysis::PointUses> uses(count);
  std::vector<const data::IndexSpace*> sets;
  sets.reserve(plan.own.points.size() * count);  // it must not move: the uses hold spans of it
  for (std::size_t i = 0; i < count; ++i) {
    const Requirement& r = request.requirements[i];
    const bool partitioned = r.partition.tree != nullptr;
    uses[i] = {.data = plan.own.arguments[i].field,
               .privilege = r.privilege,
               .op = r.op,
               .sets = {},
               .disjoint_pieces = partitioned && r.partition.tree->is_disjoint(r.partition.index)};
    if (i > 0 && are_same_pieces(request.requirements[i - 1], r)) {
      uses[i].sets = uses[i - 1].sets;
      continue;
    }
    const std::size_t begin = sets.size();
    for (std::size_t rank = 0; rank < (partitioned ? plan.own.points.size() : 1); ++rank)
      sets.push_back(plan.own.arguments[rank * count + i].points.get());
    uses[i].sets = std::span(sets).subspan(begin);
  }
  const auto conflict = analysis::find_conflict(plan.own.points.size(), uses);
  if (!conflict) return;
  const auto describe = [&](std::size_t rank, std::size_t i) {
    std::string text = fmt::format(
        "argument {} ({}, field '{}', {})", i, plan.own.arguments[rank * count + i].region.name(),
        plan.requirements[i].field, to_string(plan.requirements[i].privilege));
    if (plan.group) text += " of point " + data::to_string(plan.own.points[rank].point, plan.dim());
    return text;
  };
  throw UsageError(fmt::format(
      "{}: {} conflicts with {}: both use point {}{}", launch_name(request),
      describe(conflict->first_point, conflict->first_use),
      describe(conflict->second_point, conflict->second_use),
      data::to_string(conflict->shared, plan.own.arguments[conflict->first_use].points->dim()),
      plan.group ? ", so the points of the group are not independent" : ""));
}

/// An unmapped plan's key is that of the launch and this word.
constexpr std::uint64_t kUnmapped = 0;

// Answers repeat from point to point, mostly with the period of the machine's processors.
std::uint32_t remember_mapping(std::vector<ArgumentMapping>& mappings, ArgumentMapping&& answer) {
  constexpr std::size_t reach = 64;
  for (std::size_t i = mappings.size(); i-- > 0 && i + reach >= mappings.size();)
    if (mappings[i] == answer) return static_cast<std::uint32_t>(i);
  mappings.push_back(std::move(answer));
  return static_cast<std::uint32_t>(mappings.size() - 1);
}

// --- the mapper ----------------------------------------------------------------------------------------

/// The answer as words. Among answers about as many arguments, no one's words are the beginning of another's.
void append(std::vector<std::uint64_t>& words, const MappingOutput& answer) {
  words.push_back(std::uint64_t{answer.processor} << 32 |
                  static_cast<std::uint32_t>(answer.priority));
  for (const ArgumentMapping& argument : answer.arguments) {
    words.push_back(argument.memories.size() << 32 |
                    static_cast<std::uint64_t>(argument.layout.sparse) << 24 |
                    static_cast<std::uint64_t>(argument.when_full) << 16 |
                    static_cast<std::uint64_t>(argument.layout.order) << 8 |
                    static_cast<std::uint64_t>(argument.layout.extent));
    words.insert(words.end(), argument.memories.begin(), argument.memories.end());
  }
}

/// The inverse, for one argument: `words` begin with what the answer says of it, and afterwards with what comes next.
ArgumentMapping take_argument(std::span<const std::uint64_t>& words) {
  const std::uint64_t word = words.front();
  const auto memories = words.subspan(1, word >> 32);
  words = words.subspan(1 + memories.size());
  return {.memories = {memories.begin(), memories.end()},
          .layout = {.order = static_cast<Order>(word >> 8 & 0xff),
                     .extent = static_cast<Extent>(word & 0xff),
                     .sparse = static_cast<Sparse>(word >> 24 & 0xff)},
          .when_full = static_cast<WhenFull>(word >> 16 & 0xff)};
}

/// Appends the mapper's answers to `words`, all of them, by own rank. `answer`: scratch.
void ask(ContextCore& context, const LaunchPlan& plan, const LaunchRequest& request,
         MappingOutput& answer, std::vector<std::uint64_t>& words) {
  const Planning now(context);
  const Machine& machine = context.runtime.machine();
  Mapper& mapper = context.runtime.mapper();
  // No allocations: a mapper may be asked at every launch.
  boost::container::small_vector<ProcessorKind, 4> bodies, variants;
  for (const TaskVariant& variant : request.task->variants()) {
    bodies.push_back(variant.kind);
    if (machine.has(variant.kind)) variants.push_back(variant.kind);
  }
  boost::container::small_vector<MappingArgument, 8> arguments(plan.requirements.size());
  MappingInput input{plan.info.name,
                     request.where,
                     plan.group,
                     plan.dim(),
                     plan.points.domain->volume(),
                     0,
                     {},
                     plan.points.domain->bounds(),
                     {arguments.data(), arguments.size()},
                     {variants.data(), variants.size()},
                     &machine};
  if (Listener* listener = context.runtime.listener(Events::decisions)) listener->asked(plan);
  for (std::size_t rank = 0; rank < plan.own.points.size(); ++rank) {
    input.rank = plan.own.points[rank].launch_rank;
    input.point = plan.own.points[rank].point;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const PlannedArgument& argument = plan.own.arguments[rank * arguments.size() + i];
      arguments[i] = {plan.requirements[i].field, plan.requirements[i].privilege,
                      argument.field->type().size, argument.points->volume(),
                      request.requirements[i].partition.tree != nullptr};
    }
    try {
      mapping::map_by_default(input, {bodies.data(), bodies.size()}, answer);
      try {
        mapper.map(input, answer);
      } catch (...) {
        fail_mapper(mapper, request,
                    plan.group ? ", point " + data::to_string(input.point, plan.dim()) : "");
      }
      mapping::validate(mapper, input, answer);
    } catch (...) {
      if (context.replicated != nullptr) context.replicated->end_run(std::current_exception());
      throw;
    }
    append(words, answer);
  }
}

/// `words`: the answers, by own rank.
void take_answers(LaunchPlan& plan, const LaunchRequest& request, ContextCore& context,
                  std::span<const std::uint64_t> words) {
  const Machine& machine = context.runtime.machine();
  plan.own.mapping = hash_bytes(words.data(), words.size_bytes());
  std::span<const std::uint64_t> before;  // the words about the arguments of the last point
  for (std::size_t rank = 0; rank < plan.own.points.size(); ++rank) {
    PlannedPoint& point = plan.own.points[rank];
    const auto priority = static_cast<int>(static_cast<std::uint32_t>(words.front()));
    point.processor = static_cast<ProcessorId>(words.front() >> 32);
    words = words.subspan(1);
    const ProcessorKind kind = machine.processor(point.processor).kind;
    const bool is_device = machine::traits_of(kind).is_device;
    point.queue = static_cast<std::uint16_t>(is_device ? point.processor + 1 : 0);
    point.priority = static_cast<std::int16_t>(
        std::clamp<std::int64_t>(std::int64_t{priority} + request.hints.priority, -30000, 30000));
    const bool is_dry = context.runtime.options().dry && context.replicated != nullptr;
    if (is_dry || context.runtime.is_imagined()) point.variant = &dry_variant();
    else if (context.runtime.listener(Events::bodies) != nullptr)
      point.variant = &timed_variant(kind);
    else point.variant = request.task->variant(kind);
    const std::span<PlannedArgument> arguments = plan.arguments_of(rank);
    if (rank > 0 &&
        std::ranges::equal(before, words.first(std::min(before.size(), words.size())))) {
      for (std::size_t i = 0; i < arguments.size(); ++i)
        arguments[i].mapping = plan.arguments_of(rank - 1)[i].mapping;
      words = words.subspan(before.size());
      continue;
    }
    before = words;
    for (PlannedArgument& argument : arguments)
      argument.mapping = remember_mapping(plan.own.mappings, take_argument(words));
    before = before.first(before.size() - words.size());
  }
}

}  // namespace

// Flat: the check that a handle is alive would be a call for each argument.
[[gnu::flatten]] std::span<const std::uint64_t> Planner::make_key(const LaunchRequest& request) {
  plans_.end_dropped();  // a launch begins: nothing of another one is half done
  const std::size_t most = kMostKeyWords + kKeyWordsOfArgument * request.requirements.size() + 1;
  if (key_.size() < most) key_.resize(most);
  std::uint64_t* next = key_.data();
  const auto put = [&next](std::uint64_t word) { return *next++ = word, true; };
  visit(request, context_.runtime.mapper().epoch(), Key(put, &request, &context_.forest));
  // A single launch has a plan for where it runs, and one for elsewhere.
  if (context_.replicated != nullptr && request.domain == nullptr)
    put(context_.replicated->runs_here(request) ? 1 : 0);
  return {key_.data(), next};
}

// --- first sight ---------------------------------------------------------------------------------------

LaunchPlan& Planner::add_plan(const LaunchRequest& request, std::span<const std::uint64_t> key) {
  std::unique_ptr<LaunchPlan> plan = make_unmapped(request, key);
  asked_key_.clear();
  ask(context_, *plan, request, answer_, asked_key_);
  take_answers(*plan, request, context_, asked_key_);
  return plans_.insert(std::move(plan));
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
  ArgumentNames names(request);
  plan->requirements.reserve(request.requirements.size());
  for (std::size_t i = 0; i < request.requirements.size(); ++i) {
    const Requirement& r = request.requirements[i];
    check_requirement(r, plan->group, names.of(i));
    plan->reductions += r.privilege == Privilege::reduce;
    plan->requirements.push_back({r.privilege, r.relaxed, r.op, std::string(r.field.name),
                                  *r.field.type, r.projection, tree_of(r)});
  }
  plan->argument_count = static_cast<std::uint32_t>(plan->requirements.size());
  plan->node_class = exec::NodePool::class_of(TaskPayload::bytes(*plan));
  plan_points(*plan, request, context_);
  plan_arguments(*plan, request, names);
  if (context_.replicated != nullptr)
    plan->points.replicated = context_.replicated->plan(*plan, request);
  plan->token = token_of(request);
  return plan;
}

namespace {

/// The footprints of all points' pieces of argument i at once, where these are disjoint and of one field: a child task's
/// may be of several of its parent's arguments. `pieces`: scratch.
void add_disjoint_footprints(const LaunchPlan& plan, const Requirement& r, std::size_t i,
                             std::vector<data::IndexSpaceRef>& pieces) {
  if (r.partition.tree == nullptr || !r.partition.tree->is_disjoint(r.partition.index)) return;
  pieces.clear();
  pieces.reserve(plan.own.points.size());
  const std::vector<PlannedArgument>& all = plan.own.arguments;
  for (std::size_t at = i; at < all.size(); at += plan.argument_count)
    if (all[at].field == all[i].field) pieces.push_back(all[at].points);
  if (pieces.size() > 1) all[i].field->add_footprints(pieces);
}

}  // namespace

// The region of each point and requirement, and what the analysis needs of it. What is wrong with any point of the launch
// is found here, so that all shards find it.
void Planner::plan_arguments(LaunchPlan& plan, const LaunchRequest& request, ArgumentNames& names) {
  const std::size_t count = request.requirements.size();
  plan.own.arguments.resize(plan.own.points.size() * count);
  for (std::size_t i = 0; i < count; ++i) {
    const Requirement& r = request.requirements[i];
    const std::string& who = names.of(i);
    data::RegionTree* const used = tree_of(r);
    if (used->in(context_.forest) &&
        std::ranges::find(plan.trees, used, &data::UsedTree::tree) == plan.trees.end())
      plan.trees.push_back({used, used->uid()});
    // A child's field of its parent's data differs from piece to piece: each may be another grant.
    const bool is_own = used->data_tree().in(context_.forest);
    const bool as_before = i > 0 && are_same_pieces(request.requirements[i - 1], r);
    analysis::FieldState* field = nullptr;
    std::uint32_t index = 0;
    for (std::size_t rank = 0; rank < plan.own.points.size(); ++rank) {
      PlannedArgument& argument = plan.own.arguments[rank * count + i];
      argument.region = as_before ? (&argument)[-1].region : region_of(plan, rank, r, who);
      argument.points = used->node(argument.region.node).space;
      argument.privilege = r.privilege;
      if (field == nullptr || !is_own) {
        field = &context_.field_state(argument.region, r.field, r.privilege, r.op, who);
        const auto found = used->find_field(r.field);
        REFRAIN_ASSERT(found, "a field that has a state is one of its tree");
        index = *found;
      }
      argument.field = field;
      argument.field_index = index;
    }
  }
  check_independence(plan, request);
  keep_own(plan);
  for (PlannedArgument& argument : plan.own.arguments)
    argument.physical_points = physical_points(*argument.points, argument.region);
  // Before this launch has footprints, all of which are in use.
  for (const PlannedArgument& argument : plan.own.arguments)
    if (argument.field->overgrown()) tidy(*argument.field);
  // After all that may throw: a footprint stays.
  std::vector<data::IndexSpaceRef> pieces;
  for (std::size_t i = 0; i < count; ++i)
    add_disjoint_footprints(plan, request.requirements[i], i, pieces);
  for (PlannedArgument& argument : plan.own.arguments)
    argument.footprint = &argument.field->footprint(argument.points);
}

void fail_mapper(const Mapper& mapper, const LaunchRequest& request, const std::string& where) {
  fail_around(
      fmt::format("mapper '{}' for {}{} threw", mapper.name(), launch_name(request), where));
}

LaunchPlan& Planner::plan_by_answers(const LaunchRequest& request,
                                     std::span<const std::uint64_t> key) {
  context_.check_not_planning();  // else what is asked now would be overwritten
  asked_key_.assign(key.begin(), key.end());
  asked_key_.push_back(kUnmapped);
  LaunchPlan* unmapped = plans_.find(asked_key_);
  if (unmapped == nullptr) {
    std::unique_ptr<LaunchPlan> made = make_unmapped(request, asked_key_);
    made->number = ++unmapped_;
    unmapped = &plans_.insert(std::move(made));
  }
  unmapped->last_used = context_.calls;
  // The key begins with a number that is no task's address, as the keys of other plans do.
  asked_key_.assign(1, unmapped->number);
  ask(context_, *unmapped, request, answer_, asked_key_);
  if (LaunchPlan* known = plans_.find(asked_key_)) return *known;
  auto made = std::make_unique<LaunchPlan>(*unmapped);
  made->key = asked_key_;
  take_answers(*made, request, context_, std::span(asked_key_).subspan(1));
  return plans_.insert(std::move(made));
}

// --- footprints ----------------------------------------------------------------------------------------

// Footprints that nobody has used for long become dormant. Plans that know some look at theirs again.
void Planner::tidy(analysis::FieldState& field) {
  context_.deferred->untraceable("equivalence sets were put together again");
  context_.analysis.forget_complete(field);
  field.tidy();
  ++tidied_;
}

void Planner::wake_all(LaunchPlan& plan) {
  const auto dormant = [](const PlannedArgument& each) { return each.footprint->dormant(); };
  if (std::ranges::any_of(plan.own.arguments, dormant))
    context_.deferred->settle();  // pieces may be cut
  for (PlannedArgument& argument : plan.own.arguments) argument.field->wake(*argument.footprint);
  plan.awake = tidied_;
}

}  // namespace refrain::runtime
