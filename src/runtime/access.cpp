// The program's own access to data: inline accesses, attach and detach.

#include <algorithm>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "data/index_space.hpp"
#include "memory/mover.hpp"
#include "runtime/context_impl.hpp"

namespace refrain::runtime {

// Issues a manual node that uses `instance`, and waits until it is granted: then the last of held_ is it. Where something
// has made the data unavailable, returns that, and holds nothing.
exec::FailureRef ContextImpl::hold(const AnyRegion& region, analysis::FieldState& field,
                                   analysis::Instance& instance, const data::IndexSpaceRef& points,
                                   Privilege privilege, const analysis::Origin& origin) {
  std::list<Held> made(1);
  LaunchPlan& plan = made.front().plan;
  plan.info = *origin.info;
  plan.requirements.push_back(
      {.privilege = privilege, .field = field.name(), .type = field.type(), .projection = {}});
  plan.own.arguments.push_back(
      {.points = points, .region = region, .physical_points = physical_points(*points, region)});
  made.front().argument.plan = &plan;
  made.front().instance = &instance;

  analysis::Footprint& footprint = field.footprint(points);
  analysis.touch(instance);
  if (reads(privilege)) analysis.make_valid(field, footprint, instance, origin);
  exec::Node& node = scope.allocate(0);
  node.kind = origin.kind;
  node.run = [](exec::Node&, exec::Execution&) {};  // it is granted, and ended by the program
  node.info = origin.info;
  node.flags = exec::kManual;
  made.front().node = {&node, node.seq};
  analysis.log_operation(node, origin, &field, instance.memory, instance.memory, points);
  analysis::Edges edges = analysis.edges_to(node);
  analysis.use(edges, footprint, instance, privilege);
  analysis.publish(edges);
  scope.window().hold_open(+1);
  held_.splice(held_.end(), made);
  try {
    runtime.executor().wait(
        scope, [&] { return exec::is_granted(node); }, held_.back().node, origin.info);
  } catch (...) {
    end_access(node.seq);
    throw;
  }
  exec::FailureRef failure;
  if (reads(privilege)) failure = instance.poison.first_at(points);
  if (writes(privilege)) instance.poison.write(points, failure);
  if (failure) end_access(node.seq);
  return failure;
}

std::list<ContextImpl::Held>::const_iterator ContextImpl::held(std::uint64_t seq) const {
  return std::ranges::find(held_, seq, [](const Held& one) { return one.node.seq; });
}

// While the context's thread waits: perhaps on another one (exec/deadlock.hpp).
std::string ContextImpl::about_held(std::uint64_t seq) const {
  const auto found = held(seq);
  if (found == held_.end()) return {};
  const PlannedRequirement& given = found->plan.requirements[0];
  return fmt::format(" with privilege {} to field '{}' of {}", to_string(given.privilege),
                     given.field, found->plan.own.arguments[0].region.name());
}

// What the program has written has to be the same on every shard.
void ContextImpl::note_written(std::uint64_t ticket) const {
  const auto found = held(ticket);
  if (found == held_.end()) return;
  const Held& access = *found;
  const PlannedRequirement& given = access.plan.requirements[0];
  if (!writes(given.privilege) || !given.type.has_equal_bytes) return;
  call_log->begin("the end of an access", access.plan.info.where);
  const data::IndexSpace& points = *access.plan.own.arguments[0].points;
  std::vector<std::byte> bytes(points.volume() * given.type.size);
  memory::pack(points, *access.instance, given.type.size, bytes.data());
  call_log->add(hash_bytes(bytes.data(), bytes.size()));
}

void ContextImpl::end_access(std::uint64_t ticket) {
  const auto found = held(ticket);
  if (found == held_.end()) return;
  tell({.kind = capture::CallKind::end_access, .where = {}, .ticket = ticket});
  exec::Node& node = *found->node.node;
  held_.erase(found);
  runtime.executor().complete_manual(node);
  scope.window().hold_open(-1);
}

std::uint64_t ContextImpl::begin_access(const AnyRegion& region, const AnyField& field,
                                        Privilege privilege, PhysicalArgument& physical,
                                        Where where, const char* call) {
  runtime.executor().interleave();
  scope.throttle();
  const std::string who = std::string(call) + " at " + to_string(where);
  if (privilege >= Privilege::reduce)
    fail(who, "the program reads and writes; reductions are for tasks");
  check_usable(region, who.c_str());
  analysis::FieldState& state = field_state(region, field, privilege, nullptr, who);
  note_untraceable_call(
      {CallKind::access, where, {&region, &field, static_cast<std::uint64_t>(privilege)}},
      "the program accessed data itself");
  grants.lend(state, privilege);
  const analysis::Origin origin{calls - 1, 0, 0, &analysis.info_for(call, where),
                                exec::NodeKind::access};
  const data::IndexSpaceRef points = region.tree->node(region.node).space;
  access_everywhere(state, points, privilege, origin);
  analysis.widen(state, points, origin);
  analysis.begin_point();
  analysis::Instance& instance = analysis.instance_for(state, points, {program_memories()}, origin);
  if (const auto failure = hold(region, state, instance, points, privilege, origin))
    failure->rethrow();
  const Held& access = held_.back();
  physical.points = &access.plan.own.arguments[0].physical_points;
  physical.placement = &instance;
  if (runtime.options().check) physical.info = &access.argument;
  tell({.kind = capture::CallKind::access,
        .where = where,
        .region = &region,
        .field = &field,
        .privilege = privilege,
        .ticket = access.node.seq});
  return access.node.seq;
}

// --- attached memory ---------------------------------------------------------------------------------

Attachments::Entry Attachments::add(const data::PlacedValues& values, const std::string& what,
                                    const std::string& who) {
  if (values.points->empty()) return {};
  const Rect<1> extent = values.extent();
  const Coord first = extent.lo[0], last = extent.hi[0];
  const std::lock_guard lock(mutex_);
  for (auto at = table_.lower_bound(first - longest_); at != table_.end() && at->first <= last;
       ++at)
    if (const auto& [other, other_what] = at->second; data::share_bytes(values, other))
      fail(who, "the memory is in use already: it shares bytes with that for {}", other_what);
  longest_ = std::max(longest_, last - first);
  return {nullptr, [this, at = table_.emplace(first, std::pair{values, what})](void*) {
            const std::lock_guard lock_again(mutex_);
            table_.erase(at);
            if (table_.empty()) longest_ = 0;
          }};
}

namespace {

// Without strides in C order, contiguous. Where that wraps (a few points far apart), dimensions before have
// covered too much for any memory.
data::PlacedValues placed_values(const data::IndexSpaceRef& points, const ValueType& type,
                                 const PlacedMemory& given) {
  data::PlacedValues values{points, reinterpret_cast<std::uintptr_t>(given.memory), {}, type.size};
  const Coord* const stride = given.layout.stride;
  const bool has_strides = stride[0] != 0 || stride[1] != 0 || stride[2] != 0;
  std::uint64_t contiguous = type.size;
  for (int d = points->dim() - 1; d >= 0; --d) {
    values.stride[d] = has_strides ? stride[d] : static_cast<Coord>(contiguous);
    contiguous *= static_cast<std::uint64_t>(points->bounds().hi[d] - points->bounds().lo[d] + 1);
  }
  return values;
}

}  // namespace

ContextImpl::Attachment ContextImpl::new_attachment(const AnyRegion& region, const AnyField& field,
                                                    const data::IndexSpaceRef& points,
                                                    const std::string& who) {
  if (&region.tree->forest() != &forest || region.tree->is_view())
    fail(who, "{} was made by another context", region.name());
  analysis::FieldState& state = field_state(region, field, Privilege::write, nullptr, who);
  for (const Attachment& other : attached)
    if (other.field == &state && data::overlaps(other.points, points))
      fail(who, "field '{}' of {} has memory attached already, by {}", state.name(), region.name(),
           other.made_by);
  return {&state, points, who};
}

void ContextImpl::add_part(Attachment& attachment, const AnyRegion& region, std::uint32_t rank,
                           const PlacedMemory& memory, Where where) {
  const std::string& who = attachment.made_by;
  if (memory.memory == nullptr) fail(who, "the memory for {} is null", region.name());
  const std::string what = "field '" + attachment.field->name() + "' of " + region.name();
  const ValueType& type = attachment.field->type();
  const data::PlacedValues values =
      placed_values(region.tree->node(region.node).space, type, memory);
  if (const std::string fault = data::layout_fault(values, type); !fault.empty())
    fail(who, "{}: {}", what, fault);
  attachment.parts.push_back(
      {rank, values,
       owner().attachments().add(values, what + ", attached at " + to_string(where),
                                 who + ", to " + what)});
}

void ContextImpl::begin_attachment(Attachment attachment) {
  for (Attachment::Part& part : attachment.parts) {
    const data::IndexSpaceRef& points = part.values.points;
    analysis::Footprint& footprint = attachment.field->footprint(points);
    auto instance = std::make_unique<analysis::Instance>();
    instance->space = points;
    instance->memory = program_memories().front();
    instance->storage = analysis::Storage::attached;
    instance->made_by = std::make_shared<const std::string>(attachment.made_by);
    instance->zero = reinterpret_cast<std::byte*>(part.values.lowest);
    for (int d = 0; d < points->dim(); ++d) {
      instance->stride[d] = part.values.stride[d];
      instance->zero -= points->bounds().lo[d] * part.values.stride[d];
    }
    part.instance = &attachment.field->add_instance(std::move(instance));
    analysis.store().adopt(*part.instance);
    analysis::Analysis::invalidate(*attachment.field, footprint);
    for (analysis::EquivalenceSet* set : footprint.sets) set->at(part.instance).valid = true;
  }
  attached.push_back(std::move(attachment));
}

exec::FailureRef ContextImpl::end_attachment(std::list<Attachment>::iterator ended, Where where) {
  analysis::FieldState& field = *ended->field;
  const auto end = [&] {
    analysis::Analysis::invalidate(field, field.footprint(ended->points, true));
    for (const Attachment::Part& part : ended->parts) analysis.release_instance(*part.instance);
    attached.erase(ended);
  };
  const std::shared_ptr<ReplicatedPieces> pieces = ended->pieces;
  analysis::Origin origin{calls - 1, 0, 0, &analysis.info_for("detach", where),
                          exec::NodeKind::detach};
  if (pieces != nullptr) replicated->detach(field, *pieces, origin);
  else access_everywhere(field, ended->points, Privilege::read_write, origin);
  exec::FailureRef failure;
  try {
    for (const Attachment::Part& part : ended->parts) {
      origin.rank = part.rank;
      analysis.begin_point();
      const exec::FailureRef its = hold(field.tree()->handle(0), field, *part.instance,
                                        part.values.points, Privilege::read_write, origin);
      if (!its) end_access(held_.back().node.seq);
      failure = exec::first_of(failure, its);
    }
  } catch (...) {
    end();
    throw;
  }
  end();
  return pieces != nullptr ? replicated->agree(failure, *origin.info) : failure;
}

std::list<ContextImpl::Attachment>::iterator ContextImpl::attachment_of(
    const analysis::FieldState& field, const data::IndexSpaceRef& points,
    const std::optional<PieceSpaces>& by_pieces, const std::string& what, const std::string& who) {
  const auto found = std::ranges::find_if(attached, [&](const Attachment& one) {
    return one.field == &field && one.by_pieces == by_pieces && (by_pieces || one.points == points);
  });
  if (found == attached.end())
    fail(who, "nothing is attached to field '{}' of {}", field.name(), what);
  return found;
}

bool ContextImpl::is_attached_to(const data::RegionTree& tree) const {
  return std::ranges::any_of(attached,
                             [&](const Attachment& one) { return one.field->tree() == &tree; });
}

// Of several failures, returns that of the task launched first.
exec::FailureRef ContextImpl::end_attachments(const data::RegionTree& tree, Where where) {
  exec::FailureRef first;
  for (auto next = attached.begin(); next != attached.end();) {
    const auto one = next++;
    if (one->field->tree() == &tree) first = exec::first_of(first, end_attachment(one, where));
  }
  return first;
}

}  // namespace refrain::runtime

