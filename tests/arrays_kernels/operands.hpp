#pragma once
// Operands for the loops: special values of each type and random ones, and how results are compared.

#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "kernels/variants.hpp"

namespace refrain::arrays::kernels {

using C = std::complex<double>;
template <class T>
using Cell = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

inline std::vector<Variant> variants_here() {
  std::vector<Variant> found;
  for (int v = 0; v < kVariants; ++v) {
    if (find_variant(static_cast<Variant>(v)) != nullptr) found.push_back(static_cast<Variant>(v));
  }
  return found;
}

template <class T>
std::vector<Cell<T>> specials() {
  using L = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>) {
    return {0, 1};
  } else if constexpr (std::is_same_v<T, C>) {
    std::vector<C> values;
    const double parts[] = {0.0,
                            -0.0,
                            1.0,
                            -1.5,
                            1e300,
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()};
    for (const double re : parts) {
      for (const double im : parts) values.emplace_back(re, im);
    }
    return values;
  } else if constexpr (std::is_integral_v<T>) {
    return {0, 1, -1, 2, -2, 3, 7, -7, 64, L::max(), L::min(), L::min() + 1, L::max() - 1};
  } else {
    std::vector<T> values = {0,
                             1,
                             0.5,
                             2,
                             3,
                             0.1,
                             10,
                             88.5,
                             89,
                             100,
                             709.5,
                             710.25,
                             711,
                             746,
                             1e5,
                             T(1e9),
                             T(2147483648.0),
                             T(9.3e18),
                             T(1e22),
                             T(1e37),
                             L::infinity(),
                             L::quiet_NaN(),
                             L::max(),
                             L::min(),
                             L::denorm_min(),
                             L::min() / 3};
    for (std::size_t i = 0, n = values.size(); i < n; ++i) values.push_back(-values[i]);
    return values;
  }
}

template <class T>
Cell<T> random_value(std::mt19937_64& random) {
  static const std::vector<Cell<T>> special = specials<T>();
  if (random() % 4 == 0) return special[random() % special.size()];
  if constexpr (std::is_same_v<T, bool>) {
    return random() & 1;
  } else if constexpr (std::is_same_v<T, C>) {
    return {random_value<double>(random), random_value<double>(random)};
  } else if constexpr (std::is_integral_v<T>) {
    return random() % 2 == 0 ? static_cast<T>(random()) : static_cast<T>(random() % 101) - 50;
  } else {
    const auto bits =
        static_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(random());
    if (random() % 4 == 0) {
      T value;
      std::memcpy(&value, &bits, sizeof(value));
      return value;
    }
    const T scales[] = {T(1e-3), 1, 4, 100, 800, T(1e6)};
    return std::uniform_real_distribution<T>(-1, 1)(random) * scales[random() % 6];
  }
}
template <class T>
std::vector<Cell<T>> random_values(std::size_t count, std::mt19937_64& random) {
  std::vector<Cell<T>> values(count);
  for (auto& value : values) value = random_value<T>(random);
  return values;
}

/// Pairs of special values in all combinations come first.
template <class T>
std::pair<std::vector<Cell<T>>, std::vector<Cell<T>>> operand_pairs(std::size_t random_count,
                                                                    std::mt19937_64& random) {
  std::pair<std::vector<Cell<T>>, std::vector<Cell<T>>> pairs;
  for (const auto a : specials<T>()) {
    for (const auto b : specials<T>()) pairs.first.push_back(a), pairs.second.push_back(b);
  }
  for (std::size_t i = 0; i < random_count; ++i) {
    pairs.first.push_back(random_value<T>(random));
    pairs.second.push_back(random_value<T>(random));
  }
  return pairs;
}

/// The same bits, or both NaN: which NaN it is, nothing promises.
template <class T>
bool same(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, C>) {
    return same(a.real(), b.real()) && same(a.imag(), b.imag());
  } else if constexpr (std::is_floating_point_v<T>) {
    return (a != a && b != b) || std::memcmp(&a, &b, sizeof(T)) == 0;
  } else {
    return a == b;
  }
}
inline bool same_bytes(const void* a, const void* b, DType type) {
  const auto compare = [&]<class T>(T) {
    T x, y;
    std::memcpy(&x, a, sizeof(T));
    std::memcpy(&y, b, sizeof(T));
    return same(x, y);
  };
  switch (type) {
    case DType::float32: return compare(float{});
    case DType::float64: return compare(double{});
    case DType::complex128: return compare(C{});
    default: return std::memcmp(a, b, size_of(type)) == 0;
  }
}

/// Calls f with a value of each of the types, for its type.
template <class F>
void for_each_type(F f) {
  f(bool{}), f(std::int32_t{}), f(std::int64_t{}), f(float{}), f(double{}), f(C{});
}

}  // namespace refrain::arrays::kernels
