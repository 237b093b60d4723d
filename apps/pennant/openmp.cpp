#include "openmp.hpp"

#include "arrays.hpp"

namespace pennant {

#pragma omp declare reduction(tighter:Limits                        \
                              : omp_out = tighter(omp_out, omp_in)) \
    initializer(omp_priv = Limits{})

bool has_openmp() {
#ifdef _OPENMP
  return true;
#else
  return false;
#endif
}

namespace {

Limits cycle(Arrays& arrays, const Chunks& chunks, double dt, [[maybe_unused]] int threads) {
  Limits limits;
#pragma omp parallel num_threads(threads) reduction(tighter : limits)
  {
#pragma omp for schedule(static)
    for (std::size_t i = 0; i < chunks.zones.size(); ++i)
      limits = tighter(limits, arrays.predict(chunks.zones[i], dt));
#pragma omp for schedule(static)
    for (std::size_t i = 0; i < chunks.points.size(); ++i) arrays.move_points(chunks.points[i], dt);
#pragma omp for schedule(static) nowait
    for (std::size_t i = 0; i < chunks.zones.size(); ++i)
      limits = tighter(limits, arrays.correct(chunks.zones[i], dt));
  }
  return limits;
}

}  // namespace

Outcome run_openmp(const Deck& deck, const Mesh& mesh, const Chunks& chunks, int threads) {
  Arrays arrays(deck, mesh);
  Outcome outcome = run_cycles(deck, "pennant, OpenMP",
                               [&](double dt) { return cycle(arrays, chunks, dt, threads); });
  outcome.state = std::move(arrays).state();
  return outcome;
}

}  // namespace pennant
