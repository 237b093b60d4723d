#pragma once
// Flow through a channel: step 12 of "CFD Python: 12 steps to Navier-Stokes" (L. A. Barba and G. F. Forsyth, Journal
// of Open Source Education, 2018). The equations of an incompressible fluid,
//
//   du/dt + u du/dx + v du/dy = -1/rho dp/dx + nu (d2u/dx2 + d2u/dy2) + F
//   dv/dt + u dv/dx + v dv/dy = -1/rho dp/dy + nu (d2v/dx2 + d2v/dy2)
//
// periodic in x, between walls at y = 0 and y = height, pushed by F. Convection is taken from the left and from below
// (first order), diffusion by central differences, time forward; the pressure follows from the divergence of the
// velocity by some of Jacobi's iterations. Fields have rows along y and columns along x.

#include "refrain/arrays.hpp"

namespace cfd {

using refrain::arrays::Array;
using refrain::arrays::Coord;
using refrain::arrays::Session;

struct Channel {
  Coord nx = 41, ny = 41;  ///< points; at least 3
  int pressure_iterations = 50;
  double length = 2, height = 2;
  double rho = 1, nu = 0.1, force = 1;  ///< density, viscosity, F
  double swirl = 0;                     ///< v begins with two waves along x this high instead of 0

  [[nodiscard]] double dx() const { return length / static_cast<double>(nx - 1); }
  [[nodiscard]] double dy() const { return height / static_cast<double>(ny - 1); }
  /// The speed in the middle of the channel in the end.
  [[nodiscard]] double fastest() const { return force * height * height / (8 * nu); }
  /// With which a step is stable, for u up to fastest() and v up to swirl.
  [[nodiscard]] double dt() const;
};

/// The flow at a time, which begins at rest.
struct Flow {
  Flow(Session& np, const Channel& channel);
  Array u, v;  ///< velocity along x and y
  Array p;     ///< pressure
};

/// From one time to the next, dt later.
void step(Session& np, const Channel& channel, Flow& flow);
/// The same, and by how much it changed the sum of u, relative to it. Waits.
double step_and_compare(Session& np, const Channel& channel, Flow& flow);

}  // namespace cfd
