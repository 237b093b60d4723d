#pragma once
// SLEEF's functions (Shibata, Petrogalli: "SLEEF: A Portable Vectorized Library of C Standard Mathematical Functions",
// 2020), in the width of this variant. Its families "finz" (with fused multiply-add) and "cinz" (without) promise the
// same bits in every width and beside any neighbours; the variants differ in that alone.

#include <sleef.h>

#include <cstddef>

#include "kernels/variant/parts.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#if defined(__AVX512F__)
#define REFRAIN_DOUBLE_VECTOR __m512d
#define REFRAIN_FLOAT_VECTOR __m512
#define REFRAIN_SLEEF_DOUBLE(name, bound) Sleef_finz_##name##d8_##bound##avx512f
#define REFRAIN_SLEEF_FLOAT(name, bound) Sleef_finz_##name##f16_##bound##avx512f
#elif defined(__AVX2__) && defined(__FMA__)
#define REFRAIN_DOUBLE_VECTOR __m256d
#define REFRAIN_FLOAT_VECTOR __m256
#define REFRAIN_SLEEF_DOUBLE(name, bound) Sleef_finz_##name##d4_##bound##avx2
#define REFRAIN_SLEEF_FLOAT(name, bound) Sleef_finz_##name##f8_##bound##avx2
#else
#define REFRAIN_DOUBLE_VECTOR __m128d
#define REFRAIN_FLOAT_VECTOR __m128
#define REFRAIN_SLEEF_DOUBLE(name, bound) Sleef_cinz_##name##d2_##bound##sse2
#define REFRAIN_SLEEF_FLOAT(name, bound) Sleef_cinz_##name##f4_##bound##sse2
#endif
#else
#define REFRAIN_DOUBLE_VECTOR double
#define REFRAIN_FLOAT_VECTOR float
#define REFRAIN_SLEEF_DOUBLE(name, bound) Sleef_cinz_##name##d1_##bound##purec
#define REFRAIN_SLEEF_FLOAT(name, bound) Sleef_cinz_##name##f1_##bound##purec
#endif

namespace refrain::arrays::kernels::REFRAIN_VARIANT {
namespace {

template <class V>
struct VectorOf;
template <>
struct VectorOf<double> {
  REFRAIN_DOUBLE_VECTOR lanes;
};
template <>
struct VectorOf<float> {
  REFRAIN_FLOAT_VECTOR lanes;
};
template <class V>
inline constexpr std::size_t kWidth = sizeof(VectorOf<V>) / sizeof(V);

template <class V>
VectorOf<V> load(const V* p) {
  VectorOf<V> v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
/// As many as are there, the first of them again in the other lanes.
template <class V>
VectorOf<V> load_part(const V* p, std::size_t count) {
  V padded[kWidth<V>];
  for (std::size_t i = 0; i < kWidth<V>; ++i) padded[i] = i < count ? p[i] : p[0];
  return load(padded);
}
template <class V>
VectorOf<V> all_lanes(V value) {
  return load_part(&value, 1);
}
template <class V>
void store(V* p, VectorOf<V> v) {
  __builtin_memcpy(p, &v, sizeof(v));
}
template <class V>
void store_part(V* p, VectorOf<V> v, std::size_t count) {
  V padded[kWidth<V>];
  store(padded, v);
  for (std::size_t i = 0; i < count; ++i) p[i] = padded[i];
}

/// `a` where the mask, a comparison of vectors, holds.
template <class M, class V>
VectorOf<V> select(M mask, VectorOf<V> a, VectorOf<V> b) {
  return {mask ? a.lanes : b.lanes};
}

#define REFRAIN_UNARY_FUNCTION(Name, name)               \
  struct Name {                                          \
    static VectorOf<double> call(VectorOf<double> a) {   \
      return {REFRAIN_SLEEF_DOUBLE(name, u10)(a.lanes)}; \
    }                                                    \
    static VectorOf<float> call(VectorOf<float> a) {     \
      return {REFRAIN_SLEEF_FLOAT(name, u10)(a.lanes)};  \
    }                                                    \
  }
#define REFRAIN_BINARY_FUNCTION(Name, name, bound)                         \
  struct Name {                                                            \
    static VectorOf<double> call(VectorOf<double> a, VectorOf<double> b) { \
      return {REFRAIN_SLEEF_DOUBLE(name, bound)(a.lanes, b.lanes)};        \
    }                                                                      \
    static VectorOf<float> call(VectorOf<float> a, VectorOf<float> b) {    \
      return {REFRAIN_SLEEF_FLOAT(name, bound)(a.lanes, b.lanes)};         \
    }                                                                      \
  }
REFRAIN_UNARY_FUNCTION(Cbrt, cbrt);
REFRAIN_UNARY_FUNCTION(Exp, exp);
REFRAIN_UNARY_FUNCTION(Exp2, exp2);
REFRAIN_UNARY_FUNCTION(Expm1, expm1);
REFRAIN_UNARY_FUNCTION(PlainLog, log);
REFRAIN_UNARY_FUNCTION(PlainLog2, log2);
REFRAIN_UNARY_FUNCTION(PlainLog10, log10);
REFRAIN_UNARY_FUNCTION(SmallLog1p, log1p);
REFRAIN_UNARY_FUNCTION(Sin, sin);
REFRAIN_UNARY_FUNCTION(Cos, cos);
REFRAIN_UNARY_FUNCTION(Tan, tan);
REFRAIN_UNARY_FUNCTION(Arcsin, asin);
REFRAIN_UNARY_FUNCTION(Arccos, acos);
REFRAIN_UNARY_FUNCTION(Arctan, atan);
REFRAIN_UNARY_FUNCTION(SmallSinh, sinh);
REFRAIN_UNARY_FUNCTION(SmallCosh, cosh);
REFRAIN_UNARY_FUNCTION(Tanh, tanh);
REFRAIN_BINARY_FUNCTION(Arctan2, atan2, u10);
REFRAIN_BINARY_FUNCTION(Hypot, hypot, u05);
REFRAIN_BINARY_FUNCTION(Pow, pow, u10);
#undef REFRAIN_UNARY_FUNCTION
#undef REFRAIN_BINARY_FUNCTION

}  // namespace
}  // namespace refrain::arrays::kernels::REFRAIN_VARIANT
