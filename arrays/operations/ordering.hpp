#pragma once
// NumPy's order of elements: NaN comes last, complex numbers go by real and then imaginary part.

#include <cmath>
#include <complex>
#include <concepts>

namespace refrain::arrays::detail {

template <class T>
  requires std::integral<T>
constexpr bool comes_before(T a, T b) { return a < b; }
template <class T>
  requires std::floating_point<T>
bool comes_before(T a, T b) { return a < b || (std::isnan(b) && !std::isnan(a)); }
inline bool comes_before(const std::complex<double>& a, const std::complex<double>& b) {
  const bool a_nan = std::isnan(a.real()), b_nan = std::isnan(b.real());
  const bool same_real = a.real() == b.real() || (a_nan && b_nan);
  const auto imaginary_before = [&] { return comes_before(a.imag(), b.imag()); };
  // Of numbers with a NaN somewhere, those whose real part is one come last.
  const bool a_bad = a_nan || std::isnan(a.imag()), b_bad = b_nan || std::isnan(b.imag());
  if (a_bad != b_bad) return b_bad;
  return same_real ? imaginary_before() : comes_before(a.real(), b.real());
}

}  // namespace refrain::arrays::detail
