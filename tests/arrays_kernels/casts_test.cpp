#include <gtest/gtest.h>

#include <cmath>

#include "operands.hpp"

namespace refrain::arrays::kernels::casts_test {
namespace {

/// The conversion instructions of x86: what does not fit is the lowest number.
template <class To>
To to_integer(double a) {
  const double bound = std::ldexp(1.0, 8 * sizeof(To) - 1);
  const double whole = std::trunc(a);
  return whole >= -bound && whole < bound ? static_cast<To>(whole) : std::numeric_limits<To>::min();
}
template <class To, class From>
To expected_cast(From a) {
  if constexpr (std::is_same_v<From, To>) {
    return a;
  } else if constexpr (std::is_same_v<To, bool>) {
    return a != From(0);
  } else if constexpr (std::is_same_v<From, C>) {
    return expected_cast<To>(a.real());
  } else if constexpr (std::is_same_v<To, C>) {
    return {static_cast<double>(a), 0};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return to_integer<To>(a);
  } else {
    return static_cast<To>(a);
  }
}

template <class From, class To>
void expect_casts(Variant variant, std::mt19937_64& random) {
  auto values = specials<From>();
  if constexpr (std::is_floating_point_v<From>) {
    for (const double edge :
         {2147483647.5, -2147483648.5, -2147483649.0, 4294967296.5, 0.9999, -0.5}) {
      values.push_back(static_cast<From>(edge));
    }
  }
  for (int i = 0; i < 1003; ++i) values.push_back(random_value<From>(random));
  std::vector<Cell<To>> results(values.size() + 1);
  const Loop loop = find_variant(variant)->find_cast(dtype_of<From>, dtype_of<To>);
  ASSERT_NE(loop, nullptr);
  for (const std::size_t offset : {0UL, 1UL, 13UL}) {
    loop(values.size() - offset, &results[offset], &values[offset], nullptr, nullptr);
    for (std::size_t i = offset; i < values.size(); ++i) {
      const Cell<To> expected = expected_cast<To>(static_cast<From>(values[i]));
      ASSERT_TRUE(same(results[i], expected))
          << name_of(dtype_of<From>) << " to " << name_of(dtype_of<To>) << ' ' << values[i] << ": "
          << results[i] << ", not " << expected;
    }
  }
}

TEST(Casts, GiveWhatNumPyGives) {
  std::mt19937_64 random(1);
  for (const Variant variant : variants_here()) {
    for_each_type([&]<class From>(From) {
      for_each_type([&]<class To>(To) { expect_casts<From, To>(variant, random); });
    });
  }
}

TEST(DTypes, AreNamedAndPromotedAsInNumPy) {
  EXPECT_EQ(name_of(DType::boolean), "bool");
  EXPECT_EQ(name_of(DType::complex128), "complex128");
  using enum DType;
  const DType promoted[kDTypes][kDTypes] = {
      {boolean, int32, int64, float32, float64, complex128},
      {int32, int32, int64, float64, float64, complex128},
      {int64, int64, int64, float64, float64, complex128},
      {float32, float64, float64, float32, float64, complex128},
      {float64, float64, float64, float64, float64, complex128},
      {complex128, complex128, complex128, complex128, complex128, complex128}};
  for (int a = 0; a < kDTypes; ++a) {
    for (int b = 0; b < kDTypes; ++b) {
      EXPECT_EQ(promote(static_cast<DType>(a), static_cast<DType>(b)), promoted[a][b]);
    }
  }
  EXPECT_EQ(promote(float32, Kind::floating), float32);
  EXPECT_EQ(promote(float32, Kind::integer), float32);
  EXPECT_EQ(promote(int32, Kind::integer), int32);
  EXPECT_EQ(promote(int32, Kind::floating), float64);
  EXPECT_EQ(promote(boolean, Kind::integer), int64);
  EXPECT_EQ(promote(float32, Kind::complex), complex128);
}

}  // namespace
}  // namespace refrain::arrays::kernels::casts_test
