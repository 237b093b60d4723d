#pragma once
// Logistic regression by gradient descent on all samples (Hastie, Tibshirani and Friedman, "The elements of statistical
// learning", section 4.4; the descent of Bishop, "Pattern recognition and machine learning", section 4.3.2).

#include "refrain/arrays.hpp"

namespace logistic {

using refrain::arrays::Array;
using refrain::arrays::Coord;
using refrain::arrays::Session;

/// How likely the label of a sample is 1, given its features: 1 / (1 + exp(-features . weights)).
struct Regression {
  Array X, y, weights;  ///< samples x features, the first of which is 1; labels 0 and 1
  double rate;          ///< how far a step goes

  /// Random samples, whose labels are those of a plane, but for some noise. Weights are 0.
  Regression(Session& np, Coord samples, Coord features, double step);
  /// Downhill along the gradient of the loss.
  void iterate();
  /// The mean of -log(likelihood of the label).
  [[nodiscard]] Array loss() const;
  [[nodiscard]] Array probabilities() const;
};

}  // namespace logistic
