#pragma once
// The types of an array's elements. Names and rules are NumPy's; what two types give together is in
// promote().

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace refrain::arrays {

/// In the order of NumPy's kinds: bool, integers, floating point, complex.
enum class DType : std::uint8_t { boolean, int32, int64, float32, float64, complex128 };
inline constexpr int kDTypes = 6;

/// "bool", "int32", ... as NumPy prints them.
[[nodiscard]] std::string_view name_of(DType type) noexcept;
[[nodiscard]] constexpr std::size_t size_of(DType type) noexcept {
  constexpr std::size_t sizes[kDTypes] = {1, 4, 8, 4, 8, 16};
  return sizes[static_cast<int>(type)];
}

/// The kind of a type, as NumPy's dtype.kind: 'b', 'i', 'f', 'c', in this order.
enum class Kind : std::uint8_t { boolean, integer, floating, complex };
[[nodiscard]] constexpr Kind kind_of(DType type) noexcept {
  constexpr Kind kinds[kDTypes] = {Kind::boolean,  Kind::integer,  Kind::integer,
                                   Kind::floating, Kind::floating, Kind::complex};
  return kinds[static_cast<int>(type)];
}

/// The type in which both are computed with (numpy.promote_types).
[[nodiscard]] DType promote(DType a, DType b) noexcept;
/// An array's type together with a plain number, of which only the kind counts: float32 with 2.5 is float32,
/// int32 with 2.5 is float64.
[[nodiscard]] DType promote(DType array, Kind number) noexcept;
/// Of arrays made of plain numbers of this kind: bool, int64, float64, complex128.
[[nodiscard]] constexpr DType default_type(Kind kind) noexcept {
  constexpr DType types[] = {DType::boolean, DType::int64, DType::float64, DType::complex128};
  return types[static_cast<int>(kind)];
}
/// May values go from one to the other without a loss of kind (casting "same_kind")?
[[nodiscard]] constexpr bool same_kind(DType from, DType to) noexcept {
  return kind_of(from) <= kind_of(to);
}

namespace detail {
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<bool> : std::integral_constant<DType, DType::boolean> {};
template <>
struct DTypeOf<std::int32_t> : std::integral_constant<DType, DType::int32> {};
template <>
struct DTypeOf<std::int64_t> : std::integral_constant<DType, DType::int64> {};
template <>
struct DTypeOf<float> : std::integral_constant<DType, DType::float32> {};
template <>
struct DTypeOf<double> : std::integral_constant<DType, DType::float64> {};
template <>
struct DTypeOf<std::complex<double>> : std::integral_constant<DType, DType::complex128> {};
}  // namespace detail

/// A C++ type that arrays can hold.
template <class T>
concept Element = requires {
  detail::DTypeOf<T>::value;
};
template <Element T>
inline constexpr DType dtype_of = detail::DTypeOf<T>::value;

}  // namespace refrain::arrays
