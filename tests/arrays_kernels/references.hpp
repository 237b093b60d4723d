#pragma once
// What each operation gives for one element, computed in the plainest way, by NumPy's rules.

#include <cmath>
#include <optional>
#include <sstream>
#include <string>

#include "operands.hpp"

namespace refrain::arrays::kernels {

// --- Real numbers and bool ------------------------------------------------------------------------------------------

template <class T>
T floor_quotient(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    if (b == -1) return static_cast<T>(-static_cast<std::make_unsigned_t<T>>(a));
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  } else {
    if (b == 0) return a / b;
    T rest = std::fmod(a, b);
    T quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) rest += b, quotient -= 1;
    if (quotient == 0) return std::copysign(T(0), a / b);
    T whole = std::floor(quotient);
    if (quotient - whole > T(0.5)) whole += 1;
    return whole;
  }
}
template <class T>
T floor_rest(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0 || b == -1) return 0;
    const T rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  } else {
    T rest = std::fmod(a, b);
    if (b == 0) return rest;
    if (rest == 0) return std::copysign(T(0), b);
    if ((b < 0) != (rest < 0)) rest += b;
    return rest;
  }
}
template <class T>
T whole_power(T a, T b) {
  if (b < 0) return a == 1 ? T{1} : a == -1 ? (b % 2 != 0 ? T{-1} : T{1}) : T{0};
  std::make_unsigned_t<T> result = 1, factor = static_cast<std::make_unsigned_t<T>>(a);
  for (; b > 0; b /= 2) {
    if (b % 2 != 0) result *= factor;
    factor *= factor;
  }
  return static_cast<T>(result);
}
template <class T>
T sign_of(T a) {
  return a > 0 ? T(1) : a < 0 ? T(-1) : a == 0 ? T(0) : a;
}
template <class T>
T larger_of(T a, T b) {
  return a > b || a != a ? a : b;
}
template <class T>
T smaller_of(T a, T b) {
  return a < b || a != a ? a : b;
}

/// Integers and bool: exactly.
template <class T>
T whole_result(Op op, T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    switch (op) {
      case Op::add:
      case Op::bit_or:
      case Op::maximum: return a || b;
      case Op::multiply:
      case Op::bit_and:
      case Op::minimum: return a && b;
      case Op::bit_xor: return a != b;
      case Op::invert: return !a;
      case Op::imag: return false;
      default: return a;  // absolute, real
    }
  } else {
    using U = std::make_unsigned_t<T>;
    const U u = static_cast<U>(a), v = static_cast<U>(b);
    switch (op) {
      case Op::add: return static_cast<T>(u + v);
      case Op::subtract: return static_cast<T>(u - v);
      case Op::multiply: return static_cast<T>(u * v);
      case Op::square: return static_cast<T>(u * u);
      case Op::floor_divide: return floor_quotient(a, b);
      case Op::remainder: return floor_rest(a, b);
      case Op::power: return whole_power(a, b);
      case Op::maximum: return std::max(a, b);
      case Op::minimum: return std::min(a, b);
      case Op::bit_and: return a & b;
      case Op::bit_or: return a | b;
      case Op::bit_xor: return a ^ b;
      case Op::invert: return ~a;
      case Op::negative: return static_cast<T>(U{0} - u);
      case Op::absolute: return a < 0 ? static_cast<T>(U{0} - u) : a;
      case Op::sign: return sign_of(a);
      case Op::reciprocal:
        return a == 0 ? std::numeric_limits<T>::min() : a == 1 || a == -1 ? a : T{0};
      case Op::imag: return 0;
      default: return a;  // real, conjugate
    }
  }
}

