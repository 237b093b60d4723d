// A million iterations, or tens of thousands of sizes, in constant memory. (Not with sanitizers, which keep memory.)

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "../arrays/run.hpp"
#include "support/memory_taken.hpp"

namespace refrain::test {
namespace {

using namespace arrays;
using arrays::Array;

TEST(ArraySoak, LoopsKeepTheirMemory) {
  for (const bool autotrace : {true, false}) {
    Options options;
    options.autotrace = autotrace;
    run_arrays(
        [](Session& np) {
          Array x = np.ones(512), y = np.zeros({16, 16});
          long settled = 0;
          constexpr int kRounds = 1'000'000;
          for (int i = 0; i < kRounds; ++i) {
            x = x * 0.5 + 1.0;
            y["1:-1, 1:-1"] = y["1:-1, 2:"] + 1.0;
            y["0"] = 0.0;
            if (i % 1000 == 0) { EXPECT_GT(sum(x).item<double>(), 0.0); }
            if (i == kRounds / 10) {
              np.wait();
              settled = resident();
            }
          }
          np.wait();
          EXPECT_LE(resident(), settled + 8 * 1024);
        },
        {}, options);
  }
}

// What the heap keeps for later depends on how far the calls are ahead of the tasks, so on the machine: up to 32 MiB.
TEST(ArraySoak, ArraysOfEverOtherSizesLeaveNothingBehind) {
  run_arrays([](Session& np) {
    std::size_t asked = 0;
    long settled = 0;
    constexpr Coord kSizes = 7919, kRounds = 8 * kSizes;
    for (Coord n = 1; n <= kRounds; ++n) {
      const Array a = np.arange(n % kSizes + 1) * 2;
      EXPECT_EQ(a["-1"].item<Coord>(), n % kSizes * 2);
      if (n % 1000 != 0 || n >= 6 * kSizes) continue;
      asked = std::max(asked, allocated());
      settled = std::max(settled, resident());
    }
    EXPECT_LE(allocated(), asked + 1024 * 1024);
    EXPECT_LE(resident(), settled + 40 * 1024);
  });
}

// What is needed at once, as the session counts it, and a half; and what may wait to be freed: 16 MiB for the session,
// 16 for the runtime.
void expect_little_beside(long before, Session& np) {
  np.wait();
  const long most = static_cast<long>(np.counters().bytes_most / 1024);
  EXPECT_LE(resident() - before, most + most / 2 + 40 * 1024) << most << " KiB alive at most";
}

TEST(ArraySoak, GrowingArraysTakeNotMuchMoreThanTheLargest) {
  run_arrays([](Session& np) {
    const long before = resident();
    for (Coord i = 1; i <= 60; ++i) {
      const Array x = np.ones(i * 100'000), y = x + x["::-1"];
      const Array z = y * 0.5;
      expect_little_beside(before, np);
    }
  });
}

TEST(ArraySoak, SmallArraysAfterALargeOneTakeItsRoom) {
  run_arrays([](Session& np) {
    const long before = resident();
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(np.array(std::vector<double>(15'000'000, 1.0))["0"].item<double>(), 1.0);
      for (Coord i = 0; i <= 1500; ++i) {
        const Array small = np.full(1000 + i * 7919 % 50'000, 1.0);
        EXPECT_EQ(small["0"].item<double>(), 1.0);
      }
      expect_little_beside(before, np);
    }
  });
}

TEST(ArraySoak, SessionsLeaveNothingBehind) {
  Options options;
  options.workers = 1;
  Runtime runtime(options);
  runtime.run([](Context& ctx) {
    long settled = 0;
    constexpr int kSessions = 20'000;
    for (int i = 0; i < kSessions; ++i) {
      Session np(ctx);
      EXPECT_EQ(sum(np.ones(10) + 1.0).item<double>(), 20.0);
      if (i == kSessions / 2) settled = resident();
    }
    EXPECT_LE(resident(), settled + 8 * 1024);
  });
}

}  // namespace
}  // namespace refrain::test
