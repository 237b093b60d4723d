#pragma once
// Arrays as tasks like to have them: of one type, in C order from the beginning of a row to its end.

#include "operations/launching.hpp"

namespace refrain::arrays {

/// The array itself where it is of the type and lies in C order without gaps, else a copy that does.
Array dense(const Array& array, DType type, const Where& where);

/// Axis `axis` last.
Array with_axis_last(const Array& array, int axis, const Where& where);
/// The other way: the last axis goes to `axis`.
Array with_last_axis_at(const Array& array, int axis, const Where& where);

/// ValueError for what broadcast_to made.
void check_writable(const Array& target, const Where& where);
/// ValueError for an integer that the type, int32, does not hold (NumPy 2's OverflowError).
void check_fits(const Number& number, DType type, const Where& where);
/// Lengths of new arrays; ValueError where they do not fit.
Coord product_of(Coord a, Coord b, const Where& where);
Coord sum_of(Coord a, Coord b, const Where& where);
/// ValueError for lengths that no array can have.
void check_shape(const Shape& shape, const Where& where);

/// 0, 1 ... count - 1, int64.
Array positions_up_to(detail::SessionImpl& session, Coord count, const Where& where);

/// A dense array's part of its storage, for a launch.
Use reading(detail::SessionImpl& session, const Array& array);

/// Rows of `length` elements each, dealt to the points of a launch: the first row of each point, and the end of the
/// last. As many points as an array of that size has tiles.
std::vector<Coord> deal_rows(detail::SessionImpl& session, Coord rows, Coord length);
/// What each point has of a storage whose rows these are, from its element `offset` on.
std::shared_ptr<const Ranges> rows_of(detail::SessionImpl& session, const std::vector<Coord>& begin,
                                      Coord length, Coord offset = 0);

}  // namespace refrain::arrays
