// Regions made and ended, fills, copies between regions.

#include <unordered_set>

#include "base/assert.hpp"
#include "data/set_algebra.hpp"
#include "launch/field_check.hpp"
#include "launch/signature.hpp"
#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"

namespace refrain::runtime {

AnyRegion ContextImpl::make_region(const data::IndexSpaceRef& points,
                                   std::span<const AnyField> fields, Where where) {
  check_not_planning();
  const std::string who = "region at " + to_string(where);
  std::vector<data::FieldColumn> columns;
  for (const AnyField& field : fields) {
    check_field(field, who);
    for (const data::FieldColumn& other : columns)
      if (other.name == field.name)
        throw UsageError(who + ": two fields are named '" + other.name + "', of types " +
                         std::string(other.type.name) + " and " + std::string(field.type->name) +
                         "; mappers and messages know a field by its name, so give each its own");
    columns.push_back({std::string(field.name), field.key, *field.type});
  }
  data::RegionTree& tree = forest_.create(points, std::move(columns));
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
  if (&tree.forest() != &forest_ || tree.is_view())
    throw UsageError(who + ": " + region.name() +
                     " was made by another context, which alone can destroy it");
  if (region.node != 0)
    throw UsageError(who + ": " + region.name() +
                     " is a subregion; destroy its partition or the whole region");
  std::vector<std::uint64_t> key;
  const bool traced = tracing_ != nullptr && !is_attached(tree);
  if (traced) {
    key = call_key(Signature::Call::destroy, {&region}, {}, where);
    key.push_back(0);  // no key of a partition's end is that long
  } else if (tracing_ != nullptr) {
    tracing_->untraceable_call("memory was detached");
  }
  exec::FailureRef failure;
  if (!traced || !tracing_->replay_end({key, "destroy", where}, tree)) {
    Signature signature(Signature::Call::destroy);
    signature.add(region);
    if (is_attached(tree)) note_untraceable_call(signature);
    else note_analysed_call(signature);
    failure = end_attachments(tree, where);
    analysis::TreeState::of(tree).for_each(
        [&](analysis::FieldState& field) { analysis_.end_field(field); });
    if (traced) tracing_->called({key, "destroy", where}, signature.token(), {}, {&region});
  }
  forget(tree, forest_.destroy(tree));
  return failure;
}

void ContextImpl::destroy(const AnyPartition& partition, Where where) {
  const std::string who = "destroy at " + to_string(where);
  check_usable(partition, who.c_str());
  data::RegionTree& tree = *partition.tree;
  if (&tree.forest() != &forest_)
    throw UsageError(who + ": " + partition.name() +
                     " was made by another context, which alone can destroy it");
  Signature signature(Signature::Call::destroy);
  signature.add(partition);
  std::vector<std::uint64_t> key;
  if (tracing_ != nullptr) {
    key = call_key(Signature::Call::destroy, {}, {}, where);
    key.insert(key.end(), {tree.uid(), partition.index});
  }
  if (tracing_ == nullptr || !tracing_->replay_call({key, "destroy", where})) {
    note_analysed_call(signature);
    if (tracing_ != nullptr) tracing_->called({key, "destroy", where}, signature.token(), {}, {});
  }
  forget(tree, tree.destroy_partition(partition.index));
}

// Nodes were dropped (the tree's uid has changed, so no plan for them can be found any more): their
// footprints go, and pieces that only they told apart come together.
void ContextImpl::forget(data::RegionTree& tree, const std::vector<data::NodeRange>& dropped) {
  if (dropped.empty()) return;
  if (tracing_ != nullptr) tracing_->untraceable("regions were forgotten");
  std::unordered_set<const data::IndexSpace*> in_use;
  for (std::uint32_t node = 0; node < tree.node_count(); ++node)
    if (tree.node(node).space) in_use.insert(tree.node(node).space.get());
  auto is_in_use = [&](const data::IndexSpaceRef& points) { return in_use.contains(points.get()); };
  if (!tree.is_view()) {
    analysis::TreeState::of(tree).for_each([&](analysis::FieldState& field) {
      analysis_.forget_complete(field);
      field.forget_footprints(is_in_use);
    });
  }
}

analysis::FieldState& ContextImpl::field_state(const AnyRegion& region, const AnyField& field,
                                               Privilege privilege, const ReductionOp* op,
                                               const std::string& who) {
  check_field(field, who);
  data::RegionTree& tree = region.tree->data_tree();
  const auto index = tree.find_field(field);
  if (!index) {
    std::string text = who + ": " + region.name() + " has no field '" + std::string(field.name) +
                       "' of type " + std::string(field.type->name) + "; it has";
    for (const data::FieldColumn& column : tree.fields())
      text += " '" + column.name + "' (" + std::string(column.type.name) + "),";
    text.pop_back();
    throw UsageError(text);
  }
  if (&tree.forest() == &forest_) return analysis::TreeState::of(tree).field(tree, *index);
  return granted_field(tree, *index, region, privilege, op, who);
}

void ContextImpl::fill(const AnyRegion& region, const AnyField& field,
                       std::shared_ptr<analysis::FillValue> value, Where where) {
  runtime_.executor().interleave();
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
    const bool own = future.context() == identity_;
    if (own) value->producer = producer_of(future, 0);
    if (const exec::FailureRef failure = future.ready(0) ? future.failure(0) : exec::FailureRef()) {
      if (!own) failure->rethrow();
      // It may have been forgotten (forget_failures); what the fill is read by asks the producer.
      scope_.note_failure(value->producer.seq, failure);
    }
  }
  std::vector<std::uint64_t> key;
  detail::FutureState* const given = value->future.valid() ? value->future.state() : nullptr;
  const auto call = [&]() -> TracedCall {
    return {key, "fill", where, nullptr, {&given, given != nullptr ? 1U : 0U}};
  };
  if (tracing_ != nullptr) {
    key = call_key(Signature::Call::fill, {&region}, {&field}, where);
    if (tracing_->replay_fill(call(), value)) return lend(state, Privilege::write);
  }
  const ShownAnalysis shown(runtime_.listener(Events::times), runtime_.executor(), "fill", where);
  Signature signature(Signature::Call::fill);
  signature.add(region);
  signature.add(field);
  note_analysed_call(signature);
  lend(state, Privilege::write);
  const data::IndexSpaceRef& points = region.tree->node(region.node).space;
  analysis_.fill(state, state.footprint(points), value);
  if (tracing_ != nullptr) tracing_->called(call(), signature.token(), {&state}, {&region});
}

