#pragma once
// Reductions along all axes, one, or several. Sums are formed in an order that depends on the reduced lengths alone
// (in chunks and lanes, then pairwise: Higham, "The accuracy of floating point summation", SIAM J. Sci. Comput. 14,
// 1993), so their bits are the same for any tiling, and their error is far below n eps sum|terms|.

#include "refrain/arrays/array.hpp"
#include "refrain/arrays/axes.hpp"

namespace refrain::arrays {

// Arrays are taken by value: of an operation's result, which nobody else refers to, only the reduction is computed.
// With keep_dims the reduced axes stay, with length 1. Sums and products of bool and int32 are int64; means of
// integers and bool are float64. min, max, argmin and argmax of nothing are a ValueError.
Array sum(Array a, const Axes& axes = {}, bool keep_dims = false, Where where = Where::current());
Array prod(Array a, const Axes& axes = {}, bool keep_dims = false, Where where = Where::current());
Array mean(Array a, const Axes& axes = {}, bool keep_dims = false, Where where = Where::current());
Array min(Array a, const Axes& axes = {}, bool keep_dims = false, Where where = Where::current());
Array max(Array a, const Axes& axes = {}, bool keep_dims = false, Where where = Where::current());
Array any(Array a, const Axes& axes = {}, bool keep_dims = false, Where where = Where::current());
// `all`, which is also an index, is in index.hpp.

/// The position of the first smallest (largest) element: of the array in C order, or along one axis. int64.
Array argmin(Array a, const Axes& axis = {}, bool keep_dims = false,
             Where where = Where::current());
Array argmax(Array a, const Axes& axis = {}, bool keep_dims = false,
             Where where = Where::current());

/// Sums of the elements so far, of the array in C order or along one axis.
Array cumsum(const Array& a, const Axes& axis = {}, Where where = Where::current());

}  // namespace refrain::arrays
