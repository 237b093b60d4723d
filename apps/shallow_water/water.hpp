#pragma once
// The shallow water equations in conservative form: height h and momenta hu, hv of a layer of water under gravity,
//
//   h_t + (hu)_x + (hv)_y = 0
//   (hu)_t + (hu u + g/2 h^2)_x + (hu v)_y = 0
//   (hv)_t + (hv u)_x + (hv v + g/2 h^2)_y = 0
//
// by finite volumes of first order with Rusanov's flux (V. V. Rusanov, 1961; R. J. LeVeque, "Finite Volume Methods
// for Hyperbolic Problems", 2002, 12.5): at each face the mean of what both sides say, less half of the fastest wave
// times the jump. Walls reflect. Fields have rows along y and columns along x, and a frame of cells beyond the walls.

#include "refrain/arrays.hpp"

namespace shallow_water {

using refrain::arrays::Array;
using refrain::arrays::Coord;
using refrain::arrays::Session;

/// In the middle of the lake; round: around a column of water whose radius is a fifth of the shorter side.
enum class Dam { across_x, across_y, round };

/// A lake of square cells, whose longer side is kLength, and a dam on its wet bed.
struct Lake {
  static constexpr double kLength = 10;  // m
  static constexpr double kGravity = 9.81;

  Coord nx = 128, ny = 128;  ///< cells
  double high = 2, low = 1;  ///< water behind the dam and before it, m
  Dam dam = Dam::across_x;
  double courant = 0.4;  ///< the share of a cell that the fastest wave goes in a step

  [[nodiscard]] double cell() const { return kLength / static_cast<double>(nx > ny ? nx : ny); }
};

/// Each with the frame.
struct Water {
  Water(Session& np, const Lake& lake);
  Array h, hu, hv;
};

/// From one time to the next, dt later. Water neither comes nor goes.
void step(const Lake& lake, Water& water, double dt);

/// The dt with which the fastest wave goes `courant` of a cell. Waits for that wave.
double time_step(const Lake& lake, const Water& water);

/// What is between the walls: a view.
inline Array inside(const Array& field) { return field["1:-1, 1:-1"]; }

}  // namespace shallow_water
