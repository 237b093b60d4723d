// The program's own access to data: inline accesses, attach and detach.

#include <algorithm>

#include "data/set_algebra.hpp"
#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"

namespace refrain::runtime {

namespace {

// The node of an access does nothing itself: it is granted, and ended by the program.
void run_nothing(exec::Node&, exec::Execution&) {}

// Without strides in C order, contiguous. Where that wraps (a few points far apart), dimensions before have
// covered too much for any memory.
data::PlacedValues placed_values(const data::IndexSpaceRef& points, const ValueType& type,
                                 const void* memory, const AttachLayout& layout) {
  data::PlacedValues values{points, reinterpret_cast<std::uintptr_t>(memory), {}, type.size};
  const bool given = layout.stride[0] != 0 || layout.stride[1] != 0 || layout.stride[2] != 0;
  std::uint64_t contiguous = type.size;
  for (int d = points->dim() - 1; d >= 0; --d) {
    values.stride[d] = given ? layout.stride[d] : static_cast<Coord>(contiguous);
    contiguous *= static_cast<std::uint64_t>(points->bounds().hi[d] - points->bounds().lo[d] + 1);
  }
  return values;
}

}  // namespace

// Issues a manual node that uses `instance`, and waits until it is granted. What made the data unavailable,
// if something did, is left in `failure`; the node is then complete.
exec::NodeRef ContextImpl::hold(const AnyRegion& region, analysis::FieldState& field,
                                analysis::Footprint& footprint, analysis::Instance& instance,
                                Privilege privilege, exec::NodeKind kind,
                                const analysis::Origin& origin, exec::FailureRef& failure) {
  analysis.touch(instance);
  if (reads(privilege)) analysis.make_valid(field, footprint, instance, origin);
  exec::Node& node = scope.allocate(0);
  node.kind = kind;
  node.run = run_nothing;
  node.info = origin.info;
  node.flags = exec::kManual;
  const exec::NodeRef self{&node, node.seq};
  held_.push_back({self.seq, region, &field, privilege});
  analysis.log_operation(node, origin, &field, instance.memory, instance.memory, footprint.points);
  analysis::Edges edges = analysis.edges_to(node);
  analysis.use(edges, footprint, instance, privilege);
  scope.hold_open(+1);
  analysis.publish(edges);
  try {
    runtime.executor().wait(
        scope, [&] { return exec::is_granted(node); }, self, origin.info);
  } catch (...) {
    let_go(self);
    throw;
  }
  // acquire: partner of whoever passed the failure before granting.
  if (const exec::Failure* found = node.failure.load(std::memory_order_acquire)) {
    failure = exec::FailureRef(found);
    let_go(self);
  }
  return self;
}

// While the context's thread waits: perhaps on another one (exec/deadlock.hpp).
std::string ContextImpl::about_held(std::uint64_t seq) const {
  const auto held = std::ranges::find(held_, seq, &Held::seq);
  if (held == held_.end()) return {};
  return " with privilege " + std::string(to_string(held->privilege)) + " to field '" +
         held->field->name() + "' of " + held->region.name();
}

void ContextImpl::let_go(const exec::NodeRef& held) {
  std::erase_if(held_, [&](const Held& one) { return one.seq == held.seq; });
  runtime.executor().complete_manual(*held.node);
  scope.hold_open(-1);
}

std::uint64_t ContextImpl::begin_access(const AnyRegion& region, const AnyField& field,
                                        Privilege privilege, PhysicalArgument& physical,
                                        Where where, const char* call) {
  runtime.executor().interleave();
  scope.throttle();
  forget_failures();
  traces.untraceable_call("the program accessed data itself");
  const std::string who = std::string(call) + " at " + to_string(where);
  if (privilege >= Privilege::reduce)
    throw UsageError(who + ": the program reads and writes; reductions are for tasks");
  check_usable(region, who.c_str());
  analysis::FieldState& state = field_state(region, field, privilege, nullptr, who);
  const data::IndexSpaceRef points = region.tree->node(region.node).space;
  analysis::Footprint& footprint = state.footprint(points);
  note_untraceable_call(
      {CallKind::access, where, {&region, &field, static_cast<std::uint64_t>(privilege)}});
  grants.lend(state, privilege);
  auto access = std::make_unique<OpenAccess>();
  access->plan = access_plan(region, field, privilege, points, where);
  const analysis::Origin origin{calls - 1, 0, 0, &info_for(call, where), exec::NodeKind::access};
  analysis.begin_point();
  analysis::Instance& instance =
      analysis.instance_for(state, points, program_memories(), Layout{}, origin);
  exec::FailureRef failure;
  if (accesses_.size() == accesses_.capacity())  // what is held is remembered
    accesses_.reserve(std::max<std::size_t>(8, 2 * accesses_.size()));
  access->node =
      hold(region, state, footprint, instance, privilege, exec::NodeKind::access, origin, failure);
  if (failure) failure->rethrow();

  access->argument.plan = access->plan.get();
  physical.points = &access->plan->own.arguments[0].physical_points;
  physical.placement = &instance;
  if (runtime.options().check) physical.info = &access->argument;
  access->ticket = next_ticket_++;
  accesses_.push_back(std::move(access));
  return accesses_.back()->ticket;
}

// What messages about an access need, in the form that task arguments have it.
std::unique_ptr<LaunchPlan> ContextImpl::access_plan(const AnyRegion& region, const AnyField& field,
                                                     Privilege privilege,
                                                     const data::IndexSpaceRef& points,
                                                     Where where) {
  auto plan = std::make_unique<LaunchPlan>();
  plan->info = info_for("access", where);
  plan->requirements.resize(1);
  plan->requirements[0].privilege = privilege;
  plan->requirements[0].field = field.name;
  plan->own.arguments.resize(1);
  plan->own.arguments[0].points = points;
  plan->own.arguments[0].region = region;
  plan->own.arguments[0].physical_points = physical_points(*points, region);
  return plan;
}

void ContextImpl::end_access(std::uint64_t ticket) {
  auto access = std::find_if(accesses_.begin(), accesses_.end(),
                             [&](const auto& open) { return open->ticket == ticket; });
  if (access == accesses_.end()) return;
  let_go((*access)->node);
  accesses_.erase(access);
}

void ContextImpl::attach(const AnyRegion& region, const AnyField& field, void* memory,
                         const AttachLayout& layout, Where where) {
  traces.untraceable_call("memory was attached");
  const std::string who = "attach at " + to_string(where);
  check_usable(region, who.c_str());
  if (&region.tree->forest() != &forest)
    throw UsageError(who + ": " + region.name() + " was made by another context");
  if (memory == nullptr) throw UsageError(who + ": the memory for " + region.name() + " is null");
  analysis::FieldState& state = field_state(region, field, Privilege::write, nullptr, who);
  const data::IndexSpaceRef points = region.tree->node(region.node).space;
  for (const auto& instance : state.instances().all())
    if (instance->storage == analysis::Storage::attached && data::overlaps(instance->space, points))
      throw UsageError(who + ": field '" + state.name() + "' of " + region.name() +
                       " has memory attached already, by " + instance->made_by);
  const data::PlacedValues values = placed_values(points, state.type(), memory, layout);
  const std::string what = "field '" + state.name() + "' of " + region.name();
  if (const std::string fault = data::layout_fault(values, state.type()); !fault.empty())
    throw UsageError(who + ": " + what + ": " + fault);
  Attachments::Entry entry = owner().attachments().add(
      values, what + ", attached at " + to_string(where), who + ", to " + what);
  note_untraceable_call({CallKind::attach, where, {&region, &field}});
  analysis::Footprint& footprint = state.footprint(points);

  auto instance = std::make_unique<analysis::Instance>();
  instance->space = points;
  instance->memory = program_memories().front();
  instance->storage = analysis::Storage::attached;
  instance->made_by = who;
  auto* zero = static_cast<std::byte*>(memory);
  for (int d = points->dim() - 1; d >= 0; --d) {
    instance->stride[d] = values.stride[d];
    zero -= points->bounds().lo[d] * values.stride[d];
  }
  instance->zero = zero;
  analysis::Instance& added = state.add_instance(std::move(instance));
  analysis.store().adopt(added);
  attached_.emplace(&added, std::move(entry));
  analysis::Analysis::invalidate(footprint);
  for (analysis::EquivalenceSet* piece : footprint.sets) piece->at(&added).valid = true;
}

void ContextImpl::detach(const AnyRegion& region, const AnyField& field, Where where) {
  runtime.executor().interleave();
  traces.untraceable_call("memory was detached");
  const std::string who = "detach at " + to_string(where);
  check_usable(region, who.c_str());
  analysis::FieldState& state = field_state(region, field, Privilege::read_write, nullptr, who);
  const data::IndexSpaceRef& points = region.tree->node(region.node).space;
  for (const auto& instance : state.instances().all()) {
    if (instance->storage != analysis::Storage::attached || instance->space != points) continue;
    note_untraceable_call({CallKind::detach, where, {&region, &field}});
    if (const auto failure = end_attachment(state, *instance, where)) failure->rethrow();
    return;
  }
  throw UsageError(who + ": nothing is attached to field '" + state.name() + "' of " +
                   region.name());
}

// Brings the latest values into the attached memory, waits for all its users, and lets it go. Returns what
// made the values unavailable: it is the caller's to tell.
exec::FailureRef ContextImpl::end_attachment(analysis::FieldState& field,
                                             analysis::Instance& instance, Where where) {
  analysis::Footprint& footprint = field.footprint(instance.space);
  const analysis::Origin origin{calls - 1, 0, 0, &info_for("detach", where),
                                exec::NodeKind::detach};
  auto end = [&] {
    analysis::Analysis::invalidate(footprint);
    attached_.erase(&instance);
    analysis.release_instance(instance);
  };
  analysis.begin_point();
  exec::FailureRef failure;
  try {
    const exec::NodeRef held = hold(field.tree()->handle(0), field, footprint, instance,
                                    Privilege::read_write, exec::NodeKind::detach, origin, failure);
    if (!failure) let_go(held);
  } catch (...) {
    end();
    throw;
  }
  end();
  return failure;
}

// Of several failures, returns that of the task launched first.
exec::FailureRef ContextImpl::end_attachments(data::RegionTree& tree, Where where) {
  exec::FailureRef first;
  analysis::TreeState::of(tree).for_each([&](analysis::FieldState& field) {
    std::vector<analysis::Instance*> attached;
    for (const auto& instance : field.instances().all())
      if (instance->storage == analysis::Storage::attached) attached.push_back(instance.get());
    for (analysis::Instance* instance : attached) {
      const exec::FailureRef failure = end_attachment(field, *instance, where);
      if (failure && (!first || exec::comes_before(*failure.get(), *first.get(), identity)))
        first = failure;
    }
  });
  return first;
}

bool ContextImpl::is_attached(data::RegionTree& tree) const {
  bool attached = false;
  if (attached_.empty()) return attached;
  analysis::TreeState::of(tree).for_each([&](analysis::FieldState& field) {
    attached |= std::ranges::any_of(field.instances().all(), [](const auto& instance) {
      return instance->storage == analysis::Storage::attached;
    });
  });
  return attached;
}

std::span<const MemoryId> ContextImpl::program_memories() const {
  return runtime.machine().memories(MemoryKind::system);
}

}  // namespace refrain::runtime
