// Products whose sums are long: shared among tasks by their terms, too, with the same bits for any sharing.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "run.hpp"

namespace refrain::test::products_test {
namespace {

using namespace arrays;
using arrays::Array;

constexpr Coord kTerms = 20'001;

/// With `features` columns: X^T e, e X, X^T X, and X^T of every other row.
std::vector<double> products(Coord features, const Settings& settings, int workers) {
  std::vector<double> found;
  Options options;
  options.workers = workers;
  run_arrays(
      [&](Session& np) {
        const Array x = np.random.normal({kTerms, features});
        const Array e = np.random.normal(kTerms);
        const Array xt = x.transpose();
        const auto add = [&](const Array& product) {
          for (const double value : product.to_vector<double>()) found.push_back(value);
        };
        add(dot(xt, e));
        add(dot(e, x));
        add(dot(xt, x));
        add(dot(xt[":, ::2"], e["::2"]));
      },
      settings, options);
  return found;
}

TEST(ArrayProducts, OfLongSumsAreTheSameForAnySharing) {
  for (const Coord features : {1, 3, 32}) {
    const std::vector<double> whole = products(features, {.fusion = true, .tile = kTerms * 64}, 0);
    for (const Coord tile : {0, 512, 5000})
      for (const int workers : {0, 3})
        EXPECT_EQ(products(features, {.fusion = true, .tile = tile}, workers), whole)
            << features << " features, tile " << tile << ", " << workers << " workers";
  }
}

TEST(ArrayProducts, OfLongSumsAreExactToTheirBound) {
  run_arrays([](Session& np) {
    const Array x = np.random.normal({kTerms, 5});
    const Array e = np.random.normal(kTerms);
    const std::vector<double> found = dot(x.transpose(), e).to_vector<double>();
    const std::vector<double> a = x.to_vector<double>(), b = e.to_vector<double>();
    for (std::size_t j = 0; j < 5; ++j) {
      long double exact = 0, magnitude = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(kTerms); ++i) {
        const long double term = static_cast<long double>(a[i * 5 + j]) * b[i];
        exact += term;
        magnitude += std::fabs(term);
      }
      const long double bound = kTerms * std::numeric_limits<double>::epsilon() * magnitude;
      EXPECT_LE(std::fabs(found[j] - exact), bound);
    }
  });
}

TEST(ArrayProducts, OfIntegersAreExact) {
  run_arrays([](Session& np) {
    const Array x = np.random.integers({kTerms, 3}, -1000, 1000);
    const Array ones = np.ones(kTerms, DType::int64);
    EXPECT_EQ(dot(x.transpose(), ones).to_vector<std::int64_t>(),
              sum(x, 0).to_vector<std::int64_t>());
  });
}

}  // namespace
}  // namespace refrain::test::products_test