/// Floating-point numbers: what IEEE 754 or NumPy's rule says to the bit.
template <class T>
std::optional<T> exact_result(Op op, T a, T b) {
  switch (op) {
    case Op::add: return a + b;
    case Op::subtract: return a - b;
    case Op::multiply: return a * b;
    case Op::divide: return a / b;
    case Op::floor_divide: return floor_quotient(a, b);
    case Op::remainder: return floor_rest(a, b);
    case Op::maximum: return larger_of(a, b);
    case Op::minimum: return smaller_of(a, b);
    case Op::negative: return -a;
    case Op::absolute: return std::abs(a);
    case Op::sign: return sign_of(a);
    case Op::square: return a * a;
    case Op::reciprocal: return 1 / a;
    case Op::sqrt: return std::sqrt(a);
    case Op::floor: return std::floor(a);
    case Op::ceil: return std::ceil(a);
    case Op::trunc: return std::trunc(a);
    case Op::rint: return std::rint(a);
    case Op::real:
    case Op::conjugate: return a;
    case Op::imag: return T(0);
    case Op::power:
      if (b == -1) return 1 / a;
      if (b == 1) return a;
      if (b == 2) return a * a;
      return std::nullopt;
    default: return std::nullopt;
  }
}
/// Functions: in a wider type, for comparison within a few units of the last place.
template <class W>
W function_result(Op op, W a, W b) {
  switch (op) {
    case Op::power: return std::pow(a, b);
    case Op::arctan2: return std::atan2(a, b);
    case Op::hypot: return std::hypot(a, b);
    case Op::cbrt: return std::cbrt(a);
    case Op::exp: return std::exp(a);
    case Op::exp2: return std::exp2(a);
    case Op::expm1: return std::expm1(a);
    case Op::log: return std::log(a);
    case Op::log2: return std::log2(a);
    case Op::log10: return std::log10(a);
    case Op::log1p: return std::log1p(a);
    case Op::sin: return std::sin(a);
    case Op::cos: return std::cos(a);
    case Op::tan: return std::tan(a);
    case Op::arcsin: return std::asin(a);
    case Op::arccos: return std::acos(a);
    case Op::arctan: return std::atan(a);
    case Op::sinh: return std::sinh(a);
    case Op::cosh: return std::cosh(a);
    case Op::tanh: return std::tanh(a);
    default: return W(12345);
  }
}
/// Within four units of the last place, zeros with their signs, and infinite and NaN alike.
template <class T, class W>
bool close(T got, W exact) {
  const T rounded = static_cast<T>(exact);
  if (same(got, rounded)) return true;
  if (got != got || rounded != rounded || (got == 0 && rounded == 0)) return false;
  if (std::isinf(got) || std::isinf(rounded)) return false;
  const T next = std::nextafter(std::abs(rounded), std::numeric_limits<T>::infinity());
  const T unit = std::isinf(next) ? std::abs(rounded) - std::nextafter(std::abs(rounded), T(0))
                                  : next - std::abs(rounded);
  return std::abs(static_cast<W>(got) - exact) <= 4 * static_cast<W>(unit);
}

// --- Complex numbers ------------------------------------------------------------------------------------------------

