// The compute-bound stencil pattern with OpenMP. Variants: "forall", a `parallel for` per step, and
// "depend", `task depend(in, in, in, out)`. With 0 threads it is the plain sequential program.
// Requests `width= steps= iterations=`: nanoseconds.

#include <algorithm>

#include "peers/compute_pattern.hpp"
#include "peers/peer.hpp"

namespace {

using peer::ComputePattern;
using peer::ComputeRows;

void run_forall(ComputeRows& values, const ComputePattern& pattern, int threads) {
#pragma omp parallel num_threads(threads)
  for (int t = 0; t < pattern.steps; ++t) {
    const double* before = values.rows[(t + 1) % 2].data();
    double* after = values.rows[t % 2].data();
#pragma omp for
    for (int c = 0; c < pattern.width; ++c) peer::compute_task(before, after, c, pattern);
  }
}

void run_depend(ComputeRows& values, const ComputePattern& pattern, int threads) {
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    for (int t = 0; t < pattern.steps; ++t) {
      const double* before = values.rows[(t + 1) % 2].data();
      double* after = values.rows[t % 2].data();
      for (int c = 0; c < pattern.width; ++c) {
        const int left = std::max(c - 1, 0);
        const int right = std::min(c + 1, pattern.width - 1);
#pragma omp task depend(in                                                           \
                        : before[left], before[c], before[right]) depend(out         \
                                                                         : after[c]) \
    firstprivate(before, after, c) shared(pattern)
        peer::compute_task(before, after, c, pattern);
      }
    }
#pragma omp taskwait
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = peer::threads_of(argc, argv);
  const bool depend = peer::variant_of(argc, argv) == "depend";
  return peer::serve([&](const peer::Request& request) {
    const ComputePattern pattern{static_cast<int>(request["width"]),
                                 static_cast<int>(request["steps"]), request["iterations"]};
    const auto run = [&](ComputeRows& values, const ComputePattern& what) {
      if (threads == 0) return compute_sequentially(values, what);
      depend ? run_depend(values, what, threads) : run_forall(values, what, threads);
    };
    const ComputePattern small{pattern.width, 2, 1};
    ComputeRows awake(small);
    run(awake, small);
    ComputeRows values(pattern);
    const peer::Timer timer;
    run(values, pattern);
    const double ns = timer.ns();
    check_compute(values, pattern);
    return ns;
  });
}
