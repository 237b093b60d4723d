#pragma once
// Simulates a captured program under the mappings of a search.

#include "capture/captured_program.hpp"
#include "map_search/evaluator.hpp"
#include "map_search/space.hpp"
#include "simulate/simulation.hpp"

namespace refrain::map {

class Simulations final : public map_search::Evaluator {
 public:
  /// All outlive this.
  Simulations(const capture::Program& program, const map_search::Space& space,
              simulate::Simulation simulation);
  /// Seconds are simulated ones: of an iteration of the longest loop, or of the whole program, where that has none. The
  /// cost is the time that the simulation takes.
  map_search::Run run(const map_search::Mapping& mapping) override;

 private:
  const capture::Program& program_;
  const map_search::Space& space_;
  simulate::Simulation simulation_;
};

}  // namespace refrain::map
