// SLEEF's promise that the loops stand on: within a family, every width gives the same bits. The plainest width, one
// element at a time in C, against the loops.

// The header hides the family with fused multiply-add from code that is not compiled for it.
#ifndef FP_FAST_FMA
#define FP_FAST_FMA 1
#endif
#ifndef FP_FAST_FMAF
#define FP_FAST_FMAF 1
#endif
#include <gtest/gtest.h>
#include <sleef.h>

#include <cmath>

#include "operands.hpp"

namespace refrain::arrays::kernels::families_test {
namespace {

template <class T>
using One = T (*)(T);
template <class T>
using Two = T (*)(T, T);

template <class T>
struct Function {
  Op op;
  One<T> without_fma, with_fma;
  T bound;  ///< beyond it the loop has a formula of its own
};
#define REFRAIN_FUNCTION(type, op, name, bound)                                         \
  {                                                                                     \
    Op::op, [](type a) -> type { return Sleef_cinz_##name##1_u10purec(a); },            \
        [](type a) -> type { return Sleef_finz_##name##1_u10purecfma(a); }, type(bound) \
  }
#define REFRAIN_FUNCTIONS(type, t, early, late)            \
  {                                                        \
    REFRAIN_FUNCTION(type, cbrt, cbrt##t, INFINITY),       \
        REFRAIN_FUNCTION(type, exp, exp##t, INFINITY),     \
        REFRAIN_FUNCTION(type, exp2, exp2##t, INFINITY),   \
        REFRAIN_FUNCTION(type, expm1, expm1##t, INFINITY), \
        REFRAIN_FUNCTION(type, log, log##t, INFINITY),     \
        REFRAIN_FUNCTION(type, log2, log2##t, INFINITY),   \
        REFRAIN_FUNCTION(type, log10, log10##t, INFINITY), \
        REFRAIN_FUNCTION(type, log1p, log1p##t, late),     \
        REFRAIN_FUNCTION(type, sin, sin##t, INFINITY),     \
        REFRAIN_FUNCTION(type, cos, cos##t, INFINITY),     \
        REFRAIN_FUNCTION(type, tan, tan##t, INFINITY),     \
        REFRAIN_FUNCTION(type, arcsin, asin##t, INFINITY), \
        REFRAIN_FUNCTION(type, arccos, acos##t, INFINITY), \
        REFRAIN_FUNCTION(type, arctan, atan##t, INFINITY), \
        REFRAIN_FUNCTION(type, sinh, sinh##t, early),      \
        REFRAIN_FUNCTION(type, cosh, cosh##t, early),      \
        REFRAIN_FUNCTION(type, tanh, tanh##t, INFINITY)    \
  }
const Function<float> kFloats[] = REFRAIN_FUNCTIONS(float, f, 88, 1e30);
const Function<double> kDoubles[] = REFRAIN_FUNCTIONS(double, d, 709, 1e300);

bool fused(Variant variant) { return variant != Variant::baseline; }

template <class T, std::size_t N>
void expect_same_family(const Function<T> (&functions)[N]) {
  std::mt19937_64 random(5);
  const auto a = random_values<T>(20001, random);
  std::vector<T> results(a.size());
  for (const Variant variant : variants_here()) {
    for (const Function<T>& function : functions) {
      const Loop loop = find_variant(variant)->find_loop(function.op, dtype_of<T>, 0);
      loop(a.size(), results.data(), a.data(), nullptr, nullptr);
      const One<T> one = fused(variant) ? function.with_fma : function.without_fma;
      for (std::size_t i = 0; i < a.size(); ++i) {
        if (std::abs(a[i]) > function.bound) continue;
        ASSERT_TRUE(same(results[i], one(a[i])))
            << name_of(function.op) << ' ' << a[i] << " variant " << static_cast<int>(variant);
      }
    }
  }
}

template <class T>
void expect_same_family_of_two(Op op, Two<T> without_fma, Two<T> with_fma) {
  std::mt19937_64 random(6);
  const auto a = random_values<T>(20001, random), b = random_values<T>(20001, random);
  std::vector<T> results(a.size());
  for (const Variant variant : variants_here()) {
    find_variant(variant)->find_loop(op, dtype_of<T>, 0)(a.size(), results.data(), a.data(),
                                                         b.data(), nullptr);
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (op == Op::power && (b[i] == -1 || b[i] == T(0.5) || b[i] == 1 || b[i] == 2)) continue;
      ASSERT_TRUE(same(results[i], (fused(variant) ? with_fma : without_fma)(a[i], b[i])))
          << name_of(op) << ' ' << a[i] << ' ' << b[i] << " variant " << static_cast<int>(variant);
    }
  }
}

TEST(Families, GiveTheSameBitsInEveryWidth) {
  expect_same_family(kFloats);
  expect_same_family(kDoubles);
}

TEST(Families, GiveTheSameBitsInEveryWidthForTwoOperands) {
#define REFRAIN_EXPECT(type, op, name)                                               \
  expect_same_family_of_two<type>(                                                   \
      Op::op, [](type a, type b) -> type { return Sleef_cinz_##name##purec(a, b); }, \
      [](type a, type b) -> type { return Sleef_finz_##name##purecfma(a, b); })
  REFRAIN_EXPECT(float, arctan2, atan2f1_u10);
  REFRAIN_EXPECT(double, arctan2, atan2d1_u10);
  REFRAIN_EXPECT(float, hypot, hypotf1_u05);
  REFRAIN_EXPECT(double, hypot, hypotd1_u05);
  REFRAIN_EXPECT(float, power, powf1_u10);
  REFRAIN_EXPECT(double, power, powd1_u10);
#undef REFRAIN_EXPECT
}

}  // namespace
}  // namespace refrain::arrays::kernels::families_test
