// gather, scatter, nonzero and bincount: elements by arrays of positions or of truth values.

#include <algorithm>
#include <string>

#include "fusion/strided.hpp"
#include "kernels/loops.hpp"
#include "operations/dense.hpp"
#include "operations/with_type.hpp"
#include "refrain/arrays/arranging.hpp"
#include "refrain/arrays/elements.hpp"
#include "shapes/complain.hpp"
#include "shapes/views.hpp"

namespace refrain::arrays {

using detail::session_of;
using detail::SessionImpl;

namespace {

constexpr Coord kSmall = 2048;

// --- positions that can be trusted --------------------------------------------------------------------------------

struct CheckCall {
  Coord offset, count;  // of the positions
  Coord length;         // of the axis
};

struct Fault {
  bool found;
  std::int64_t position;
};

/// The first position that is out of range.
void run_check(const TaskFrame& frame) {
  const auto& call = *static_cast<const CheckCall*>(frame.values);
  const auto* positions = reinterpret_cast<const std::int64_t*>(element_zero(frame, 0));
  Fault fault{false, 0};
  for (Coord i = 0; i < call.count && !fault.found; ++i) {
    const std::int64_t position = positions[call.offset + i];
    if (position < -call.length || position >= call.length) fault = {true, position};
  }
  *static_cast<Fault*>(frame.result) = fault;
}

const DynamicTask check_task =
    plain_task("check positions", run_check, {sizeof(Fault), alignof(Fault), nullptr});

/// IndexError unless all positions are within an axis of this length. Waits.
void check_positions(SessionImpl& session, const Array& positions, Coord length, int axis,
                     const Where& where) {
  if (positions.size() == 0) return;
  const Future<Fault> found(launch(session, check_task, 1, {reading(session, positions)},
                                   CheckCall{positions.layout().offset, positions.size(), length},
                                   positions.size() < kSmall, where, true));
  const Fault& fault = found.get();
  if (fault.found)
    complain<IndexError>(where, "index " + std::to_string(fault.position) +
                                    " is out of bounds for axis " + std::to_string(axis) +
                                    " with size " + std::to_string(length));
}

struct TruthCall {
  Coord offset, count;  // of the truth values
};

void run_count_true(const TaskFrame& frame) {
  const auto& call = *static_cast<const TruthCall*>(frame.values);
  const auto* truth = reinterpret_cast<const std::uint8_t*>(element_zero(frame, 0)) + call.offset;
  std::int64_t count = 0;
  for (Coord i = 0; i < call.count; ++i) count += truth[i];
  *static_cast<std::int64_t*>(frame.result) = count;
}

/// Arguments: the positions of what is true, the truth values.
void run_positions_of_true(const TaskFrame& frame) {
  const auto& call = *static_cast<const TruthCall*>(frame.values);
  auto* to = reinterpret_cast<std::int64_t*>(element_zero(frame, 0));
  const auto* truth = reinterpret_cast<const std::uint8_t*>(element_zero(frame, 1)) + call.offset;
  for (Coord i = 0; i < call.count; ++i)
    if (truth[i] != 0) *to++ = i;
}

const DynamicTask count_true_task = plain_task(
    "count true", run_count_true, {sizeof(std::int64_t), alignof(std::int64_t), nullptr});
const DynamicTask positions_task = plain_task("positions of true", run_positions_of_true);

/// Where in the array in C order the elements are that hold. Waits for their number.
Array positions_of(const Array& condition, const Where& where) {
  SessionImpl& session = session_of(condition, where);
  if (condition.size() == 0) return session.make_stored(Shape(0), DType::int64, where);
  const Array truth = dense(condition, DType::boolean, where);
  const TruthCall call{truth.layout().offset, truth.size()};
  const bool small = truth.size() < kSmall;
  const Future<std::int64_t> count(
      launch(session, count_true_task, 1, {reading(session, truth)}, call, small, where, true));
  const Array positions = session.make_stored(Shape(count.get()), DType::int64, where);
  if (positions.size() > 0)
    launch(session, positions_task, 1,
           {{positions.value()->storage, Privilege::write}, reading(session, truth)}, call, small,
           where);
  return positions;
}

// --- what an index asks for -----------------------------------------------------------------------------------------

/// a[index] as rows of `inner` elements: `outer` times, of `length` rows those at the positions.
struct Selection {
  Array positions;  // dense int64
  Shape result;     // of a[index]
  Coord outer, length, inner;
};

Selection selection(const Array& a, const Array& index, int axis, const Where& where) {
  SessionImpl& session = session_of(a, where);
  if (&session_of(index, where) != &session)
    complain<ArrayError>(where, "array and index belong to different sessions");
  Selection chosen{};
  int covered = 1;
  if (index.dtype() == DType::boolean) {
    covered = index.dims();
    if (axis != 0 && (covered != 1 || axis >= a.dims() || axis < -a.dims()))
      complain<IndexError>(where, "a mask of several dimensions covers the first axes");
    axis = covered == 0 ? 0 : normalized(axis, a.dims(), where);
    if (covered > a.dims())
      complain<IndexError>(where, "too many indices for array: array is " +
                                      std::to_string(a.dims()) + "-dimensional, but " +
                                      std::to_string(covered) + " were indexed");
    for (int d = 0; d < covered; ++d)
      if (index.shape()[d] != a.shape()[axis + d])
        complain<IndexError>(where, "boolean index did not match indexed array along dimension " +
                                        std::to_string(axis + d) + "; dimension is " +
                                        std::to_string(a.shape()[axis + d]) +
                                        " but corresponding boolean dimension is " +
                                        std::to_string(index.shape()[d]));
    chosen.positions = positions_of(index, where);
  } else if (kind_of(index.dtype()) == Kind::integer) {
    if (a.dims() == 0)
      complain<IndexError>(
          where, "too many indices for array: array is 0-dimensional, but 1 were indexed");
    axis = normalized(axis, a.dims(), where);
    chosen.positions = dense(index, DType::int64, where);
    check_positions(session, chosen.positions, a.shape()[axis], axis, where);
  } else {
    complain<IndexError>(where, "arrays used as indices must be of integer (or boolean) type");
  }
  chosen.outer = chosen.length = chosen.inner = 1;
  const auto add = [&](Coord length) {
    if (chosen.result.dims() == kMaxDims)
      complain<IndexError>(where, "indexing result would have more than 3 dimensions");
    chosen.result.push_back(length);
  };
  for (int d = 0; d < axis; ++d) {
    chosen.outer *= a.shape()[d];
    add(a.shape()[d]);
  }
  for (int d = axis; d < axis + covered; ++d) chosen.length *= a.shape()[d];
  for (const Coord length : chosen.positions.shape()) add(length);
  for (int d = axis + covered; d < a.dims(); ++d) {
    chosen.inner *= a.shape()[d];
    add(a.shape()[d]);
  }
  return chosen;
}

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

const DynamicTask gather_task = plain_task("gather", run_gather);

// --- scatter --------------------------------------------------------------------------------------------------------

struct ScatterCall {
  DType type;
  bool add;
  Coord positions, values;  // where they begin in their storage
  Coord count;
  Nest nest;  // of the target's elements in C order: rows of `inner`
  Steps target;
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
    const Coord row = call.nest.length[2], rows = call.nest.length[1];
    for (Coord i = 0; i < call.count; ++i) {
      std::int64_t position = positions[i];
      if (position < 0) position += call.length;
      for (Coord n = 0; n < call.inner; ++n) {
        const Coord element = position * call.inner + n;
        T& to = target[call.target.offset + element / (row * rows) * call.target.stride[0] +
                       element / row % rows * call.target.stride[1] +
                       element % row * call.target.stride[2]];
        const T& value = values[i * call.inner + n];
        to = call.add ? plus(to, value) : value;
      }
    }
  });
}

