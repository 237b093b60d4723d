#pragma once
// Which of two elements is the smaller, and what NaN does: shared by comparisons, maximum and reductions. Complex
// numbers are ordered by real, then by imaginary part, by NumPy's rules: a comparison that the real parts decide is
// false when an imaginary part is NaN.

#include "kernels/variant/elementwise.hpp"

namespace refrain::arrays::kernels::REFRAIN_VARIANT {
namespace {

template <class V>
[[maybe_unused]] bool unordered(V a) {
  return is_nan(a);
}
[[maybe_unused]] bool unordered(Pair a) { return is_nan(a.re) | is_nan(a.im); }

struct Equal {
  template <class V>
  static bool of(V a, V b) {
    return a == b;
  }
  static bool of(Pair a, Pair b) { return (a.re == b.re) & (a.im == b.im); }
};
struct NotEqual {
  template <class V>
  static bool of(V a, V b) {
    return a != b;
  }
  static bool of(Pair a, Pair b) { return (a.re != b.re) | (a.im != b.im); }
};
struct Less {
  template <class V>
  static bool of(V a, V b) {
    return a < b;
  }
  static bool of(Pair a, Pair b) {
    return ((a.re < b.re) & (a.im == a.im) & (b.im == b.im)) | ((a.re == b.re) & (a.im < b.im));
  }
};
struct LessEqual {
  template <class V>
  static bool of(V a, V b) {
    return a <= b;
  }
  static bool of(Pair a, Pair b) {
    return ((a.re < b.re) & (a.im == a.im) & (b.im == b.im)) | ((a.re == b.re) & (a.im <= b.im));
  }
};
struct Greater {
  template <class V>
  static bool of(V a, V b) {
    return Less::of(b, a);
  }
};
struct GreaterEqual {
  template <class V>
  static bool of(V a, V b) {
    return LessEqual::of(b, a);
  }
};

/// The larger (smaller); NaN, the first, if there is one. Of equal real numbers the second, which decides the sign of
/// zero, and of equal complex numbers the first.
template <class Before>
struct Extreme {
  template <class V>
  static V of(V a, V b) {
    return Before::of(a, b) | is_nan(a) ? a : b;
  }
  static Pair of(Pair a, Pair b) {
    const bool first = Before::of(a, b) | Equal::of(a, b) | unordered(a);
    return {first ? a.re : b.re, first ? a.im : b.im};
  }
};
using Larger = Extreme<Greater>;
using Smaller = Extreme<Less>;

}  // namespace
}  // namespace refrain::arrays::kernels::REFRAIN_VARIANT
