// Powers of real floating-point numbers. To the powers -1, 0.5, 1 and 2 they are rounded correctly, as with NumPy's
// operator **, and by the value of the exponent alone: it makes no difference whether that is one number or an array.

#include "kernels/variant/elementwise.hpp"
#include "kernels/variant/vectors.hpp"

namespace refrain::arrays::kernels::REFRAIN_VARIANT {
namespace {

float sqrt_of(float a) { return __builtin_sqrtf(a); }
double sqrt_of(double a) { return __builtin_sqrt(a); }

/// pow(a, 0.5), which differs from the square root for -0 and for minus infinity.
template <class V>
V root(V a) {
  const V infinity = V(__builtin_inf());
  return a == -infinity ? infinity : sqrt_of(a) + V(0);
}
template <class V>
bool simple(V exponent) {
  return exponent == V(-1) || exponent == V(0.5) || exponent == V(1) || exponent == V(2);
}
template <class V>
V corrected(V a, V exponent, V power) {
  power = exponent == V(-1) ? V(1) / a : power;
  power = exponent == V(0.5) ? root(a) : power;
  power = exponent == V(1) ? a : power;
  return exponent == V(2) ? a * a : power;
}

template <class T, unsigned Scalars>
void power_loop(std::size_t count, void* out, const void* a, const void* b, const void*) {
  using V = typename T::Value;
  constexpr bool kOneBase = (Scalars & 1U) != 0, kOneExponent = (Scalars & 2U) != 0;
  auto* const to = static_cast<V*>(out);
  const auto* const bases = static_cast<const V*>(a);
  const auto* const exponents = static_cast<const V*>(b);
  const Source<T, kOneBase> base(a);
  const Source<T, kOneExponent> exponent(b);
  if constexpr (kOneExponent) {
    if (simple(exponent[0])) {
      REFRAIN_INDEPENDENT
      for (std::size_t i = 0; i < count; ++i) to[i] = corrected(base[i], exponent[i], V(0));
      return;
    }
  }
  constexpr std::size_t kBlock = 32 * kWidth<V>;
  V powers[kBlock];
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t size = count - begin < kBlock ? count - begin : kBlock;
    for (std::size_t i = 0; i < size; i += kWidth<V>) {
      const std::size_t rest = size - i < kWidth<V> ? size - i : kWidth<V>;
      const bool whole = rest == kWidth<V>;
      const auto values = [&](const V* from, bool one) {
        return one     ? all_lanes(*from)
               : whole ? load(from + begin + i)
                       : load_part(from + begin + i, rest);
      };
      const VectorOf<V> x = values(bases, kOneBase), y = values(exponents, kOneExponent);
      store(powers + i, Pow::call(x, y));
    }
    REFRAIN_INDEPENDENT
    for (std::size_t i = 0; i < size; ++i) {
      to[begin + i] = corrected(base[begin + i], exponent[begin + i], powers[i]);
    }
  }
}

template <class T>
Loop of_type(unsigned scalars) {
  switch (scalars) {
    case 0: return &power_loop<T, 0>;
    case 1: return &power_loop<T, 1>;
    case 2: return &power_loop<T, 2>;
    default: return nullptr;
  }
}

}  // namespace

Loop power_loop(Op op, DType type, unsigned scalars) {
  if (op != Op::power) return nullptr;
  if (type == DType::float32) return of_type<Float>(scalars);
  if (type == DType::float64) return of_type<Double>(scalars);
  return nullptr;
}

}  // namespace refrain::arrays::kernels::REFRAIN_VARIANT
