#pragma once
// The same elements in another arrangement: joined, repeated, turned round, sorted, picked out.

#include <initializer_list>
#include <span>
#include <vector>

#include "refrain/arrays/array.hpp"
#include "refrain/arrays/reductions.hpp"

namespace refrain::arrays {

// --- joining and repeating: new arrays --------------------------------------------------------------------

/// Joined along an axis that they have; stack: along a new one. The types are promoted.
Array concatenate(const std::vector<Array>& arrays, int axis = 0, Where where = Where::current());
Array stack(const std::vector<Array>& arrays, int axis = 0, Where where = Where::current());
/// The array `repeats` times along each axis (numpy.tile).
Array tile(const Array& a, const Shape& repeats, Where where = Where::current());
/// Each element `times` times in a row, along an axis or of the array in C order.
Array repeat(const Array& a, Coord times, const Axes& axis = {}, Where where = Where::current());
/// The elements moved by `shift` along an axis, round the end; without an axis, of the array in C order.
Array roll(const Array& a, Coord shift, const Axes& axis = {}, Where where = Where::current());
/// In reverse along axes: a view.
Array flip(const Array& a, const Axes& axes = {}, Where where = Where::current());
/// The array with shape (), (1,) ... stretched to a shape: a view that cannot be written to.
Array broadcast_to(const Array& a, const Shape& shape, Where where = Where::current());

// --- sorting and counting -----------------------------------------------------------------------------------

/// In ascending order along an axis; NaN comes last. argsort: where the elements come from, equal ones in their order
/// (NumPy's kind="stable"), int64.
Array sort(const Array& a, int axis = -1, Where where = Where::current());
Array argsort(const Array& a, int axis = -1, Where where = Where::current());
/// How often 0, 1 ... occurs in a vector of integers that are not negative (waits for the largest), or the sums of
/// the weights. ValueError when one is negative.
Array bincount(const Array& a, Coord min_length = 0, Where where = Where::current());
Array bincount(const Array& a, const Array& weights, Coord min_length = 0,
               Where where = Where::current());

// --- by arrays of positions or truth values -----------------------------------------------------------------
// An index is an array of integers, which may be negative (IndexError when one is out of range: this waits for them),
// or of bool with the shape of the first dimensions (a mask: this waits for how many are true).

/// a[index]: along `axis`, for a mask along the dimensions that it covers.
Array gather(const Array& a, const Array& index, int axis = 0, Where where = Where::current());
/// a[index] = values, broadcast and cast; of equal positions the last wins.
void scatter(const Array& a, const Array& index, const Operand& values);
/// numpy.add.at(a, index, values): every position counts, also equal ones.
void scatter_add(const Array& a, const Array& index, const Operand& values);
/// The positions of what is not zero, one array per axis. Waits for their number.
std::vector<Array> nonzero(const Array& a, Where where = Where::current());

}  // namespace refrain::arrays
