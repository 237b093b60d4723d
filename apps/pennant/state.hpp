#pragma once
// What changes while the gas moves, and how a run went.

#include <vector>

#include "mesh.hpp"
#include "time_step.hpp"

namespace pennant {

struct State {
  std::vector<Vec2> position, velocity;  ///< per point
  std::vector<double> mass;              ///< per zone; it stays what it is
  std::vector<double> density, energy, total_energy, pressure, volume;  ///< energy: per mass
  std::vector<double> work_rate;      ///< the zone's own work beyond that of its pressure, per time
  std::vector<double> mass_fraction;  ///< per side, of the mass of its zone; it stays what it is
};

/// The gas before the first cycle. Throws as check_shapes.
State first_state(const Deck& deck, const Mesh& mesh);

/// Bit for bit.
bool equal(const State& a, const State& b);

struct Outcome {
  double seconds = 0;      ///< of the cycles
  double first_cycle = 0;  ///< of the first one, which others may be quicker than
  Step last;               ///< the last step
  State state;
};

bool equal(const Outcome& a, const Outcome& b);

/// Over 2 pi, as volumes and masses are.
struct Energy {
  double internal = 0, kinetic = 0;
  [[nodiscard]] double total() const { return internal + kinetic; }
};
Energy energy_of(const Mesh& mesh, const State& state);

}  // namespace pennant
