#pragma once
// Products of dense matrices: BLAS where it has the type, loops where it has not.

#include "refrain/arrays/array.hpp"

namespace refrain::arrays::detail {

/// A matrix in storage, one of whose strides is 1; the other is `leading`. In elements.
struct Matrix {
  Coord offset, leading;
  bool by_columns;  ///< elements of a column lie side by side, not those of a row

  /// From this row and column on.
  [[nodiscard]] Matrix from(Coord row, Coord column) const {
    const Coord step = by_columns ? row + column * leading : row * leading + column;
    return {offset + step, leading, by_columns};
  }
};

/// c = a b, where c lies at `to` in C order without gaps. Lengths fit BLAS (fits_blas).
struct MatrixProduct {
  DType type;
  Coord rows, inner, columns;  ///< of the result, of the sums, of the result
  Matrix a, b;
  Coord to;
};

/// Addresses are of element 0 of the storages.
void multiply(const MatrixProduct& product, const std::byte* a, const std::byte* b, std::byte* c);

bool fits_blas(Coord length);

/// Tasks are the parallelism: from the first call on BLAS uses the thread that calls it.
void keep_blas_to_one_thread();

}  // namespace refrain::arrays::detail
