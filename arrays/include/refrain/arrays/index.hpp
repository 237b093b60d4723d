#pragma once
// What stands between the brackets of a view: `u["1:-1, 2:"]` with constants, read when the program is compiled,
// or `u(slice(i, i + 5), all)` with values of the program.

#include <concepts>
#include <cstdint>
#include <limits>
#include <source_location>

#include "refrain/arrays/shape.hpp"

namespace refrain::arrays {

class Array;
class Axes;

/// A bound that is left out.
struct Omitted {};
inline constexpr Omitted omitted{};

/// One entry of an index: a position (which removes the dimension), a slice, a new axis, or the ellipsis.
struct Index {
  enum class What : std::uint8_t { position, slice, new_axis, ellipsis };
  static constexpr Coord kOmitted = std::numeric_limits<Coord>::min();

  What what = What::slice;
  Coord start = kOmitted;  ///< or the position
  Coord stop = kOmitted;
  Coord step = 1;

  constexpr Index() = default;
  template <std::integral I>
  constexpr Index(I position) : what(What::position), start(static_cast<Coord>(position)) {}
  constexpr Index(What kind, Coord first, Coord last, Coord by)
      : what(kind), start(first), stop(last), step(by) {}
};

/// A bound of a slice: a position, or `omitted`.
struct Bound {
  Coord value;
  template <std::integral I>
  constexpr Bound(I position) : value(static_cast<Coord>(position)) {}
  constexpr Bound(Omitted) : value(Index::kOmitted) {}
};

/// start:stop:step. Negative bounds count from the end; `omitted` ones are the ends.
constexpr Index slice(Bound start, Bound stop, Coord step = 1) {
  return {Index::What::slice, start.value, stop.value, step};
}
inline constexpr Index new_axis{Index::What::new_axis, 0, 0, 1};  ///< numpy.newaxis
inline constexpr Index ellipsis{Index::What::ellipsis, 0, 0, 1};  ///< "..."

/// What `all` is: in an index ":", and the reduction numpy.all, `all(a)` and `all(a, axis)`.
struct All {
  using Where = std::source_location;
  constexpr operator Index() const { return {}; }
  Array operator()(Array a, Where where = Where::current()) const;
  Array operator()(Array a, const Axes& axes, bool keep_dims = false,
                   Where where = Where::current()) const;
};
inline constexpr All all{};

/// An index in Python's notation, read by the compiler; what is wrong with it does not compile:
/// "1:-1, ::2", "..., 0", "newaxis, :", "None, 3".
class Subscript {
 public:
  static constexpr int kMostEntries = 2 * kMaxDims + 1;
  consteval Subscript(const char* text,
                      std::source_location where = std::source_location::current())
      : where_(where) {
    const char* at = text;
    do add(at);
    while (take(at, ','));
    if (*at != '\0') fail();
  }
  [[nodiscard]] constexpr int count() const { return count_; }
  [[nodiscard]] constexpr const Index* entries() const { return entries_; }
  [[nodiscard]] constexpr const std::source_location& where() const { return where_; }

 private:
  static constexpr void skip(const char*& at) {
    while (*at == ' ') ++at;
  }
  static constexpr bool take(const char*& at, char c) {
    skip(at);
    if (*at != c) return false;
    ++at;
    skip(at);
    return true;
  }
  static constexpr bool take_word(const char*& at, const char* word) {
    skip(at);
    const char* from = at;
    for (; *word != '\0'; ++word, ++from)
      if (*from != *word) return false;
    at = from;
    skip(at);
    return true;
  }
  static constexpr bool take_number(const char*& at, Coord& number) {
    skip(at);
    const bool negative = *at == '-';
    const char* digit = negative ? at + 1 : at;
    if (*digit < '0' || *digit > '9') return false;
    Coord value = 0;
    for (; *digit >= '0' && *digit <= '9'; ++digit) value = value * 10 + (*digit - '0');
    number = negative ? -value : value;
    at = digit;
    skip(at);
    return true;
  }
  constexpr void add(const char*& at) {
    if (count_ == kMostEntries) fail();
    Index& entry = entries_[count_++];
    if (take_word(at, "...")) {
      entry = ellipsis;
    } else if (take_word(at, "newaxis") || take_word(at, "None")) {
      entry = new_axis;
    } else {
      Coord number = 0;
      const bool begins = take_number(at, number);
      if (!take(at, ':')) {
        if (!begins) fail();
        entry = Index(number);
        return;
      }
      entry = Index();
      if (begins) entry.start = number;
      if (take_number(at, number)) entry.stop = number;
      if (take(at, ':') && take_number(at, number)) entry.step = number;
      if (entry.step == 0) fail();
    }
  }
  // Not constexpr: reaching it is the compile error.
  static void fail() {}

  std::source_location where_;
  int count_ = 0;
  Index entries_[kMostEntries];
};

}  // namespace refrain::arrays
