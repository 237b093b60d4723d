// Truth values of any type (what is not zero is true, NaN too), bits, and the kinds of floating-point numbers.

#include "kernels/variant/elementwise.hpp"

namespace refrain::arrays::kernels::REFRAIN_VARIANT {
namespace {

template <class V>
std::uint8_t truth(V a) {
  return a != 0 ? 1 : 0;
}
std::uint8_t truth(Pair a) { return (a.re != 0) | (a.im != 0) ? 1 : 0; }

struct And {
  template <class V>
  static V of(V a, V b) {
    return a & b;
  }
};
struct Or {
  template <class V>
  static V of(V a, V b) {
    return a | b;
  }
};
struct Xor {
  template <class V>
  static V of(V a, V b) {
    return a ^ b;
  }
};

template <class T, class F>
struct Logical {
  using In = T;
  using Out = Truth;
  using V = typename T::Value;
  static std::uint8_t call(V a, V b) { return F::of(truth(a), truth(b)); }
};
template <class T>
struct Not {
  using In = T;
  using Out = Truth;
  using V = typename T::Value;
  static std::uint8_t call(V a) { return truth(a) ^ 1; }
};
template <class T, class F>
struct Bits {
  using In = T;
  using Out = T;
  using V = typename T::Value;
  static V call(V a, V b) { return F::of(a, b); }
};
template <class T>
struct Invert {
  using In = T;
  using Out = T;
  using V = typename T::Value;
  static V call(V a) { return static_cast<V>(~a); }
};

/// x - x is zero of finite numbers, else NaN.
struct IsNan {
  static bool of(double a) { return is_nan(a); }
  static bool of(float a) { return is_nan(a); }
  static bool of(Pair a) { return is_nan(a.re) | is_nan(a.im); }
};
struct IsInf {
  template <class V>
  static bool of(V a) {
    return (a == a) & (a - a != 0);
  }
  static bool of(Pair a) { return of(a.re) | of(a.im); }
};
struct IsFinite {
  template <class V>
  static bool of(V a) {
    return a - a == 0;
  }
  static bool of(Pair a) { return of(a.re) & of(a.im); }
};
template <class T, class F>
struct Test {
  using In = T;
  using Out = Truth;
  using V = typename T::Value;
  static std::uint8_t call(V a) { return F::of(a) ? 1 : 0; }
};

template <class T>
Loop truths(Op op, unsigned scalars) {
  switch (op) {
    case Op::logical_and: return binary<Logical<T, And>>(scalars);
    case Op::logical_or: return binary<Logical<T, Or>>(scalars);
    case Op::logical_xor: return binary<Logical<T, Xor>>(scalars);
    case Op::logical_not: return unary<Not<T>>(scalars);
    default: return nullptr;
  }
}
template <class T>
Loop bits(Op op, unsigned scalars) {
  switch (op) {
    case Op::bit_and: return binary<Bits<T, And>>(scalars);
    case Op::bit_or: return binary<Bits<T, Or>>(scalars);
    case Op::bit_xor: return binary<Bits<T, Xor>>(scalars);
    case Op::invert: return unary<Invert<T>>(scalars);
    default: return truths<T>(op, scalars);
  }
}
template <class T>
Loop kinds(Op op, unsigned scalars) {
  switch (op) {
    case Op::isnan: return unary<Test<T, IsNan>>(scalars);
    case Op::isinf: return unary<Test<T, IsInf>>(scalars);
    case Op::isfinite: return unary<Test<T, IsFinite>>(scalars);
    default: return truths<T>(op, scalars);
  }
}

}  // namespace

Loop logic_loop(Op op, DType type, unsigned scalars) {
  switch (type) {
    case DType::boolean:
      return op == Op::invert ? unary<Not<Truth>>(scalars) : bits<Truth>(op, scalars);
    case DType::int32: return bits<Int32>(op, scalars);
    case DType::int64: return bits<Int64>(op, scalars);
    case DType::float32: return kinds<Float>(op, scalars);
    case DType::float64: return kinds<Double>(op, scalars);
    case DType::complex128: return kinds<Complex>(op, scalars);
  }
  return nullptr;
}

}  // namespace refrain::arrays::kernels::REFRAIN_VARIANT
