#pragma once
// The same steps by plain loops over the samples, one after the other: the weights and the loss have to be the same but
// for rounding. The loss is convex and steps are short, so rounding does not grow with them.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace logistic {

/// A problem in the memory of the program, and what has been made of it.
struct Result {
  std::vector<double> X, y, weights;
  double loss = 0;
  double rate = 0;
  std::int64_t iterations = 0;
};

/// Says what it finds.
bool check(const Result& result);

}  // namespace logistic
