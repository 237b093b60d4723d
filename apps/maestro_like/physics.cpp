#include "physics.hpp"

#include <algorithm>
#include <cmath>

#include "../common/checks.hpp"

namespace maestro {

namespace {

constexpr double adiabatic = 1.4;  // the ratio of heats; the gas constant is 1
constexpr double viscosity = 0.01;
constexpr double conductivity = 0.05;
constexpr double courant = 0.5;

template <class F>
void each(const Rect3& box, const F& f) {
  for (Coord i = box.lo[0]; i <= box.hi[0]; ++i)
    for (Coord j = box.lo[1]; j <= box.hi[1]; ++j)
      for (Coord k = box.lo[2]; k <= box.hi[2]; ++k) f(i, j, k);
}

double square(const double (&v)[3]) { return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]; }

double energy_of(double density, const double (&velocity)[3], double pressure) {
  return pressure / (adiabatic - 1) + 0.5 * density * square(velocity);
}

Primitive primitive_of(const Conserved& c) {
  Primitive p{c.mass, {}, 0};
  for (int d = 0; d < 3; ++d) p.velocity[d] = c.momentum[d] / c.mass;
  p.temperature = (adiabatic - 1) * (c.energy / c.mass - 0.5 * square(p.velocity));
  return p;
}

// Between points a and b, which stand one after the other in direction D. `next` and `last` are the gradients there in
// the directions after D.
template <int D>
Conserved flux_between(const Primitive& a, const Primitive& b, const Gradient& next,
                       const Gradient& last, double h) {
  double velocity[3], gradient[3][3];
  for (int d = 0; d < 3; ++d) {
    velocity[d] = 0.5 * (a.velocity[d] + b.velocity[d]);
    gradient[D][d] = (b.velocity[d] - a.velocity[d]) / h;
    gradient[(D + 1) % 3][d] = next.velocity[d];
    gradient[(D + 2) % 3][d] = last.velocity[d];
  }
  const double density = 0.5 * (a.density + b.density);
  const double pressure = 0.5 * (a.density * a.temperature + b.density * b.temperature);
  const double through = velocity[D];
  const double expansion = gradient[0][0] + gradient[1][1] + gradient[2][2];
  Conserved flux{density * through, {}, 0};
  flux.energy = through * (energy_of(density, velocity, pressure) + pressure) -
                conductivity * (b.temperature - a.temperature) / h;
  for (int d = 0; d < 3; ++d) {
    double stress = viscosity * (gradient[D][d] + gradient[d][D]);
    if (d == D) stress -= 2.0 / 3 * viscosity * expansion;
    flux.momentum[d] = density * through * velocity[d] - stress;
    flux.energy -= stress * velocity[d];
  }
  flux.momentum[D] += pressure;
  return flux;
}

Gradient mean(const Gradient& a, const Gradient& b) {
  Gradient m;
  for (int d = 0; d < 3; ++d) m.velocity[d] = 0.5 * (a.velocity[d] + b.velocity[d]);
  return m;
}

template <int D>
void find_fluxes_along(const Rect3& box, const View<const Primitive>& primitive,
                       const View<const Gradient>& next, const View<const Gradient>& last,
                       const View<Conserved>& flux, double h) {
  constexpr Coord x = D == 0, y = D == 1, z = D == 2;
  each(box, [&](Coord i, Coord j, Coord k) {
    flux(i, j, k) = flux_between<D>(primitive(i - x, j - y, k - z), primitive(i, j, k),
                                    mean(next(i - x, j - y, k - z), next(i, j, k)),
                                    mean(last(i - x, j - y, k - z), last(i, j, k)), h);
  });
}

}  // namespace

void Totals::add(const Totals& other) {
  mass += other.mass;
  energy += other.energy;
  fastest = apps::larger(fastest, other.fastest);
}

double time_step(const Totals& totals, double h) {
  return courant / (totals.fastest / h + 12 * conductivity / (h * h));
}

double drift(const Totals& before, const Totals& after) {
  return apps::larger(std::fabs(after.mass - before.mass) / before.mass,
                      std::fabs(after.energy - before.energy) / before.energy);
}

