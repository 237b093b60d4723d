// The public Context, handed on to what is behind it.

#include "refrain/context.hpp"

#include <new>

#include "data/index_space.hpp"
#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"

namespace refrain {

AnyIndexSpace detail::region_points(int dim, const Rect<3>& rect, std::source_location where) {
  try {
    return {dim, rect};
  } catch (const UsageError& error) {
    throw UsageError("region at " + to_string(where) + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw OutOfMemory("region at " + to_string(where) + ": memory ran out");
  }
}

namespace runtime {

/// With an object of the program's, or on the way of an exception. From another thread it is left to the end of the
/// context.
template <class Call>
static void end_quietly(ContextImpl& context, Call&& call) noexcept {
  if (!context.is_usable()) return;
  try {
    context.make_call(call, [] { return std::string("the end of an object"); });
  } catch (...) {}  // an error is told by the next call
}

}  // namespace runtime

AnyRegion Context::make_region(const AnyIndexSpace& points, std::span<const AnyField> fields,
                               Where where) {
  return impl_.make_call("region", where,
                         [&] { return impl_.make_region(points.shared().space, fields, where); });
}

void Context::destroy(const AnyRegion& region, Where where) {
  impl_.make_call("destroy", where, [&] { impl_.destroy(region, where); });
}
void Context::destroy(const AnyPartition& partition, Where where) {
  impl_.make_call("destroy", where, [&] { impl_.destroy(partition, where); });
}

AnyFuture detail::Launcher::launch(const LaunchRequest& request) {
  impl_.check_caller("launch", request.where);
  return impl_.make_call([&] { return impl_.launch(request); },
                         [&] { return runtime::launch_name(request); });
}

void Context::fence(Where where) {
  impl_.make_call("fence", where, [&] { impl_.fence(where); });
}

void Context::begin_trace(const Trace& trace, Where where) {
  impl_.make_call("begin_trace", where, [&] { impl_.traces.begin(trace, where); });
}
void Context::end_trace(const Trace& trace, Where where) {
  impl_.make_call("end_trace", where, [&] { impl_.traces.end(trace, where); });
}
void Context::leave_trace(const Trace& trace) {
  runtime::end_quietly(impl_, [&] { impl_.traces.leave_trace(trace); });
}
void Context::require_replay(const Trace& trace, Where where) {
  impl_.check_caller("require_replay", where);
  impl_.traces.require_replay(trace, where);
}

void Context::print_recordings(std::ostream& out, Where where) const {
  impl_.check_caller("print_recordings", where);
  impl_.traces.print(out);
}

const Machine& Context::machine() const { return impl_.runtime.machine(); }

using runtime::check_field;

void Context::fill_bytes(const AnyRegion& region, const AnyField& field, const void* value,
                         Where where) {
  impl_.make_call("fill", where, [&] {
    check_field(field, "fill at " + to_string(where));
    if (value == nullptr) throw UsageError("fill at " + to_string(where) + ": the value is null");
    auto fill = std::make_shared<analysis::FillValue>();
    const auto* bytes = static_cast<const std::byte*>(value);
    fill->bytes.assign(bytes, bytes + field.type->size);
    impl_.fill(region, field, std::move(fill), where);
  });
}

void Context::fill_future(const AnyRegion& region, const AnyField& field, const AnyFuture& value,
                          Where where) {
  impl_.make_call("fill", where, [&] {
    if (!value.valid()) throw UsageError("fill at " + to_string(where) + ": the future is empty");
    auto fill = std::make_shared<analysis::FillValue>();
    fill->future = value;
    impl_.fill(region, field, std::move(fill), where);
  });
}

void Context::copy_fields(const AnyRegion& source, const AnyField& source_field,
                          const AnyRegion& target, const AnyField& target_field, Where where) {
  impl_.make_call("copy", where,
                  [&] { impl_.copy(source, source_field, target, target_field, where); });
}

std::uint64_t Context::begin_access(const AnyRegion& region, const AnyField& field,
                                    Privilege privilege, PhysicalArgument& physical, Where where) {
  return impl_.make_call("access", where, [&] {
    return impl_.begin_access(region, field, privilege, physical, where);
  });
}

void Context::end_access(std::uint64_t ticket) { runtime::end_access(impl_, ticket); }

void Context::attach_memory(const AnyRegion& region, const AnyField& field, void* memory,
                            const AttachLayout& layout, Where where) {
  impl_.make_call("attach", where, [&] { impl_.attach(region, field, memory, layout, where); });
}

void Context::detach_memory(const AnyRegion& region, const AnyField& field, Where where) {
  impl_.make_call("detach", where, [&] { impl_.detach(region, field, where); });
}

AnyFuture Context::reduce_futures(const AnyFuture& values, const ReductionOp& op, Where where) {
  return impl_.make_call("reduce", where, [&] { return impl_.reduce(values, op, where); });
}

namespace runtime {

LivingContext living(ContextImpl& context) { return context.alive(); }

void end_access(ContextImpl& context, std::uint64_t ticket) noexcept {
  end_quietly(context, [&] { context.end_access(ticket); });
}

// The program may have destroyed the region itself.
void end_owned(ContextImpl& context, const AnyRegion& region, Where where) noexcept {
  end_quietly(context, [&] { static_cast<void>(context.destroy_quietly(region, where)); });
}

}  // namespace runtime

}  // namespace refrain
