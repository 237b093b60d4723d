// Roots, exponentials, trigonometry of real floating-point numbers, a vector at a time. The last elements of a block
// are computed by the same function, in a vector that is filled up: their bits are those that they have elsewhere.

#include "kernels/variant/elementwise.hpp"
#include "kernels/variant/vectors.hpp"

namespace refrain::arrays::kernels::REFRAIN_VARIANT {
namespace {

// --- Where SLEEF's functions are not what is wanted -----------------------------------------------------------------

/// Its logarithms of negative numbers are NaN of one sign or the other, depending on the width.
template <class Plain>
struct OneNan {
  template <class V>
  static VectorOf<V> call(VectorOf<V> a) {
    const VectorOf<V> result = Plain::call(a);
    return select(result.lanes == result.lanes, result, all_lanes(V(__builtin_nan(""))));
  }
};
using Log = OneNan<PlainLog>;
using Log2 = OneNan<PlainLog2>;
using Log10 = OneNan<PlainLog10>;

// Three give infinity before the result is. What is beyond the bound of such a function is computed by another
// formula, here in all lanes of a vector.
struct Log1p : SmallLog1p {
  template <class V>
  static constexpr V bound = sizeof(V) == 4 ? V(1e30) : V(1e300);  // 1 + a == a
  template <class V>
  static VectorOf<V> beyond(VectorOf<V> a) {
    return Log::call(a);
  }
};
template <class Small, bool Odd>
struct Hyperbolic : Small {
  template <class V>
  static constexpr V bound = sizeof(V) == 4 ? V(88) : V(709);  // exp(-a) is nothing beside exp(a)
  template <class V>
  static VectorOf<V> beyond(VectorOf<V> a) {
    const VectorOf<V> zero = all_lanes(V(0));
    const VectorOf<V> magnitude = select(a.lanes < zero.lanes, VectorOf<V>{-a.lanes}, a);
    const VectorOf<V> root = Exp::call(VectorOf<V>{magnitude.lanes * V(0.5)});
    const VectorOf<V> result = {root.lanes * V(0.5) * root.lanes};
    return Odd ? select(a.lanes < zero.lanes, VectorOf<V>{-result.lanes}, result) : result;
  }
};
using Sinh = Hyperbolic<SmallSinh, true>;
using Cosh = Hyperbolic<SmallCosh, false>;

/// Such a function, for a block in which something is beyond the bound.
template <class F>
struct Both {
  template <class V>
  static VectorOf<V> call(VectorOf<V> a) {
    constexpr V bound = F::template bound<V>;
    const VectorOf<V> upper = all_lanes(bound), lower = all_lanes(-bound);
    const VectorOf<V> result = F::call(a), beyond = F::beyond(a);
    return select(a.lanes > upper.lanes, beyond, select(a.lanes < lower.lanes, beyond, result));
  }
};
template <class V>
bool any_beyond(const V* a, std::size_t count, V bound) {
  int found = 0;
  for (std::size_t i = 0; i < count; ++i) found |= (a[i] > bound) | (a[i] < -bound);
  return found != 0;
}

// --- Loops ----------------------------------------------------------------------------------------------------------

template <class F, class V>
void apply_loop(std::size_t count, void* out, const void* a, const void*, const void*) {
  auto* const to = static_cast<V*>(out);
  const auto* const x = static_cast<const V*>(a);
  std::size_t i = 0;
  for (; i + kWidth<V> <= count; i += kWidth<V>) store(to + i, F::call(load(x + i)));
  if (i < count) store_part(to + i, F::call(load_part(x + i, count - i)), count - i);
}

template <class F, class V>
void bounded_loop(std::size_t count, void* out, const void* a, const void*, const void*) {
  auto* const to = static_cast<V*>(out);
  const auto* const x = static_cast<const V*>(a);
  constexpr std::size_t kBlock = 256;
  for (std::size_t i = 0; i < count; i += kBlock) {
    const std::size_t size = count - i < kBlock ? count - i : kBlock;
    if (any_beyond(x + i, size, F::template bound<V>)) {
      apply_loop<Both<F>, V>(size, to + i, x + i, nullptr, nullptr);
    } else {
      apply_loop<F, V>(size, to + i, x + i, nullptr, nullptr);
    }
  }
}

template <class V, bool Scalar>
struct Vectors {
  explicit Vectors(const void* memory) : values(static_cast<const V*>(memory)) {}
  VectorOf<V> whole(std::size_t i) const { return load(values + i); }
  VectorOf<V> part(std::size_t i, std::size_t count) const { return load_part(values + i, count); }
  const V* values;
};
template <class V>
struct Vectors<V, true> {
  explicit Vectors(const void* memory) : value(all_lanes(*static_cast<const V*>(memory))) {}
  VectorOf<V> whole(std::size_t) const { return value; }
  VectorOf<V> part(std::size_t, std::size_t) const { return value; }
  VectorOf<V> value;
};

template <class F, class V, unsigned Scalars>
void apply_loop(std::size_t count, void* out, const void* a, const void* b, const void*) {
  auto* const to = static_cast<V*>(out);
  const Vectors<V, (Scalars & 1U) != 0> x(a);
  const Vectors<V, (Scalars & 2U) != 0> y(b);
  std::size_t i = 0;
  for (; i + kWidth<V> <= count; i += kWidth<V>) store(to + i, F::call(x.whole(i), y.whole(i)));
  if (i == count) return;
  const std::size_t rest = count - i;
  store_part(to + i, F::call(x.part(i, rest), y.part(i, rest)), rest);
}

template <class F, class V>
Loop apply(unsigned scalars) {
  return scalars == 0 ? &apply_loop<F, V> : nullptr;
}
template <class F, class V>
Loop apply_bounded(unsigned scalars) {
  return scalars == 0 ? &bounded_loop<F, V> : nullptr;
}
template <class F, class V>
Loop apply_two(unsigned scalars) {
  switch (scalars) {
    case 0: return &apply_loop<F, V, 0>;
    case 1: return &apply_loop<F, V, 1>;
    case 2: return &apply_loop<F, V, 2>;
    default: return nullptr;
  }
}

template <class V>
Loop of_type(Op op, unsigned scalars) {
  switch (op) {
    case Op::cbrt: return apply<Cbrt, V>(scalars);
    case Op::exp: return apply<Exp, V>(scalars);
    case Op::exp2: return apply<Exp2, V>(scalars);
    case Op::expm1: return apply<Expm1, V>(scalars);
    case Op::log: return apply<Log, V>(scalars);
    case Op::log2: return apply<Log2, V>(scalars);
    case Op::log10: return apply<Log10, V>(scalars);
    case Op::log1p: return apply_bounded<Log1p, V>(scalars);
    case Op::sin: return apply<Sin, V>(scalars);
    case Op::cos: return apply<Cos, V>(scalars);
    case Op::tan: return apply<Tan, V>(scalars);
    case Op::arcsin: return apply<Arcsin, V>(scalars);
    case Op::arccos: return apply<Arccos, V>(scalars);
    case Op::arctan: return apply<Arctan, V>(scalars);
    case Op::sinh: return apply_bounded<Sinh, V>(scalars);
    case Op::cosh: return apply_bounded<Cosh, V>(scalars);
    case Op::tanh: return apply<Tanh, V>(scalars);
    case Op::arctan2: return apply_two<Arctan2, V>(scalars);
    case Op::hypot: return apply_two<Hypot, V>(scalars);
    default: return nullptr;
  }
}

}  // namespace

Loop function_loop(Op op, DType type, unsigned scalars) {
  switch (type) {
    case DType::float32: return of_type<float>(op, scalars);
    case DType::float64: return of_type<double>(op, scalars);
    default: return nullptr;
  }
}

void magnitudes(std::size_t count, double* out, const double* parts) {
  constexpr std::size_t kBlock = 64;
  double re[kBlock], im[kBlock];
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t size = count - begin < kBlock ? count - begin : kBlock;
    for (std::size_t i = 0; i < size; ++i) {
      re[i] = parts[2 * (begin + i)];
      im[i] = parts[2 * (begin + i) + 1];
    }
    apply_loop<Hypot, double, 0>(size, out + begin, re, im, nullptr);
  }
}

}  // namespace refrain::arrays::kernels::REFRAIN_VARIANT
