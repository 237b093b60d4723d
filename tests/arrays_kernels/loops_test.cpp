// Each loop against a reference that computes one element in the plainest way, in every variant and for every choice
// of operands that are one value; and what all loops promise: neither position nor length matters.

#include "kernels/loops.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "operands.hpp"
#include "references.hpp"

namespace refrain::arrays::kernels::loops_test {
namespace {

template <class F>
void for_each_loop(F f) {
  for (int op = 0; op < kOps; ++op) {
    for_each_type([&]<class T>(T) {
      if (exists(static_cast<Op>(op), dtype_of<T>)) f(static_cast<Op>(op), T{});
    });
  }
}

std::string label(Op op, DType type, Variant variant) {
  return std::string(name_of(op)) + ' ' + std::string(name_of(type)) + " variant " +
         std::to_string(static_cast<int>(variant));
}

TEST(Loops, ExistAsSaid) {
  EXPECT_EQ(name_of(Op::conjugate), "conjugate");
  EXPECT_EQ(name_of(Op::where), "where");
  EXPECT_EQ(name_of(Op::negative), "negative");
  for (const Variant variant : variants_here()) {
    for (int o = 0; o < kOps; ++o) {
      const auto op = static_cast<Op>(o);
      for_each_type([&]<class T>(T) {
        for (unsigned scalars = 0; scalars < 8; ++scalars) {
          const bool some_array = scalars + 1 < (1U << operands_of(op));
          EXPECT_EQ(find_variant(variant)->find_loop(op, dtype_of<T>, scalars) != nullptr,
                    exists(op, dtype_of<T>) && some_array)
              << label(op, dtype_of<T>, variant) << ' ' << scalars;
        }
      });
    }
  }
  EXPECT_EQ(find_loop(Op::add, DType::float64, 8), nullptr);
}

TEST(Loops, ResultsHaveTheTypesOfNumPy) {
  EXPECT_EQ(result_of(Op::less, DType::complex128), DType::boolean);
  EXPECT_EQ(result_of(Op::absolute, DType::complex128), DType::float64);
  EXPECT_EQ(result_of(Op::absolute, DType::int32), DType::int32);
  EXPECT_EQ(result_of(Op::imag, DType::complex128), DType::float64);
  EXPECT_EQ(result_of(Op::logical_not, DType::float32), DType::boolean);
  EXPECT_EQ(result_of(Op::bit_and, DType::boolean), DType::boolean);
}

/// One loop over operands, of which some are one value.
struct Application {
  Op op;
  DType type;
  Loop loop;
  unsigned scalars;
  const void* operands[3];

