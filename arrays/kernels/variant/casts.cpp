// From each type to each: 36 loops. A number that an integer type cannot hold, and NaN, becomes its lowest number, as
// the conversion instructions of x86 have it, on every processor.

#include "kernels/variant/elementwise.hpp"

namespace refrain::arrays::kernels::REFRAIN_VARIANT {
namespace {

template <class V, class A>
V to_integer(A a) {
  constexpr A kBound = sizeof(V) == 4 ? A(2147483648.0) : A(9223372036854775808.0);
  // Between the bound and the next number below it, a double still becomes the lowest int32.
  const bool fits = sizeof(V) == 4 && sizeof(A) == 8 ? (a > -kBound - A{1}) & (a < kBound)
                                                     : (a >= -kBound) & (a < kBound);
  return static_cast<V>(fits ? a : -kBound);
}

template <class From, class To>
typename To::Value converted(typename From::Value a) {
  using V = typename To::Value;
  if constexpr (sizeof(a) == sizeof(Pair)) {
    if constexpr (sizeof(V) == sizeof(Pair)) {
      return a;
    } else if constexpr (sizeof(V) == 1) {
      return (a.re != 0) | (a.im != 0) ? 1 : 0;
    } else {
      return converted<Double, To>(a.re);
    }
  } else if constexpr (sizeof(V) == sizeof(Pair)) {
    return {static_cast<double>(a), 0.0};
  } else if constexpr (sizeof(V) == 1) {
    return a != 0 ? 1 : 0;
  } else if constexpr (is_floating<From> && is_integer<To>) {
    return to_integer<V>(a);
  } else if constexpr (sizeof(V) == 4 && is_integer<From> && is_integer<To>) {
    return static_cast<V>(static_cast<std::uint32_t>(a));
  } else {
    return static_cast<V>(a);
  }
}

template <class From, class To>
struct Cast {
  using In = From;
  using Out = To;
  static typename To::Value call(typename From::Value a) { return converted<From, To>(a); }
};

template <std::size_t Bytes>
void copy_loop(std::size_t count, void* out, const void* a, const void*, const void*) {
  __builtin_memmove(out, a, Bytes * count);
}

template <class From>
Loop from_type(DType to) {
  switch (to) {
    case DType::boolean: return unary<Cast<From, Truth>>(0);
    case DType::int32: return unary<Cast<From, Int32>>(0);
    case DType::int64: return unary<Cast<From, Int64>>(0);
    case DType::float32: return unary<Cast<From, Float>>(0);
    case DType::float64: return unary<Cast<From, Double>>(0);
    case DType::complex128: return unary<Cast<From, Complex>>(0);
  }
  return nullptr;
}

Loop copy(DType type) {
  switch (type) {
    case DType::boolean: return &copy_loop<1>;
    case DType::int32:
    case DType::float32: return &copy_loop<4>;
    case DType::int64:
    case DType::float64: return &copy_loop<8>;
    case DType::complex128: return &copy_loop<16>;
  }
  return nullptr;
}

}  // namespace

Loop cast_loop(DType from, DType to) {
  if (from == to) return copy(from);
  switch (from) {
    case DType::boolean: return from_type<Truth>(to);
    case DType::int32: return from_type<Int32>(to);
    case DType::int64: return from_type<Int64>(to);
    case DType::float32: return from_type<Float>(to);
    case DType::float64: return from_type<Double>(to);
    case DType::complex128: return from_type<Complex>(to);
  }
  return nullptr;
}

}  // namespace refrain::arrays::kernels::REFRAIN_VARIANT
