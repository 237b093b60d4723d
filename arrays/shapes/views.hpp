#pragma once
// NumPy's rules for what a view sees and how shapes fit together, on layouts alone.

#include <optional>
#include <span>

#include "refrain/arrays/axes.hpp"
#include "refrain/arrays/index.hpp"
#include "refrain/arrays/layout.hpp"

namespace refrain::arrays::detail {

/// What is seen through an index (basic indexing). IndexError.
Layout indexed(const Layout& layout, std::span<const Index> entries, const Where& where);

/// ValueError for lengths that no array can have.
void check_shape(const Shape& shape, const Where& where);
/// The shape that is meant by one with a -1, for so many elements. ValueError when there is none.
Shape completed(const Shape& shape, const Shape& from, const Where& where);
/// The same elements in C order in another shape of the same size, where a layout without copying has that.
std::optional<Layout> reshaped(const Layout& layout, const Shape& shape);

/// Axis i of the result is axis order[i]. ValueError unless all are named once.
Layout transposed(const Layout& layout, std::span<const int> order, const Where& where);

/// The shape that all are broadcast to. ValueError naming all of them.
Shape broadcast(std::span<const Shape> shapes, const Where& where);
/// The layout stretched to a shape that it can be broadcast to; false when it cannot.
bool stretch(Layout& layout, const Shape& to);

/// NumPy drops leading axes of length 1 of what is assigned, down to so many dimensions.
Layout without_leading_ones(Layout layout, int dims);

/// Axis counted from the front. AxisError.
int normalized(int axis, int dims, const Where& where);
/// Which axes are meant, a bit each. AxisError, ValueError for one that comes twice.
unsigned axis_set(const Axes& axes, int dims, const Where& where);

/// The first and the last position in the storage that the layout reaches; it has at least one element.
struct Reach {
  Coord first, last;
};
Reach reach_of(const Layout& layout);
/// Can two views of one storage see the same element? May say yes where they interleave.
bool may_overlap(const Layout& a, const Layout& b);

}  // namespace refrain::arrays::detail
