#include "kernels/reduce.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "operands.hpp"

namespace refrain::arrays::kernels::reduce_test {
namespace {

// --- The definition, word for word ---------------------------------------------------------------------------------

template <class T>
bool nan_in(T a) {
  return !same(a, a) || a != a;
}
template <class T>
bool before(T a, T b) {
  return a < b;
}
template <>
bool before(C a, C b) {
  return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
}

template <class T>
T taken_together(Reduce reduce, T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return reduce == Reduce::any || reduce == Reduce::max ? a || b : a && b;
  } else if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    switch (reduce) {
      case Reduce::sum: return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
      case Reduce::prod: return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
      case Reduce::min: return std::min(a, b);
      default: return std::max(a, b);
    }
  } else {
    switch (reduce) {
      case Reduce::sum: return a + b;
      case Reduce::prod:
        if constexpr (std::is_same_v<T, C>) {
          return {a.real() * b.real() - a.imag() * b.imag(),
                  a.real() * b.imag() + a.imag() * b.real()};
        } else {
          return a * b;
        }
      default: break;
    }
    if (nan_in(a)) return a;
    if (nan_in(b)) return b;
    const bool first = reduce == Reduce::min ? before(a, b) : before(b, a);
    return first || (std::is_same_v<T, C> && a == b) ? a : b;
  }
}

template <class T>
T of_chunk(Reduce reduce, const Cell<T>* terms, std::size_t count) {
  std::vector<std::vector<T>> lanes(8);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<T>& lane = lanes[i % 8];
    const T term = static_cast<T>(terms[i]);
    if (lane.empty()) {
      lane.push_back(term);
    } else {
      lane[0] = taken_together<T>(reduce, lane[0], term);
    }
  }
  const auto both = [&](const std::vector<T>& a, const std::vector<T>& b) {
    if (b.empty()) return a;
    return std::vector<T>{taken_together<T>(reduce, a[0], b[0])};
  };
  const auto& l = lanes;
  return both(both(both(l[0], l[4]), both(l[2], l[6])),
              both(both(l[1], l[5]), both(l[3], l[7])))[0];
}

template <class T>
std::vector<Cell<T>> chunk_results(Reduce reduce, const std::vector<Cell<T>>& terms) {
  std::vector<Cell<T>> results;
  for (std::size_t i = 0; i < terms.size(); i += 256) {
    results.push_back(of_chunk<T>(reduce, &terms[i], std::min<std::size_t>(256, terms.size() - i)));
  }
  return results;
}
template <class T>
Cell<T> by_definition(Reduce reduce, std::vector<Cell<T>> terms) {
  while (terms.size() > 1) terms = chunk_results<T>(reduce, terms);
  return terms[0];
}

// --- Terms ----------------------------------------------------------------------------------------------------------

/// Mostly finite: among many NaNs nothing shows.
template <class T>
std::vector<Cell<T>> terms_of(std::size_t count, std::mt19937_64& random, bool special) {
  std::vector<Cell<T>> terms = random_values<T>(count, random);
  std::uniform_real_distribution<double> number(-2, 2);
  for (auto& term : terms) {
    if (special && random() % 256 == 0) continue;
    if constexpr (std::is_same_v<T, C>) {
      term = {number(random), number(random)};
    } else if constexpr (std::is_same_v<T, bool>) {
      term = random() % 2;
    } else {
      term = static_cast<T>(number(random) * (std::is_integral_v<T> ? 3 : 1));
    }
  }
  return terms;
}

constexpr std::size_t kCounts[] = {1,    2,    3,    5,     7,     8,     9,     15,
                                   17,   255,  256,  257,   511,   512,   513,   1000,
                                   2048, 2049, 7777, 65535, 65536, 65537, 70001, 140000};

template <class F>
void for_each_reduce(F f) {
  for (int r = 0; r <= static_cast<int>(Reduce::all); ++r) {
    const auto reduce = static_cast<Reduce>(r);
    for_each_type([&]<class T>(T) {
      if (exists(reduce, dtype_of<T>)) f(reduce, T{});
    });
  }
}

TEST(Sequence, OfNothingIsTheIdentity) {
  double sum = 7, product = 7;
  Sequence(Reduce::sum, DType::float64).result(&sum);
  Sequence(Reduce::prod, DType::float64).result(&product);
  EXPECT_TRUE(same(sum, 0.0));
  EXPECT_TRUE(same(product, 1.0));
  bool any = true, all = false;
  Sequence(Reduce::any, DType::boolean).result(&any);
  Sequence(Reduce::all, DType::boolean).result(&all);
  EXPECT_FALSE(any);
  EXPECT_TRUE(all);
}

TEST(Sequence, OfOneTermIsTheTerm) {
  const double zero = -0.0;
  double sum = 7;
  Sequence run(Reduce::sum, DType::float64);
  run.feed(&zero, 1);
  run.result(&sum);
  EXPECT_TRUE(same(sum, -0.0));
}

