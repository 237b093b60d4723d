#include "metg/workload.hpp"

#include <algorithm>

#include "patterns/pattern.hpp"

namespace refrain::bench {

namespace {

std::string key(const char* name, std::int64_t value) {
  return std::string(name) + "=" + std::to_string(value) + " ";
}

/// Refrain without traces, replaying all edges of its recordings, and replaying optimised ones.
void add_refrain(Workload& workload, const char* program, int threads) {
  for (const char* variant : {"", "unoptimised", "traced"})
    workload.systems.push_back({"refrain", variant, program, threads});
}

/// Tiles from 8 x 8 (about 0.2 us) to 2000 x 2000 (about 10 ms) of a grid too large for the caches,
/// so that the work per point is the same at every size; a quarter of it for small tiles, whose
/// number would be in the hundreds of thousands otherwise. All tiles divide its edge, which is no
/// power of two: rows a multiple of 4 KiB apart would share one set of the first cache.
Workload stencil(int threads, bool quick) {
  const std::vector<std::int64_t> all{8, 10, 20, 40, 50, 100, 200, 400, 800, 1000, 2000};
  const std::vector<std::int64_t> few{20, 100, 1000};
  Workload w{"stencil", {}, {}};
  for (std::int64_t tile : quick ? few : all) {
    const std::int64_t n = tile <= 100 ? 2000 : 4000;
    const std::int64_t tiles = (n / tile) * (n / tile);
    const std::int64_t iterations = tile <= 100 ? 24 : 8;
    w.sizes.push_back(
        {tile, key("n", n) + key("radius", 2) + key("tile", tile) + key("iterations", iterations),
         static_cast<double>(n * n * iterations), static_cast<double>(2 * tiles * iterations)});
  }
  w.systems = {{"sequential", "", "peer_stencil_openmp", 0},
               {"openmp", "forall", "peer_stencil_openmp", threads}};
  add_refrain(w, "peer_stencil_refrain", threads);
  return w;
}

/// Pieces of 2 (about 0.1 us per task) to 131072 wires (about 10 ms), 2 to 256 of them, as many
/// steps as take half a second when nothing is lost. A wire that settles in 30 substeps takes about
/// 200 ns per step, most of it in registers. Tasks are the points of the three group launches; the
/// one task that judges a step is not counted.
Workload circuit(int threads, bool quick) {
  constexpr std::int64_t all_wires = 1 << 18;
  constexpr std::int64_t wire_steps = 1 << 21;
  Workload w{"circuit", {}, {}};
  for (std::int64_t wires = 2; wires <= all_wires / 2; wires *= quick ? 64 : 4) {
    const std::int64_t pieces = std::clamp<std::int64_t>(all_wires / wires, 2, 256);
    const std::int64_t steps = std::clamp<std::int64_t>(wire_steps / (pieces * wires), 8, 2000);
    w.sizes.push_back({wires,
                       key("pieces", pieces) + key("nodes", std::max<std::int64_t>(wires / 4, 2)) +
                           key("wires", wires) + key("steps", steps) + key("substeps", 30),
                       static_cast<double>(pieces * wires * steps),
                       static_cast<double>(3 * pieces * steps)});
  }
  w.systems = {{"sequential", "", "peer_circuit_refrain", 0}};
  add_refrain(w, "peer_circuit_refrain", threads);
  return w;
}

/// Task Bench's stencil_1d: tasks of 32 to 4 million rounds (about 0.1 us to 10 ms), 16 to a step; as many steps as fill
/// a fifth of a second when nothing is lost, within bounds.
Workload compute(int threads, bool quick) {
  constexpr std::int64_t width = 16;
  constexpr double ns_per_round = 4;
  Workload w{"compute", {}, {}};
  for (std::int64_t rounds = 32; rounds <= std::int64_t{1} << 22; rounds *= quick ? 64 : 2) {
    const double wanted = 0.2e9 * threads / (ns_per_round * static_cast<double>(rounds * width));
    const auto steps = static_cast<std::int64_t>(std::clamp(wanted, 4.0, 2000.0));
    w.sizes.push_back({rounds,
                       key("kind", static_cast<int>(patterns::Kind::stencil_1d)) +
                           key("width", width) + key("steps", steps) + key("iterations", rounds),
                       static_cast<double>(width * steps * rounds),
                       static_cast<double>(width * steps)});
  }
  w.systems = {{"sequential", "", "peer_patterns_openmp", 0},
               {"openmp", "forall", "peer_patterns_openmp", threads},
               {"openmp", "depend", "peer_patterns_openmp", threads},
               {"mpi", "", "peer_patterns_mpi", threads}};
  add_refrain(w, "peer_patterns_refrain", threads);
  return w;
}

}  // namespace

std::vector<Workload> workloads(int threads, bool quick) {
  std::vector<Workload> all{stencil(threads, quick), circuit(threads, quick),
                            compute(threads, quick)};
  for (Workload& w : all) std::reverse(w.sizes.begin(), w.sizes.end());
  return all;
}

}  // namespace refrain::bench