namespace refrain {

using runtime::fail;

std::uint64_t Context::begin_access(const AnyRegion& region, const AnyField& field,
                                    Privilege privilege, PhysicalArgument& physical, Where where) {
  return impl_.make_call("access", where, [&] {
    return impl_.begin_access(region, field, privilege, physical, where);
  });
}

void Context::end_access(std::uint64_t ticket) { runtime::end_access(impl_, ticket); }

void runtime::end_access(ContextImpl& context, std::uint64_t ticket) noexcept {
  context.end_quietly([&] {
    // While an exception is on its way, not all of it may be written.
    if (context.call_log != nullptr && std::uncaught_exceptions() == 0)
      context.note_written(ticket);
    context.end_access(ticket);
  });
}

runtime::LivingContext runtime::living(ContextImpl& context) { return context.alive(); }

void Context::attach_memory(const AnyRegion& region, const AnyField& field, void* memory,
                            const AttachLayout& layout, Where where) {
  impl_.make_call("attach", where, [&](const std::string& who) {
    impl_.check_usable(region, who.c_str());
    const data::IndexSpaceRef& points = region.tree->node(region.node).space;
    auto made = impl_.new_attachment(region, field, points, who);
    impl_.add_part(made, region, 0, {memory, layout}, where);
    impl_.note_untraceable_call({runtime::CallKind::attach, where, {&region, &field}},
                                "memory was attached");
    impl_.access_everywhere(*made.field, points, Privilege::write, {impl_.calls - 1});
    impl_.begin_attachment(std::move(made));
    impl_.tell(
        {.kind = capture::CallKind::attach, .where = where, .region = &region, .field = &field});
  });
}

namespace {

// The ranks of those that have points.
std::vector<std::uint32_t> all_ranks(const std::vector<data::IndexSpaceRef>& pieces) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < pieces.size(); ++rank)
    if (!pieces[rank]->empty()) ranks.push_back(rank);
  return ranks;
}

