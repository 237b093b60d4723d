// Regions made and ended, fills, copies between regions.

#include <unordered_set>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "data/index_space.hpp"
#include "refrain/error.hpp"
#include "refrain/owned.hpp"
#include "runtime/context_impl.hpp"

namespace refrain {

using runtime::CallKind, runtime::check_field, runtime::ContextImpl, runtime::fail,
    runtime::ReplayCursor;

AnyIndexSpace detail::region_points(int dim, const Rect<3>& rect, Where where) {
  try {
    return {dim, rect};
  } catch (const UsageError& error) {
    throw UsageError("region at " + to_string(where) + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw OutOfMemory("region at " + to_string(where) + ": memory ran out");
  }
}

void detail::fail_no_fields(const Where& where) {
  throw UsageError("region at " + to_string(where) +
                   ": its list of fields is empty: it has no field");
}

AnyRegion Context::make_region(const AnyIndexSpace& points, std::span<const AnyField> fields,
                               Where where) {
  return impl_.make_call("region", where, [&](const std::string& who) {
    impl_.check_not_planning();
    std::vector<data::FieldColumn> columns;
    runtime::Signature of_fields;
    for (const AnyField& field : fields) {
      check_field(field, who);
      for (const data::FieldColumn& other : columns)
        if (other.name == field.name)
          fail(who,
               "two fields are named '{}', of types {} and {}; mappers and messages "
               "know a field by its name, so give each its own",
               other.name, other.type.name, field.type->name);
      columns.push_back({std::string(field.name), field.key, *field.type});
      of_fields.field(field);
    }
    const data::IndexSpaceRef& space = points.shared().space;
    impl_.note_making({CallKind::region, where, {space.get(), of_fields.token()}});
    data::RegionTree& tree = impl_.forest.create(space, std::move(columns));
    tree.make_view_of(nullptr);
    const AnyRegion made = tree.handle(0);
    impl_.tell({.kind = capture::CallKind::region, .where = where, .region = &made});
    return made;
  });
}

namespace {

// Partitions were dropped (the tree's uid has changed, so no plan for them can be found any more): their
// footprints go, and equivalence sets that only they told apart come together.
void forget_dropped(ContextImpl& context, data::RegionTree& tree) {
  context.traces.untraceable("regions were forgotten");
  if (tree.is_view()) return;
  // What was used, less what the tree still has. A set of all pieces would be larger: a tree may have thousands and few
  // footprints.
  analysis::TreeState& state = analysis::TreeState::of(tree);
  std::unordered_set<const data::IndexSpace*> gone;
  state.for_each([&](analysis::FieldState& field) {
    for (const auto& [points, footprint] : field.footprints()) gone.insert(points);
  });
  tree.erase_own(gone);
  state.for_each([&](analysis::FieldState& field) {
    context.analysis.forget_complete(field);
    field.forget_footprints([&](const analysis::Footprint& footprint) {
      return gone.contains(footprint.points.get());
    });
  });
}

}  // namespace

void ContextImpl::check_destroyable(const AnyRegion& region, const std::string& who) const {
  check_usable(region, who.c_str());
  data::RegionTree& tree = *region.tree;
  if (&tree.forest() != &forest || tree.is_view())
    fail(who, "{} was made by another context, which alone can destroy it", region.name());
  if (region.node != 0)
    fail(who, "{} is a subregion; destroy its partition or the whole region", region.name());
  if (const auto given = ending_.find(tree.slot()); given != ending_.end())
    fail(who, "{} was given to destroy_later at {}", region.name(),
         to_string(given->second.second));
}

exec::FailureRef ContextImpl::destroy(const AnyRegion& region, Where where) {
  check_destroyable(region, "destroy at " + to_string(where));
  data::RegionTree& tree = *region.tree;
  tell({.kind = capture::CallKind::destroy_region, .where = where, .region = &region});
  const CallIdentity call{CallKind::destroy, where, {&region}};
  const auto end_fields = [&] {
    analysis::TreeState::of(tree).for_each([&](analysis::FieldState& field) {
      if (replicated != nullptr) replicated->forget(field);
      analysis.end_field(field);
    });
  };
  exec::FailureRef failure;
  if (is_attached_to(tree)) {
    note_untraceable_call(call, "memory was detached");
    failure = end_attachments(tree, where);
    end_fields();
  } else {
    traces.make(
        call, {}, {}, [&](ReplayCursor& replay) { replay.take_end(tree); }, end_fields);
  }
  if (forest.destroy(tree)) forget_dropped(*this, tree);
  return failure;
}

void Context::destroy(const AnyRegion& region, Where where) {
  impl_.make_call("destroy", where, [&] {
    if (const exec::FailureRef failure = impl_.destroy(region, where)) failure->rethrow();
  });
}

// The program may have destroyed the region itself. What went wrong before is told by the next fence.
void runtime::end_owned(ContextImpl& context, const AnyRegion& region, Where where) noexcept {
  context.end_quietly([&] {
    if (context.call_log != nullptr) context.call_log->begin("destroy", where);
    static_cast<void>(context.destroy(region, where));
  });
}

void Context::destroy_later(const AnyRegion& region, Where where) {
  impl_.check_thread("destroy_later", where);
  impl_.destroy_later(region, where);
}

// A living region's slot is the same on every shard.
void ContextImpl::destroy_later(const AnyRegion& region, Where where) {
  const std::string who = "destroy_later at " + to_string(where);
  check_destroyable(region, who);
  if (is_attached_to(*region.tree))
    fail(who, "memory is attached to {}; detach it first, as nobody could say when it may go",
         region.name());
  if (replicated == nullptr) return runtime::end_owned(*this, region, where);
  ending_.emplace(region.tree->slot(), std::pair(region, where));
  replicated->propose_end(region.tree->slot());
}

void ContextImpl::end_later(std::uint32_t slot) {
  const auto given = ending_.extract(slot);
  REFRAIN_ASSERT(!given.empty(), "what all shards have given up, this one has");
  const auto& [region, where] = given.mapped();
  static_cast<void>(destroy(region, where));
}

void Context::destroy(const AnyPartition& partition, Where where) {
  impl_.make_call("destroy", where, [&](const std::string& who) {
    impl_.check_usable(partition, who.c_str());
    data::RegionTree& tree = *partition.tree;
    if (&tree.forest() != &impl_.forest)
      fail(who, "{} was made by another context, which alone can destroy it", partition.name());
    impl_.tell(
        {.kind = capture::CallKind::destroy_partition, .where = where, .partition = &partition});
    impl_.traces.make(
        {CallKind::destroy, where, {&partition}}, {}, {}, [](ReplayCursor&) {}, [] {});
    if (tree.destroy_partition(partition.index)) forget_dropped(impl_, tree);
  });
}

namespace {

// Each point of the field becomes what is in `value`: bytes, or a future.
void issue_fill(ContextImpl& context, const AnyRegion& region, const AnyField& field,
                const std::shared_ptr<analysis::FillValue>& value, Where where,
                const std::string& who) {
  context.runtime.executor().interleave();
  context.check_usable(region, who.c_str());
  analysis::FieldState& state = context.field_state(region, field, Privilege::write, nullptr, who);
  detail::FutureState* const given = value->future.valid() ? value->future.state() : nullptr;
  if (given != nullptr) {
    context.check_usable(given, who);
    if (given->points() != 1 || given->type().size != field.type->size)
      fail(who, "field '{}' takes one value of {} bytes, the future holds {} of {}", state.name(),
           field.type->size, given->points(), given->type().size);
    const bool own = given->context() == context.identity;
    if (own) value->producer = context.producer_of(*given, 0);
    else if (given->failure(0)) given->failure(0)->rethrow();
  }
  context.traces.make(
      {CallKind::fill, where, {&region, &field}}, {&given, given != nullptr ? 1U : 0U}, {&state},
      [&](ReplayCursor& replay) { replay.take_fill(value); },
      [&] {
        const data::IndexSpaceRef& points = region.tree->node(region.node).space;
        context.access_everywhere(state, points, Privilege::write, {context.calls - 1});
        context.analysis.fill(state, state.footprint(points), value);
      });
  context.grants.lend(state, Privilege::write);
  context.tell({.kind = capture::CallKind::fill,
                .where = where,
                .region = &region,
                .field = &field,
                .future = given});
}

}  // namespace

void Context::fill_bytes(const AnyRegion& region, const AnyField& field, const void* value,
                         Where where) {
  impl_.make_call("fill", where, [&](const std::string& who) {
    check_field(field, who);
    if (value == nullptr) fail(who, "the value is null");
    auto bytes = std::make_shared<analysis::FillValue>();
    bytes->bytes.assign(static_cast<const std::byte*>(value),
                        static_cast<const std::byte*>(value) + field.type->size);
    if (impl_.call_log != nullptr && field.type->has_equal_bytes)
      impl_.call_log->add(hash_bytes(value, field.type->size));
    issue_fill(impl_, region, field, bytes, where, who);
  });
}

void Context::fill_future(const AnyRegion& region, const AnyField& field, const AnyFuture& value,
                          Where where) {
  impl_.make_call("fill", where, [&](const std::string& who) {
    if (!value.valid()) fail(who, "the future is empty");
    auto future = std::make_shared<analysis::FillValue>();
    future->future = value;
    if (impl_.replicated != nullptr && value.state()->context() == impl_.identity) {
      if (impl_.call_log != nullptr) impl_.call_log->add(value.state()->call);
      future->future = impl_.gather(*value.state(), impl_.analysis.info_for("fill", where));
    }
    issue_fill(impl_, region, field, future, where, who);
  });
}

void Context::copy_fields(const AnyRegion& source, const AnyField& source_field,
                          const AnyRegion& target, const AnyField& target_field, Where where) {
  impl_.make_call("copy", where, [&](const std::string& who) {
    impl_.runtime.executor().interleave();
    impl_.scope.throttle();
    impl_.check_usable(source, who.c_str());
    impl_.check_usable(target, who.c_str());
    const data::IndexSpaceRef points = target.tree->node(target.node).space;
    if (source.dim() != target.dim() ||
        !data::contains(source.tree->node(source.node).space, points))
      fail(who, "the source {} does not contain all points of the target {}", source.name(),
           target.name());
    check_field(source_field, who);
    check_field(target_field, who);
    if (*source_field.type != *target_field.type)
      fail(who, "the source field '{}' holds {}, the target field '{}' holds {}", source_field.name,
           source_field.type->name, target_field.name, target_field.type->name);
    analysis::FieldState& from =
        impl_.field_state(source, source_field, Privilege::read, nullptr, who);
    analysis::FieldState& to =
        impl_.field_state(target, target_field, Privilege::write, nullptr, who);
    const bool nothing = &from == &to || points->empty();  // the values are there already
    const auto analyse = [&] {
      if (nothing) return;
      const data::IndexSpaceRef own =
          impl_.replicated != nullptr ? impl_.replicated->copy(from, to, points) : points;
      if (own->empty()) return;
      analysis::Analysis& analysis = impl_.analysis;
      analysis::Origin origin{impl_.calls - 1, 0, 0, &impl_.analysis.info_for("copy", where),
                              exec::NodeKind::copy};
      analysis.widen(from, own, origin);
      analysis.widen(to, own, origin);
      analysis.begin_point();
      analysis::Instance& source_instance =
          analysis.instance_for(from, own, {impl_.program_memories()}, origin);
      analysis.touch(source_instance);
      origin.argument = 1;
      analysis::Instance& target_instance =
          analysis.instance_for(to, own, {impl_.program_memories()}, origin);
      analysis.touch(target_instance);
      analysis.copy_field(from, from.footprint(own, true), source_instance, to, to.footprint(own),
                          target_instance, origin);
    };
    impl_.traces.make(
        {CallKind::copy, where, {&source, &source_field, &target, &target_field}}, {}, {&from, &to},
        [](ReplayCursor&) {}, analyse);
    impl_.tell({.kind = capture::CallKind::copy,
                .where = where,
                .region = &source,
                .field = &source_field,
                .target = &target,
                .target_field = &target_field});
    if (nothing) return;
    impl_.grants.lend(from, Privilege::read);
    impl_.grants.lend(to, Privilege::write);
    if (!from.crowded()) return;
    impl_.traces.untraceable("equivalence sets were put together again");
    impl_.analysis.forget_complete(from);
    from.forget_footprints(&analysis::Footprint::passing);
  });
}

}  // namespace refrain