// As make_key does for a launch.
std::vector<std::uint64_t> ContextImpl::call_key(Signature::Call call,
                                                 std::initializer_list<const AnyRegion*> regions,
                                                 std::initializer_list<const AnyField*> fields,
                                                 Where where) {
  const auto word = [](const void* address) { return reinterpret_cast<std::uint64_t>(address); };
  std::vector<std::uint64_t> key{static_cast<std::uint64_t>(call), word(where.file_name()),
                                 where.line()};
  for (const AnyRegion* region : regions) {
    key.push_back(region->tree->uid());
    key.push_back(region->node);
  }
  for (const AnyField* field : fields) {
    key.push_back(field->key);
    key.push_back(word(field->name.data()));
    key.push_back(word(field->type));
  }
  return key;
}

void ContextImpl::copy(const AnyRegion& source, const AnyField& source_field,
                       const AnyRegion& target, const AnyField& target_field, Where where) {
  runtime_.executor().interleave();
  scope_.throttle();
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
  const auto lend_to_copy = [&] {
    if (nothing) return;
    lend(from, Privilege::read);
    lend(to, Privilege::write);
  };
  std::vector<std::uint64_t> key;
  if (tracing_ != nullptr) {
    key =
        call_key(Signature::Call::copy, {&source, &target}, {&source_field, &target_field}, where);
    if (tracing_->replay_call({key, "copy", where})) return lend_to_copy();
  }
  const ShownAnalysis shown(runtime_.listener(Events::times), runtime_.executor(), "copy", where);
  Signature signature(Signature::Call::copy);
  signature.add(source);
  signature.add(source_field);
  signature.add(target);
  signature.add(target_field);
  note_analysed_call(signature);
  if (nothing) {
    if (tracing_ != nullptr)
      tracing_->called({key, "copy", where}, signature.token(), {&from, &to}, {&source, &target});
    return;
  }
  lend_to_copy();
  try {
    analysis::Origin origin{calls_ - 1, 0, 0, &info_for("copy", where), exec::NodeKind::copy};
    analysis_.begin_point();
    analysis::Instance& source_instance =
        analysis_.instance_for(from, points, program_memories(), Layout{}, origin);
    analysis_.touch(source_instance);
    origin.argument = 1;
    analysis::Instance& target_instance =
        analysis_.instance_for(to, points, program_memories(), Layout{}, origin);
    analysis_.touch(target_instance);
    analysis_.copy_field(from, from.passing_footprint(points), source_instance, to,
                         to.footprint(points), target_instance, origin);
  } catch (...) {
    if (tracing_ != nullptr) tracing_->untraceable("a copy failed");
    throw;
  }
  if (tracing_ != nullptr)
    tracing_->called({key, "copy", where}, signature.token(), {&from, &to}, {&source, &target});
  if (!from.crowded()) return;
  if (tracing_ != nullptr) tracing_->untraceable("pieces were put together again");
  analysis_.forget_complete(from);
  from.forget_passing();
}

}  // namespace refrain::runtime
