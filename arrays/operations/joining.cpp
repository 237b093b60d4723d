// Joining, repeating and turning round: assignments to views of a new array.

#include <algorithm>
#include <string>

#include "operations/checks.hpp"
#include "refrain/arrays/arranging.hpp"
#include "shapes/complain.hpp"
#include "shapes/views.hpp"

namespace refrain::arrays {

using namespace detail;

namespace {

/// Of an axis the elements from .. from + count - 1.
Array part(const Array& array, int axis, Coord from, Coord count) {
  Layout layout = array.layout();
  if (count > 0) layout.offset += from * layout.stride[axis];
  layout.shape[axis] = count;
  return Array(*array.value(), array.dtype(), layout);
}

Array with_axis(const Array& array, int axis) {
  Layout layout = array.layout();
  const int dims = layout.shape.dims();
  layout.shape.insert(axis, 1);
  for (int d = dims; d > axis; --d) layout.stride[d] = layout.stride[d - 1];
  layout.stride[axis] = 0;
  return Array(*array.value(), array.dtype(), layout);
}

Array flat(const Array& array, const Where& where) { return array.reshape({-1}, where); }

DType joined_type(const std::vector<Array>& arrays) {
  DType type = arrays[0].dtype();
  for (const Array& array : arrays) type = promote(type, array.dtype());
  return type;
}

Array join(const std::vector<Array>& arrays, int axis, const Where& where) {
  SessionImpl& session = session_of(arrays[0], where);
  Shape shape = arrays[0].shape();
  shape[axis] = 0;
  for (const Array& array : arrays) shape[axis] = sum_of(shape[axis], array.shape()[axis], where);
  const Array result = session.make_stored(shape, joined_type(arrays), where);
  Coord at = 0;
  for (const Array& array : arrays) {
    check_session(session, array, where);
    const Coord length = array.shape()[axis];
    session.assign(part(result, axis, at, length), Operand(array, where));
    at += length;
  }
  return result;
}

}  // namespace

Array concatenate(const std::vector<Array>& arrays, int axis, Where where) {
  if (arrays.empty()) complain<ValueError>(where, "need at least one array to concatenate");
  const int dims = arrays[0].dims();
  session_of(arrays[0], where);
  if (dims == 0) complain<ValueError>(where, "zero-dimensional arrays cannot be concatenated");
  axis = normalized(axis, dims, where);
  for (std::size_t i = 1; i < arrays.size(); ++i) {
    session_of(arrays[i], where);
    if (arrays[i].dims() != dims)
      complain<ValueError>(
          where, "all the input array dimensions must match, but the array at index 0 has " +
                     std::to_string(dims) + " dimension(s) and the array at index " +
                     std::to_string(i) + " has " + std::to_string(arrays[i].dims()) +
                     " dimension(s)");
    for (int d = 0; d < dims; ++d)
      if (d != axis && arrays[i].shape()[d] != arrays[0].shape()[d])
        complain<ValueError>(
            where,
            "all the input array dimensions except for the concatenation axis must match "
            "exactly, but the array at index 0 has shape " +
                to_string(arrays[0].shape()) + " and the array at index " + std::to_string(i) +
                " has shape " + to_string(arrays[i].shape()));
  }
  return join(arrays, axis, where);
}

Array stack(const std::vector<Array>& arrays, int axis, Where where) {
  if (arrays.empty()) complain<ValueError>(where, "need at least one array to stack");
  session_of(arrays[0], where);
  axis = normalized(axis, arrays[0].dims() + 1, where);
  std::vector<Array> raised;
  for (const Array& array : arrays) {
    session_of(array, where);
    if (!(array.shape() == arrays[0].shape()))
      complain<ValueError>(where, "all input arrays must have the same shape, " +
                                      to_string(arrays[0].shape()) + " and " +
                                      to_string(array.shape()) + " differ");
    raised.push_back(with_axis(array, axis));
  }
  return join(raised, axis, where);
}

Array tile(const Array& a, const Shape& repeats, Where where) {
  SessionImpl& session = session_of(a, where);
  Array source = a;
  while (source.dims() < repeats.dims()) source = with_axis(source, 0);
  const int ahead = source.dims() - repeats.dims();
  Shape shape = source.shape();
  for (int d = 0; d < repeats.dims(); ++d) {
    if (repeats[d] < 0) complain<ValueError>(where, "negative dimensions are not allowed");
    shape[ahead + d] = product_of(shape[ahead + d], repeats[d], where);
  }
  const Array result = session.make_stored(shape, a.dtype(), where);
  if (result.size() == 0) return result;
  Array done = result;
  for (int d = 0; d < source.dims(); ++d) done = part(done, d, 0, source.shape()[d]);
  session.assign(done, Operand(source, where));
  // Along each axis what is there is doubled until all is.
  for (int d = 0; d < source.dims(); ++d) {
    for (Coord length = source.shape()[d]; length < shape[d];) {
      const Coord more = std::min(length, shape[d] - length);
      Array whole = result;
      for (int e = d + 1; e < source.dims(); ++e) whole = part(whole, e, 0, source.shape()[e]);
      session.assign(part(whole, d, length, more), Operand(part(whole, d, 0, more), where));
      length += more;
    }
  }
  return result;
}

Array repeat(const Array& a, Coord times, const Axes& axes, Where where) {
  SessionImpl& session = session_of(a, where);
  if (times < 0) complain<ValueError>(where, "repeats may not contain negative values.");
  if (axes.all()) {
    if (a.dims() != 1) return repeat(flat(a, where), times, 0, where);
  } else if (axes.count() != 1) {
    complain<TypeError>(where, "repeat is along one axis or along all");
  }
  const int axis = axes.all() ? 0 : normalized(axes[0], a.dims(), where);
  Shape shape = a.shape();
  const Coord length = shape[axis];
  shape[axis] = product_of(length, times, where);
  const Array result = session.make_stored(shape, a.dtype(), where);
  if (result.size() == 0) return result;
  if (times <= length) {
    for (Coord t = 0; t < times; ++t) {
      Layout every = result.layout();
      every.offset += t * every.stride[axis];
      every.stride[axis] *= times;
      every.shape[axis] = length;
      session.assign(Array(*result.value(), a.dtype(), every), Operand(a, where));
    }
  } else {
    for (Coord i = 0; i < length; ++i) {
      const Array target = part(result, axis, i * times, times);
      Layout one = part(a, axis, i, 1).layout();
      stretch(one, target.shape());
      session.assign(target, Operand(Array(*a.value(), a.dtype(), one), where));
    }
  }
  return result;
}

Array roll(const Array& a, Coord shift, const Axes& axes, Where where) {
  SessionImpl& session = session_of(a, where);
  if (axes.all() && a.dims() != 1)
    return roll(flat(a, where), shift, 0, where).reshape(a.shape(), where);
  const unsigned set = axis_set(axes, a.dims(), where);
  Array from = a;
  for (int axis = 0; axis < a.dims(); ++axis) {
    if ((set >> axis & 1) == 0) continue;
    const Coord length = a.shape()[axis];
    const Array result = session.make_stored(a.shape(), a.dtype(), where);
    if (result.size() == 0) return result;
    const Coord moved = (shift % length + length) % length;
    session.assign(part(result, axis, moved, length - moved),
                   Operand(part(from, axis, 0, length - moved), where));
    session.assign(part(result, axis, 0, moved),
                   Operand(part(from, axis, length - moved, moved), where));
    from = result;
  }
  return set == 0 ? a.copy(where) : from;
}

Array flip(const Array& a, const Axes& axes, Where where) {
  session_of(a, where);
  const unsigned set = axis_set(axes, a.dims(), where);
  Layout layout = a.layout();
  for (int d = 0; d < a.dims(); ++d) {
    if ((set >> d & 1) == 0 || layout.shape[d] == 0) continue;
    layout.offset += (layout.shape[d] - 1) * layout.stride[d];
    layout.stride[d] = -layout.stride[d];
  }
  return Array(*a.value(), a.dtype(), layout);
}

Array broadcast_to(const Array& a, const Shape& shape, Where where) {
  session_of(a, where);
  check_shape(shape, where);
  Layout layout = a.layout();
  if (!stretch(layout, shape))
    complain<ValueError>(where,
                         "operands could not be broadcast together with remapped shapes "
                         "[original->remapped]: " +
                             to_string(a.shape()) + "  and requested shape " + to_string(shape));
  layout.read_only = true;
  return Array(*a.value(), a.dtype(), layout);
}

}  // namespace refrain::arrays