inline bool whole_number(C a) { return a.real() == a.real() && a.imag() == a.imag(); }
inline bool complex_less(C a, C b, bool or_equal) {
  if (a.real() < b.real()) return a.imag() == a.imag() && b.imag() == b.imag();
  return a.real() == b.real() && (or_equal ? a.imag() <= b.imag() : a.imag() < b.imag());
}
inline C complex_product(C a, C b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
inline C complex_quotient(C a, C b) {
  if (std::abs(b.real()) >= std::abs(b.imag())) {
    const double zero = std::abs(b.real());
    if (zero == 0 && b.imag() == 0) return {a.real() / zero, a.imag() / zero};
    const double ratio = b.imag() / b.real(), scale = 1 / (b.real() + b.imag() * ratio);
    return {(a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale};
  }
  const double ratio = b.real() / b.imag(), scale = 1 / (b.imag() + b.real() * ratio);
  return {(a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale};
}
inline C complex_reciprocal(C a) {
  if (std::abs(a.imag()) <= std::abs(a.real())) {
    const double ratio = a.imag() / a.real(), divisor = a.real() + a.imag() * ratio;
    return {1 / divisor, -ratio / divisor};
  }
  const double ratio = a.real() / a.imag(), divisor = a.real() * ratio + a.imag();
  return {ratio / divisor, -1 / divisor};
}
inline C complex_sign(C a) {
  const C zero = 0;
  if (complex_less(zero, a, false)) return 1;
  if (complex_less(a, zero, false)) return -1;
  return a == zero ? 0.0 : std::numeric_limits<double>::quiet_NaN();
}
inline C complex_power(C a, C b) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (b == C(0)) return 1;
  if (a == C(0)) return b.real() > 0 && b.imag() == 0 ? C(0) : C(nan, nan);
  const auto n = std::abs(b.real()) < 100 ? static_cast<int>(b.real()) : 0;
  if (b.imag() != 0 || n != b.real() || n == 0) return std::pow(a, b);
  if (n == 1) return a;
  C result = 1, factor = a;
  if (n == 2) return complex_product(a, a);
  if (n == 3) return complex_product(a, complex_product(a, a));
  for (int rest = std::abs(n); rest != 0;) {
    if (rest % 2 != 0) result = complex_product(result, factor);
    rest /= 2;
    if (rest != 0) factor = complex_product(factor, factor);
  }
  return n < 0 ? complex_quotient(1, result) : result;
}
inline C complex_result(Op op, C a, C b) {
  switch (op) {
    case Op::add: return {a.real() + b.real(), a.imag() + b.imag()};
    case Op::subtract: return {a.real() - b.real(), a.imag() - b.imag()};
    case Op::multiply: return complex_product(a, b);
    case Op::divide: return complex_quotient(a, b);
    case Op::power: return complex_power(a, b);
    case Op::maximum: return !whole_number(a) || complex_less(b, a, true) ? a : b;
    case Op::minimum: return !whole_number(a) || complex_less(a, b, true) ? a : b;
    case Op::negative: return {-a.real(), -a.imag()};
    case Op::sign: return complex_sign(a);
    case Op::square: return complex_product(a, a);
    case Op::reciprocal: return complex_reciprocal(a);
    case Op::sqrt: return std::sqrt(a);
    case Op::exp: return std::exp(a);
    case Op::log: return std::log(a);
    case Op::log2: return {std::log(a).real() * M_LOG2E, std::log(a).imag() * M_LOG2E};
    case Op::log10: return {std::log(a).real() * M_LOG10E, std::log(a).imag() * M_LOG10E};
    case Op::sin: return std::sin(a);
    case Op::cos: return std::cos(a);
    case Op::tan: return std::tan(a);
    default: return {a.real(), -a.imag()};  // conjugate
  }
}

// --- Any type -------------------------------------------------------------------------------------------------------

/// The results that are bool, whatever the type.
template <class T>
std::optional<bool> truth_result(Op op, T a, T b) {
  const bool x = a != T(0), y = b != T(0);
  switch (op) {
    case Op::equal: return a == b;
    case Op::not_equal: return a != b;
    case Op::logical_and: return x && y;
    case Op::logical_or: return x || y;
    case Op::logical_xor: return x != y;
    case Op::logical_not: return !x;
    default: break;
  }
  if constexpr (std::is_same_v<T, C>) {
    const auto of_parts = [&](auto test) { return test(a.real()) || test(a.imag()); };
    switch (op) {
      case Op::less: return complex_less(a, b, false);
      case Op::less_equal: return complex_less(a, b, true);
      case Op::greater: return complex_less(b, a, false);
      case Op::greater_equal: return complex_less(b, a, true);
      case Op::isnan: return of_parts([](double v) { return std::isnan(v); });
      case Op::isinf: return of_parts([](double v) { return std::isinf(v); });
      case Op::isfinite: return !of_parts([](double v) { return !std::isfinite(v); });
      default: return std::nullopt;
    }
  } else {
    switch (op) {
      case Op::less: return a < b;
      case Op::less_equal: return a <= b;
      case Op::greater: return a > b;
      case Op::greater_equal: return a >= b;
      case Op::isnan: return std::isnan(static_cast<double>(a));
      case Op::isinf: return std::isinf(static_cast<double>(a));
      case Op::isfinite: return std::isfinite(static_cast<double>(a));
      default: return std::nullopt;
    }
  }
}

template <class T, class R>
std::optional<std::string> mismatch(T a, T b, const void* result, R expected,
                                    bool function = false) {
  R got;
  std::memcpy(&got, result, sizeof(got));
  if (same(got, expected)) return std::nullopt;
  if constexpr (std::is_same_v<R, double>) {
    if (function && close(got, expected)) return std::nullopt;
  }
  std::ostringstream text;
  text.precision(17);
  text << "of " << a << " and " << b << " it is " << got << ", not " << expected;
  return text.str();
}

/// What is wrong with a result, if anything is.
template <class T>
std::optional<std::string> wrong_result(Op op, bool condition, T a, T b, const void* result) {
  if (op == Op::where) return mismatch(a, b, result, condition ? a : b);
  if (const std::optional<bool> truth = truth_result(op, a, b)) {
    return mismatch(a, b, result, static_cast<std::uint8_t>(*truth));
  }
  if constexpr (std::is_same_v<T, C>) {
    if (op == Op::absolute) return mismatch(a, b, result, std::hypot(a.real(), a.imag()), true);
    if (op == Op::real) return mismatch(a, b, result, a.real());
    if (op == Op::imag) return mismatch(a, b, result, a.imag());
    return mismatch(a, b, result, complex_result(op, a, b));
  } else if constexpr (std::is_integral_v<T>) {
    return mismatch(a, b, result, static_cast<Cell<T>>(whole_result<T>(op, a, b)));
  } else {
    if (const std::optional<T> exact = exact_result(op, a, b))
      return mismatch(a, b, result, *exact);
    using Wide = std::conditional_t<sizeof(T) == 4, double, long double>;
    const Wide exact = function_result<Wide>(op, a, b);
    T got;
    std::memcpy(&got, result, sizeof(got));
    if (close(got, exact)) return std::nullopt;
    return mismatch(a, b, result, static_cast<T>(exact));
  }
}

}  // namespace refrain::arrays::kernels
