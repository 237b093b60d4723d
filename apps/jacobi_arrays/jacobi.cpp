#include "jacobi.hpp"

namespace jacobi {

System::System(Session& np, Coord n) {
  // Generate random system; the figure leaves out what makes its diagonal dominant.
  const Array A = np.random.uniform({n, n}) + n * np.eye(n);
  b = np.random.uniform(n);
  // Initialize solution and extract diagonal.
  x = np.zeros(n);
  d = diag(A);
  R = A - diag(d);
}

void System::iterate() { x = (b - dot(R, x)) / d; }

Array System::residual() const { return max(abs((b - dot(R, x)) / d - x)); }

}  // namespace jacobi
