#include "operations/dense.hpp"

#include <algorithm>
#include <array>

#include "shapes/complain.hpp"
#include "shapes/views.hpp"

namespace refrain::arrays {

void check_fits(const Number& number, DType type, const Where& where) {
  if (type != DType::int32 || number.kind != Kind::integer) return;
  if (number.integer != static_cast<std::int32_t>(number.integer))
    complain<ValueError>(where,
                         "integer " + std::to_string(number.integer) + " out of bounds for int32");
}

Coord product_of(Coord a, Coord b, const Where& where) {
  Coord product = 0;
  if (__builtin_mul_overflow(a, b, &product)) complain<ValueError>(where, "array is too big");
  return product;
}

Coord sum_of(Coord a, Coord b, const Where& where) {
  Coord sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) complain<ValueError>(where, "array is too big");
  return sum;
}

Array dense(const Array& array, DType type, const Where& where) {
  if (array.dtype() == type && array.layout().is_contiguous()) return array;
  return array.astype(type, where);
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

Use reading(detail::SessionImpl& session, const Array& array) {
  return {&session.stored(*array.value()), Privilege::read, {}};
}

std::vector<Coord> deal_rows(detail::SessionImpl& session, Coord rows, Coord length) {
  const Coord tiles = session.tilings.of(Shape{rows, length})->tiles();
  const Coord points = std::clamp<Coord>(tiles, 1, rows);
  std::vector<Coord> begin;
  for (Coord p = 0; p <= points; ++p) begin.push_back(p * rows / points);
  return begin;
}

std::shared_ptr<const Ranges> rows_of(detail::SessionImpl& session, const std::vector<Coord>& begin,
                                      Coord length, Coord offset) {
  std::vector<Range> ranges;
  for (std::size_t p = 0; p + 1 < begin.size(); ++p)
    ranges.push_back({offset + begin[p] * length, offset + begin[p + 1] * length - 1});
  return session.ranges.intern(std::move(ranges));
}

}  // namespace refrain::arrays
