// + - * / of real numbers and bool, and the operations of one operand that take an instruction or two. Integers wrap:
// they are computed unsigned.

#include "kernels/variant/elementwise.hpp"

namespace refrain::arrays::kernels::REFRAIN_VARIANT {
namespace {

// Applied to the unsigned counterparts of integers, to floating-point numbers as they are.
struct Plus {
  template <class V>
  static V of(V a, V b) {
    return a + b;
  }
};
struct Minus {
  template <class V>
  static V of(V a, V b) {
    return a - b;
  }
};
struct Times {
  template <class V>
  static V of(V a, V b) {
    return a * b;
  }
};
struct Over {
  template <class V>
  static V of(V a, V b) {
    return a / b;
  }
};

template <class T, class F>
struct Arithmetic {
  using In = T;
  using Out = T;
  using V = typename T::Value;
  static V call(V a, V b) {
    if constexpr (is_integer<T>) {
      using U = Unsigned<V>;
      return static_cast<V>(F::of(static_cast<U>(a), static_cast<U>(b)));
    } else {
      return F::of(a, b);
    }
  }
};
struct Either {
  using In = Truth;
  using Out = Truth;
  static std::uint8_t call(std::uint8_t a, std::uint8_t b) { return a | b; }
};
struct Both {
  using In = Truth;
  using Out = Truth;
  static std::uint8_t call(std::uint8_t a, std::uint8_t b) { return a & b; }
};

template <class T>
struct Negative {
  using In = T;
  using Out = T;
  using V = typename T::Value;
  static V call(V a) {
    if constexpr (is_integer<T>) {
      return static_cast<V>(Unsigned<V>{0} - static_cast<Unsigned<V>>(a));
    } else {
      return -a;
    }
  }
};
template <class T>
struct Absolute {
  using In = T;
  using Out = T;
  using V = typename T::Value;
  static V call(V a) {
    if constexpr (is_integer<T>) {
      return a < 0 ? Negative<T>::call(a) : a;
    } else if constexpr (sizeof(V) == 4) {
      return __builtin_fabsf(a);
    } else {
      return __builtin_fabs(a);
    }
  }
};
/// Of either zero 0, of NaN NaN.
template <class T>
struct Sign {
  using In = T;
  using Out = T;
  using V = typename T::Value;
  static V call(V a) { return a > 0 ? V{1} : a < 0 ? V{-1} : a == 0 ? V{0} : a; }
};
template <class T>
struct Square {
  using In = T;
  using Out = T;
  using V = typename T::Value;
  static V call(V a) { return Arithmetic<T, Times>::call(a, a); }
};
/// Of the integer 0, what NumPy has: infinity as an integer, the lowest.
template <class T>
struct Reciprocal {
  using In = T;
  using Out = T;
  using V = typename T::Value;
  static V call(V a) {
    if constexpr (is_integer<T>) {
      return a == 1 || a == -1 ? a : a == 0 ? lowest_integer<V> : V{0};
    } else {
      return V{1} / a;
    }
  }
};
template <class T>
struct Same {
  using In = T;
  using Out = T;
  static typename T::Value call(typename T::Value a) { return a; }
};
template <class T>
struct Zero {
  using In = T;
  using Out = T;
  static typename T::Value call(typename T::Value) { return {}; }
};

#define REFRAIN_ROUNDING(Name, builtin)                              \
  template <class T>                                                 \
  struct Name {                                                      \
    using In = T;                                                    \
    using Out = T;                                                   \
    static float call(float a) { return __builtin_##builtin##f(a); } \
    static double call(double a) { return __builtin_##builtin(a); }  \
  }
REFRAIN_ROUNDING(Sqrt, sqrt);
REFRAIN_ROUNDING(Floor, floor);
REFRAIN_ROUNDING(Ceil, ceil);
REFRAIN_ROUNDING(Trunc, trunc);
REFRAIN_ROUNDING(Rint, rint);
#undef REFRAIN_ROUNDING

template <class T>
Loop of_floating(Op op, unsigned scalars) {
  switch (op) {
    case Op::divide: return binary<Arithmetic<T, Over>>(scalars);
    case Op::sqrt: return unary<Sqrt<T>>(scalars);
    case Op::floor: return unary<Floor<T>>(scalars);
    case Op::ceil: return unary<Ceil<T>>(scalars);
    case Op::trunc: return unary<Trunc<T>>(scalars);
    case Op::rint: return unary<Rint<T>>(scalars);
    default: return nullptr;
  }
}

template <class T>
Loop of_number(Op op, unsigned scalars) {
  switch (op) {
    case Op::add: return binary<Arithmetic<T, Plus>>(scalars);
    case Op::subtract: return binary<Arithmetic<T, Minus>>(scalars);
    case Op::multiply: return binary<Arithmetic<T, Times>>(scalars);
    case Op::negative: return unary<Negative<T>>(scalars);
    case Op::absolute: return unary<Absolute<T>>(scalars);
    case Op::sign: return unary<Sign<T>>(scalars);
    case Op::square: return unary<Square<T>>(scalars);
    case Op::reciprocal: return unary<Reciprocal<T>>(scalars);
    case Op::real:
    case Op::conjugate: return unary<Same<T>>(scalars);
    case Op::imag: return unary<Zero<T>>(scalars);
    default: break;
  }
  if constexpr (is_floating<T>) return of_floating<T>(op, scalars);
  return nullptr;
}

Loop of_truth(Op op, unsigned scalars) {
  switch (op) {
    case Op::add: return binary<Either>(scalars);
    case Op::multiply: return binary<Both>(scalars);
    case Op::absolute:
    case Op::real: return unary<Same<Truth>>(scalars);
    case Op::imag: return unary<Zero<Truth>>(scalars);
    default: return nullptr;
  }
}

}  // namespace

Loop arithmetic_loop(Op op, DType type, unsigned scalars) {
  switch (type) {
    case DType::boolean: return of_truth(op, scalars);
    case DType::int32: return of_number<Int32>(op, scalars);
    case DType::int64: return of_number<Int64>(op, scalars);
    case DType::float32: return of_number<Float>(op, scalars);
    case DType::float64: return of_number<Double>(op, scalars);
    default: return nullptr;
  }
}

}  // namespace refrain::arrays::kernels::REFRAIN_VARIANT
