#pragma once
// Arrays: dense, of one to three dimensions, with NumPy's meaning. An Array is a handle: copying one copies no
// elements, and what two handles see is one storage (as with names in Python). Views (`u["1:-1"]`) are handles, too.
//
//   Array u = np.zeros({n, n});      // a name for a new array
//   u = u * 0.5 + v;                 // the name now stands for another array
//   u["1:-1, 1:-1"] = v + 1.0;       // the elements of u are overwritten
//   double s = sum(u).item<double>();  // waits for the value; nothing above waits
//
// Calls return at once: the work is launched as tasks. All handles are used, and let go, by the thread that runs the
// context's program: what is launched, and in which storage, depends on the calls and on when handles end. Using one
// whose session has ended is an ArrayError. As with pointers, a handle's constness is not its elements'.

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <source_location>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "refrain/arrays/dtype.hpp"
#include "refrain/arrays/error.hpp"
#include "refrain/arrays/index.hpp"
#include "refrain/arrays/layout.hpp"
#include "refrain/arrays/shape.hpp"
#include "refrain/future.hpp"

namespace refrain::arrays {

class Operand;
class Session;

namespace detail {
class Value;
void retain(Value& value) noexcept;
void release(Value& value) noexcept;
}  // namespace detail

/// A handle of an array or of a view of one.
class Array {
 public:
  Array() = default;
  Array(const Array& other) noexcept
      : value_(other.value_), dtype_(other.dtype_), layout_(other.layout_) {
    if (value_ != nullptr) detail::retain(*value_);
  }
  Array(Array&& other) noexcept
      : value_(std::exchange(other.value_, nullptr)),
        dtype_(other.dtype_),
        layout_(other.layout_) {}
  ~Array() {
    if (value_ != nullptr) detail::release(*value_);
  }
  /// The handle now stands for the other array.
  Array& operator=(const Array& other) & noexcept {
    Array copy(other);
    swap(copy);
    return *this;
  }
  Array& operator=(Array&& other) & noexcept {
    Array moved(std::move(other));
    swap(moved);
    return *this;
  }
  /// The elements of a view are overwritten: `u["0, :"] = 1.0`, `u(i, all) = v`. Values are broadcast and cast
  /// (also float to int), and computed before any is written, so views of one array may overlap.
  void operator=(const Operand& values) &&;
  /// A name is no view: `a["..."] = 1.0` or `a.fill(1.0)` overwrites all elements, `a = np.full(...)` makes new ones.
  template <class Number>
    requires std::is_arithmetic_v<Number>
  void operator=(Number) & = delete;

  [[nodiscard]] bool empty_handle() const noexcept { return value_ == nullptr; }
  [[nodiscard]] const Shape& shape() const noexcept { return layout_.shape; }
  [[nodiscard]] int dims() const noexcept { return layout_.shape.dims(); }
  /// Number of elements.
  [[nodiscard]] Coord size() const noexcept { return layout_.shape.size(); }
  [[nodiscard]] DType dtype() const noexcept { return dtype_; }

  // --- views: the same elements ---------------------------------------------------------------------------

  /// `u["1:-1, 0"]`: constants, whose form the compiler checks. IndexError when out of range.
  Array operator[](const Subscript& subscript) const {
    return view({subscript.entries(), static_cast<std::size_t>(subscript.count())},
                subscript.where());
  }
  /// Positions that are no constants go in parentheses: `a(i)`.
  template <std::integral Position>
  Array operator[](Position) const = delete;
  /// `u(i, slice(a, b), all)`: with values of the program. IndexError when out of range.
  Array operator()(Index a, Where where = Where::current()) const { return list(where, a); }
  Array operator()(Index a, Index b, Where where = Where::current()) const {
    return list(where, a, b);
  }
  Array operator()(Index a, Index b, Index c, Where where = Where::current()) const {
    return list(where, a, b, c);
  }
  Array operator()(Index a, Index b, Index c, Index d, Where where = Where::current()) const {
    return list(where, a, b, c, d);
  }
  Array operator()(Index a, Index b, Index c, Index d, Index e,
                   Where where = Where::current()) const {
    return list(where, a, b, c, d, e);
  }
  Array view(std::span<const Index> entries, Where where = Where::current()) const;
  /// The same elements in another shape, in C order; one length may be -1. A view where the elements lie in that
  /// order, else a copy, as in NumPy.
  Array reshape(Shape shape, Where where = Where::current()) const;
  /// The axes in reverse, or in the order given.
  Array transpose(Where where = Where::current()) const;
  Array transpose(std::initializer_list<int> axes, Where where = Where::current()) const {
    return transpose(std::span<const int>(axes.begin(), axes.size()), where);
  }
  Array transpose(std::span<const int> axes, Where where = Where::current()) const;

