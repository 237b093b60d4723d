#pragma once
// Which axes of an array are meant.

#include <initializer_list>
#include <span>

#include "refrain/arrays/shape.hpp"

namespace refrain::arrays {

/// Axes of an array; negative ones count from the last. AxisError where the array has none such, ValueError for one
/// that is named twice.
class Axes {
 public:
  constexpr Axes() = default;  ///< all
  constexpr Axes(int axis) : all_(false), count_(1), axes_{axis} {}
  constexpr Axes(std::initializer_list<int> axes)
      : Axes(std::span<const int>(axes.begin(), axes.size())) {}
  constexpr explicit Axes(std::span<const int> axes) : all_(false) {
    for (const int axis : axes) {
      if (count_ < kMaxAxes) axes_[count_] = axis;
      ++count_;
    }
  }
  [[nodiscard]] constexpr bool all() const { return all_; }
  [[nodiscard]] constexpr int count() const { return count_; }
  [[nodiscard]] constexpr int operator[](int i) const { return axes_[i]; }
  static constexpr int kMaxAxes = 2 * kMaxDims;

 private:
  bool all_ = true;
  int count_ = 0;
  int axes_[kMaxAxes] = {};
};

}  // namespace refrain::arrays
