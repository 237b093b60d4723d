#pragma once
// How a loop reads, computes and writes: from the computation of one element (a type with In, Out and call()) to a
// Loop, with those operands hoisted that are one value.

#include <cstddef>
#include <cstdint>

#include "kernels/variant/parts.hpp"

// Iterations are independent: out is exactly an operand or apart from it, and no wider than it.
#if defined(__clang__)
#define REFRAIN_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define REFRAIN_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace refrain::arrays::kernels::REFRAIN_VARIANT {
namespace {

/// An element as it lies in memory (Cell) and as it is computed with (Value).
template <class T>
struct Real {
  using Value = T;
  using Cell = T;
  static Value load(const Cell* p, std::size_t i) { return p[i]; }
  static void store(Cell* p, std::size_t i, Value v) { p[i] = v; }
};
/// A truth value, 0 or 1. Its own type, that it be no integer.
struct Truth {
  using Value = std::uint8_t;
  using Cell = std::uint8_t;
  static Value load(const Cell* p, std::size_t i) { return p[i]; }
  static void store(Cell* p, std::size_t i, Value v) { p[i] = v; }
};
struct Pair {
  double re, im;
};
struct Complex {
  using Value = Pair;
  using Cell = double;
  static Value load(const Cell* p, std::size_t i) { return {p[2 * i], p[2 * i + 1]}; }
  static void store(Cell* p, std::size_t i, Value v) { p[2 * i] = v.re, p[2 * i + 1] = v.im; }
};
using Int32 = Real<std::int32_t>;
using Int64 = Real<std::int64_t>;
using Float = Real<float>;
using Double = Real<double>;

// A product that is added to or subtracted from something goes through rounded(): g++ 12 and later fuse pairs of
// such products into vfmaddsub even with -ffp-contract=off, unless something stands between.
#if defined(__has_builtin)
#if __has_builtin(__builtin_assoc_barrier)
#define REFRAIN_ROUNDED(x) __builtin_assoc_barrier(x)
#endif
#endif
#ifndef REFRAIN_ROUNDED
#define REFRAIN_ROUNDED(x) (x)
#endif
[[maybe_unused]] inline double rounded(double product) { return REFRAIN_ROUNDED(product); }
[[maybe_unused]] inline Pair product(Pair a, Pair b) {
  return {rounded(a.re * b.re) - rounded(a.im * b.im), rounded(a.re * b.im) + rounded(a.im * b.re)};
}

template <class T, bool Scalar>
struct Source {
  explicit Source(const void* memory) : cells(static_cast<const typename T::Cell*>(memory)) {}
  typename T::Value operator[](std::size_t i) const { return T::load(cells, i); }
  const typename T::Cell* cells;
};
template <class T>
struct Source<T, true> {
  explicit Source(const void* memory)
      : value(T::load(static_cast<const typename T::Cell*>(memory), 0)) {}
  typename T::Value operator[](std::size_t) const { return value; }
  typename T::Value value;
};

template <class F>
void unary_loop(std::size_t count, void* out, const void* a, const void*, const void*) {
  auto* const to = static_cast<typename F::Out::Cell*>(out);
  const Source<typename F::In, false> x(a);
  REFRAIN_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) F::Out::store(to, i, F::call(x[i]));
}

template <class F, unsigned Scalars>
void binary_loop(std::size_t count, void* out, const void* a, const void* b, const void*) {
  auto* const to = static_cast<typename F::Out::Cell*>(out);
  const Source<typename F::In, (Scalars & 1U) != 0> x(a);
  const Source<typename F::In, (Scalars & 2U) != 0> y(b);
  REFRAIN_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) F::Out::store(to, i, F::call(x[i], y[i]));
}

template <class F>
Loop unary(unsigned scalars) {
  return scalars == 0 ? &unary_loop<F> : nullptr;
}

template <class F>
Loop binary(unsigned scalars) {
  switch (scalars) {
    case 0: return &binary_loop<F, 0>;
    case 1: return &binary_loop<F, 1>;
    case 2: return &binary_loop<F, 2>;
    default: return nullptr;
  }
}

template <class T>
inline constexpr bool is_floating = false;
template <>
inline constexpr bool is_floating<Float> = true;
template <>
inline constexpr bool is_floating<Double> = true;
template <class T>
inline constexpr bool is_integer = false;
template <>
inline constexpr bool is_integer<Int32> = true;
template <>
inline constexpr bool is_integer<Int64> = true;

template <class T>
struct UnsignedOf;
template <>
struct UnsignedOf<std::int32_t> {
  using Type = std::uint32_t;
};
template <>
struct UnsignedOf<std::int64_t> {
  using Type = std::uint64_t;
};
/// Where integers wrap.
template <class V>
using Unsigned = typename UnsignedOf<V>::Type;
template <class V>
inline constexpr V lowest_integer = static_cast<V>(Unsigned<V>{1} << (8 * sizeof(V) - 1));

template <class V>
bool is_nan(V v) {
  return v != v;
}

}  // namespace
}  // namespace refrain::arrays::kernels::REFRAIN_VARIANT
