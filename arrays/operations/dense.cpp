#include "operations/dense.hpp"

#include <array>

#include "shapes/views.hpp"

namespace refrain::arrays::detail {

Array dense(const Array& array, DType type, const Where& where) {
  if (array.dtype() == type && array.layout().is_contiguous()) return array;
  return array.astype(type, where);
}

Use reading(SessionImpl& session, const Array& array) {
  return {&session.stored(*array.value()), Privilege::read, {}};
}

namespace {

Array in_order(const Array& array, const std::array<int, kMaxDims>& order, const Where& where) {
  return Array(
      *array.value(), array.dtype(),
      transposed(array.layout(), {order.data(), static_cast<std::size_t>(array.dims())}, where));
}

}  // namespace

Array with_axis_last(const Array& array, int axis, const Where& where) {
  std::array<int, kMaxDims> order{};
  int at = 0;
  for (int d = 0; d < array.dims(); ++d)
    if (d != axis) order[static_cast<std::size_t>(at++)] = d;
  order[static_cast<std::size_t>(at)] = axis;
  return in_order(array, order, where);
}

Array with_last_axis_at(const Array& array, int axis, const Where& where) {
  std::array<int, kMaxDims> order{};
  for (int d = 0; d < array.dims(); ++d)
    order[static_cast<std::size_t>(d)] = d < axis ? d : d == axis ? array.dims() - 1 : d - 1;
  return in_order(array, order, where);
}

}  // namespace refrain::arrays::detail
