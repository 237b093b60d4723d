// Regions made and ended, fills, copies between regions.

#include "base/assert.hpp"
#include "data/index_space.hpp"
#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"

namespace refrain::runtime {

AnyRegion ContextImpl::make_region(const data::IndexSpaceRef& points,
                                   std::span<const AnyField> fields, Where where) {
  check_not_planning();
  const std::string who = "region at " + to_string(where);
  std::vector<data::FieldColumn> columns;
  Signature of_fields;
  for (const AnyField& field : fields) {
    check_field(field, who);
    for (const data::FieldColumn& other : columns)
      if (other.name == field.name)
        throw UsageError(who + ": two fields are named '" + other.name + "', of types " +
                         std::string(other.type.name) + " and " + std::string(field.type->name) +
                         "; mappers and messages know a field by its name, so give each its own");
    columns.push_back({std::string(field.name), field.key, *field.type});
    of_fields.field(field);
  }
  note_making({CallKind::region, where, {points.get(), of_fields.token()}});
  data::RegionTree& tree = forest.create(points, std::move(columns));
  tree.make_view_of(nullptr);
  return tree.handle(0);
}

void ContextImpl::destroy(const AnyRegion& region, Where where) {
  if (const exec::FailureRef failure = destroy_quietly(region, where)) failure->rethrow();
}

exec::FailureRef ContextImpl::destroy_quietly(const AnyRegion& region, Where where) {
  const std::string who = "destroy at " + to_string(where);
  check_usable(region, who.c_str());
  data::RegionTree& tree = *region.tree;
  if (&tree.forest() != &forest || tree.is_view())
    throw UsageError(who + ": " + region.name() +
                     " was made by another context, which alone can destroy it");
  if (region.node != 0)
    throw UsageError(who + ": " + region.name() +
                     " is a subregion; destroy its partition or the whole region");
  const CallIdentity call{CallKind::destroy, where, {&region}};
  const auto end_fields = [&] {
    analysis::TreeState::of(tree).for_each(
        [&](analysis::FieldState& field) { analysis.end_field(field); });
  };
  exec::FailureRef failure;
  if (is_attached(tree)) {
    traces.untraceable_call("memory was detached");
    note_untraceable_call(call);
    failure = end_attachments(tree, where);
    end_fields();
  } else {
    traces.make(
        call, {}, {}, [&](ReplayCursor& replay) { replay.take_end(tree); }, end_fields);
  }
  if (forest.destroy(tree)) forget_dropped(tree);
  return failure;
}

void ContextImpl::destroy(const AnyPartition& partition, Where where) {
  const std::string who = "destroy at " + to_string(where);
  check_usable(partition, who.c_str());
  data::RegionTree& tree = *partition.tree;
  if (&tree.forest() != &forest)
    throw UsageError(who + ": " + partition.name() +
                     " was made by another context, which alone can destroy it");
  traces.make(
      {CallKind::destroy, where, {&partition}}, {}, {},
      [](ReplayCursor& replay) { replay.take_call(); }, [] {});
  if (tree.destroy_partition(partition.index)) forget_dropped(tree);
}

// Partitions were dropped (the tree's uid has changed, so no plan for them can be found any more): their
// footprints go, and pieces that only they told apart come together.
void ContextImpl::forget_dropped(data::RegionTree& tree) {
  traces.untraceable("regions were forgotten");
  if (tree.is_view()) return;
  const auto in_use = tree.spaces();
  analysis::TreeState::of(tree).for_each([&](analysis::FieldState& field) {
    analysis.forget_complete(field);
    field.forget_footprints([&](const analysis::Footprint& footprint) {
      return !in_use.contains(footprint.points.get());
    });
  });
}

void ContextImpl::fill(const AnyRegion& region, const AnyField& field,
                       std::shared_ptr<analysis::FillValue> value, Where where) {
  runtime.executor().interleave();
  const std::string who = "fill at " + to_string(where);
  check_usable(region, who.c_str());
  analysis::FieldState& state = field_state(region, field, Privilege::write, nullptr, who);
  if (value->future.valid()) {
    const detail::FutureState& future = *value->future.state();
    check_usable(&future, who);
    if (future.points() != 1 || future.type().size != field.type->size)
      throw UsageError(who + ": field '" + state.name() + "' takes one value of " +
                       std::to_string(field.type->size) + " bytes, the future holds " +
                       std::to_string(future.points()) + " of " +
                       std::to_string(future.type().size));
    const bool own = future.context() == identity;
    if (own) value->producer = producer_of(future, 0);
    if (const exec::FailureRef failure = future.ready(0) ? future.failure(0) : exec::FailureRef()) {
      if (!own) failure->rethrow();
      // It may have been forgotten (forget_failures); what the fill is read by asks the producer.
      scope.note_failure(value->producer.seq, failure);
    }
  }
  detail::FutureState* const given = value->future.valid() ? value->future.state() : nullptr;
  traces.make(
      {CallKind::fill, where, {&region, &field}}, {&given, given != nullptr ? 1U : 0U}, {&state},
      [&](ReplayCursor& replay) { replay.take_fill(value); },
      [&] {
        const data::IndexSpaceRef& points = region.tree->node(region.node).space;
        analysis.fill(state, state.footprint(points), value);
      });
  grants.lend(state, Privilege::write);
}

void ContextImpl::copy(const AnyRegion& source, const AnyField& source_field,
                       const AnyRegion& target, const AnyField& target_field, Where where) {
  runtime.executor().interleave();
  scope.throttle();
  forget_failures();
  const std::string who = "copy at " + to_string(where);
  check_usable(source, who.c_str());
  check_usable(target, who.c_str());
  const data::IndexSpaceRef points = target.tree->node(target.node).space;
  if (source.dim() != target.dim() || !data::contains(source.tree->node(source.node).space, points))
    throw UsageError(who + ": the source " + source.name() +
                     " does not contain all points of the target " + target.name());
  check_field(source_field, who);
  check_field(target_field, who);
  if (*source_field.type != *target_field.type)
    throw UsageError(who + ": the source field '" + std::string(source_field.name) + "' holds " +
                     std::string(source_field.type->name) + ", the target field '" +
                     std::string(target_field.name) + "' holds " +
                     std::string(target_field.type->name));
  analysis::FieldState& from = field_state(source, source_field, Privilege::read, nullptr, who);
  analysis::FieldState& to = field_state(target, target_field, Privilege::write, nullptr, who);
  const bool nothing = &from == &to || points->empty();  // the values are there already
  const auto analyse = [&] {
    if (nothing) return;
    analysis::Origin origin{calls - 1, 0, 0, &info_for("copy", where), exec::NodeKind::copy};
    analysis.begin_point();
    analysis::Instance& source_instance =
        analysis.instance_for(from, points, program_memories(), Layout{}, origin);
    analysis.touch(source_instance);
    origin.argument = 1;
    analysis::Instance& target_instance =
        analysis.instance_for(to, points, program_memories(), Layout{}, origin);
    analysis.touch(target_instance);
    analysis.copy_field(from, from.footprint(points, true), source_instance, to,
                        to.footprint(points), target_instance, origin);
  };
  traces.make(
      {CallKind::copy, where, {&source, &source_field, &target, &target_field}}, {}, {&from, &to},
      [](ReplayCursor& replay) { replay.take_call(); }, analyse);
  if (nothing) return;
  grants.lend(from, Privilege::read);
  grants.lend(to, Privilege::write);
  if (!from.crowded()) return;
  traces.untraceable("pieces were put together again");
  analysis.forget_complete(from);
  from.forget_footprints(&analysis::Footprint::passing);
}

}  // namespace refrain::runtime
