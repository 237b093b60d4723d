// diag, tril and triu.

#include <algorithm>
#include <limits>

#include "operations/checks.hpp"
#include "operations/progression.hpp"
#include "refrain/arrays/elements.hpp"
#include "refrain/arrays/linear.hpp"
#include "shapes/complain.hpp"
#include "shapes/views.hpp"

namespace refrain::arrays {

using namespace detail;

namespace {

/// Diagonal k of a matrix, a view; without elements where the matrix has no such.
Array diagonal(const Array& a, Coord k) {
  // No diagonal is further out than the matrix is large.
  k = std::clamp(k, -a.shape()[0], a.shape()[1]);
  const Coord row = k < 0 ? -k : 0, column = k < 0 ? 0 : k;
  Layout layout = a.layout();
  const Coord length = std::max<Coord>(0, std::min(a.shape()[0] - row, a.shape()[1] - column));
  if (length > 0) layout.offset += row * layout.stride[0] + column * layout.stride[1];
  layout.stride[0] += layout.stride[1];
  layout.shape = Shape(length);
  return Array(*a.value(), a.dtype(), layout);
}

/// The matrix with zeros above diagonal k (or, if not `lower`, below it).
Array triangle(const Array& a, Coord k, bool lower, const Where& where) {
  SessionImpl& session = session_of(a, where);
  if (a.dims() == 0) complain<ValueError>(where, "a single value has no triangle");
  // Of a vector: of the matrix that has it as each of its rows.
  const Coord columns = a.shape()[a.dims() - 1];
  const Coord rows = a.dims() == 1 ? columns : a.shape()[a.dims() - 2];
  const Array row = positions_up_to(session, rows, where).reshape({rows, 1}, where);
  const Array column = positions_up_to(session, columns, where);
  const Array across = Operand(column, where) - Operand(row, where);
  const Array kept = lower ? Operand(across, where) <= Operand(k, where)
                           : Operand(across, where) >= Operand(k, where);
  // false: the zero of any type.
  return arrays::where(Operand(kept, where), Operand(a, where), Operand(false, where));
}

}  // namespace

Array diag(const Array& a, Coord k, Where where) {
  SessionImpl& session = session_of(a, where);
  if (a.dims() == 2) return diagonal(a, k).copy(where);
  if (a.dims() != 1) complain<ValueError>(where, "Input must be 1- or 2-d.");
  if (k == std::numeric_limits<Coord>::min()) complain<ValueError>(where, "array is too big");
  const Coord n = sum_of(a.size(), std::abs(k), where);
  check_shape({n, n}, where);
  const Array result = session.cast(Operand(0, where), a.dtype(), {n, n});
  session.assign(diagonal(result, k), Operand(a, where));
  return result;
}

Array tril(const Array& a, Coord k, Where where) { return triangle(a, k, true, where); }
Array triu(const Array& a, Coord k, Where where) { return triangle(a, k, false, where); }

}  // namespace refrain::arrays
