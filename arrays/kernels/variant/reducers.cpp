// The inner loops of reductions (kernels/reduce.hpp): the lanes of a chunk are one vector of eight elements, whatever
// the processor's width, and several chunks are taken at once, for one addition waits for the last.

#include "kernels/variant/ordering.hpp"

namespace refrain::arrays::kernels::REFRAIN_VARIANT {
namespace {

// --- Operations, of numbers and of vectors alike -------------------------------------------------------------------

struct Sum {
  static constexpr bool kByParts = true;  ///< of complex numbers
  template <class V>
  static V of(V a, V b) {
    return a + b;
  }
  static Pair of(Pair a, Pair b) { return {a.re + b.re, a.im + b.im}; }
};
struct Product {
  static constexpr bool kByParts = false;
  template <class V>
  static V of(V a, V b) {
    return a * b;
  }
  static Pair of(Pair a, Pair b) { return product(a, b); }
};
struct Minimum {
  static constexpr bool kByParts = false;
  template <class V>
  static V of(V a, V b) {
    return (a < b) | (a != a) ? a : b;
  }
  static Pair of(Pair a, Pair b) { return Smaller::of(a, b); }
};
struct Maximum {
  static constexpr bool kByParts = false;
  template <class V>
  static V of(V a, V b) {
    return (a > b) | (a != a) ? a : b;
  }
  static Pair of(Pair a, Pair b) { return Larger::of(a, b); }
};

// --- Lanes ----------------------------------------------------------------------------------------------------------

#if defined(__AVX512F__)
constexpr std::size_t kRegister = 64;
#elif defined(__AVX2__)
constexpr std::size_t kRegister = 32;
#else
constexpr std::size_t kRegister = 16;
#endif

/// Numbers, as vectors that fit a register: g++ keeps wider ones in memory.
template <class V, std::size_t Count>
struct Numbers {
  static constexpr std::size_t kBytes =
      Count * sizeof(V) < kRegister ? Count * sizeof(V) : kRegister;
  static constexpr std::size_t kParts = Count * sizeof(V) / kBytes;
  using Vector __attribute__((vector_size(kBytes))) = V;
  Vector parts[kParts];
  void read(const void* from) {
    const auto* const bytes = static_cast<const char*>(from);
    for (std::size_t i = 0; i < kParts; ++i)
      __builtin_memcpy(&parts[i], bytes + i * kBytes, kBytes);
  }
  void write(void* to) const {
    auto* const bytes = static_cast<char*>(to);
    for (std::size_t i = 0; i < kParts; ++i)
      __builtin_memcpy(bytes + i * kBytes, &parts[i], kBytes);
  }
  template <class F>
  void take(const Numbers& other) {
    for (std::size_t i = 0; i < kParts; ++i) parts[i] = F::of(parts[i], other.parts[i]);
  }
};

/// Lanes of real numbers. A row's halves are what the rule for combining lanes makes of them.
template <class V, std::size_t Count = kLanes>
struct Row {
  Numbers<V, Count> numbers;
  template <class F>
  void take(const Row& other) {
    numbers.template take<F>(other.numbers);
  }
  template <class F>
  V combined() const {
    V values[Count];
    numbers.write(values);
    Row<V, Count / 2> low, high;
    low.numbers.read(values);
    high.numbers.read(values + Count / 2);
    low.template take<F>(high);
    return low.template combined<F>();
  }
};
template <class V>
struct Row<V, 1> {
  struct {
    V value;
    void read(const V* from) { value = *from; }
  } numbers;
  template <class F>
  void take(const Row& other) {
    numbers.value = F::of(numbers.value, other.numbers.value);
  }
  template <class F>
  V combined() const {
    return numbers.value;
  }
};
/// Lanes of complex numbers: real and imaginary parts in turn, as in memory.
template <>
struct Row<Pair, kLanes> {
  Numbers<double, 2 * kLanes> numbers;
  template <class F>
  void take(const Row& other) {
    if constexpr (F::kByParts) {
      numbers.take<F>(other.numbers);
    } else {
      Pair v[kLanes], w[kLanes];
      numbers.write(v);
      other.numbers.write(w);
      for (std::size_t l = 0; l < kLanes; ++l) v[l] = F::of(v[l], w[l]);
      numbers.read(v);
    }
  }
  template <class F>
  Pair combined() const {
    Pair w[kLanes];
    numbers.write(w);
    for (std::size_t gap = kLanes / 2; gap > 0; gap /= 2) {
      for (std::size_t l = 0; l < gap; ++l) w[l] = F::of(w[l], w[l + gap]);
    }
    return w[0];
  }
};

/// Memory may be aligned to its type alone, or hold another type of the same layout (std::complex).
template <class T>
T get(const void* from, std::size_t index) {
  T value;
  __builtin_memcpy(&value, static_cast<const char*>(from) + index * sizeof(T), sizeof(T));
  return value;
}
template <class V>
Row<V> get_row(const void* from, std::size_t index) {
  Row<V> row;
  row.numbers.read(static_cast<const char*>(from) + index * sizeof(V));
  return row;
}
template <class T>
void put(void* to, std::size_t index, const T& value) {
  __builtin_memcpy(static_cast<char*>(to) + index * sizeof(value), &value, sizeof(value));
}

// --- Loops ----------------------------------------------------------------------------------------------------------

template <class V, class F>
void fold(void* lanes, std::size_t filled, const void* terms, std::size_t count) {
  std::size_t i = 0;
  const auto one = [&] {
    const std::size_t lane = (filled + i) % kLanes;
    const V term = get<V>(terms, i);
    put(lanes, lane, filled + i < kLanes ? term : F::of(get<V>(lanes, lane), term));
    ++i;
  };
  while (i < count && (filled + i) % kLanes != 0) one();
  if (i + kLanes <= count) {
    Row<V> row;
    if (filled + i < kLanes) {
      row = get_row<V>(terms, i);
      i += kLanes;
    } else {
      row = get_row<V>(lanes, 0);
    }
    for (; i + kLanes <= count; i += kLanes) row.template take<F>(get_row<V>(terms, i));
    row.numbers.write(lanes);
  }
  while (i < count) one();
}

template <class V, class F>
void combine(void* out, const void* lanes, std::size_t filled) {
  if (filled >= kLanes) return put(out, 0, get_row<V>(lanes, 0).template combined<F>());
  V values[kLanes];
  for (std::size_t l = 0; l < filled; ++l) values[l] = get<V>(lanes, l);
  for (std::size_t gap = kLanes / 2; gap > 0; gap /= 2) {
    for (std::size_t l = 0; l < gap && l + gap < filled; ++l) {
      values[l] = F::of(values[l], values[l + gap]);
    }
  }
  put(out, 0, values[0]);
}

template <class V, class F, std::size_t Together>
void chunks_together(void* out, const void* terms, std::size_t first) {
  Row<V> rows[Together];
  for (std::size_t c = 0; c < Together; ++c) rows[c] = get_row<V>(terms, (first + c) * kChunk);
  for (std::size_t i = kLanes; i < kChunk; i += kLanes) {
    for (std::size_t c = 0; c < Together; ++c) {
      rows[c].template take<F>(get_row<V>(terms, (first + c) * kChunk + i));
    }
  }
  for (std::size_t c = 0; c < Together; ++c) put(out, first + c, rows[c].template combined<F>());
}
template <class V, class F>
void chunks(void* out, const void* terms, std::size_t count) {
  std::size_t i = 0;
  if constexpr (sizeof(V) <= 8) {
    for (; i + 4 <= count; i += 4) chunks_together<V, F, 4>(out, terms, i);
  }
  for (; i + 2 <= count; i += 2) chunks_together<V, F, 2>(out, terms, i);
  if (i < count) chunks_together<V, F, 1>(out, terms, i);
}

template <class V>
std::size_t first_of(const void* terms, std::size_t count, const void* value) {
  const V wanted = get<V>(value, 0);
  const bool nan = unordered(wanted);
  const auto is_it = [&](std::size_t i) -> int {
    const V term = get<V>(terms, i);
    return nan ? unordered(term) : Equal::of(term, wanted);
  };
  constexpr std::size_t kBlock = 64;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t end = begin + kBlock < count ? begin + kBlock : count;
    int found = 0;
    for (std::size_t i = begin; i < end; ++i) found |= is_it(i);
    for (std::size_t i = begin; found != 0 && i < end; ++i) {
      if (is_it(i) != 0) return i;
    }
  }
  return count;
}

template <class V>
V chosen(bool first, V a, V b) {
  return first ? a : b;
}
[[maybe_unused]] Pair chosen(bool first, Pair a, Pair b) {
  return {first ? a.re : b.re, first ? a.im : b.im};
}

template <class V, class Before>
void improve(std::size_t width, void* best, std::int64_t* positions, const void* terms,
             const std::int64_t* term_positions, std::int64_t here) {
  REFRAIN_INDEPENDENT
  for (std::size_t i = 0; i < width; ++i) {
    const V old = get<V>(best, i), term = get<V>(terms, i);
    const bool comes_first = unordered(term) | Before::of(term, old);
    const bool better = comes_first & (unordered(old) == false);
    const std::int64_t position = term_positions != nullptr ? term_positions[i] : here;
    put(best, i, chosen(better, term, old));
    positions[i] = better ? position : positions[i];
  }
}

// --- Which there are ------------------------------------------------------------------------------------------------

template <class V, class F>
const Reducer* of_terms() {
  static constexpr Reducer reducer = {&fold<V, F>, &combine<V, F>, &chunks<V, F>, nullptr, nullptr};
  return &reducer;
}
template <class V, class F, class Before>
const Reducer* of_positions() {
  static constexpr Reducer reducer = {&fold<V, F>, &combine<V, F>, &chunks<V, F>, &first_of<V>,
                                      &improve<V, Before>};
  return &reducer;
}

/// Wrapping: the type in which sums and products are formed.
template <class Wrapping>
const Reducer* of_arithmetic(Reduce reduce) {
  if (reduce == Reduce::sum) return of_terms<Wrapping, Sum>();
  if (reduce == Reduce::prod) return of_terms<Wrapping, Product>();
  return nullptr;
}
template <class V>
const Reducer* of_order(Reduce reduce) {
  switch (reduce) {
    case Reduce::min:
    case Reduce::all: return of_terms<V, Minimum>();
    case Reduce::max:
    case Reduce::any: return of_terms<V, Maximum>();
    case Reduce::argmin: return of_positions<V, Minimum, Less>();
    case Reduce::argmax: return of_positions<V, Maximum, Greater>();
    default: return nullptr;
  }
}
template <class V, class Wrapping>
const Reducer* of_number(Reduce reduce) {
  const Reducer* const found = of_arithmetic<Wrapping>(reduce);
  return found != nullptr ? found : of_order<V>(reduce);
}

}  // namespace

const Reducer* reducer(Reduce reduce, DType type) {
  switch (type) {
    case DType::boolean: return of_order<std::uint8_t>(reduce);
    case DType::int32: return of_order<std::int32_t>(reduce);
    case DType::int64: return of_number<std::int64_t, std::uint64_t>(reduce);
    case DType::float32: return of_number<float, float>(reduce);
    case DType::float64: return of_number<double, double>(reduce);
    case DType::complex128: return of_number<Pair, Pair>(reduce);
  }
  return nullptr;
}

}  // namespace refrain::arrays::kernels::REFRAIN_VARIANT