// What the program's function says of a colour. It makes no call of the context.
PlacedMemory ask(runtime::ContextImpl& context, const PieceMemory& memory, const Point<3>& colour,
                 const std::string& piece, const std::string& who) {
  const runtime::Planning now(context);
  try {
    return memory(colour);
  } catch (...) { fail_around(who + ": the memory for " + piece); }
}

}  // namespace

void Context::attach_pieces(const AnyPartition& partition, const AnyField& field,
                            const PieceMemory& memory, const Sharding& sharding, Where where) {
  impl_.make_call("attach", where, [&](const std::string& who) {
    impl_.check_usable(partition, who.c_str());
    const data::RegionTree& tree = *partition.tree;
    const data::PartitionNode& node = tree.partition(partition.index);
    if (!partition.is_disjoint())
      fail(who, "pieces of {} share points, of which each can be in one memory only",
           partition.name());
    const std::vector<data::IndexSpaceRef> pieces = tree.pieces_of(node);
    const data::IndexSpaceRef points = data::unite(partition.dim(), pieces);
    auto made = impl_.new_attachment(tree.handle(node.parent), field, points, who);
    made.by_pieces = pieces;
    try {
      if (impl_.replicated != nullptr)
        made.pieces = impl_.replicated->divide(partition.dim(), node.colours, pieces, sharding);
    } catch (const UsageError& error) {
      fail(who, "field '{}' of {}, dealt out by colours: {}", made.field->name(), partition.name(),
           error.what());
    }
    for (const std::uint32_t rank : made.pieces ? made.pieces->own() : all_ranks(pieces)) {
      const AnyRegion piece = tree.handle(node.first_child + rank);
      const Point<3> colour = node.colours->nth(rank);
      impl_.add_part(made, piece, rank, ask(impl_, memory, colour, piece.name(), who), where);
    }
    impl_.note_untraceable_call({runtime::CallKind::attach, where, {&partition, &field}},
                                "memory was attached");
    if (made.pieces) impl_.replicated->attach(*made.field, *made.pieces);
    impl_.begin_attachment(std::move(made));
    const AnyRegion parent = tree.handle(node.parent);
    impl_.tell(
        {.kind = capture::CallKind::attach, .where = where, .region = &parent, .field = &field});
  });
}

