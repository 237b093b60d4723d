#include "regression.hpp"

namespace logistic {

Regression::Regression(Session& np, Coord samples, Coord features, double step) : rate(step) {
  X = np.random.uniform({samples, features}, -1.0, 1.0);
  X[":, 0"] = 1.0;
  const Array plane = np.random.uniform(features, -2.0, 2.0);
  const Array noise = np.random.uniform(samples, -1.0, 1.0);
  y = (dot(X, plane) + noise > 0.0).astype(refrain::arrays::DType::float64);
  weights = np.zeros(features);
}

Array Regression::probabilities() const { return 1.0 / (1.0 + exp(-dot(X, weights))); }

void Regression::iterate() {
  const Array gradient = dot(X.transpose(), probabilities() - y);
  weights -= rate / static_cast<double>(y.size()) * gradient;
}

Array Regression::loss() const {
  const Array margins = dot(X, weights);
  // log(1 + exp(margin)) - y margin, without an overflow.
  return mean(maximum(margins, 0.0) + log1p(exp(-abs(margins))) - y * margins);
}

}  // namespace logistic
