#pragma once
// Products of vectors and matrices, by BLAS, in blocks whose size depends on the shapes alone. Tasks are the
// parallelism: the first product of a process sets OpenBLAS to one thread per call, for all of the process.

#include "refrain/arrays/array.hpp"

namespace refrain::arrays {

/// numpy.dot for up to two dimensions: inner product of vectors, matrix with vector, matrix with matrix; with a
/// number or a single value the product element by element. ValueError when lengths differ.
Array dot(const Operand& a, const Operand& b);
/// numpy.matmul for one and two dimensions: as dot, but single values are a ValueError.
Array matmul(const Operand& a, const Operand& b);
/// All products of an element of a with one of b, both flattened.
Array outer(const Operand& a, const Operand& b);
/// Of a vector the matrix with it on diagonal k; of a matrix a copy of its diagonal k.
Array diag(const Array& a, Coord k = 0, Where where = Where::current());
/// The part below (above) and on diagonal k; the rest is zero.
Array tril(const Array& a, Coord k = 0, Where where = Where::current());
Array triu(const Array& a, Coord k = 0, Where where = Where::current());

}  // namespace refrain::arrays
