#pragma once
// A window's elements as a nest of loops, and where the elements of an array are in it.

#include "fusion/plan.hpp"

namespace refrain::arrays::detail {

/// The loops of a nest: which axes of the window's shape, from the outermost to the innermost, and which of them
/// from the end to the beginning.
struct Loops {
  int axes[kMaxDims];
  int count = 0;
  unsigned reversed = 0;
};

/// Those along which `primary` goes through its storage from the beginning to the end. Axes of length 1 are left out.
Loops loops_along(const Shape& shape, const Layout& primary);

/// The window's shape as a nest of these loops, and where each access is in it. Loops that are one run everywhere are
/// joined.
ProgramText nest_of(const WindowText& text, const Loops& loops);

/// Do positions grow from each element to the next?
bool ascends(const Nest& nest, const Strides& strides);
/// Elements begin .. end - 1 of the nest lie within these positions (between them, where they ascend).
Range hull(const Nest& nest, const Strides& strides, Coord begin, Coord end);

}  // namespace refrain::arrays::detail
