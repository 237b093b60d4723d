// Functions of complex numbers: the C library's, one element at a time, as NumPy has them.

#include "kernels/variant/elementwise.hpp"

namespace refrain::arrays::kernels::REFRAIN_VARIANT {
namespace {

using C = _Complex double;

C to_c(Pair a) {
  C z;
  __real__ z = a.re;
  __imag__ z = a.im;
  return z;
}
Pair of_c(C z) { return {__real__ z, __imag__ z}; }

template <C (*F)(C)>
struct Function {
  using In = Complex;
  using Out = Complex;
  static Pair call(Pair a) { return of_c(F(to_c(a))); }
};
C square_root(C z) { return __builtin_csqrt(z); }
C exponential(C z) { return __builtin_cexp(z); }
C logarithm(C z) { return __builtin_clog(z); }
C scaled(C z, double factor) {
  __real__ z *= factor;
  __imag__ z *= factor;
  return z;
}
C logarithm2(C z) { return scaled(__builtin_clog(z), 1.442695040888963407359924681001892137); }
C logarithm10(C z) { return scaled(__builtin_clog(z), 0.434294481903251827651128918916605082); }
C sine(C z) { return __builtin_csin(z); }
C cosine(C z) { return __builtin_ccos(z); }
C tangent(C z) { return __builtin_ctan(z); }

Pair inverse(Pair b) {
  const bool flat = __builtin_fabs(b.re) >= __builtin_fabs(b.im);
  if (flat && b.re == 0 && b.im == 0)
    return {1.0 / __builtin_fabs(b.re), 0.0 / __builtin_fabs(b.re)};
  if (flat) {
    const double ratio = b.im / b.re;
    const double scale = 1.0 / (b.re + rounded(b.im * ratio));
    return {(1.0 + 0.0 * ratio) * scale, (0.0 - 1.0 * ratio) * scale};
  }
  const double ratio = b.re / b.im;
  const double scale = 1.0 / (b.im + rounded(b.re * ratio));
  return {(1.0 * ratio + 0.0) * scale, (0.0 * ratio - 1.0) * scale};
}

/// To whole powers below 100 by multiplication, as NumPy's npy_cpow.
struct Power {
  using In = Complex;
  using Out = Complex;
  static Pair call(Pair a, Pair b) {
    if (b.re == 0 && b.im == 0) return {1, 0};
    if (a.re == 0 && a.im == 0) {
      if (b.re > 0 && b.im == 0) return {0, 0};
      return {__builtin_nan(""), __builtin_nan("")};
    }
    if (b.im == 0 && b.re > -100 && b.re < 100 && b.re == __builtin_trunc(b.re)) {
      return to_whole(a, static_cast<int>(b.re));
    }
    return of_c(__builtin_cpow(to_c(a), to_c(b)));
  }
  static Pair to_whole(Pair a, int n) {
    if (n == 1) return a;
    if (n == 2) return product(a, a);
    if (n == 3) return product(a, product(a, a));
    Pair result = {1, 0};
    Pair factor = a;
    for (unsigned rest = static_cast<unsigned>(n < 0 ? -n : n);;) {
      if ((rest & 1U) != 0) result = product(result, factor);
      rest >>= 1U;
      if (rest == 0) break;
      factor = product(factor, factor);
    }
    return n < 0 ? inverse(result) : result;
  }
};

}  // namespace

Loop complex_function_loop(Op op, DType type, unsigned scalars) {
  if (type != DType::complex128) return nullptr;
  switch (op) {
    case Op::sqrt: return unary<Function<square_root>>(scalars);
    case Op::exp: return unary<Function<exponential>>(scalars);
    case Op::log: return unary<Function<logarithm>>(scalars);
    case Op::log2: return unary<Function<logarithm2>>(scalars);
    case Op::log10: return unary<Function<logarithm10>>(scalars);
    case Op::sin: return unary<Function<sine>>(scalars);
    case Op::cos: return unary<Function<cosine>>(scalars);
    case Op::tan: return unary<Function<tangent>>(scalars);
    case Op::power: return binary<Power>(scalars);
    default: return nullptr;
  }
}

}  // namespace refrain::arrays::kernels::REFRAIN_VARIANT
