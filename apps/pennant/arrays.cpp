#include "arrays.hpp"

namespace pennant {

ZoneRange Arrays::range(const Chunk& chunk) const {
  return {chunk.first_zone, chunk.zones, mesh_.zone_sides.data() + chunk.first_zone,
          mesh_.side_point.data() + chunk.first_side};
}

Limits Arrays::predict(const Chunk& chunk, double dt) {
  const Index zone = chunk.first_zone, side = chunk.first_side;
  Prediction p;
  p.zones = range(chunk);
  p.position = state_.position.data();
  p.velocity = state_.velocity.data();
  p.mass = state_.mass.data() + zone;
  p.density = state_.density.data() + zone;
  p.energy = state_.energy.data() + zone;
  p.work_rate = state_.work_rate.data() + zone;
  p.volume = state_.volume.data() + zone;
  p.mass_fraction = state_.mass_fraction.data() + side;
  p.pressure = state_.pressure.data() + zone;
  p.force = force_.data() + side;
  p.corner = corner_.data() + side;
  return pennant::predict(gas_, p, dt);
}

void Arrays::move_points(const PointChunk& chunk, double dt) {
  const Index point = chunk.first_point;
  Motion m;
  m.count = chunk.points;
  m.role = mesh_.role.data() + point;
  m.corner_side = mesh_.corner_side.data() + chunk.first_corner;
  m.corner = corner_.data();
  m.position = state_.position.data() + point;
  m.velocity = state_.velocity.data() + point;
  m.velocity_sum = velocity_sum_.data() + point;
  m.radius = radius_.data() + point;
  pennant::move_points(m, dt);
}

Limits Arrays::correct(const Chunk& chunk, double dt) {
  const Index zone = chunk.first_zone;
  Correction c;
  c.zones = range(chunk);
  c.position = state_.position.data();
  c.velocity_sum = velocity_sum_.data();
  c.radius = radius_.data();
  c.mass = state_.mass.data() + zone;
  c.pressure = state_.pressure.data() + zone;
  c.force = force_.data() + chunk.first_side;
  c.density = state_.density.data() + zone;
  c.energy = state_.energy.data() + zone;
  c.total_energy = state_.total_energy.data() + zone;
  c.work_rate = state_.work_rate.data() + zone;
  c.volume = state_.volume.data() + zone;
  return pennant::correct(c, dt);
}

}  // namespace pennant