void Context::detach_memory(const AnyRegion& region, const AnyField& field, Where where) {
  impl_.make_call("detach", where, [&](const std::string& who) {
    impl_.runtime.executor().interleave();
    impl_.check_usable(region, who.c_str());
    const analysis::FieldState& state =
        impl_.field_state(region, field, Privilege::read_write, nullptr, who);
    const auto found =
        impl_.attachment_of(state, region.tree->node(region.node).space, {}, region.name(), who);
    impl_.note_untraceable_call({runtime::CallKind::detach, where, {&region, &field}},
                                "memory was detached");
    impl_.tell(
        {.kind = capture::CallKind::detach, .where = where, .region = &region, .field = &field});
    if (const auto failure = impl_.end_attachment(found, where)) failure->rethrow();
  });
}

void Context::detach_pieces(const AnyPartition& partition, const AnyField& field, Where where) {
  impl_.make_call("detach", where, [&](const std::string& who) {
    impl_.runtime.executor().interleave();
    impl_.check_usable(partition, who.c_str());
    const data::RegionTree& tree = *partition.tree;
    const data::PartitionNode& node = tree.partition(partition.index);
    const analysis::FieldState& state =
        impl_.field_state(tree.handle(node.parent), field, Privilege::read_write, nullptr, who);
    const auto found =
        impl_.attachment_of(state, nullptr, tree.pieces_of(node), partition.name(), who);
    impl_.note_untraceable_call({runtime::CallKind::detach, where, {&partition, &field}},
                                "memory was detached");
    const AnyRegion parent = tree.handle(node.parent);
    impl_.tell(
        {.kind = capture::CallKind::detach, .where = where, .region = &parent, .field = &field});
    if (const auto failure = impl_.end_attachment(found, where)) failure->rethrow();
  });
}

}  // namespace refrain
