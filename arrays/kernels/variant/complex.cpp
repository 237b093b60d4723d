// Complex arithmetic, by NumPy's formulas: the plain product, and Smith's quotient.

#include "kernels/variant/elementwise.hpp"

namespace refrain::arrays::kernels::REFRAIN_VARIANT {
namespace {

template <Pair (*F)(Pair, Pair)>
struct Binary {
  using In = Complex;
  using Out = Complex;
  static Pair call(Pair a, Pair b) { return F(a, b); }
};
template <Pair (*F)(Pair)>
struct Unary {
  using In = Complex;
  using Out = Complex;
  static Pair call(Pair a) { return F(a); }
};
template <double (*F)(Pair)>
struct Part {
  using In = Complex;
  using Out = Double;
  static double call(Pair a) { return F(a); }
};

inline Pair plus(Pair a, Pair b) { return {a.re + b.re, a.im + b.im}; }
inline Pair minus(Pair a, Pair b) { return {a.re - b.re, a.im - b.im}; }
inline Pair over(Pair a, Pair b) {
  const double re = __builtin_fabs(b.re), im = __builtin_fabs(b.im);
  if (re >= im) {
    if (re == 0 && im == 0) return {a.re / re, a.im / re};
    const double ratio = b.im / b.re;
    const double scale = 1.0 / (b.re + rounded(b.im * ratio));
    return {(a.re + rounded(a.im * ratio)) * scale, (a.im - rounded(a.re * ratio)) * scale};
  }
  const double ratio = b.re / b.im;
  const double scale = 1.0 / (b.im + rounded(b.re * ratio));
  return {(rounded(a.re * ratio) + a.im) * scale, (rounded(a.im * ratio) - a.re) * scale};
}
inline Pair negative(Pair a) { return {-a.re, -a.im}; }
inline Pair conjugate(Pair a) { return {a.re, -a.im}; }
inline Pair square(Pair a) { return product(a, a); }
inline Pair reciprocal(Pair a) {
  if (__builtin_fabs(a.im) <= __builtin_fabs(a.re)) {
    const double ratio = a.im / a.re;
    const double divisor = a.re + rounded(a.im * ratio);
    return {1.0 / divisor, -ratio / divisor};
  }
  const double ratio = a.re / a.im;
  const double divisor = rounded(a.re * ratio) + a.im;
  return {ratio / divisor, -1.0 / divisor};
}
/// The sign of the real part, or where that is zero of the imaginary part. The first line is what NumPy calls greater
/// and smaller than zero.
inline Pair sign(Pair a) {
  const bool whole = a.im == a.im;
  if ((a.re > 0 && whole) || (a.re == 0 && a.im > 0)) return {1, 0};
  if ((a.re < 0 && whole) || (a.re == 0 && a.im < 0)) return {-1, 0};
  return {a.re == 0 && a.im == 0 ? 0.0 : __builtin_nan(""), 0};
}
inline double real(Pair a) { return a.re; }
inline double imag(Pair a) { return a.im; }

void absolute_loop(std::size_t count, void* out, const void* a, const void*, const void*) {
  magnitudes(count, static_cast<double*>(out), static_cast<const double*>(a));
}

}  // namespace

Loop complex_loop(Op op, DType type, unsigned scalars) {
  if (type != DType::complex128) return nullptr;
  switch (op) {
    case Op::add: return binary<Binary<plus>>(scalars);
    case Op::subtract: return binary<Binary<minus>>(scalars);
    case Op::multiply: return binary<Binary<product>>(scalars);
    case Op::divide: return binary<Binary<over>>(scalars);
    case Op::negative: return unary<Unary<negative>>(scalars);
    case Op::conjugate: return unary<Unary<conjugate>>(scalars);
    case Op::square: return unary<Unary<square>>(scalars);
    case Op::reciprocal: return unary<Unary<reciprocal>>(scalars);
    case Op::sign: return unary<Unary<sign>>(scalars);
    case Op::real: return unary<Part<real>>(scalars);
    case Op::imag: return unary<Part<imag>>(scalars);
    case Op::absolute: return scalars == 0 ? &absolute_loop : nullptr;
    default: return nullptr;
  }
}

}  // namespace refrain::arrays::kernels::REFRAIN_VARIANT
