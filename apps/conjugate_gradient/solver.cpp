#include "solver.hpp"

#include <limits>

namespace cg {

Solver Solver::poisson(Session& np, Coord n) {
  // A few charges.
  Array b = np.zeros({n, n});
  b(n * 3 / 10, n / 4) += 1.0;
  b(n * 6 / 10, n * 7 / 10) -= 1.0;
  b(n * 8 / 10, n * 2 / 5) += 0.5;
  b(n / 5, n * 4 / 5) += 0.25;
  return {np, Array(), np.full({}, 4.0), b};
}

Solver Solver::dense(Session& np, Coord n) {
  const Array G = np.random.uniform({n, n});
  const Array A = 0.5 * (G + G.transpose()) + diag(n * np.linspace(1.0, 10.0, n));
  return {np, A, diag(A), np.random.uniform(n, -1.0, 1.0)};
}

Solver::Solver(Session& np, Array matrix, Array diagonal, Array b)
    : matrix_(std::move(matrix)), diagonal_(std::move(diagonal)), b_(std::move(b)) {
  x_ = np.zeros(b_.shape());
  r_ = np.zeros(b_.shape());
  if (matrix_.empty_handle()) {
    framed_p_ = np.zeros({b_.shape()[0] + 2, b_.shape()[1] + 2});
    p_ = framed_p_["1:-1, 1:-1"];
  } else {
    p_ = np.zeros(b_.shape());
  }
  start();
}

Array Solver::A_times_p() const {
  if (!matrix_.empty_handle()) return dot(matrix_, p_);
  const Array& u = framed_p_;
  return 4.0 * p_ - u[":-2, 1:-1"] - u["2:, 1:-1"] - u["1:-1, :-2"] - u["1:-1, 2:"];
}

void Solver::start() {
  x_.fill(0.0);
  r_.fill(b_);
  p_.fill(r_ / diagonal_);
  rz_ = sum(r_ * p_);
  first_rz_ = rz_;
}

void Solver::iterate() {
  // Added to what is divided by: at the solution 0 / 0 has to be 0.
  constexpr double tiny = std::numeric_limits<double>::min();
  const Array Ap = A_times_p();
  const Array alpha = rz_ / (sum(p_ * Ap) + tiny);
  x_ += alpha * p_;
  r_ -= alpha * Ap;
  const Array z = r_ / diagonal_;
  const Array rz = sum(r_ * z);
  const Array beta = rz / (rz_ + tiny);
  p_ *= beta;
  p_ += z;
  rz_ = rz;
}

Array Solver::relative_residual() const { return sqrt(rz_ / first_rz_); }

}  // namespace cg
