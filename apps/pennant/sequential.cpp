#include "sequential.hpp"

#include "arrays.hpp"

namespace pennant {

Outcome run_sequential(const Deck& deck, const Mesh& mesh) {
  Arrays arrays(deck, mesh);
  const Chunk all_zones{0, mesh.zones(), 0, mesh.sides()};
  const PointChunk all_points{0, mesh.nodes(), 0, mesh.sides()};
  Outcome outcome = run_cycles(deck, "pennant, sequential", [&](double dt) {
    const Limits middle = arrays.predict(all_zones, dt);
    arrays.move_points(all_points, dt);
    return tighter(middle, arrays.correct(all_zones, dt));
  });
  outcome.state = std::move(arrays).state();
  return outcome;
}

}  // namespace pennant
