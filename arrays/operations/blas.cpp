#include "operations/blas.hpp"

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <mutex>

#include "operations/with_type.hpp"

namespace refrain::arrays::detail {

namespace {

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
void multiply(const MatrixProduct& p, const T* a, const T* b, T* c) {
  const auto a_order = p.a.by_columns ? CblasTrans : CblasNoTrans;
  const auto b_order = p.b.by_columns ? CblasTrans : CblasNoTrans;
  const blasint m = as_blas(p.rows), k = as_blas(p.inner), n = as_blas(p.columns);
  const blasint a_leading = as_blas(p.a.leading), b_leading = as_blas(p.b.leading);
  const blasint a_rows = p.a.by_columns ? k : m, a_columns = p.a.by_columns ? m : k;
  const blasint b_step = p.b.by_columns ? 1 : b_leading;
  if constexpr (std::is_same_v<T, std::complex<double>>) {
    const T one = 1.0, zero = 0.0;
    if (n == 1)
      cblas_zgemv(CblasRowMajor, a_order, a_rows, a_columns, &one, a, a_leading, b, b_step, &zero,
                  c, 1);
    else
      cblas_zgemm(CblasRowMajor, a_order, b_order, m, n, k, &one, a, a_leading, b, b_leading, &zero,
                  c, n);
  } else {
    if (n == 1)
      Blas<T>::gemv(CblasRowMajor, a_order, a_rows, a_columns, T{1}, a, a_leading, b, b_step, T{0},
                    c, 1);
    else
      Blas<T>::gemm(CblasRowMajor, a_order, b_order, m, n, k, T{1}, a, a_leading, b, b_leading,
                    T{0}, c, n);
  }
}

/// What BLAS does not have: integers, which wrap, and bool, for which + is "or".
template <class T>
  requires std::is_integral_v<T>
void multiply(const MatrixProduct& p, const T* a, const T* b, T* c) {
  const auto at = [](const Matrix& matrix, Coord i, Coord j) {
    return matrix.by_columns ? j * matrix.leading + i : i * matrix.leading + j;
  };
  for (Coord i = 0; i < p.rows; ++i) {
    T* row = c + i * p.columns;
    std::fill_n(row, p.columns, T{0});
    for (Coord k = 0; k < p.inner; ++k) {
      const auto left = static_cast<std::uint64_t>(a[at(p.a, i, k)]);
      for (Coord j = 0; j < p.columns; ++j) {
        const std::uint64_t term = left * static_cast<std::uint64_t>(b[at(p.b, k, j)]);
        row[j] = plus(row[j], static_cast<T>(term));
      }
    }
  }
}

}  // namespace

void multiply(const MatrixProduct& product, const std::byte* a, const std::byte* b, std::byte* c) {
  with_type(product.type, [&](auto type) {
    using T = decltype(type);
    multiply(product, reinterpret_cast<const T*>(a) + product.a.offset,
             reinterpret_cast<const T*>(b) + product.b.offset,
             reinterpret_cast<T*>(c) + product.to);
  });
}

bool fits_blas(Coord length) { return length <= std::numeric_limits<blasint>::max(); }

void keep_blas_to_one_thread() {
  static std::once_flag done;
  std::call_once(done, [] { openblas_set_num_threads(1); });
}

}  // namespace refrain::arrays::detail