  [[nodiscard]] std::size_t width(int operand) const {
    return op == Op::where && operand == 0 ? 1 : size_of(type);
  }
  /// Elements from `begin` on.
  void run(std::size_t begin, std::size_t count, void* out) const {
    const void* from[3] = {};
    for (int i = 0; i < operands_of(op); ++i) {
      const std::size_t at = (scalars >> i & 1U) != 0 ? 0 : begin * width(i);
      from[i] = static_cast<const std::byte*>(operands[i]) + at;
    }
    loop(count, out, from[0], from[1], from[2]);
  }
};

template <class T>
void expect_reference(Op op, Variant variant, unsigned scalars, const std::vector<Cell<T>>& a,
                      const std::vector<Cell<T>>& b, const std::vector<std::uint8_t>& condition) {
  const DType type = dtype_of<T>, result = result_of(op, type);
  const Loop loop = find_variant(variant)->find_loop(op, type, scalars);
  if (loop == nullptr) return;
  Application application{op, type, loop, scalars, {a.data(), b.data(), nullptr}};
  if (op == Op::where) {
    application = {op, type, loop, scalars, {condition.data(), a.data(), b.data()}};
  }
  const std::size_t size = size_of(result);
  std::vector<std::byte> out(a.size() * size);
  application.run(0, a.size(), out.data());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const unsigned shift = op == Op::where ? 1 : 0;
    const bool first = condition[op == Op::where && (scalars & 1U) != 0 ? 0 : i] != 0;
    const T x = static_cast<T>(a[(scalars >> shift & 1U) != 0 ? 0 : i]);
    const T y = static_cast<T>(b[(scalars >> shift & 2U) != 0 ? 0 : i]);
    const std::optional<std::string> wrong = wrong_result<T>(op, first, x, y, &out[i * size]);
    ASSERT_FALSE(wrong) << label(op, type, variant) << " scalars " << scalars << ": " << *wrong;
  }
}

TEST(Loops, GiveWhatTheReferenceGives) {
  for_each_loop([]<class T>(Op op, T) {
    std::mt19937_64 random(static_cast<unsigned>(op));
    const auto [a, b] = operand_pairs<T>(2003, random);
    const auto condition = random_values<bool>(a.size(), random);
    for (const Variant variant : variants_here()) {
      expect_reference<T>(op, variant, 0, a, b, condition);
      for (unsigned scalars = 1; scalars < 7; ++scalars) {
        for (int round = 0; round < 6; ++round) {  // with various values for all
          const auto some = static_cast<std::size_t>(random() % 50);
          const auto at = static_cast<std::size_t>(random() % (a.size() - some));
          const auto part = [&](const auto& from) {
            return std::decay_t<decltype(from)>(&from[at], &from[at] + some + 1);
          };
          expect_reference<T>(op, variant, scalars, part(a), part(b), part(condition));
        }
      }
    }
  });
}

TEST(Loops, NeitherPositionNorLengthMatters) {
  constexpr std::size_t kCount = 293;
  for_each_loop([]<class T>(Op op, T) {
    std::mt19937_64 random(100 + static_cast<unsigned>(op));
    const DType type = dtype_of<T>;
    const std::size_t size = size_of(result_of(op, type));
    const auto a = random_values<T>(kCount, random), b = random_values<T>(kCount, random);
    const auto condition = random_values<bool>(kCount, random);
    for (const Variant variant : variants_here()) {
      for (unsigned scalars = 0; scalars < 7; ++scalars) {
        const Loop loop = find_variant(variant)->find_loop(op, type, scalars);
        if (loop == nullptr) continue;
        Application application{op, type, loop, scalars, {a.data(), b.data(), nullptr}};
        if (op == Op::where) {
          application = {op, type, loop, scalars, {condition.data(), a.data(), b.data()}};
        }
        std::vector<std::byte> whole(kCount * size), parts(kCount * size + size, std::byte{0x5a});
        application.run(0, kCount, whole.data());
        for (int round = 0; round < 4; ++round) {
          const std::size_t largest = round == 0 ? 1 : 1 + random() % 40;
          for (std::size_t i = 0; i < kCount;) {
            const std::size_t count = std::min(kCount - i, 1 + random() % largest);
            application.run(i, count, &parts[i * size]);
            ASSERT_EQ(parts[(i + count) * size], std::byte{0x5a}) << "wrote beyond the end";
            i += count;
          }
          // NaN's sign may come from either operand of an addition.
          for (std::size_t i = 0; i < kCount; ++i) {
            ASSERT_TRUE(same_bytes(&parts[i * size], &whole[i * size], result_of(op, type)))
                << label(op, type, variant) << " scalars " << scalars;
          }
          std::fill(parts.begin(), parts.end(), std::byte{0x5a});
        }
        application.run(0, 0, parts.data());
        ASSERT_EQ(parts[0], std::byte{0x5a});
      }
    }
  });
}

TEST(Loops, MayWriteOverAnOperand) {
  for_each_loop([]<class T>(Op op, T) {
    std::mt19937_64 random(200 + static_cast<unsigned>(op));
    const DType type = dtype_of<T>, result = result_of(op, type);
    for (const std::size_t count : {1UL, 7UL, 64UL, 257UL}) {
      const auto a = random_values<T>(count, random), b = random_values<T>(count, random);
      const auto condition = random_values<bool>(count, random);
      for (const Variant variant : variants_here()) {
        const Loop loop = find_variant(variant)->find_loop(op, type, 0);
        std::vector<std::byte> expected(count * size_of(result));
        const bool where = op == Op::where;
        loop(count, expected.data(), where ? static_cast<const void*>(condition.data()) : a.data(),
             where ? a.data() : b.data(), b.data());
        for (int over = 0; over < 2; ++over) {
          auto x = a, y = b;
          void* const out = over == 0 ? x.data() : y.data();
          loop(count, out, where ? static_cast<const void*>(condition.data()) : x.data(),
               where ? x.data() : y.data(), y.data());
          for (std::size_t i = 0; i < count; ++i) {
            ASSERT_TRUE(same_bytes(static_cast<std::byte*>(out) + i * size_of(result),
                                   &expected[i * size_of(result)], result))
                << label(op, type, variant) << " over operand " << over;
          }
        }
      }
    }
  });
}

/// Also what a family of functions promises: its widths agree to the bit, whatever the neighbours.
TEST(Loops, WideVariantsGiveTheSameBits) {
  if (find_variant(Variant::avx512) == nullptr) GTEST_SKIP() << "only one wide variant here";
  for_each_loop([]<class T>(Op op, T) {
    std::mt19937_64 random(300 + static_cast<unsigned>(op));
    const DType type = dtype_of<T>, result = result_of(op, type);
    const auto a = random_values<T>(20001, random), b = random_values<T>(20001, random);
    const auto condition = random_values<bool>(20001, random);
    std::vector<std::byte> results[2];
    for (const int v : {0, 1}) {
      results[v].resize(a.size() * size_of(result));
      const Variant variant = v == 0 ? Variant::avx2 : Variant::avx512;
      const bool where = op == Op::where;
      find_variant(variant)->find_loop(op, type, 0)(
          a.size(), results[v].data(),
          where ? static_cast<const void*>(condition.data()) : a.data(),
          where ? a.data() : b.data(), b.data());
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::size_t at = i * size_of(result);
      ASSERT_TRUE(same_bytes(&results[0][at], &results[1][at], result))
          << label(op, type, Variant::avx2) << ' ' << a[i] << ' ' << b[i];
    }
  });
}

}  // namespace
}  // namespace refrain::arrays::kernels::loops_test
