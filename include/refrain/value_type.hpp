#pragma once
// What the runtime knows of a C++ type whose values live in regions: its size, alignment and name.

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace refrain {

/// Whether a value of T that is computed alike has the same bytes in every process: it has no padding and no addresses.
/// Where several processes run a program, such values are compared (docs/control-replication.md). Specialise it for types
/// of your own.
template <class T>
inline constexpr bool has_equal_bytes = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <class T, std::size_t N>
inline constexpr bool has_equal_bytes<std::array<T, N>> = N > 0 && has_equal_bytes<T>;
template <class T>
inline constexpr bool has_equal_bytes<std::complex<T>> = has_equal_bytes<T>;
template <>
inline constexpr bool has_equal_bytes<long double> = false;

/// Describes a trivially copyable type. One object per type and module; equal types compare equal by
/// content, so that two shared libraries agree.
struct ValueType {
  std::size_t size = 0;
  std::size_t alignment = 0;
  std::string_view name;
  bool has_equal_bytes = false;
  friend constexpr bool operator==(const ValueType& a, const ValueType& b) {
    return a.size == b.size && a.alignment == b.alignment && a.name == b.name;
  }
};

namespace detail {

// "... [with T = double]" or "... [T = double]": the compiler's own spelling of T.
template <class T>
constexpr std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  auto begin = text.find("T = ") + 4;
  auto end = text.find_first_of(";]", begin);
  return text.substr(begin, end - begin);
}

// FNV-1a, usable at compile time: field names become keys without any work at run time.
constexpr std::uint64_t hash_name(std::string_view name) {
  std::uint64_t hash = 14695981039346656037ull;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

template <class T>
inline constexpr ValueType value_type_of{sizeof(T), alignof(T), type_name<T>(), has_equal_bytes<T>};

}  // namespace detail

/// The description of T. The reference is valid for the whole run of the program.
template <class T>
constexpr const ValueType& value_type() {
  static_assert(std::is_trivially_copyable_v<T>,
                "region fields hold trivially copyable types: they are copied between memories");
  return detail::value_type_of<T>;
}

}  // namespace refrain
