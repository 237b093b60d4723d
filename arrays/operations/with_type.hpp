#pragma once
// From the type of elements, known at run time, to the C++ type that holds them.

#include <complex>
#include <cstdint>
#include <type_traits>

#include "refrain/arrays/dtype.hpp"

namespace refrain::arrays::detail {

/// Calls f with a value of the C++ type that holds elements of this type.
template <class F>
decltype(auto) with_type(DType type, F&& f) {
  switch (type) {
    case DType::boolean: return f(std::uint8_t{});
    case DType::int32: return f(std::int32_t{});
    case DType::int64: return f(std::int64_t{});
    case DType::float32: return f(float{});
    case DType::float64: return f(double{});
    case DType::complex128: break;
  }
  return f(std::complex<double>{});
}

/// NumPy's addition: integers wrap, and of truth values it is "or".
template <class T>
T plus(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, std::uint8_t>) return a | b;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else return a + b;
}

}  // namespace refrain::arrays::detail
