// Rows that are long enough to be sorted by many tasks, with equal elements and NaN among them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "run.hpp"

namespace refrain::test::sorting_test {
namespace {

using namespace arrays;
using arrays::Array;

std::vector<double> elements(std::size_t count, double nan_share) {
  std::vector<double> values(count);
  std::uint64_t state = 12345;
  for (double& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto draw = static_cast<double>(state >> 40);
    value = draw < nan_share * 16777216 ? std::numeric_limits<double>::quiet_NaN()
                                        : std::floor(draw / 50);
  }
  return values;
}

bool comes_first(double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); }

class LongRows : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, LongRows, testing::Values(0, 3));

TEST_P(LongRows, AreSortedAsStandardSortDoes) {
  Options options;
  options.workers = GetParam();
  run_arrays(
      [](Session& np) {
        for (const std::size_t count : {65'537u, 100'000u, 262'147u}) {
          for (const double nan_share : {0.0, 0.3}) {
            const std::vector<double> given = elements(count, nan_share);
            const Array a = np.array(given);
            std::vector<double> sorted = given;
            std::stable_sort(sorted.begin(), sorted.end(), comes_first);
            const auto found = sort(a).to_vector<double>();
            EXPECT_EQ(std::memcmp(found.data(), sorted.data(), count * sizeof(double)), 0) << count;
            std::vector<std::int64_t> order(count);
            std::iota(order.begin(), order.end(), 0);
            std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
              return comes_first(given[static_cast<std::size_t>(i)],
                                 given[static_cast<std::size_t>(j)]);
            });
            EXPECT_TRUE(argsort(a).to_vector<std::int64_t>() == order) << count;
          }
        }
      },
      {}, options);
}

TEST_P(LongRows, OfViewsAndIntegers) {
  Options options;
  options.workers = GetParam();
  run_arrays(
      [](Session& np) {
        const Array a = np.random.integers(200'000, -50, 50);
        const Array reversed = a["::-1"];
        auto expected = reversed.to_vector<std::int64_t>();
        std::stable_sort(expected.begin(), expected.end());
        EXPECT_TRUE(sort(reversed).to_vector<std::int64_t>() == expected);
        EXPECT_TRUE(gather(reversed, argsort(reversed)).to_vector<std::int64_t>() == expected);
      },
      {}, options);
}

}  // namespace
}  // namespace refrain::test::sorting_test
