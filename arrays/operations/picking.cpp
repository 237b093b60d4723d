// gather, scatter and nonzero: elements by arrays of positions or of truth values.

#include <algorithm>
#include <string>

#include "fusion/strided.hpp"
#include "operations/checks.hpp"
#include "operations/dense.hpp"
#include "operations/selection.hpp"
#include "operations/sharing.hpp"
#include "operations/with_type.hpp"
#include "refrain/arrays/arranging.hpp"
#include "refrain/arrays/elements.hpp"
#include "shapes/complain.hpp"
#include "shapes/views.hpp"

namespace refrain::arrays {

using namespace detail;

namespace {

// --- gather ---------------------------------------------------------------------------------------------------------

struct GatherCall {
  std::size_t size;       // of an element, in bytes
  Coord from, positions;  // where they begin in their storage
  Coord count, length, inner;
  std::vector<Coord> begin;  // rows of the result, per point
};

/// Arguments: the result, the positions, the array.
void run_gather(const TaskFrame& frame) {
  const auto& call = *static_cast<const GatherCall*>(frame.values);
  std::byte* to = element_zero(frame, 0);
  const auto* positions =
      reinterpret_cast<const std::int64_t*>(element_zero(frame, 1)) + call.positions;
  const auto bytes = static_cast<Coord>(call.size) * call.inner;
  const std::byte* from = element_zero(frame, 2) + call.from * static_cast<Coord>(call.size);
  for (Coord row = call.begin[frame.rank]; row < call.begin[frame.rank + 1]; ++row) {
    std::int64_t position = positions[row % call.count];
    if (position < 0) position += call.length;
    std::copy_n(from + (row / call.count * call.length + position) * bytes, bytes,
                to + row * bytes);
  }
}

const DynamicTask gather_task = plain_task<run_gather>("gather");

// --- scatter --------------------------------------------------------------------------------------------------------

struct ScatterCall {
  DType type;
  bool add;
  Coord positions, values;  // where they begin in their storage
  Coord count;
  Nest nest;  // of the target's elements in C order: rows of `inner`
  Strides target;
  Coord length, inner;
};

/// Arguments: the target, the positions, the values.
void run_scatter(const TaskFrame& frame) {
  const auto& call = *static_cast<const ScatterCall*>(frame.values);
  const auto* positions =
      reinterpret_cast<const std::int64_t*>(element_zero(frame, 1)) + call.positions;
  with_type(call.type, [&](auto type) {
    using T = decltype(type);
    T* target = reinterpret_cast<T*>(element_zero(frame, 0));
    const T* values = reinterpret_cast<const T*>(element_zero(frame, 2)) + call.values;
    for (Coord i = 0; i < call.count; ++i) {
      const std::int64_t row = positions[i] < 0 ? positions[i] + call.length : positions[i];
      for (Coord n = 0; n < call.inner; ++n) {
        T& to = target[position(call.nest, call.target, row * call.inner + n)];
        const T& value = values[i * call.inner + n];
        to = call.add ? plus(to, value) : value;
      }
    }
  });
}

const DynamicTask scatter_task = plain_task<run_scatter>("scatter");

/// The values as they are written, one for each place.
Array values_for(SessionImpl& session, const Array& a, const Shape& places, const Operand& values,
                 bool add) {
  const Where& where = values.where();
  if (values.array() == nullptr) {
    check_fits(values.number(), a.dtype(), where);
    return session.cast(values, a.dtype(), places);
  }
  const Array& given = *values.array();
  check_session(session, given, where);
  if (add && !same_kind(given.dtype(), a.dtype()))
    check_same_kind("add", promote(given.dtype(), a.dtype()), a.dtype(), where);
  Layout layout = without_leading_ones(given.layout(), places.dims());
  if (!stretch(layout, places))
    complain<ValueError>(where, "shape mismatch: value array of shape " + to_string(given.shape()) +
                                    " could not be broadcast to indexing result of shape " +
                                    to_string(places));
  return dense(Array(*given.value(), given.dtype(), layout), a.dtype(), where);
}

void scatter(const Array& a, const Array& index, const Operand& values, bool add) {
  const Where& where = values.where();
  SessionImpl& session = session_of(a, where);
  check_writable(a, where);
  Selection chosen = selection(a, index, 0, where);
  Array each = values_for(session, a, chosen.result, values, add);
  if (each.size() == 0) return;
  // What is written is not read on the way.
  Array positions = std::move(chosen.positions);
  if (positions.value() == a.value()) positions = positions.copy(where);
  if (each.value() == a.value()) each = each.copy(where);
  ScatterCall call{};
  call.type = a.dtype();
  call.add = add;
  call.positions = positions.layout().offset;
  call.values = each.layout().offset;
  call.count = positions.size();
  call.length = chosen.length;
  call.inner = chosen.inner;
  call.target.offset = a.layout().offset;
  for (int d = 0; d < a.dims(); ++d) {
    const int at = kMaxDims - a.dims() + d;
    call.nest.length[at] = a.shape()[d];
    call.target.stride[at] = a.layout().stride[d];
  }
  const Use to{&session.changeable(*a.value()), Privilege::read_write};
  launch(session, scatter_task, 1, {to, reading(session, positions), reading(session, each)}, call,
         kPicking * each.size(), where);
}

}  // namespace

Array gather(const Array& a, const Array& index, int axis, Where where) {
  SessionImpl& session = session_of(a, where);
  const Selection chosen = selection(a, index, axis, where);
  const Array result = session.make_stored(chosen.result, a.dtype(), where);
  if (result.size() == 0) return result;
  const Array source = dense(a, a.dtype(), where);
  const Coord rows = chosen.outer * chosen.positions.size();
  GatherCall call{size_of(a.dtype()),
                  source.layout().offset,
                  chosen.positions.layout().offset,
                  chosen.positions.size(),
                  chosen.length,
                  chosen.inner,
                  deal_rows(session, rows, chosen.inner)};
  const auto parts = rows_of(session, call.begin, chosen.inner);
  const int points = static_cast<int>(call.begin.size()) - 1;
  const Use positions = reading(session, chosen.positions), from = reading(session, source);
  launch(session, gather_task, points,
         {{result.value()->storage, Privilege::write, parts}, positions, from}, std::move(call),
         kPicking * result.size(), where);
  return result;
}

void scatter(const Array& a, const Array& index, const Operand& values) {
  scatter(a, index, values, false);
}
void scatter_add(const Array& a, const Array& index, const Operand& values) {
  scatter(a, index, values, true);
}

std::vector<Array> nonzero(const Array& a, Where where) {
  session_of(a, where);
  if (a.dims() == 0) complain<ValueError>(where, "Calling nonzero on 0d arrays is not allowed.");
  Array left = positions_of(a, where);
  std::vector<Array> along(static_cast<std::size_t>(a.dims()));
  for (int d = a.dims() - 1; d > 0; --d) {
    const Operand length(std::max<Coord>(a.shape()[d], 1), where), positions(left, where);
    along[static_cast<std::size_t>(d)] = positions % length;
    left = floor_divide(positions, length);
  }
  along[0] = left;
  return along;
}

}  // namespace refrain::arrays
