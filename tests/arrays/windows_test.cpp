// Long programs of element-wise operations on few arrays, whose windows fill up, are kept in part, and are launched for
// all reasons that there are: the same bits, fused or not, in tiles or in one, replayed or not, on cores or on GPUs.

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "run.hpp"
#include "support/test_budget.hpp"

namespace refrain::test::windows_test {
namespace {

using namespace arrays;
using arrays::Array;

/// One random program. What it does depends on its seed and the number of elements alone.
class RandomProgram {
 public:
  RandomProgram(std::uint64_t seed, Coord elements) : random_(seed), n_(elements) {}

  /// The elements of all arrays at the end, and the single values on the way.
  std::vector<double> run(Session& np) {
    for (int i = 0; i < kNames; ++i) names_.push_back(np.random.uniform(n_, -1.0, 1.0));
    const int rounds = below(3) == 0 ? 12 : 1;  // of a body, so that it is replayed
    const std::uint64_t body = random_();
    for (int round = 0; round < rounds; ++round) {
      random_.seed(body);
      for (int i = 0, count = 40 + below(160); i < count; ++i) statement();
    }
    std::vector<double> found;
    found.reserve(singles_.size());
    for (const Array& single : singles_) found.push_back(single.item<double>());
    for (const Array& array : names_)
      for (const double element : array.to_vector<double>()) found.push_back(element);
    return found;
  }

 private:
  static constexpr int kNames = 6;

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  double number() { return 0.25 * (below(9) - 4); }
  Array& any() { return names_[static_cast<std::size_t>(below(kNames))]; }

  /// Bounded, so that nothing overflows.
  Array expression() {
    switch (below(7)) {
      case 0: return 0.5 * any() + number() * any();
      case 1: return minimum(any(), any()) - number();
      case 2: return where(any() < any(), any(), 0.5 * any());
      case 3: return any() * any() * 0.5;
      case 4: return sqrt(abs(any()));
      case 5: return -any();
      default: return 1.0 / (2.0 + square(any()));
    }
  }

  /// Two views of the same length, which may overlap where they are of one array.
  struct Views {
    Index to, from;
  };
  Views views() {
    const Coord length = n_ - 3;
    switch (below(4)) {
      case 0: return {slice(1, 1 + length), slice(0, length)};
      case 1: return {slice(0, length), slice(2, 2 + length)};
      case 2: return {slice(0, n_, 2), slice(n_ - 1, omitted, -2)};
      default: return {slice(0, n_ / 2), slice(n_ - n_ / 2, n_)};
    }
  }

  void statement() {
    switch (below(12)) {
      case 0: any() = any(); break;
      case 1: any() += clip(expression(), -1.0, 1.0); break;
      case 2: any()(views().to) = number(); break;
      case 3:
      case 4: {
        const Views pair = views();
        any()(pair.to) = any()(pair.from) * number();
        break;
      }
      case 5: {
        // Written to a view of what is pending, and the rest of it later.
        Array made = expression();
        const Views pair = views();
        made(pair.to) = made(pair.from);
        any() = made;
        break;
      }
      case 6: singles_.push_back(sum(expression() * any())); break;
      case 7: singles_.push_back(max(any())); break;
      case 8: any() = any() / (1.0 + abs(max(any() + any()))); break;
      case 9: any()[":"] = any(); break;
      default: any() = clip(expression(), -2.0, 2.0);
    }
    if (singles_.size() > 40) singles_.erase(singles_.begin(), singles_.begin() + 20);
  }

  std::mt19937_64 random_;
  Coord n_;
  std::vector<Array> names_, singles_;
};

std::vector<double> outcome(std::uint64_t seed, Coord elements, const Settings& settings,
                            int workers, bool tracing, const std::string& machine = {}) {
  Options options;
  options.machine = machine;
  options.workers = workers;
  options.tracing = tracing;
  std::vector<double> found;
  run_arrays([&](Session& np) { found = RandomProgram(seed, elements).run(np); }, settings,
             options);
  return found;
}

TEST(ArrayWindows, LongProgramsHaveTheSameBits) {
  for (TestBudget budget{150}; budget.more(); budget.next()) {
    const std::uint64_t seed = budget.seed();
    const Coord elements = seed % 10 == 0 ? 70'001 : 5 + static_cast<Coord>(seed * 7 % 300);
    const Coord tile = elements > 1000 ? 0 : 1 + static_cast<Coord>(seed % 40);
    const auto judge = outcome(seed, elements, {.fusion = false}, 0, false);
    const auto expect = [&](const char* what, const Settings& settings, int workers,
                            const char* machine = "") {
      EXPECT_TRUE(outcome(seed, elements, settings, workers, true, machine) == judge)
          << "seed " << seed << ", " << elements << " elements, " << what;
    };
    expect("fused", {}, 0);
    expect("fused, tiles, two workers", {.fusion = true, .tile = tile}, 2);
    expect("not fused, tiles, one worker", {.fusion = false, .tile = tile}, 1);
    expect("fused, tiles, on GPUs", {.fusion = true, .tile = tile}, 1,
           "emulated:cpus=2,gpus=2,framebuffer=256KiB");
  }
}

TEST(ArrayWindows, OneResultUnderManyNames) {
  run_arrays([](Session& np) {
    const Array a = np.arange(10.0), x = a * 2.0;
    std::vector<Array> copies, given;
    for (int i = 0; i < 200; ++i) copies.push_back(x.copy());
    for (int i = 0; i < 200; ++i) given.push_back(np.zeros(10));
    np.flush();
    for (Array& array : given) array[":"] = x * 1.0;
    for (const Array& array : copies) EXPECT_EQ(sum(array).item<double>(), 90.0);
    for (const Array& array : given) EXPECT_EQ(sum(array).item<double>(), 90.0);
  });
}

TEST(ArrayWindows, WhatIsKeptKeepsItsConstants) {
  // More constants than a place can count, if those that are launched were kept.
  run_arrays([](Session& np) {
    const Array z = np.ones(4);
    Array w = np.zeros(5);
    double last = 0;
    for (int i = 0; i < 40'000; ++i) {
      last = i;
      w["1:"] = z * last;
      w[":-1"] = z * 2.0;
    }
    EXPECT_EQ(w.to_vector<double>(), (std::vector<double>{2, 2, 2, 2, last}));
  });
}

}  // namespace
}  // namespace refrain::test::windows_test
