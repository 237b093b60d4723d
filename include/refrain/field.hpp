#pragma once
// Fields: the named, typed columns of a region.

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "refrain/value_type.hpp"

namespace refrain {

/// A field with its type forgotten. Two fields of a region are the same when name and type are.
struct AnyField {
  std::string_view name;
  std::uint64_t key = 0;  ///< hash of the name, so that a launch compares one number
  const ValueType* type = nullptr;

  constexpr AnyField() = default;
  /// The name and the type must live as long as the field is used.
  constexpr AnyField(std::string_view field_name, const ValueType& field_type)
      : name(field_name), key(detail::hash_name(field_name)), type(&field_type) {}
};

namespace detail {

/// An equal name that lives as long as the process. Any thread.
std::string_view kept_name(const std::string& name);

}  // namespace detail

/// A field holding one T per point: `static constexpr Field<double> state{"state"};`.
template <class T>
struct Field : AnyField {
  using value_type = T;
  /// The name must live as long as the program (a string literal does).
  constexpr explicit Field(std::string_view field_name) : AnyField(field_name, value_type_of()) {}
  /// The name is kept: `Field<double> x("species " + std::to_string(k))`.
  template <std::same_as<std::string> Name>
  explicit Field(const Name& field_name) : Field(detail::kept_name(field_name)) {}

 private:
  static constexpr const ValueType& value_type_of() { return refrain::value_type<T>(); }
};

/// Several fields of one region or partition argument: `cells[fields(density, energy)]`. Its parameter is Fields<...>.
template <class... Ts>
std::tuple<Field<Ts>...> fields(const Field<Ts>&... each) {
  return {each...};
}

}  // namespace refrain
