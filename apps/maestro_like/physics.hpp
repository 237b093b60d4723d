#pragma once
// The compressible Navier-Stokes equations of an ideal gas, in explicit finite differences: each function does one
// thing in all points of a box. The parallel program calls them for the pieces of samples, the sequential one for
// samples, so both compute the same bits. Directions are 0, 1 and 2, for x, y and z.

#include "setup.hpp"

namespace maestro {

/// The gas in a point.
struct Primitive {
  double density;
  double velocity[3];
  double temperature;
};
/// How the velocity changes in one direction.
struct Gradient {
  double velocity[3];
};

/// Values in the points of a box, anywhere in memory.
template <class T>
struct View {
  T* first;  ///< of point `lo`
  Point3 lo;
  Coord stride[3];  ///< in values

  T& operator()(Coord i, Coord j, Coord k) const {
    return first[(i - lo[0]) * stride[0] + (j - lo[1]) * stride[1] + (k - lo[2]) * stride[2]];
  }
  operator View<const T>() const { return {first, lo, {stride[0], stride[1], stride[2]}}; }
};

/// Of points, or of the whole ensemble.
struct Totals {
  double mass, energy;  ///< sums
  double fastest;       ///< signal: the largest

  void add(const Totals& other);
};
/// The time step that the stages stand, `h` being the distance of points.
double time_step(const Totals& totals, double h);
/// By which part of themselves mass and energy have changed: the larger.
double drift(const Totals& before, const Totals& after);

/// How sample `s` begins: a vortex. `sample` is its box with ghost points.
void start(const Rect3& box, View<Conserved> conserved, const Rect3& sample, Coord s);
Totals measure(const Rect3& box, View<const Conserved> conserved);

void find_primitives(const Rect3& box, View<const Conserved> conserved, View<Primitive> primitive);
/// The ghost points of the walls that stand across direction `d`: the gas beyond is a mirror's. Directions come in
/// their order. `box` is a slab's own points, `sample` the sample's.
void mirror(int d, const Rect3& box, View<Primitive> primitive, const Rect3& sample);
void find_gradients(int d, const Rect3& box, View<const Primitive> primitive,
                    View<Gradient> gradient, double h);
/// What goes through the face between each point and the one before it. `next` and `last` are the gradients in the
/// directions d + 1 and d + 2.
void find_fluxes(int d, const Rect3& box, View<const Primitive> primitive,
                 View<const Gradient> next, View<const Gradient> last, View<Conserved> flux,
                 double h);
void advance(const Rect3& box, View<const Conserved> flux_x, View<const Conserved> flux_y,
             View<const Conserved> flux_z, View<Conserved> conserved, View<Conserved> change,
             const Stage& stage, double dt, double h);

}  // namespace maestro
