#include "tasks.hpp"

#include <stdexcept>

namespace pennant::tasks {

namespace {

// The address of an argument's first point, behind which the others stand one after the other.
template <class Accessor>
auto* first(const Accessor& a) {
  if (!a.contiguous_rows()) throw std::runtime_error("pennant wants instances in C order");
  return a.pointer(a.domain().bounds().lo);
}

ZoneRange range(const Read<Index>& zone_sides, const Read<Index>& point) {
  const auto zones = zone_sides.domain().bounds();
  return {static_cast<Index>(zones.lo), static_cast<Index>(zones.volume()), first(zone_sides),
          first(point)};
}

// The values of a chunk's zones in one row.
double* row(const ReadWrite<double, 2>& gas, Gases::Row which) {
  return first(gas) + which * (gas.stride(0) / Coord{sizeof(double)});
}

}  // namespace

Limits Predict::operator()(const OfSides& sides, Read<Index> zone_sides, ReadWrite<double, 2> gas,
                           const Fields<Read<Vec2>, Read<Vec2>>& points, const Step& step) const {
  const auto& [point, mass_fraction, force, corner] = sides;
  const auto& [position, velocity] = points;
  Prediction p;
  p.zones = range(zone_sides, point);
  p.position = position.origin();
  p.velocity = velocity.origin();
  p.mass = row(gas, Gases::mass);
  p.density = row(gas, Gases::density);
  p.energy = row(gas, Gases::energy);
  p.work_rate = row(gas, Gases::work_rate);
  p.volume = row(gas, Gases::volume);
  p.mass_fraction = first(mass_fraction);
  p.pressure = row(gas, Gases::pressure);
  p.force = first(force);
  p.corner = first(corner);
  return predict(gas_constants, p, step.dt);
}

void MovePoints::operator()(const OfPoints& points, Read<Index> corner_side, Read<Corner> corner,
                            const Step& step) const {
  const auto& [position, velocity, velocity_sum, radius, role] = points;
  Motion m;
  m.count = static_cast<Index>(position.domain().bounds().volume());
  m.role = first(role);
  m.corner_side = first(corner_side);
  m.corner = corner.origin();
  m.position = first(position);
  m.velocity = first(velocity);
  m.velocity_sum = first(velocity_sum);
  m.radius = first(radius);
  move_points(m, step.dt);
}

Limits Correct::operator()(const Fields<Read<Index>, Read<Vec2>>& sides, Read<Index> zone_sides,
                           ReadWrite<double, 2> gas, const OfPoints& points,
                           const Step& step) const {
  const auto& [point, force] = sides;
  const auto& [position, velocity_sum, radius] = points;
  Correction c;
  c.zones = range(zone_sides, point);
  c.position = position.origin();
  c.velocity_sum = velocity_sum.origin();
  c.radius = radius.origin();
  c.mass = row(gas, Gases::mass);
  c.pressure = row(gas, Gases::pressure);
  c.force = first(force);
  c.density = row(gas, Gases::density);
  c.energy = row(gas, Gases::energy);
  c.total_energy = row(gas, Gases::total_energy);
  c.work_rate = row(gas, Gases::work_rate);
  c.volume = row(gas, Gases::volume);
  return correct(c, step.dt);
}

Step NextStep::operator()(const Step& last, const Limits& middle, const Limits& end) const {
  if (last.cycle > 0) progress->step();
  return next_step(control, last, tighter(middle, end));
}

}  // namespace pennant::tasks
