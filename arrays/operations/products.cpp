// dot and matmul: by BLAS where it has the type. The result is computed in blocks of rows whose height depends on the
// shapes alone, each by one call, so that its bits are the same for any tiling.

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <string>

#include "operations/checks.hpp"
#include "operations/dense.hpp"
#include "operations/progression.hpp"
#include "operations/with_type.hpp"
#include "refrain/arrays/elements.hpp"
#include "refrain/arrays/linear.hpp"
#include "refrain/arrays/reductions.hpp"
#include "shapes/complain.hpp"

namespace refrain::arrays {

using namespace detail;

namespace {

// Multiplications for a task of its own, where the matrix alone is too small to be shared.
constexpr Coord kTaskWork = 1 << 18;

/// A matrix in storage, one of whose strides is 1; the other is `leading`.
struct Matrix {
  Coord offset, leading;
  bool by_columns;  ///< elements of a column lie side by side, not those of a row
};

struct ProductCall {
  DType type;
  Coord rows, inner, columns;  // of the result, of the sums, of the result
  Matrix a, b;
  Coord block;               // rows
  std::vector<Coord> begin;  // of each point, in blocks
};

template <class T>
struct Blas;
template <>
struct Blas<float> {
  static constexpr auto gemm = cblas_sgemm;
  static constexpr auto gemv = cblas_sgemv;
};
template <>
struct Blas<double> {
  static constexpr auto gemm = cblas_dgemm;
  static constexpr auto gemv = cblas_dgemv;
};

blasint as_blas(Coord n) { return static_cast<blasint>(n); }

template <class T>
void multiply_rows(const ProductCall& call, const T* a, const T* b, T* c, Coord first, Coord rows) {
  const T* from = a + first * (call.a.by_columns ? 1 : call.a.leading);
  T* to = c + first * call.columns;
  const auto a_order = call.a.by_columns ? CblasTrans : CblasNoTrans;
  const auto b_order = call.b.by_columns ? CblasTrans : CblasNoTrans;
  const blasint m = as_blas(rows), k = as_blas(call.inner), n = as_blas(call.columns);
  const blasint a_leading = as_blas(call.a.leading), b_leading = as_blas(call.b.leading);
  if constexpr (std::is_same_v<T, std::complex<double>>) {
    const T one = 1.0, zero = 0.0;
    if (n == 1)
      cblas_zgemv(CblasRowMajor, a_order, call.a.by_columns ? k : m, call.a.by_columns ? m : k,
                  &one, from, a_leading, b, call.b.by_columns ? 1 : b_leading, &zero, to, 1);
    else
      cblas_zgemm(CblasRowMajor, a_order, b_order, m, n, k, &one, from, a_leading, b, b_leading,
                  &zero, to, n);
  } else {
    if (n == 1)
      Blas<T>::gemv(CblasRowMajor, a_order, call.a.by_columns ? k : m, call.a.by_columns ? m : k,
                    T{1}, from, a_leading, b, call.b.by_columns ? 1 : b_leading, T{0}, to, 1);
    else
      Blas<T>::gemm(CblasRowMajor, a_order, b_order, m, n, k, T{1}, from, a_leading, b, b_leading,
                    T{0}, to, n);
  }
}

/// What BLAS does not have: integers, which wrap, and bool, for which + is "or".
template <class T>
  requires std::is_integral_v<T>
void multiply_rows(const ProductCall& call, const T* a, const T* b, T* c, Coord first, Coord rows) {
  const auto at = [](const Matrix& matrix, Coord i, Coord j) {
    return matrix.by_columns ? j * matrix.leading + i : i * matrix.leading + j;
  };
  for (Coord i = first; i < first + rows; ++i) {
    T* row = c + i * call.columns;
    std::fill_n(row, call.columns, T{0});
    for (Coord k = 0; k < call.inner; ++k) {
      const auto left = static_cast<std::uint64_t>(a[at(call.a, i, k)]);
      for (Coord j = 0; j < call.columns; ++j) {
        const std::uint64_t term = left * static_cast<std::uint64_t>(b[at(call.b, k, j)]);
        if constexpr (std::is_same_v<T, std::uint8_t>) row[j] |= static_cast<T>(term);
        else row[j] = static_cast<T>(static_cast<std::uint64_t>(row[j]) + term);
      }
    }
  }
}

/// Arguments: the result, both factors.
void run_product(const TaskFrame& frame) {
  const auto& call = *static_cast<const ProductCall*>(frame.values);
  with_type(call.type, [&](auto type) {
    using T = decltype(type);
    T* c = reinterpret_cast<T*>(element_zero(frame, 0));
    // One array may be both factors: then there is one argument for it.
    const T* a = reinterpret_cast<const T*>(element_zero(frame, 1)) + call.a.offset;
    const std::size_t last = frame.arguments.size() - 1;
    const T* b = reinterpret_cast<const T*>(element_zero(frame, last)) + call.b.offset;
    for (Coord block = call.begin[frame.rank]; block < call.begin[frame.rank + 1]; ++block) {
      const Coord first = block * call.block;
      multiply_rows(call, a, b, c, first, std::min(call.block, call.rows - first));
    }
  });
}

const DynamicTask product_task = plain_task<run_product>("matmul");

/// Tasks are the parallelism: BLAS uses the thread that calls it.
void keep_blas_to_one_thread() {
  static std::once_flag done;
  std::call_once(done, [] { openblas_set_num_threads(1); });
}

Coord block_height(Coord rows) {
  if (rows >= 512) return 128;
  return rows >= 128 ? 32 : 16;
}

/// As a matrix that BLAS can take; a copy where it cannot.
struct Factor {
  Array array;
  Matrix matrix;
};
Factor factor(const Array& given, DType type, const Where& where) {
  const auto fits = [](Coord leading, Coord length) {
    return leading >= std::max<Coord>(length, 1) && leading <= 0x7FFFFFFF;
  };
  const Layout& layout = given.layout();
  const Coord rows = layout.shape[0], columns = layout.shape[1];
  if (given.dtype() == type) {
    const Coord row_step = rows > 1 ? layout.stride[0] : std::max<Coord>(columns, 1);
    const Coord column_step = columns > 1 ? layout.stride[1] : std::max<Coord>(rows, 1);
    if ((columns <= 1 || layout.stride[1] == 1) && fits(row_step, columns))
      return {given, {layout.offset, row_step, false}};
    if ((rows <= 1 || layout.stride[0] == 1) && fits(column_step, rows))
      return {given, {layout.offset, column_step, true}};
  }
  const Array copy = given.astype(type, where);
  return {copy, {copy.layout().offset, std::max<Coord>(columns, 1), false}};
}

/// Of two matrices.
Array product(const Array& a, const Array& b, const Where& where) {
  SessionImpl& session = session_of(a, where);
  const DType type = promote(a.dtype(), b.dtype());
  const Coord rows = a.shape()[0], inner = a.shape()[1], columns = b.shape()[1];
  if (rows == 0 || columns == 0 || inner == 0)
    return session.cast(Operand(0, where), type, {rows, columns});
  for (const Coord length : {rows, inner, columns})
    if (length > std::numeric_limits<blasint>::max())
      complain<ValueError>(where, "matrices are too long for BLAS: " + to_string(a.shape()) +
                                      " and " + to_string(b.shape()));
  keep_blas_to_one_thread();
  const Factor left = factor(a, type, where), right = factor(b, type, where);
  ProductCall call{type, rows, inner, columns, left.matrix, right.matrix, block_height(rows), {}};
  const Coord blocks = (rows + call.block - 1) / call.block;
  const auto work = static_cast<Coord>(std::min(
      1e18, static_cast<double>(rows) * static_cast<double>(inner) * static_cast<double>(columns)));
  const Coord tiles = session.tilings.of(a.shape())->tiles();
  const Coord points = std::min(
      blocks, std::max<Coord>(tiles, std::min(work / kTaskWork, session.tilings.most_tiles())));
  std::vector<Range> parts;
  for (Coord p = 0; p <= points; ++p) call.begin.push_back(p * blocks / points);
  for (std::size_t p = 0; p + 1 < call.begin.size(); ++p)
    parts.push_back({call.begin[p] * call.block * columns,
                     std::min(call.begin[p + 1] * call.block, rows) * columns - 1});
  const Use from = reading(session, left.array), with = reading(session, right.array);
  const Array result = session.make_stored({rows, columns}, type, where);
  std::vector<Use> uses{{result.value()->storage, Privilege::write,
                         points > 1 ? session.ranges.intern(std::move(parts)) : nullptr},
                        from};
  if (with.storage != from.storage) uses.push_back(with);
  launch(session, product_task, static_cast<int>(points), uses, std::move(call), 2 * work, where);
  return result;
}

Array inner_product(const Array& a, const Array& b, const Where& where) {
  const Array terms = Operand(a, where) * Operand(b, where);
  if (terms.dtype() == DType::boolean) return any(terms, {}, false, where);
  return sum(terms, {}, false, where).astype(terms.dtype(), where);
}

Array multiplied(const Array& a, const Array& b, const Where& where) {
  check_session(session_of(a, where), b, where);
  if (a.dims() > 2 || b.dims() > 2)
    complain<ValueError>(where,
                         "products are of arrays with one or two dimensions, not of shapes " +
                             to_string(a.shape()) + " and " + to_string(b.shape()));
  const Coord inner = a.shape()[a.dims() - 1];
  if (inner != b.shape()[0])
    complain<ValueError>(where, "shapes " + to_string(a.shape()) + " and " + to_string(b.shape()) +
                                    " not aligned: " + std::to_string(inner) + " (dim " +
                                    std::to_string(a.dims() - 1) +
                                    ") != " + std::to_string(b.shape()[0]) + " (dim 0)");
  if (a.dims() == 1 && b.dims() == 1) return inner_product(a, b, where);
  if (a.dims() == 1)
    // Rows of the transposed matrix: with as many blocks as the result is long.
    return product(b.transpose(), a.reshape({inner, 1}, where), where)
        .reshape({b.shape()[1]}, where);
  if (b.dims() == 1)
    return product(a, b.reshape({inner, 1}, where), where).reshape({a.shape()[0]}, where);
  return product(a, b, where);
}

bool is_single(const Operand& a) { return a.array() == nullptr || a.array()->dims() == 0; }

}  // namespace

Array dot(const Operand& a, const Operand& b) {
  if (is_single(a) || is_single(b)) return a * b;
  return multiplied(*a.array(), *b.array(), a.where());
}

Array matmul(const Operand& a, const Operand& b) {
  if (is_single(a) || is_single(b))
    complain<ValueError>(
        a.where(), "matmul: input operand does not have enough dimensions (has 0, requires 1)");
  return multiplied(*a.array(), *b.array(), a.where());
}

Array outer(const Operand& a, const Operand& b) {
  for (const Operand* operand : {&a, &b})
    if (operand->array() == nullptr) complain<TypeError>(operand->where(), "outer takes arrays");
  const Array column = a.array()->reshape({-1, 1}, a.where());
  const Array row = b.array()->reshape({1, -1}, b.where());
  return Operand(column, a.where()) * Operand(row, b.where());
}

// --- diagonals ------------------------------------------------------------------------------------------------------

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
  if (a.dims() < 2)
    complain<ValueError>(where, "a triangle is of an array with at least two dimensions");
  const Coord rows = a.shape()[a.dims() - 2], columns = a.shape()[a.dims() - 1];
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
