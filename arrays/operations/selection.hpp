#pragma once
// What an index of positions or truth values picks out of an array.

#include "session_impl.hpp"

namespace refrain::arrays::detail {

/// Simple operations that an element costs which is picked out.
inline constexpr Coord kPicking = 8;

/// Where in the array in C order the elements are that hold, int64. Waits for their number.
Array positions_of(const Array& condition, const Where& where);

/// a[index] as rows of `inner` elements: `outer` times, of `length` rows those at the positions.
struct Selection {
  Array positions;  ///< dense int64, within the length, negative ones counting from the end
  Shape result;     ///< of a[index]
  Coord outer = 1, length = 1, inner = 1;
};

/// `index` are positions along `axis`, or truth values of the axes from there on. IndexError where it does not fit;
/// waits to find out.
Selection selection(const Array& a, const Array& index, int axis, const Where& where);

}  // namespace refrain::arrays::detail
