#pragma once
// Integer points and rectangles in 1, 2 and 3 dimensions: the coordinates of everything.

#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

#include "refrain/value_type.hpp"

namespace refrain {

using Coord = std::int64_t;
/// What a field may hold in place of a Point<1>: as a pointer to a point, or as a colour.
template <class I>
concept Coordinate =
    std::same_as<I, Coord> || std::same_as<I, std::int32_t> || std::same_as<I, std::uint32_t>;

/// An N-dimensional integer point. Point<1> converts from and to Coord.
template <int N>
struct Point {
  static_assert(1 <= N && N <= 3, "Refrain's index spaces have 1, 2 or 3 dimensions");
  static constexpr int dim = N;
  std::array<Coord, N> x{};

  constexpr Point() = default;
  constexpr Point(Coord a) requires(N == 1) : x{a} {}
  constexpr Point(Coord a, Coord b) requires(N == 2) : x{a, b} {}
  constexpr Point(Coord a, Coord b, Coord c) requires(N == 3) : x{a, b, c} {}
  constexpr operator Coord() const requires(N == 1) { return x[0]; }

  constexpr Coord& operator[](int d) { return x[static_cast<std::size_t>(d)]; }
  constexpr const Coord& operator[](int d) const { return x[static_cast<std::size_t>(d)]; }

  friend constexpr bool operator==(const Point& a, const Point& b) { return a.x == b.x; }
  friend constexpr auto operator<=>(const Point& a, const Point& b) { return a.x <=> b.x; }
  // Exact matches for "p == 3" and "p < 3", which the conversions both ways would make ambiguous.
  friend constexpr bool operator==(const Point& a, std::integral auto b) requires(N == 1) {
    return a.x[0] == static_cast<Coord>(b);
  }
  friend constexpr auto operator<=>(const Point& a, std::integral auto b) requires(N == 1) {
    return a.x[0] <=> static_cast<Coord>(b);
  }

  friend constexpr Point operator+(Point a, const Point& b) requires(N > 1) {
    for (int d = 0; d < N; ++d) a[d] += b[d];
    return a;
  }
  friend constexpr Point operator-(Point a, const Point& b) requires(N > 1) {
    for (int d = 0; d < N; ++d) a[d] -= b[d];
    return a;
  }
};

using Point1 = Point<1>;
using Point2 = Point<2>;
using Point3 = Point<3>;

/// All points p with lo <= p <= hi in every dimension; both ends belong to it. Empty when some hi < lo.
template <int N>
struct Rect {
  Point<N> lo{};
  Point<N> hi{};

  constexpr Rect() {
    for (int d = 0; d < N; ++d) hi[d] = -1;
  }
  constexpr Rect(Point<N> low, Point<N> high) : lo(low), hi(high) {}

  [[nodiscard]] constexpr bool empty() const {
    for (int d = 0; d < N; ++d)
      if (hi[d] < lo[d]) return true;
    return false;
  }
  /// Number of points.
  [[nodiscard]] constexpr std::size_t volume() const {
    if (empty()) return 0;
    std::size_t points = 1;
    for (int d = 0; d < N; ++d) points *= static_cast<std::size_t>(hi[d] - lo[d] + 1);
    return points;
  }
  [[nodiscard]] constexpr bool contains(const Point<N>& p) const {
    for (int d = 0; d < N; ++d)
      if (p[d] < lo[d] || hi[d] < p[d]) return false;
    return true;
  }
  friend constexpr bool operator==(const Rect&, const Rect&) = default;
};

using Rect1 = Rect<1>;
using Rect2 = Rect<2>;
using Rect3 = Rect<3>;

/// The points common to both.
template <int N>
constexpr Rect<N> intersection(Rect<N> a, const Rect<N>& b) {
  for (int d = 0; d < N; ++d) {
    if (a.lo[d] < b.lo[d]) a.lo[d] = b.lo[d];
    if (b.hi[d] < a.hi[d]) a.hi[d] = b.hi[d];
  }
  return a;
}

/// "(1, 2)"; in one dimension just "1".
template <int N>
std::string to_string(const Point<N>& p) {
  if constexpr (N == 1) {
    return std::to_string(p[0]);
  } else {
    std::string text = "(" + std::to_string(p[0]);
    for (int d = 1; d < N; ++d) text += ", " + std::to_string(p[d]);
    return text + ")";
  }
}

/// "[lo..hi]".
template <int N>
std::string to_string(const Rect<N>& r) {
  return "[" + to_string(r.lo) + ".." + to_string(r.hi) + "]";
}

namespace detail {

// The number of dimensions is a part of the type for programs; the runtime computes with three, of which
// those that are not used are 0.

template <int N>
constexpr Point<3> erase_dimension(const Point<N>& p) {
  Point<3> q;
  for (int d = 0; d < N; ++d) q[d] = p[d];
  return q;
}
template <int N>
constexpr Rect<3> erase_dimension(const Rect<N>& r) {
  return {erase_dimension(r.lo), erase_dimension(r.hi)};
}
template <int N>
constexpr Point<N> restore_dimension(const Point<3>& p) {
  Point<N> q;
  for (int d = 0; d < N; ++d) q[d] = p[d];
  return q;
}
template <int N>
constexpr Rect<N> restore_dimension(const Rect<3>& r) {
  return {restore_dimension<N>(r.lo), restore_dimension<N>(r.hi)};
}

}  // namespace detail

template <int N>
inline constexpr bool has_equal_bytes<Point<N>> = true;
template <int N>
inline constexpr bool has_equal_bytes<Rect<N>> = true;

}  // namespace refrain
