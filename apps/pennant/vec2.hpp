#pragma once
// A pair of coordinates: x is the distance from the axis, y the height along it.

#include <cmath>

namespace pennant {

struct Vec2 {
  double x = 0, y = 0;

  friend constexpr Vec2 operator+(const Vec2& a, const Vec2& b) { return {a.x + b.x, a.y + b.y}; }
  friend constexpr Vec2 operator-(const Vec2& a, const Vec2& b) { return {a.x - b.x, a.y - b.y}; }
  friend constexpr Vec2 operator*(double f, const Vec2& a) { return {f * a.x, f * a.y}; }
};

constexpr double dot(const Vec2& a, const Vec2& b) { return a.x * b.x + a.y * b.y; }
constexpr double cross(const Vec2& a, const Vec2& b) { return a.x * b.y - a.y * b.x; }
inline double length(const Vec2& a) { return std::sqrt(dot(a, a)); }

}  // namespace pennant
