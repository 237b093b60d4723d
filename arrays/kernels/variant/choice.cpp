// What gives one of its operands: maximum, minimum and where.

#include "kernels/variant/ordering.hpp"

namespace refrain::arrays::kernels::REFRAIN_VARIANT {
namespace {

template <class T, class F>
struct Choice {
  using In = T;
  using Out = T;
  using V = typename T::Value;
  static V call(V a, V b) { return F::of(a, b); }
};

/// A value is copied, not computed with: numbers as their bits.
template <class T, unsigned Scalars>
void where_loop(std::size_t count, void* out, const void* a, const void* b, const void* c) {
  auto* const to = static_cast<typename T::Cell*>(out);
  const Source<Truth, (Scalars & 1U) != 0> condition(a);
  const Source<T, (Scalars & 2U) != 0> x(b);
  const Source<T, (Scalars & 4U) != 0> y(c);
  REFRAIN_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) {
    const auto u = x[i], v = y[i];  // both, that nothing stands in the way of vectors
    const bool first = condition[i] != 0;
    if constexpr (sizeof(u) == sizeof(Pair)) {
      T::store(to, i, {first ? u.re : v.re, first ? u.im : v.im});
    } else {
      T::store(to, i, first ? u : v);
    }
  }
}

template <class T>
Loop where(unsigned scalars) {
  switch (scalars) {
    case 0: return &where_loop<T, 0>;
    case 1: return &where_loop<T, 1>;
    case 2: return &where_loop<T, 2>;
    case 3: return &where_loop<T, 3>;
    case 4: return &where_loop<T, 4>;
    case 5: return &where_loop<T, 5>;
    case 6: return &where_loop<T, 6>;
    default: return nullptr;
  }
}

template <class T>
Loop of_type(Op op, unsigned scalars) {
  switch (op) {
    case Op::maximum: return binary<Choice<T, Larger>>(scalars);
    case Op::minimum: return binary<Choice<T, Smaller>>(scalars);
    case Op::where: return where<T>(scalars);
    default: return nullptr;
  }
}

}  // namespace

Loop choice_loop(Op op, DType type, unsigned scalars) {
  switch (type) {
    case DType::boolean: return of_type<Truth>(op, scalars);
    case DType::int32: return of_type<Int32>(op, scalars);
    case DType::int64: return of_type<Int64>(op, scalars);
    case DType::float32: return of_type<Float>(op, scalars);
    case DType::float64: return of_type<Double>(op, scalars);
    case DType::complex128: return of_type<Complex>(op, scalars);
  }
  return nullptr;
}

}  // namespace refrain::arrays::kernels::REFRAIN_VARIANT