  // --- in place -------------------------------------------------------------------------------------------
  // As the operators of elements.hpp, with the result cast to this array's type (TypeError where that loses its
  // kind, as float to int). On handles and on views.

  Array& operator+=(const Operand& b);
  Array& operator-=(const Operand& b);
  Array& operator*=(const Operand& b);
  Array& operator/=(const Operand& b);
  Array& operator%=(const Operand& b);
  Array& operator&=(const Operand& b);
  Array& operator|=(const Operand& b);
  Array& operator^=(const Operand& b);
  /// Every element becomes `values`, broadcast and cast.
  void fill(const Operand& values);

  // --- values ---------------------------------------------------------------------------------------------

  /// A new array of the same elements.
  Array copy(Where where = Where::current()) const;
  /// A new array with the elements cast; float to int truncates.
  Array astype(DType type, Where where = Where::current()) const;
  /// The one element of an array of size 1, cast to T: waits for it. ValueError for any other size.
  template <Element T>
  T item(Where where = Where::current()) const {
    return future<T>(where).get();
  }
  /// The same without waiting: for launches, or to look at later.
  template <Element T>
  [[nodiscard]] Future<T> future(Where where = Where::current()) const {
    return Future<T>(future(dtype_of<T>, where));
  }
  [[nodiscard]] AnyFuture future(DType type, Where where = Where::current()) const;
  /// All elements in C order, cast to T: waits for them.
  template <Element T>
  [[nodiscard]] std::vector<T> to_vector(Where where = Where::current()) const {
    std::vector<T> values(static_cast<std::size_t>(size()));
    if constexpr (!std::is_same_v<T, bool>) read(values.data(), dtype_of<T>, where);
    else read_bits(values, where);
    return values;
  }
  /// The elements in C order to `to`, which has room for all of them as `type`. Waits for them.
  void read(void* to, DType type, Where where = Where::current()) const;

  // --- for the library's own functions ----------------------------------------------------------------------

  Array(detail::Value& value, DType dtype, const Layout& layout) noexcept
      : value_(&value), dtype_(dtype), layout_(layout) {
    detail::retain(value);
  }
  [[nodiscard]] detail::Value* value() const noexcept { return value_; }
  [[nodiscard]] const Layout& layout() const noexcept { return layout_; }
  void swap(Array& other) noexcept {
    std::swap(value_, other.value_);
    std::swap(dtype_, other.dtype_);
    std::swap(layout_, other.layout_);
  }

 private:
  template <class... I>
  Array list(const Where& where, const I&... entries) const {
    const Index all_entries[] = {entries...};
    return view(all_entries, where);
  }
  void read_bits(std::vector<bool>& values, Where where) const;

  detail::Value* value_ = nullptr;
  DType dtype_ = DType::float64;
  Layout layout_;
};

/// A plain number as an operand: of its type only the kind counts (promote()).
struct Number {
  Kind kind = Kind::floating;
  std::int64_t integer = 0;          ///< of a boolean or an integer
  std::complex<double> value = 0.0;  ///< of a floating-point or complex number
};

/// What operators and functions take: an array or a number, with the line where it was written. Made implicitly.
class Operand {
 public:
  Operand(const Array& array, Where where = Where::current()) : array_(&array), where_(where) {}
  template <std::same_as<bool> B>
  Operand(B number, Where where = Where::current())
      : number_{Kind::boolean, number, {}}, where_(where) {}
  template <std::integral I>
    requires(!std::same_as<I, bool>)
  Operand(I number, Where where = Where::current())
      : number_{Kind::integer, static_cast<std::int64_t>(number), {}}, where_(where) {
    // What int64 does not hold is a floating-point number.
    if (std::cmp_greater(number, std::numeric_limits<std::int64_t>::max()))
      number_ = {Kind::floating, 0, static_cast<double>(number)};
  }
  template <std::floating_point F>
  Operand(F number, Where where = Where::current())
      : number_{Kind::floating, 0, static_cast<double>(number)}, where_(where) {}
  Operand(const std::complex<double>& number, Where where = Where::current())
      : number_{Kind::complex, 0, number}, where_(where) {}
  Operand(const Number& number, Where where = Where::current()) : number_(number), where_(where) {}

  [[nodiscard]] const Array* array() const noexcept { return array_; }  ///< null: a number
  [[nodiscard]] const Number& number() const noexcept { return number_; }
  [[nodiscard]] const Where& where() const noexcept { return where_; }

 private:
  const Array* array_ = nullptr;
  Number number_;
  Where where_;
};

}  // namespace refrain::arrays
