// Array: views, assignment, values.

#include "refrain/arrays/array.hpp"

#include <cstring>

#include "kernels/loops.hpp"
#include "operations/checks.hpp"
#include "operations/dense.hpp"
#include "operations/launching.hpp"
#include "refrain/arrays/elements.hpp"
#include "shapes/complain.hpp"
#include "shapes/views.hpp"

namespace refrain::arrays {

using namespace detail;

Array Array::view(std::span<const Index> entries, Where where) const {
  session_of(*this, where);
  return Array(*value_, dtype_, indexed(layout_, entries, where));
}

Array Array::reshape(Shape shape, Where where) const {
  session_of(*this, where);
  shape = completed(shape, layout_.shape, where);
  if (const auto layout = reshaped(layout_, shape)) return Array(*value_, dtype_, *layout);
  return copy(where).reshape(shape, where);
}

Array Array::transpose(Where where) const {
  session_of(*this, where);
  Layout layout;
  layout.offset = layout_.offset;
  layout.read_only = layout_.read_only;
  for (int d = dims() - 1; d >= 0; --d) {
    layout.stride[layout.shape.dims()] = layout_.stride[d];
    layout.shape.push_back(layout_.shape[d]);
  }
  return Array(*value_, dtype_, layout);
}

Array Array::transpose(std::span<const int> axes, Where where) const {
  session_of(*this, where);
  return Array(*value_, dtype_, transposed(layout_, axes, where));
}

namespace {

void assign(const Array& target, const Operand& values) {
  SessionImpl& session = session_of(target, values.where());
  check_writable(target, values.where());
  if (values.array() == nullptr) {
    check_fits(values.number(), target.dtype(), values.where());
    return session.assign(target, values);
  }
  check_session(session, *values.array(), values.where());
  const Array& from = *values.array();
  Layout layout = without_leading_ones(from.layout(), target.dims());
  if (!stretch(layout, target.shape()))
    complain<ValueError>(values.where(), "could not broadcast input array from shape " +
                                             to_string(from.shape()) + " into shape " +
                                             to_string(target.shape()));
  session.assign(target, Operand(Array(*from.value(), from.dtype(), layout), values.where()));
}

/// The elements become `compute` of what they are and b.
template <class Compute>
Array& update(Array& target, const char* name, const Operand& b, Compute compute) {
  const Where& where = b.where();
  const SessionImpl::Temporaries unstored(session_of(target, where));
  const Array result = compute(Operand(target, where), b);
  if (!(result.shape() == target.shape()))
    complain<ValueError>(
        where, "non-broadcastable output operand with shape " + to_string(target.shape()) +
                   " doesn't match the broadcast shape " + to_string(result.shape()));
  check_same_kind(name, result.dtype(), target.dtype(), where);
  assign(target, Operand(result, where));
  return target;
}

}  // namespace

void Array::operator=(const Operand& values) && { assign(*this, values); }

void Array::fill(const Operand& values) { assign(*this, values); }

Array Array::copy(Where where) const { return astype(dtype_, where); }

Array Array::astype(DType type, Where where) const {
  return session_of(*this, where).cast(Operand(*this, where), type, layout_.shape);
}

// --- in place -------------------------------------------------------------------------------------------------

Array& Array::operator+=(const Operand& b) {
  return update(*this, "add", b, [](const Operand& x, const Operand& y) { return x + y; });
}
Array& Array::operator-=(const Operand& b) {
  return update(*this, "subtract", b, [](const Operand& x, const Operand& y) { return x - y; });
}
Array& Array::operator*=(const Operand& b) {
  return update(*this, "multiply", b, [](const Operand& x, const Operand& y) { return x * y; });
}
Array& Array::operator/=(const Operand& b) {
  return update(*this, "divide", b, [](const Operand& x, const Operand& y) { return x / y; });
}
Array& Array::operator%=(const Operand& b) {
  return update(*this, "remainder", b, [](const Operand& x, const Operand& y) { return x % y; });
}
Array& Array::operator&=(const Operand& b) {
  return update(*this, "bitwise_and", b, [](const Operand& x, const Operand& y) { return x & y; });
}
Array& Array::operator|=(const Operand& b) {
  return update(*this, "bitwise_or", b, [](const Operand& x, const Operand& y) { return x | y; });
}
Array& Array::operator^=(const Operand& b) {
  return update(*this, "bitwise_xor", b, [](const Operand& x, const Operand& y) { return x ^ y; });
}

// --- values ---------------------------------------------------------------------------------------------------

namespace {

struct ElementCall {
  Coord offset;
  DType from, to;
};

void run_element(const TaskFrame& frame) {
  const auto& call = *static_cast<const ElementCall*>(frame.values);
  const std::byte* element =
      element_zero(frame, 0) + call.offset * static_cast<Coord>(size_of(call.from));
  kernels::find_cast(call.from, call.to)(1, frame.result, element, nullptr, nullptr);
}

/// A task per type of the result, which is what its future holds.
const DynamicTask& element_task(DType type) {
  static const auto make = [](DType result) {
    const std::size_t size = size_of(result);
    return plain_task<run_element>("element", {size, size < 8 ? size : 8, nullptr});
  };
  static const DynamicTask tasks[kDTypes] = {make(DType::boolean), make(DType::int32),
                                             make(DType::int64),   make(DType::float32),
                                             make(DType::float64), make(DType::complex128)};
  return tasks[static_cast<int>(type)];
}

}  // namespace

AnyFuture Array::future(DType type, Where where) const {
  SessionImpl& session = session_of(*this, where);
  if (size() != 1)
    complain<ValueError>(
        where,
        "can only convert an array of size 1 to a number, not one of shape " + to_string(shape()));
  Storage& storage = session.stored(*value_);
  const Tiling& tiling = storage.tiling();
  std::shared_ptr<const Ranges> piece;
  if (tiling.tiles() > 1) {
    const auto tile = static_cast<std::size_t>(tiling.tile_of(layout_.offset));
    piece = session.ranges.intern({{tiling.begin[tile], tiling.begin[tile + 1] - 1}});
  }
  return launch(session, element_task(type), 1, {{&storage, Privilege::read, piece}},
                ElementCall{layout_.offset, dtype_, type}, 1, where, true);
}

void Array::read(void* to, DType type, Where where) const {
  SessionImpl& session = session_of(*this, where);
  if (size() == 0) return;
  Array array = *this;
  if (dtype_ != type || !layout_.is_contiguous()) array = astype(type, where);
  Storage& storage = session.stored(*array.value_);
  PhysicalArgument physical;
  const std::uint64_t ticket = with_memory_errors(where, [&] {
    return session.context.begin_access(storage.region(), storage.field(), Privilege::read,
                                        physical, where);
  });
  std::memcpy(to, element_zero(physical) + array.layout_.offset * static_cast<Coord>(size_of(type)),
              static_cast<std::size_t>(size()) * size_of(type));
  session.context.end_access(ticket);
}

void Array::read_bits(std::vector<bool>& values, Where where) const {
  std::vector<std::uint8_t> bytes(values.size());
  read(bytes.data(), DType::boolean, where);
  for (std::size_t i = 0; i < bytes.size(); ++i) values[i] = bytes[i] != 0;
}

}  // namespace refrain::arrays