const DynamicTask scatter_task = plain_task("scatter", run_scatter);

void scatter(const Array& a, const Array& index, const Operand& values, bool add) {
  const Where& where = values.where();
  SessionImpl& session = session_of(a, where);
  check_writable(a, where);
  const Selection chosen = selection(a, index, 0, where);
  // The values as they are written, one for each place.
  Array each;
  if (const Array* given = values.array()) {
    if (&session_of(*given, where) != &session)
      complain<ArrayError>(where, "the operands belong to different sessions");
    if (add && !same_kind(given->dtype(), a.dtype()))
      complain<TypeError>(where, "Cannot cast ufunc 'add' output from dtype('" +
                                     std::string(name_of(promote(given->dtype(), a.dtype()))) +
                                     "') to dtype('" + std::string(name_of(a.dtype())) +
                                     "') with casting rule 'same_kind'");
    Layout layout = without_leading_ones(given->layout(), chosen.result.dims());
    if (!stretch(layout, chosen.result))
      complain<ValueError>(where, "shape mismatch: value array of shape " +
                                      to_string(given->shape()) +
                                      " could not be broadcast to indexing result of shape " +
                                      to_string(chosen.result));
    each = dense(Array(*given->value(), given->dtype(), layout), a.dtype(), where);
  } else {
    each = session.cast(values, a.dtype(), chosen.result);
  }
  if (each.size() == 0) return;
  // What is written is not read on the way.
  Array positions = chosen.positions;
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
         each.size() < kSmall, where);
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
         result.size() < kSmall, where);
  return result;
}

void scatter(const Array& a, const Array& index, const Operand& values) {
  scatter(a, index, values, false);
}
void scatter_add(const Array& a, const Array& index, const Operand& values) {
  scatter(a, index, values, true);
}

