#pragma once
// The tasks: the functions of physics.hpp for a piece of a sample. What is read may reach a point further than what is
// written.

#include "../common/progress.hpp"
#include "physics.hpp"
#include "refrain/refrain.hpp"

namespace maestro::tasks {

using refrain::Point;
using refrain::Read;
using refrain::ReadWrite;
using refrain::Write;

struct Start {
  void operator()(Write<Conserved, 3> conserved, Point<1> piece) const;
  Fidelity fidelity;
};
struct Measure {
  Totals operator()(Read<Conserved, 3> conserved, Point<1> piece) const;
  apps::Progress* progress;  // null: others count
};
struct FindPrimitives {
  void operator()(Read<Conserved, 3> conserved, Write<Primitive, 3> primitive) const;
};
struct Mirror {
  void operator()(ReadWrite<Primitive, 3> primitive, Point<1> piece) const;
  int direction;
  Fidelity fidelity;
};
struct FindGradients {
  void operator()(Read<Primitive, 3> primitive, Write<Gradient, 3> gradient) const;
  int direction;
  double h;
};
struct FindFluxes {
  void operator()(Read<Primitive, 3> primitive, Read<Gradient, 3> next, Read<Gradient, 3> last,
                  Write<Conserved, 3> flux) const;
  int direction;
  double h;
};
struct Advance {
  void operator()(Read<Conserved, 3> flux_x, Read<Conserved, 3> flux_y, Read<Conserved, 3> flux_z,
                  ReadWrite<Conserved, 3> conserved, ReadWrite<Conserved, 3> change,
                  const Totals& totals, const Stage& stage) const;
  double h;
};

}  // namespace maestro::tasks