TEST(Sequence, FollowsTheDefinitionHoweverItIsCut) {
  std::mt19937_64 random(11);
  for_each_reduce([&]<class T>(Reduce reduce, T) {
    for (const std::size_t count : kCounts) {
      const auto terms = terms_of<T>(count, random, count % 2 == 0);
      const Cell<T> expected = by_definition<T>(reduce, terms);
      for (const std::size_t largest : {count, std::size_t{1}, std::size_t{13}, std::size_t{700}}) {
        if (largest == 1 && count > 5000) continue;
        Sequence run(reduce, dtype_of<T>);
        for (std::size_t i = 0; i < count;) {
          const std::size_t block =
              std::min(count - i, largest == count ? count : 1 + random() % largest);
          run.feed(&terms[i], block);
          i += block;
        }
        Cell<T> result{};
        run.result(&result);
        ASSERT_TRUE(same(result, expected))
            << static_cast<int>(reduce) << ' ' << name_of(dtype_of<T>) << ' ' << count;
      }
    }
  });
}

TEST(Sequence, ChunkResultsOfPartsMakeTheResultOfAll) {
  std::mt19937_64 random(12);
  for_each_reduce([&]<class T>(Reduce reduce, T) {
    for (const std::size_t count : {1UL, 300UL, 512UL, 5000UL, 70000UL, 150000UL}) {
      const auto terms = terms_of<T>(count, random, true);
      std::vector<Cell<T>> results(chunks_of(count));
      for (std::size_t begin = 0; begin < count;) {  // a task
        const std::size_t end = std::min(count, begin + kChunk * (1 + random() % 50));
        Sequence run(reduce, dtype_of<T>, &results[begin / kChunk]);
        for (std::size_t i = begin; i < end;) {
          const std::size_t block = std::min(end - i, std::size_t{1 + random() % 1000});
          run.feed(&terms[i], block);
          i += block;
        }
        ASSERT_EQ(run.finish(), chunks_of(end - begin));
        begin = end;
      }
      const auto expected = chunk_results<T>(reduce, terms);
      for (std::size_t i = 0; i < results.size(); ++i) ASSERT_TRUE(same(results[i], expected[i]));
      Sequence rest(reduce, dtype_of<T>);
      rest.feed(results.data(), results.size());
      Cell<T> result{};
      rest.result(&result);
      ASSERT_TRUE(same(result, by_definition<T>(reduce, terms)));
    }
  });
}

TEST(Columns, EachIsARun) {
  std::mt19937_64 random(13);
  for_each_reduce([&]<class T>(Reduce reduce, T) {
    for (const std::size_t width : {1UL, 3UL, 37UL}) {
      for (const std::size_t count : {1UL, 2UL, 5UL, 8UL, 100UL, 256UL, 257UL, 777UL, 1024UL}) {
        const auto terms = terms_of<T>(width * count, random, true);
        Columns columns(reduce, dtype_of<T>, width);
        std::vector<Cell<T>> chunks(width * chunks_of(count)), results(width);
        Columns in_chunks(reduce, dtype_of<T>, width, chunks.data());
        for (std::size_t row = 0; row < count; ++row) {
          columns.feed(&terms[row * width]);
          in_chunks.feed(&terms[row * width]);
        }
        columns.result(results.data());
        ASSERT_EQ(in_chunks.finish(), chunks_of(count));
        for (std::size_t column = 0; column < width; ++column) {
          std::vector<Cell<T>> own(count);
          for (std::size_t row = 0; row < count; ++row) own[row] = terms[row * width + column];
          ASSERT_TRUE(same(results[column], by_definition<T>(reduce, own)))
              << static_cast<int>(reduce) << ' ' << name_of(dtype_of<T>) << ' ' << count;
          const auto expected = chunk_results<T>(reduce, own);
          for (std::size_t i = 0; i < expected.size(); ++i) {
            ASSERT_TRUE(same(chunks[i * width + column], expected[i]));
          }
        }
      }
    }
  });
}

TEST(Columns, OfNothingAreIdentities) {
  double sums[3] = {7, 7, 7};
  Columns(Reduce::sum, DType::float64, 3).result(sums);
  for (const double sum : sums) EXPECT_TRUE(same(sum, 0.0));
  EXPECT_EQ(Columns(Reduce::sum, DType::float64, 3, sums).finish(), 0U);
}

// --- Positions ------------------------------------------------------------------------------------------------------

template <class T>
std::size_t best_of(Reduce reduce, const std::vector<Cell<T>>& terms) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const T a = static_cast<T>(terms[i]), b = static_cast<T>(terms[best]);
    if (nan_in(b)) return best;
    if (nan_in(a) || (reduce == Reduce::argmin ? before(a, b) : before(b, a))) best = i;
  }
  return best;
}