std::vector<Array> nonzero(const Array& a, Where where) {
  if (a.dims() == 0) complain<ValueError>(where, "Calling nonzero on 0d arrays is not allowed.");
  const Array positions = positions_of(a, where);
  std::vector<Array> along(static_cast<std::size_t>(a.dims()));
  Coord inner = 1;
  for (int d = a.dims() - 1; d >= 0; --d) {
    const Coord length = std::max<Coord>(a.shape()[d], 1);
    along[static_cast<std::size_t>(d)] =
        floor_divide(Operand(positions, where), Operand(inner, where)) % Operand(length, where);
    inner *= length;
  }
  return along;
}

// --- bincount -------------------------------------------------------------------------------------------------------

namespace {

struct Extent {
  std::int64_t least, most;
};

struct CountCall {
  Coord positions, weights;  // where they begin in their storage
  Coord count, bins;
  bool weighted;
};

void run_extent(const TaskFrame& frame) {
  const auto& call = *static_cast<const CountCall*>(frame.values);
  const auto* positions =
      reinterpret_cast<const std::int64_t*>(element_zero(frame, 0)) + call.positions;
  const auto [least, most] = std::minmax_element(positions, positions + call.count);
  *static_cast<Extent*>(frame.result) = {*least, *most};
}

/// Arguments: the bins, the positions, the weights if there are some.
void run_bincount(const TaskFrame& frame) {
  const auto& call = *static_cast<const CountCall*>(frame.values);
  const auto* positions =
      reinterpret_cast<const std::int64_t*>(element_zero(frame, 1)) + call.positions;
  if (call.weighted) {
    auto* bins = reinterpret_cast<double*>(element_zero(frame, 0));
    const double* weights = reinterpret_cast<const double*>(element_zero(frame, 2)) + call.weights;
    std::fill_n(bins, call.bins, 0.0);
    for (Coord i = 0; i < call.count; ++i) bins[positions[i]] += weights[i];
  } else {
    auto* bins = reinterpret_cast<std::int64_t*>(element_zero(frame, 0));
    std::fill_n(bins, call.bins, 0);
    for (Coord i = 0; i < call.count; ++i) ++bins[positions[i]];
  }
}

const DynamicTask extent_task =
    plain_task("extent", run_extent, {sizeof(Extent), alignof(Extent), nullptr});
const DynamicTask bincount_task = plain_task("bincount", run_bincount);

Array count(const Array& a, const Array* weights, Coord min_length, const Where& where) {
  SessionImpl& session = session_of(a, where);
  if (a.dims() != 1)
    complain<ValueError>(where, a.dims() == 0 ? "object of too small depth for desired array"
                                              : "object too deep for desired array");
  if (kind_of(a.dtype()) > Kind::integer)
    complain<TypeError>(where, "Cannot cast array data from dtype('" +
                                   std::string(name_of(a.dtype())) +
                                   "') to dtype('int64') according to the rule 'safe'");
  if (min_length < 0) complain<ValueError>(where, "'minlength' must not be negative");
  if (weights != nullptr && &session_of(*weights, where) != &session)
    complain<ArrayError>(where, "the operands belong to different sessions");
  if (weights != nullptr && !(weights->shape() == a.shape()))
    complain<ValueError>(where, "The weights and list don't have the same length.");
  if (weights != nullptr && weights->dtype() == DType::complex128)
    complain<TypeError>(where,
                        "Cannot cast array data from dtype('complex128') to "
                        "dtype('float64') according to the rule 'safe'");
  const Array positions = dense(a, DType::int64, where);
  CountCall call{positions.layout().offset, 0, a.size(), min_length, weights != nullptr};
  const bool small = a.size() < kSmall;
  if (a.size() > 0) {
    const Future<Extent> extent(
        launch(session, extent_task, 1, {reading(session, positions)}, call, small, where, true));
    if (extent.get().least < 0)
      complain<ValueError>(where, "'list' argument must have no negative elements");
    call.bins = std::max(call.bins, sum_of(extent.get().most, 1, where));
  }
  const DType type = weights != nullptr ? DType::float64 : DType::int64;
  const Shape bins(call.bins);
  check_shape(bins, where);
  if (a.size() == 0) return session.cast(Operand(0, where), type, bins);
  const Array result = session.make_stored(bins, type, where);
  Array given;
  std::vector<Use> uses{{result.value()->storage, Privilege::write}, reading(session, positions)};
  if (weights != nullptr) {
    given = dense(*weights, DType::float64, where);
    call.weights = given.layout().offset;
    uses.push_back(reading(session, given));
  }
  launch(session, bincount_task, 1, uses, &call, value_ops<CountCall>, small, where);
  return result;
}

}  // namespace

Array bincount(const Array& a, Coord min_length, Where where) {
  return count(a, nullptr, min_length, where);
}
Array bincount(const Array& a, const Array& weights, Coord min_length, Where where) {
  return count(a, &weights, min_length, where);
}

}  // namespace refrain::arrays
