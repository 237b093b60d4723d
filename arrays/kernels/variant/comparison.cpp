// Comparisons: two operands of a type, a truth value.

#include "kernels/variant/ordering.hpp"

namespace refrain::arrays::kernels::REFRAIN_VARIANT {
namespace {

template <class T, class F>
struct Comparison {
  using In = T;
  using Out = Truth;
  using V = typename T::Value;
  static std::uint8_t call(V a, V b) { return F::of(a, b) ? 1 : 0; }
};

template <class T>
Loop of_type(Op op, unsigned scalars) {
  switch (op) {
    case Op::equal: return binary<Comparison<T, Equal>>(scalars);
    case Op::not_equal: return binary<Comparison<T, NotEqual>>(scalars);
    case Op::less: return binary<Comparison<T, Less>>(scalars);
    case Op::less_equal: return binary<Comparison<T, LessEqual>>(scalars);
    case Op::greater: return binary<Comparison<T, Greater>>(scalars);
    case Op::greater_equal: return binary<Comparison<T, GreaterEqual>>(scalars);
    default: return nullptr;
  }
}

}  // namespace

Loop comparison_loop(Op op, DType type, unsigned scalars) {
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