template <class T>
void expect_positions(Reduce reduce, const std::vector<Cell<T>>& terms, std::mt19937_64& random) {
  const auto expected = static_cast<std::int64_t>(best_of<T>(reduce, terms));
  ArgSequence whole(reduce, dtype_of<T>, 1000), merged(reduce, dtype_of<T>);
  for (std::size_t i = 0; i < terms.size();) {
    const std::size_t block = std::min(terms.size() - i, std::size_t{1 + random() % 3000});
    whole.feed(&terms[i], block);
    ArgSequence part(reduce, dtype_of<T>, static_cast<std::int64_t>(i));
    part.feed(&terms[i], block);
    merged.merge(part.value(), part.position());
    i += block;
  }
  ASSERT_EQ(whole.position(), expected + 1000) << name_of(dtype_of<T>);
  ASSERT_EQ(merged.position(), expected) << name_of(dtype_of<T>);
  ASSERT_TRUE(same_bytes(whole.value(), &terms[static_cast<std::size_t>(expected)], dtype_of<T>));
}

TEST(ArgSequence, FindsTheFirstBest) {
  std::mt19937_64 random(14);
  for (const Reduce reduce : {Reduce::argmin, Reduce::argmax}) {
    for_each_type([&]<class T>(T) {
      for (const std::size_t count : kCounts) {
        if (count > 66000) continue;
        expect_positions<T>(reduce, terms_of<T>(count, random, false), random);
        expect_positions<T>(reduce, terms_of<T>(count, random, true), random);
        expect_positions<T>(reduce, std::vector<Cell<T>>(count, Cell<T>(1)), random);
      }
    });
  }
}

TEST(ArgColumns, FindTheFirstBestOfEach) {
  std::mt19937_64 random(15);
  for (const Reduce reduce : {Reduce::argmin, Reduce::argmax}) {
    for_each_type([&]<class T>(T) {
      for (const std::size_t width : {1UL, 7UL, 50UL}) {
        const std::size_t count = 1 + random() % 300;
        const auto terms = terms_of<T>(width * count, random, true);
        ArgColumns whole(reduce, dtype_of<T>, width), merged(reduce, dtype_of<T>, width);
        for (std::size_t row = 0; row < count;) {
          ArgColumns part(reduce, dtype_of<T>, width, static_cast<std::int64_t>(row));
          for (const std::size_t end = std::min(count, row + 40); row < end; ++row) {
            whole.feed(&terms[row * width]);
            part.feed(&terms[row * width]);
          }
          merged.merge(part.values(), part.positions());
        }
        for (std::size_t column = 0; column < width; ++column) {
          std::vector<Cell<T>> own(count);
          for (std::size_t row = 0; row < count; ++row) own[row] = terms[row * width + column];
          const auto expected = static_cast<std::int64_t>(best_of<T>(reduce, own));
          ASSERT_EQ(whole.positions()[column], expected);
          ASSERT_EQ(merged.positions()[column], expected);
        }
      }
    });
  }
}

// --- Processors -----------------------------------------------------------------------------------------------------

TEST(Reducers, EveryVariantGivesTheSameBits) {
  std::mt19937_64 random(16);
  for (int r = 0; r < kReduces; ++r) {
    const auto reduce = static_cast<Reduce>(r);
    for_each_type([&]<class T>(T) {
      const DType type = dtype_of<T>;
      for (int v = 0; v < kVariants; ++v) {
        const VariantLoops* const loops = find_variant(static_cast<Variant>(v));
        if (loops == nullptr) continue;
        const Reducer* const reducer = loops->find_reducer(reduce, type);
        if (!exists(reduce, type)) continue;
        ASSERT_NE(reducer, nullptr);
        if (reduce > Reduce::all) continue;
        const auto terms = terms_of<T>(7 * kChunk + 1, random, v % 2 == 0);
        for (const std::size_t offset : {0UL, 1UL}) {  // aligned to the type alone
          Cell<T> results[7];
          reducer->chunks(results, &terms[offset], 7);
          for (std::size_t chunk = 0; chunk < 7; ++chunk) {
            const Cell<T>* const first = &terms[offset + chunk * kChunk];
            const Cell<T> expected = of_chunk<T>(reduce, first, kChunk);
            ASSERT_TRUE(same(results[chunk], expected)) << v << name_of(type);
            Cell<T> lanes[kLanes], folded;
            const std::size_t cut = 1 + random() % (kChunk - 1);
            reducer->fold(lanes, 0, first, cut);
            reducer->fold(lanes, cut, first + cut, kChunk - cut);
            reducer->combine(&folded, lanes, kChunk);
            ASSERT_TRUE(same(folded, expected)) << v << name_of(type);
          }
        }
      }
    });
  }
}

}  // namespace
}  // namespace refrain::arrays::kernels::reduce_test
