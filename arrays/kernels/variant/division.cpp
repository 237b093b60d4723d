// floor_divide and remainder (rounding to minus infinity, as in Python), and powers of integers. By NumPy's rules:
// integers divided by zero give 0; floating-point numbers follow its npy_divmod.

#include "kernels/variant/elementwise.hpp"

namespace refrain::arrays::kernels::REFRAIN_VARIANT {
namespace {

// --- Integers -------------------------------------------------------------------------------------------------------

template <class T>
struct FloorDivideInteger {
  using In = T;
  using Out = T;
  using V = typename T::Value;
  static V call(V a, V b) {
    if (b == 0) return 0;
    if (b == -1) return static_cast<V>(Unsigned<V>{0} - static_cast<Unsigned<V>>(a));  // may wrap
    const V quotient = a / b;
    return quotient - static_cast<V>((a % b != 0) & ((a < 0) != (b < 0)));
  }
};
#ifdef __AVX2__
// int32 in vectors, through float64: a quotient that is no integer is further from the next one than it is rounded.
template <>
struct FloorDivideInteger<Int32> {
  using In = Int32;
  using Out = Int32;
  static std::int32_t call(std::int32_t a, std::int32_t b) {
    constexpr double kTooLarge = 2147483648.0;  // of the lowest number by -1, which wraps
    double quotient = __builtin_floor(static_cast<double>(a) / static_cast<double>(b));
    quotient = b == 0 ? 0.0 : quotient;
    return static_cast<std::int32_t>(quotient == kTooLarge ? -kTooLarge : quotient);
  }
};
#endif

template <class T>
struct RemainderInteger {
  using In = T;
  using Out = T;
  using V = typename T::Value;
  static V call(V a, V b) {
    if (b == 0 || b == -1) return 0;
    const V rest = a % b;
    return (rest != 0) & ((rest < 0) != (b < 0)) ? rest + b : rest;
  }
};
#ifdef __AVX2__
template <>
struct RemainderInteger<Int32> {
  using In = Int32;
  using Out = Int32;
  static std::int32_t call(std::int32_t a, std::int32_t b) {
    const auto quotient = static_cast<std::uint32_t>(FloorDivideInteger<Int32>::call(a, b));
    const auto rest = static_cast<std::uint32_t>(a) - quotient * static_cast<std::uint32_t>(b);
    return b == 0 ? 0 : static_cast<std::int32_t>(rest);
  }
};
#endif

/// To negative powers, the quotient 1 / a^-b towards zero; of 0 it is 0.
template <class T>
struct PowerInteger {
  using In = T;
  using Out = T;
  using V = typename T::Value;
  using U = Unsigned<V>;
  static V call(V a, V b) {
    if (b < 0) return a == 1 ? V{1} : a == -1 ? ((b & 1) != 0 ? V{-1} : V{1}) : V{0};
    U result = 1;
    U factor = static_cast<U>(a);
    for (U rest = static_cast<U>(b); rest != 0; rest >>= 1U, factor *= factor) {
      if ((rest & 1U) != 0) result *= factor;
    }
    return static_cast<V>(result);
  }
};

// --- Floating-point numbers -----------------------------------------------------------------------------------------

float floor_of(float a) { return __builtin_floorf(a); }
double floor_of(double a) { return __builtin_floor(a); }
float fmod_of(float a, float b) { return __builtin_fmodf(a, b); }
double fmod_of(double a, double b) { return __builtin_fmod(a, b); }
float copysign_of(float a, float b) { return __builtin_copysignf(a, b); }
double copysign_of(double a, double b) { return __builtin_copysign(a, b); }

template <class V>
struct Divided {
  V quotient, rest;
};
/// npy_divmod for b != 0, from the remainder towards zero.
template <class V>
Divided<V> divided(V a, V b, V fmod) {
  V rest = fmod;
  V quotient = (a - rest) / b;
  const bool down = (rest != 0) & ((b < 0) != (rest < 0));
  quotient = down ? quotient - V{1} : quotient;
  rest = down ? rest + b : rest;
  rest = rest != 0 ? rest : copysign_of(V{0}, b);
  const V below = floor_of(quotient);
  const V whole = quotient - below > V{0.5} ? below + V{1} : below;
  return {quotient != 0 ? whole : copysign_of(V{0}, a / b), rest};
}

template <class T>
struct FloorDivide {
  using Type = T;
  using V = typename T::Value;
  static V call(V a, V b, V fmod) { return divided(a, b, fmod).quotient; }
  static V of_zero(V a, V b) { return a / b; }
};
template <class T>
struct Remainder {
  using Type = T;
  using V = typename T::Value;
  static V call(V a, V b, V fmod) { return divided(a, b, fmod).rest; }
  static V of_zero(V a, V b) { return fmod_of(a, b); }
};

#ifdef __FMA__
// A second way to fmod. It is exact, so both give the same bits.
float fabs_of(float a) { return __builtin_fabsf(a); }
double fabs_of(double a) { return __builtin_fabs(a); }
float fma_of(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
double fma_of(double a, double b, double c) { return __builtin_fma(a, b, c); }
float trunc_of(float a) { return __builtin_truncf(a); }
double trunc_of(double a) { return __builtin_trunc(a); }

/// Quotients below this are rounded by less than 1.
template <class V>
inline constexpr V kEasyQuotient = sizeof(V) == 4 ? V(1 << 22) : V(std::int64_t{1} << 51);

template <class V>
bool easy(V a, V b) {
  return (fabs_of(a / b) < kEasyQuotient<V>)&(b - b == 0);
}
/// fmod where it is easy. The truncated quotient is right or one too large, so a - quotient b is representable, and
/// a fused multiply-add gives it exactly.
template <class V>
V easy_fmod(V a, V b) {
  const V x = fabs_of(a), y = fabs_of(b);
  const V rest = fma_of(-trunc_of(x / y), y, x);
  return copysign_of(rest < 0 ? rest + y : rest, a);
}
#endif

template <class F, unsigned Scalars>
void divide_loop(std::size_t count, void* out, const void* a, const void* b, const void*) {
  using T = typename F::Type;
  using V = typename T::Value;
  auto* const to = static_cast<V*>(out);
  const Source<T, (Scalars & 1U) != 0> x(a);
  const Source<T, (Scalars & 2U) != 0> y(b);
  constexpr std::size_t kBlock = 64;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t end = begin + kBlock < count ? begin + kBlock : count;
#ifdef __FMA__
    bool all_easy = true;
    for (std::size_t i = begin; i < end; ++i) all_easy &= easy(x[i], y[i]);
    if (all_easy) {
      REFRAIN_INDEPENDENT
      for (std::size_t i = begin; i < end; ++i) {
        const V u = x[i], v = y[i];
        to[i] = F::call(u, v, easy_fmod(u, v));
      }
      continue;
    }
#endif
    for (std::size_t i = begin; i < end; ++i) {
      const V u = x[i], v = y[i];
      to[i] = v == 0 ? F::of_zero(u, v) : F::call(u, v, fmod_of(u, v));
    }
  }
}

template <class F>
Loop divide(unsigned scalars) {
  switch (scalars) {
    case 0: return &divide_loop<F, 0>;
    case 1: return &divide_loop<F, 1>;
    case 2: return &divide_loop<F, 2>;
    default: return nullptr;
  }
}

template <class T>
Loop of_integer(Op op, unsigned scalars) {
  switch (op) {
    case Op::floor_divide: return binary<FloorDivideInteger<T>>(scalars);
    case Op::remainder: return binary<RemainderInteger<T>>(scalars);
    case Op::power: return binary<PowerInteger<T>>(scalars);
    default: return nullptr;
  }
}
template <class T>
Loop of_floating(Op op, unsigned scalars) {
  switch (op) {
    case Op::floor_divide: return divide<FloorDivide<T>>(scalars);
    case Op::remainder: return divide<Remainder<T>>(scalars);
    default: return nullptr;
  }
}

}  // namespace

Loop division_loop(Op op, DType type, unsigned scalars) {
  switch (type) {
    case DType::int32: return of_integer<Int32>(op, scalars);
    case DType::int64: return of_integer<Int64>(op, scalars);
    case DType::float32: return of_floating<Float>(op, scalars);
    case DType::float64: return of_floating<Double>(op, scalars);
    default: return nullptr;
  }
}

}  // namespace refrain::arrays::kernels::REFRAIN_VARIANT
