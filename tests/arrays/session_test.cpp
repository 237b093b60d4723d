// What a session promises beyond NumPy: storage is reused, chains are fused, loops are replayed, and none of it shows.

#include <gtest/gtest.h>

#include <vector>

#include "run.hpp"

namespace refrain::test::session_test {
namespace {

using namespace arrays;
using arrays::Array;

// --- storage ----------------------------------------------------------------------------------------------------

TEST(ArrayStorage, IsReusedAtOnce) {
  run_arrays([](Session& np) {
    Array x = np.ones(1000);
    const Array b = np.ones(1000);
    for (int i = 0; i < 100; ++i) {
      x = (x + b) * 0.5;
      np.flush();
    }
    // Figure 1 of the automatic tracing paper: x alternates between two regions.
    EXPECT_LE(np.counters().regions_made, 3u);
    EXPECT_EQ(x.to_vector<double>(), std::vector<double>(1000, 1.0));
  });
}

TEST(ArrayStorage, TemporariesNeedNone) {
  run_arrays([](Session& np) {
    const Array a = np.arange(1000.0), b = np.ones(1000), c = np.full(1000, 0.5);
    np.flush();
    const std::uint64_t made = np.counters().regions_made;
    const Array d = (a * b + c) / (b + 1.0) - sqrt(a);
    np.flush();
    EXPECT_EQ(np.counters().regions_made, made + 1);
  });
}

TEST(ArrayStorage, DeadArraysOfAnotherSizeMakeRoom) {
  run_arrays([](Session& np) {
    std::size_t most = 0;
    for (Coord n = 1; n <= 400; ++n) {
      Array a = np.ones({n, 1000}), b = a + 1.0;
      np.flush();
      const SessionCounters counters = np.counters();
      most = std::max(most, counters.bytes_alive + counters.bytes_pooled);
      EXPECT_LE(most, counters.bytes_most + counters.bytes_most / 4);
    }
  });
}

// --- fusion -----------------------------------------------------------------------------------------------------

TEST(ArrayFusion, AChainIsOneLaunch) {
  run_arrays([](Session& np) {
    const Array a = np.arange(100.0), b = np.ones(100);
    np.flush();
    const std::uint64_t before = np.counters().launches;
    const Array c = a * b + sqrt(a) - b / 2.0;
    np.flush();
    EXPECT_EQ(np.counters().launches, before + 1);
    EXPECT_EQ(c(4).item<double>(), 4.0 + 2.0 - 0.5);
  });
}

TEST(ArrayFusion, WhatNobodySeesIsNotComputed) {
  run_arrays([](Session& np) {
    const Array a = np.arange(100.0);
    np.flush();
    const std::uint64_t before = np.counters().launches;
    { const Array b = a * 2.0; }
    np.flush();
    EXPECT_EQ(np.counters().launches, before);
  });
}

TEST(ArrayFusion, ReductionsJoinTheChain) {
  run_arrays([](Session& np) {
    const Array a = np.arange(100.0), b = np.full(100, 2.0);
    np.flush();
    const std::uint64_t before = np.counters().launches;
    const Array total = sum((a - b) * (a - b));
    EXPECT_EQ(np.counters().launches, before + 1);
    EXPECT_EQ(total.item<double>(), 308950.0 + 0.0);
  });
}

TEST(ArrayFusion, SwitchedOffEveryOperationIsALaunch) {
  run_arrays(
      [](Session& np) {
        const Array a = np.arange(100.0);
        const std::uint64_t before = np.counters().launches;
        const Array b = a * 2.0 + 1.0;
        EXPECT_EQ(np.counters().launches, before + 2);
      },
      {.fusion = false});
}

TEST(ArrayFusion, StoresWaitForWhatTheyWouldOverwrite) {
  run_arrays([](Session& np) {
    Array a = np.arange(6.0);
    const Array before = a + 0.0;    // reads a
    const Array view = a["::2"];     // sees a
    a += 10.0;                       // writes a, after the read
    const Array after = view * 1.0;  // reads what was written, in another order
    a["1:"] = a[":-1"];              // overlaps itself
    EXPECT_EQ(before.to_vector<double>(), (std::vector<double>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(after.to_vector<double>(), (std::vector<double>{10, 12, 14}));
    EXPECT_EQ(a.to_vector<double>(), (std::vector<double>{10, 10, 11, 12, 13, 14}));
  });
}

TEST(ArrayFusion, AValueIsStoredOnlyAfterTheOldOneWasRead) {
  run_arrays([](Session& np) {
    Array a = np.arange(4.0), b = np.full(4, 5.0);
    np.flush();
    const Array c = b * 2.0;
    const Array d = a * c;  // reads a after c was computed
    a[":"] = c;             // stores c to a
    EXPECT_EQ(d.to_vector<double>(), (std::vector<double>{0, 10, 20, 30}));
    EXPECT_EQ(a.to_vector<double>(), (std::vector<double>(4, 10.0)));
  });
}

// --- tracing ----------------------------------------------------------------------------------------------------

TEST(ArrayTracing, LoopsThatWaitSettleWithinThirtyIterations) {
  constexpr int kIterations = 400;
  const Counters counters = run_arrays([](Session& np) {
    Array u = np.random.uniform({20, 20}), p = np.zeros({20, 20});
    for (int i = 0; i < kIterations; ++i) {
      const Array un = u.copy();
      u["1:-1, 1:-1"] =
          un["1:-1, 1:-1"] + 0.1 * (un["1:-1, 2:"] - 2.0 * un["1:-1, 1:-1"] + un["1:-1, :-2"]);
      u["0"] = 0.0;
      u[":, -1"] = u[":, -2"];
      for (int k = 0; k < 5; ++k) {
        const Array pn = p.copy();
        p["1:-1, 1:-1"] = 0.25 * (pn["2:, 1:-1"] + pn[":-2, 1:-1"] + u["1:-1, 1:-1"]);
        p["0"] = p["1"];
      }
      if (i % 10 == 9) { EXPECT_GE(sum(abs(u - un)).item<double>(), 0.0); }
    }
  });
  ASSERT_TRUE(counters.autotrace.before_steady.has_value());
  const double calls_per_iteration =
      static_cast<double>(counters.autotrace.analysed + counters.autotrace.replayed) / kIterations;
  EXPECT_LE(static_cast<double>(*counters.autotrace.before_steady), 30 * calls_per_iteration);
}

// --- random numbers -----------------------------------------------------------------------------------------------

TEST(ArrayRandom, BitsArePhilox) {
  run_arrays([](Session& np) {
    // The first known answer of Random123: counter 0, key 0.
    const std::vector<std::int64_t> bits =
        np.random
            .integers(2, std::numeric_limits<std::int64_t>::min(),
                      std::numeric_limits<std::int64_t>::max())
            .to_vector<std::int64_t>();
    // 2^64 - 1 values: the upper half of the product is the bits less one part in 2^64.
    const std::uint64_t first = 0xE169C58D6627E8D5, second = 0x9B00DBD8BC57AC4C;
    const auto offset = [](std::int64_t x) {
      return static_cast<std::uint64_t>(x) + (std::uint64_t{1} << 63);
    };
    EXPECT_LE(first - offset(bits[0]), 1u);
    EXPECT_LE(second - offset(bits[1]), 1u);
  });
}

TEST(ArrayRandom, IsTheSameForAnyTiling) {
  std::vector<double> uniform, normal;
  for (const Coord tile : {0, 7, 33})
    run_arrays(
        [&](Session& np) {
          np.random.seed(42);
          const auto u = np.random.uniform({30, 11}, -1.0, 3.0).to_vector<double>();
          const auto n = np.random.normal({30, 11}).to_vector<double>();
          if (uniform.empty()) {
            uniform = u;
            normal = n;
          }
          EXPECT_EQ(u, uniform);
          EXPECT_EQ(n, normal);
        },
        {.tile = tile});
}

TEST(ArrayRandom, HasTheMomentsOfItsLaw) {
  run_arrays([](Session& np) {
    const Coord n = 100'000;
    const Array u = np.random.uniform(n), x = np.random.normal(n, 1.0, 2.0);
    const Array k = np.random.integers(n, -2, 3);
    EXPECT_NEAR(mean(u).item<double>(), 0.5, 0.01);
    EXPECT_NEAR(mean(square(u - 0.5)).item<double>(), 1.0 / 12, 0.002);
    EXPECT_NEAR(mean(x).item<double>(), 1.0, 0.03);
    EXPECT_NEAR(mean(square(x - 1.0)).item<double>(), 4.0, 0.08);
    EXPECT_EQ(min(k).item<std::int64_t>(), -2);
    EXPECT_EQ(max(k).item<std::int64_t>(), 2);
    EXPECT_EQ(min(bincount(k + 2)).item<std::int64_t>() > n / 5 - 1000, true);
  });
}

// --- handles ------------------------------------------------------------------------------------------------------

TEST(ArrayHandles, FuturesAreScalars) {
  run_arrays([](Session& np) {
    const Array total = sum(np.arange(10.0));
    const Future<double> future = total.future<double>();
    EXPECT_EQ(future.get(), 45.0);
    EXPECT_EQ(total.item<float>(), 45.0f);
  });
}

TEST(ArrayHandles, IndicesOfAllKinds) {
  run_arrays([](Session& np) {
    const Array a = np.arange(24).reshape({2, 3, 4});
    EXPECT_EQ(a["1, ..., -1"].to_vector<std::int64_t>(), (std::vector<std::int64_t>{15, 19, 23}));
    EXPECT_EQ(a["0, newaxis, 2, ::2"].shape(), (Shape{1, 2}));
    EXPECT_EQ(a(0, new_axis, 2, slice(omitted, omitted, 2)).to_vector<std::int64_t>(),
              a["0, None, 2, ::2"].to_vector<std::int64_t>());
    EXPECT_EQ(a(ellipsis, 0).shape(), (Shape{2, 3}));
    EXPECT_EQ(a(all, all, slice(-1, omitted, -1)).to_vector<std::int64_t>(),
              a[":, :, ::-1"].to_vector<std::int64_t>());
    EXPECT_TRUE(all(a >= 0).item<bool>());
    EXPECT_EQ(all(a > 0, {1, 2}).to_vector<bool>(), (std::vector<bool>{false, true}));
  });
}

}  // namespace
}  // namespace refrain::test::session_test
