#pragma once
// Where the elements of an array or a view lie in its storage: NumPy's shape, strides and offset, in elements.

#include <cstdint>

#include "refrain/arrays/shape.hpp"

namespace refrain::arrays {

/// Element (i, j, k) is at offset + i stride[0] + j stride[1] + k stride[2] of the storage. A stride is negative in a
/// reversed view, and 0 where one element stands for a whole dimension (broadcast).
struct Layout {
  Shape shape;
  Coord offset = 0;
  Coord stride[kMaxDims] = {0, 0, 0};
  bool read_only = false;  ///< it comes from broadcast_to: not a part of where elements lie

  /// Of a new array: C order, without gaps.
  static constexpr Layout contiguous(const Shape& shape) {
    Layout layout;
    layout.shape = shape;
    Coord step = 1;
    for (int d = shape.dims() - 1; d >= 0; --d) {
      layout.stride[d] = step;
      if (shape[d] > 0) step *= shape[d];
    }
    return layout;
  }
  /// Do the elements lie in C order without gaps?
  [[nodiscard]] constexpr bool is_contiguous() const {
    if (shape.size() == 0) return true;
    Coord step = 1;
    for (int d = shape.dims() - 1; d >= 0; --d) {
      if (shape[d] != 1 && stride[d] != step) return false;
      step *= shape[d];
    }
    return true;
  }
  friend constexpr bool operator==(const Layout& a, const Layout& b) {
    if (!(a.shape == b.shape) || a.offset != b.offset) return false;
    for (int d = 0; d < kMaxDims; ++d)
      if (a.stride[d] != b.stride[d]) return false;
    return true;
  }
};

}  // namespace refrain::arrays
