#pragma once
// The arithmetic of a cycle, on consecutive zones with their sides, or on consecutive points: the sequential program,
// the one with OpenMP and the one on Refrain call the same functions, and have the same bits.
//
// The scheme is that of PENNANT (Ferenbaugh, 2015), staggered-grid Lagrangian hydrodynamics in cylindrical coordinates:
// points have positions and velocities, zones have density, energy and pressure. A cycle predicts and corrects.
//
//   predict      brings the zones to the middle of the step: what moves there, the pressure of a polytropic gas, and
//                the forces on sides: of the pressure, of temporary triangular subzones, which keep zones in shape
//                (TTS, Caramana and Shashkov 1998), and of an artificial viscosity at corners (QCS, Campbell and
//                Shashkov 2001)
//   move_points  each point gathers the masses and forces of its corners, in the order of their numbers, and is
//                accelerated and moved to the end of the step
//   correct      the new volumes, and the work of the forces, which is what the energy of a zone changes by (compatible
//                energy update, Caramana et al. 1998)
//
// Nothing allocates. What is read by the number of a point or of a side is an Origin, a pointer to number 0; all other pointers are to the first
// zone, side or point of the range.

#include "mesh.hpp"
#include "time_step.hpp"

namespace pennant {

/// Where number 0 is, or would be: a piece has the values of some numbers only.
template <class T>
using Origin = T*;

/// Consecutive zones.
struct ZoneRange {
  Index first = 0, count = 0;
  const Index* sides = nullptr;  ///< of each zone, how many
  const Index* point = nullptr;  ///< of each side, the point in which it begins
};

/// What a zone brings to one of its points.
struct Corner {
  Vec2 force;
  double mass = 0;
};

struct Prediction {
  ZoneRange zones;
  Origin<const Vec2> position = nullptr, velocity = nullptr;  // of points
  const double *mass = nullptr, *density = nullptr, *energy = nullptr, *work_rate = nullptr,
               *volume = nullptr;         // of zones
  const double* mass_fraction = nullptr;  // of sides, of their zones' mass
  double* pressure = nullptr;
  Vec2* force = nullptr;  // of sides, without that of the subzones
  Corner* corner = nullptr;
};
/// The Courant limit, and whether a zone is inside out in the middle of the step.
Limits predict(const Gas& gas, const Prediction& arguments, double dt);

struct Motion {
  Index count = 0;
  const PointRole* role = nullptr;
  const Index* corner_side = nullptr;  // of the corners of these points
  Origin<const Corner> corner = nullptr;
  Vec2 *position = nullptr, *velocity = nullptr;
  Vec2* velocity_sum = nullptr;  // before the step and after it
  double* radius = nullptr;      // the distance from the axis in the middle of the step
};
void move_points(const Motion& arguments, double dt);

struct Correction {
  ZoneRange zones;
  Origin<const Vec2> position = nullptr, velocity_sum = nullptr;  // of points
  Origin<const double> radius = nullptr;
  const double *mass = nullptr, *pressure = nullptr;  // of zones
  const Vec2* force = nullptr;                        // of sides
  double *density = nullptr, *energy = nullptr, *total_energy = nullptr, *work_rate = nullptr,
         *volume = nullptr;
};
/// The limit by volumes, and whether a zone is inside out at the end of the step.
Limits correct(const Correction& arguments, double dt);

}  // namespace pennant