void start(const Rect3& box, View<Conserved> conserved, const Rect3& sample, Coord s) {
  const double pi = std::acos(-1.0);
  const double scale = pi / static_cast<double>(sample.hi[1] - 1);
  const double speed = 0.2 + 0.01 * static_cast<double>(s % 32);
  each(box, [&](Coord i, Coord j, Coord k) {
    const double x = scale * (static_cast<double>(i - sample.lo[0]) - 0.5);
    const double y = scale * (static_cast<double>(j) - 0.5);
    const double z = scale * (static_cast<double>(k) - 0.5);
    const double velocity[3] = {speed * std::sin(x) * std::cos(y) * std::cos(z),
                                -speed * std::cos(x) * std::sin(y) * std::cos(z), 0.0};
    const double pressure = 1.0 + 0.1 * std::cos(x) * std::cos(z);
    conserved(i, j, k) = {1.0, {velocity[0], velocity[1], 0.0}, energy_of(1.0, velocity, pressure)};
  });
}

Totals measure(const Rect3& box, View<const Conserved> conserved) {
  Totals totals{};
  each(box, [&](Coord i, Coord j, Coord k) {
    const Conserved& c = conserved(i, j, k);
    const Primitive p = primitive_of(c);
    const double sound = std::sqrt(adiabatic * p.temperature);
    const double fastest =
        std::fabs(p.velocity[0]) + std::fabs(p.velocity[1]) + std::fabs(p.velocity[2]) + 3 * sound;
    totals.add({c.mass, c.energy, fastest});
  });
  return totals;
}

void find_primitives(const Rect3& box, View<const Conserved> conserved, View<Primitive> primitive) {
  each(box,
       [&](Coord i, Coord j, Coord k) { primitive(i, j, k) = primitive_of(conserved(i, j, k)); });
}

void mirror(int d, const Rect3& box, View<Primitive> primitive, const Rect3& sample) {
  // Ghost points of the directions before `d` are there.
  Rect3 wall = box;
  for (int e = d + 1; e < 3; ++e) wall.lo[e] += 1, wall.hi[e] -= 1;
  for (const bool low : {true, false}) {
    const Coord ghost = low ? sample.lo[d] : sample.hi[d];
    if (ghost != (low ? box.lo[d] : box.hi[d])) continue;
    wall.lo[d] = wall.hi[d] = ghost;
    Coord inwards[3] = {};
    inwards[d] = low ? 1 : -1;
    each(wall, [&](Coord i, Coord j, Coord k) {
      Primitive& beyond = primitive(i, j, k);
      beyond = primitive(i + inwards[0], j + inwards[1], k + inwards[2]);
      beyond.velocity[d] = -beyond.velocity[d];
    });
  }
}

void find_gradients(int d, const Rect3& box, View<const Primitive> primitive,
                    View<Gradient> gradient, double h) {
  const Coord x = d == 0, y = d == 1, z = d == 2;
  each(box, [&](Coord i, Coord j, Coord k) {
    const Primitive& a = primitive(i - x, j - y, k - z);
    const Primitive& b = primitive(i + x, j + y, k + z);
    Gradient& g = gradient(i, j, k);
    for (int e = 0; e < 3; ++e) g.velocity[e] = (b.velocity[e] - a.velocity[e]) / (2 * h);
  });
}

void find_fluxes(int d, const Rect3& box, View<const Primitive> primitive,
                 View<const Gradient> next, View<const Gradient> last, View<Conserved> flux,
                 double h) {
  if (d == 0) find_fluxes_along<0>(box, primitive, next, last, flux, h);
  if (d == 1) find_fluxes_along<1>(box, primitive, next, last, flux, h);
  if (d == 2) find_fluxes_along<2>(box, primitive, next, last, flux, h);
}

void advance(const Rect3& box, View<const Conserved> flux_x, View<const Conserved> flux_y,
             View<const Conserved> flux_z, View<Conserved> conserved, View<Conserved> change,
             const Stage& stage, double dt, double h) {
  each(box, [&](Coord i, Coord j, Coord k) {
    const Conserved &x = flux_x(i, j, k), &to_x = flux_x(i + 1, j, k);
    const Conserved &y = flux_y(i, j, k), &to_y = flux_y(i, j + 1, k);
    const Conserved &z = flux_z(i, j, k), &to_z = flux_z(i, j, k + 1);
    Conserved& value = conserved(i, j, k);
    Conserved& changes = change(i, j, k);
    const auto one = [&](auto part) {
      const double gain =
          ((part(x) - part(to_x)) + (part(y) - part(to_y)) + (part(z) - part(to_z))) / h;
      part(changes) = stage.a * part(changes) + dt * gain;
      part(value) += stage.b * part(changes);
    };
    one([](auto& c) -> auto& { return c.mass; });
    for (int d = 0; d < 3; ++d) one([d](auto& c) -> auto& { return c.momentum[d]; });
    one([](auto& c) -> auto& { return c.energy; });
  });
}

}  // namespace maestro
