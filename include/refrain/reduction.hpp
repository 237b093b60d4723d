#pragma once
// Reduction operators.
//
// A reducing task (each point of a group) sees an accumulator that starts at the operator's identity;
// when the task has ended the accumulator is folded into the region, launches in launch order, points
// in the order of their domain. So the bits are the same in every run (unless the program gives the order
// up: RegionArgument::relaxed). An operator promises
//   fold(x, identity) == x   bit for bit, for every x,
// which lets the runtime skip what a task never touched. Hence the identity of floating-point + is
// -0.0: x + -0.0 is x for every x, whereas -0.0 + 0.0 would be 0.0.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>

#include "refrain/value_type.hpp"

namespace refrain {

namespace detail {

/// f(a, b); on integers modulo 2^bits, so that a sum or a product of many is defined, and the same
/// in every order.
template <class T, class F>
constexpr T wrapping(T a, T b, F f) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return static_cast<T>(
        f(static_cast<unsigned long long>(a), static_cast<unsigned long long>(b)));
  } else {
    return static_cast<T>(f(a, b));
  }
}

}  // namespace detail

struct Sum {
  static constexpr std::string_view name = "+";
  template <class T>
  static constexpr T identity() {
    if constexpr (std::is_floating_point_v<T>) return T(-0.0);
    else return T{};
  }
  template <class T>
  static constexpr T fold(T a, T b) {
    return detail::wrapping(a, b, [](auto x, auto y) { return x + y; });
  }
};

struct Product {
  static constexpr std::string_view name = "*";
  template <class T>
  static constexpr T identity() {
    return T(1);
  }
  template <class T>
  static constexpr T fold(T a, T b) {
    return detail::wrapping(a, b, [](auto x, auto y) { return x * y; });
  }
};

struct Min {
  static constexpr std::string_view name = "min";
  template <class T>
  static constexpr T identity() {
    if constexpr (std::numeric_limits<T>::has_infinity) return std::numeric_limits<T>::infinity();
    else return std::numeric_limits<T>::max();
  }
  template <class T>
  static constexpr T fold(T a, T b) {
    return b < a ? b : a;
  }
};

struct Max {
  static constexpr std::string_view name = "max";
  template <class T>
  static constexpr T identity() {
    if constexpr (std::numeric_limits<T>::has_infinity) return -std::numeric_limits<T>::infinity();
    else return std::numeric_limits<T>::lowest();
  }
  template <class T>
  static constexpr T fold(T a, T b) {
    return a < b ? b : a;
  }
};

/// An operator with its type forgotten, for the run-time API. `name` and `type` identify it. It lives as long as the
/// runtime: what is remembered of a launch points to it.
struct ReductionOp {
  std::string_view name;
  const ValueType* type = nullptr;
  /// Writes the identity into `count` consecutive values.
  void (*initialise)(void* values, std::size_t count) = nullptr;
  /// values[i] = fold(values[i], contributions[i]); strides in bytes.
  void (*fold)(void* values, std::ptrdiff_t value_stride, const void* contributions,
               std::ptrdiff_t contribution_stride, std::size_t count) = nullptr;
};

namespace detail {

template <class Op, class T>
void initialise_values(void* values, std::size_t count) {
  T* v = static_cast<T*>(values);
  for (std::size_t i = 0; i < count; ++i) v[i] = Op::template identity<T>();
}

template <class Op, class T>
void fold_values(void* values, std::ptrdiff_t value_stride, const void* contributions,
                 std::ptrdiff_t contribution_stride, std::size_t count) {
  if (value_stride == sizeof(T) && contribution_stride == sizeof(T)) {  // so that it vectorises
    T* __restrict v = static_cast<T*>(values);
    const T* __restrict c = static_cast<const T*>(contributions);
    for (std::size_t i = 0; i < count; ++i) v[i] = Op::fold(v[i], c[i]);
    return;
  }
  auto* v = static_cast<std::byte*>(values);
  auto* c = static_cast<const std::byte*>(contributions);
  for (std::size_t i = 0; i < count; ++i, v += value_stride, c += contribution_stride) {
    T& value = *reinterpret_cast<T*>(v);
    value = Op::fold(value, *reinterpret_cast<const T*>(c));
  }
}

/// Whether Op is one on T.
template <class Op, class T>
concept Operator = requires(T a) {
  { Op::name } -> std::convertible_to<std::string_view>;
  { Op::template identity<T>() } -> std::convertible_to<T>;
  { Op::fold(a, a) } -> std::convertible_to<T>;
};

template <class Op, class T>
constexpr ReductionOp make_reduction_op() {
  static_assert(Operator<Op, T>,
                "a reduction operator has a static member name, and static member functions "
                "template <class T> T identity() and fold(T, T), as refrain::Sum has");
  if constexpr (Operator<Op, T>)
    return {Op::name, &value_type<T>(), &initialise_values<Op, T>, &fold_values<Op, T>};
  else return {};
}

}  // namespace detail

/// The run-time description of operator Op (Sum, Product, Min, Max, or a struct of the same shape) on T.
template <class Op, class T>
inline constexpr ReductionOp reduction_op = detail::make_reduction_op<Op, T>();

}  // namespace refrain
