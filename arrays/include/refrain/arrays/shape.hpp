#pragma once
// Shapes: how many elements an array has in each of its up to three dimensions.

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <span>
#include <string>

namespace refrain::arrays {

/// Lines of the program, for messages.
using Where = std::source_location;
using Coord = std::int64_t;
inline constexpr int kMaxDims = 3;

/// Up to three lengths. A shape without dimensions is that of a single value.
class Shape {
 public:
  constexpr Shape() = default;
  /// One dimension: `zeros(5)` is `zeros({5})`.
  template <std::integral I>
  constexpr Shape(I length) : dims_(1), lengths_{static_cast<Coord>(length)} {}
  /// ValueError for more than three.
  constexpr Shape(std::initializer_list<Coord> lengths, Where where = Where::current()) {
    for (const Coord length : lengths) push_back(length, where);
  }
  constexpr explicit Shape(std::span<const Coord> lengths, Where where = Where::current()) {
    for (const Coord length : lengths) push_back(length, where);
  }

  [[nodiscard]] constexpr int dims() const { return dims_; }
  [[nodiscard]] constexpr Coord operator[](int d) const { return lengths_[d]; }
  constexpr Coord& operator[](int d) { return lengths_[d]; }
  /// Number of elements.
  [[nodiscard]] constexpr Coord size() const {
    Coord elements = 1;
    for (int d = 0; d < dims_; ++d) elements *= lengths_[d];
    return elements;
  }
  [[nodiscard]] constexpr const Coord* begin() const { return lengths_; }
  [[nodiscard]] constexpr const Coord* end() const { return lengths_ + dims_; }
  /// A dimension more, at the end. ValueError beyond three.
  constexpr void push_back(Coord length, Where where = Where::current()) {
    if (dims_ == kMaxDims) fail_dimensions(where);
    lengths_[dims_++] = length;
  }
  constexpr void insert(int at, Coord length) {
    push_back(length);
    for (int d = dims_ - 1; d > at; --d) lengths_[d] = lengths_[d - 1];
    lengths_[at] = length;
  }
  constexpr void erase(int at) {
    for (int d = at; d + 1 < dims_; ++d) lengths_[d] = lengths_[d + 1];
    lengths_[--dims_] = 0;
  }

  friend constexpr bool operator==(const Shape& a, const Shape& b) {
    if (a.dims_ != b.dims_) return false;
    for (int d = 0; d < a.dims_; ++d)
      if (a.lengths_[d] != b.lengths_[d]) return false;
    return true;
  }

 private:
  [[noreturn]] static void fail_dimensions(const Where& where);
  int dims_ = 0;
  Coord lengths_[kMaxDims] = {0, 0, 0};
};

/// As Python prints it: "(3, 4)", "(5,)", "()".
std::string to_string(const Shape& shape);

}  // namespace refrain::arrays
