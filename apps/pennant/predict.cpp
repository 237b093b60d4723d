// The predictor: everything in the middle of the step. Sums and products stand in PENNANT's order, so that results can
// be compared with it.

#include <cmath>

#include "strip.hpp"

namespace pennant {

namespace {

constexpr double fuzz = 1e-99;

// A strip, from the points to the forces. Of a corner, `next` is what lies after its point in the zone, `previous` what
// lies before it; a side is the edge after the point.
class Predictor {
 public:
  Predictor(const Gas& gas, const Prediction& arguments, double dt)
      : gas_(gas), p_(arguments), half_dt_(0.5 * dt), strip_(arguments.zones) {}

  Limits run() {
    while (strip_.next()) {
      gather();
      find_edges();
      find_gas();
      find_viscosity();
      find_forces();
      limit();
    }
    return limits_;
  }

 private:
  void gather() {
    const int sides = strip_.sides();
    for (int i = 0; i < sides; ++i) {
      const Index point = strip_.point(i);
      const Vec2 &at = p_.position[point], &moves = p_.velocity[point];
      x_[i] = at.x + moves.x * half_dt_;
      y_[i] = at.y + moves.y * half_dt_;
      u_[i] = moves.x;
      v_[i] = moves.y;
    }
    strip_.from_next(x_, next_x_);
    strip_.from_next(y_, next_y_);
    strip_.from_next(u_, next_u_);
    strip_.from_next(v_, next_v_);
    strip_.from_previous(u_, previous_u_);
    strip_.from_previous(v_, previous_v_);
    strip_.mean(x_, centre_x_);
    strip_.mean(y_, centre_y_);
    strip_.mean(u_, centre_u_);
    strip_.mean(v_, centre_v_);
  }

  void find_edges() {
    const int sides = strip_.sides();
    triangles_.find(strip_, x_, y_, next_x_, next_y_, centre_x_, centre_y_);
    strip_.each_zone([&](int, int begin, int end) {
      for (int i = begin; i < end; ++i) width_factor_[i] = end - begin == 3 ? 3.0 : 4.0;
    });
    for (int i = 0; i < sides; ++i) {
      const double dx = next_x_[i] - x_[i], dy = next_y_[i] - y_[i];
      const double length = std::sqrt(dx * dx + dy * dy);
      edge_x_[i] = 0.5 * (x_[i] + next_x_[i]);
      edge_y_[i] = 0.5 * (y_[i] + next_y_[i]);
      length_[i] = length;
      over_length_[i] = 1.0 / length;
      width_[i] = width_factor_[i] * triangles_.area[i] / length;
      const double closing =
          std::fabs((next_u_[i] - u_[i]) * dx + (next_v_[i] - v_[i]) * dy) / length;
      closing_[i] = length > 0 ? closing : 0.0;
    }
    strip_.from_previous(edge_x_, previous_edge_x_);
    strip_.from_previous(edge_y_, previous_edge_y_);
    strip_.from_previous(length_, previous_length_);
    strip_.from_previous(over_length_, previous_over_length_);
  }

  // The gas at the start of the step, then its pressure in the middle. What sides need of it is spread over them.
  void find_gas() {
    strip_.sum(triangles_.area, zone_area_);
    strip_.sum(triangles_.volume, zone_volume_);
    const double gamma_less_1 = gas_.gamma - 1.0;
    const double least = std::max(gas_.least_sound_speed * gas_.least_sound_speed, fuzz);
    const std::ptrdiff_t zone = strip_.zone();
    const int zones = strip_.zones();
    for (int z = 0; z < zones; ++z) {
      const double mass = p_.mass[zone + z], density = p_.density[zone + z];
      const double energy = std::max(p_.energy[zone + z], 0.0);
      const double pressure = gamma_less_1 * density * energy;
      const double by_energy = gamma_less_1 * density;  // the pressure's derivative
      const double sound_squared =
          std::max(least, gamma_less_1 * energy + by_energy * pressure / (density * density));
      const double sound = std::sqrt(sound_squared);
      const double over_mass = 1.0 / mass;
      const double growth = (zone_volume_[z] - p_.volume[zone + z]) * over_mass;
      const double bulk = density * sound * sound;
      const double source = p_.work_rate[zone + z] * half_dt_ * over_mass;
      pressure_[z] = pressure + (by_energy * source - density * bulk * growth) /
                                    (1.0 + 0.5 * by_energy * growth);
      sound_[z] = sound;
      const double middle_density = mass / zone_volume_[z];
      density_[z] = middle_density;
      half_mass_[z] = middle_density * zone_area_[z] * 0.5;
      const double felt = std::max(sound, gas_.least_sound_speed);
      stiffness_[z] = gas_.stiffness * felt * felt;
    }
    for (int z = 0; z < zones; ++z) p_.pressure[zone + z] = pressure_[z];
    strip_.spread(zone_area_, side_zone_area_);
    strip_.spread(density_, side_density_);
    strip_.spread(half_mass_, side_half_mass_);
    strip_.spread(pressure_, side_pressure_);
    strip_.spread(stiffness_, side_stiffness_);
    strip_.spread(sound_, side_sound_);
  }

  // At each corner the viscosity of Kurapatenko's form acts along the two edges that meet there, where the corner is
  // compressed. What an edge has of its two corners comes together in find_forces.
  void find_viscosity() {
    const int sides = strip_.sides();
    const double quadratic = gas_.q2 * 0.25 * (gas_.qgamma + 1.0), linear = gas_.q1;
    for (int i = 0; i < sides; ++i) {
      // A quadrangle from the point to the middle of the edge after it, the zone's centre, and the middle of the edge
      // before it.
      const double x0 = x_[i], y0 = y_[i], u0 = u_[i], v0 = v_[i];
      const double x1 = edge_x_[i], y1 = edge_y_[i];
      const double u1 = 0.5 * (u0 + next_u_[i]), v1 = 0.5 * (v0 + next_v_[i]);
      const double x2 = centre_x_[i], y2 = centre_y_[i], u2 = centre_u_[i], v2 = centre_v_[i];
      const double x3 = previous_edge_x_[i], y3 = previous_edge_y_[i];
      const double u3 = 0.5 * (previous_u_[i] + u0), v3 = 0.5 * (previous_v_[i] + v0);
      const double area = 0.5 * ((x2 - x0) * (y3 - y1) - (y2 - y0) * (x3 - x1));
      const double after = length_[i], before = previous_length_[i];
      const double shorter = std::min(before, after);
      const double cosine_found =
          4.0 * ((x3 - x0) * (x1 - x0) + (y3 - y0) * (y1 - y0)) / (before * after);
      const double cosine = shorter < 1e-12 ? 0.0 : cosine_found;
      const double divergence = (((u2 - u0) * (y3 - y1) - (v2 - v0) * (x3 - x1)) -
                                 ((u3 - u1) * (y2 - y0) - (v3 - v1) * (x2 - x0))) /
                                (2.0 * area);

      // The corner's width across what flows.
      const double ax = 0.5 * (x1 + x2 - x0 - x3), ay = 0.5 * (y1 + y2 - y0 - y3);
      const double bx = 0.5 * (x2 + x3 - x0 - x1), by = 0.5 * (y2 + y3 - y0 - y1);
      const double a = std::sqrt(ax * ax + ay * ay), b = std::sqrt(bx * bx + by * by);
      const double mean_u = 0.25 * (u0 + u1 + u2 + u3), mean_v = 0.25 * (v0 + v1 + v2 + v3);
      const double along_a = std::fabs((ax * mean_u + ay * mean_v) * b);
      const double along_b = std::fabs((bx * mean_u + by * mean_v) * a);
      const double ratio = (along_a > along_b ? a : b) / (along_a > along_b ? b : a);
      const double across = std::sqrt(4.0 * area * ratio);
      const double width = std::min(across, 2.0 * shorter);

      const double du1 = u1 + u2 - u0 - u3, dv1 = v1 + v2 - v0 - v3;
      const double du2 = u2 + u3 - u0 - u1, dv2 = v2 + v3 - v0 - v1;
      const double jump = std::sqrt(std::max(du1 * du1 + dv1 * dv1, du2 * du2 + dv2 * dv2));

      const double second = quadratic * (divergence < 0 ? jump : 0.0);
      const double first = linear * side_sound_[i];
      const double speed = second + std::sqrt(second * second + first * first);
      const double viscosity = speed * side_density_[i] * (divergence < 0 ? width : 0.0);

      const double sine_squared = 1.0 - cosine * cosine;
      const double weight_found = area / sine_squared;
      const double weight = sine_squared < 1e-4 ? 0.0 : weight_found;
      const double share = sine_squared < 1e-4 ? 0.0 : cosine;
      const double before_u = viscosity * (u0 - previous_u_[i]) * previous_over_length_[i];
      const double before_v = viscosity * (v0 - previous_v_[i]) * previous_over_length_[i];
      const double after_u = viscosity * (next_u_[i] - u0) * over_length_[i];
      const double after_v = viscosity * (next_v_[i] - v0) * over_length_[i];
      on_after_x_[i] = weight * (after_u + share * before_u);
      on_after_y_[i] = weight * (after_v + share * before_v);
      on_before_x_[i] = weight * (before_u + share * after_u);
      on_before_y_[i] = weight * (before_v + share * after_v);
    }
    strip_.from_next(on_before_x_, from_end_x_);
    strip_.from_next(on_before_y_, from_end_y_);
  }

  void find_forces() {
    const int sides = strip_.sides();
    const std::ptrdiff_t side = strip_.side();
    for (int i = 0; i < sides; ++i) fraction_[i] = p_.mass_fraction[side + i];
    for (int i = 0; i < sides; ++i) {
      const double normal_x = -(edge_y_[i] - centre_y_[i]), normal_y = edge_x_[i] - centre_x_[i];
      const double viscous_x = (on_after_x_[i] + from_end_x_[i]) * over_length_[i];
      const double viscous_y = (on_after_y_[i] + from_end_y_[i]) * over_length_[i];
      force_x_[i] = -side_pressure_[i] * normal_x + viscous_x;
      force_y_[i] = -side_pressure_[i] * normal_y + viscous_y;
      // A subzone that has become smaller than its part of the zone pushes back.
      const double density = side_density_[i];
      const double side_density =
          density * fraction_[i] * (side_zone_area_[i] / triangles_.area[i]);
      const double excess = side_stiffness_[i] * (side_density - density);
      total_x_[i] = force_x_[i] + -excess * normal_x;
      total_y_[i] = force_y_[i] + -excess * normal_y;
    }
    strip_.from_previous(total_x_, previous_total_x_);
    strip_.from_previous(total_y_, previous_total_y_);
    strip_.from_previous(fraction_, previous_fraction_);
    for (int i = 0; i < sides; ++i) {
      p_.force[side + i] = {force_x_[i], force_y_[i]};
      p_.corner[side + i] = {
          {total_x_[i] - previous_total_x_[i], total_y_[i] - previous_total_y_[i]},
          side_half_mass_[i] * (fraction_[i] + previous_fraction_[i])};
    }
  }

  void limit() {
    limits_.inverted = std::min(limits_.inverted, triangles_.inverted(strip_));
    strip_.each_zone([&](int z, int begin, int end) {
      double width = 1e99, closing = 0;
      for (int i = begin; i < end; ++i) {
        width = std::min(width, width_[i]);
        closing = std::max(closing, closing_[i]);
      }
      const double speed = gas_.q1 * sound_[z] + 2.0 * gas_.q2 * closing;
      const double step = width * gas_.cfl / std::max(speed, std::max(sound_[z], fuzz));
      if (step < limits_.courant) {
        limits_.courant = step;
        limits_.courant_zone = strip_.number(z);
      }
    });
  }

  const Gas gas_;
  const Prediction p_;
  const double half_dt_;
  Strip strip_;
  Limits limits_;

  OfSides x_, y_, u_, v_;  // of the side's point
  OfSides next_x_, next_y_, next_u_, next_v_;
  OfSides previous_u_, previous_v_;
  OfSides centre_x_, centre_y_, centre_u_, centre_v_;
  Triangles triangles_;
  OfSides edge_x_, edge_y_, length_, over_length_;
  OfSides previous_edge_x_, previous_edge_y_, previous_length_, previous_over_length_;
  OfSides width_factor_, width_;  // of the zone, measured from the side
  OfSides closing_;               // how fast its ends come nearer, or go apart
  OfZones zone_area_, zone_volume_, pressure_, sound_, density_, half_mass_, stiffness_;
  OfSides side_zone_area_, side_pressure_, side_sound_, side_density_, side_half_mass_,
      side_stiffness_;
  OfSides on_after_x_, on_after_y_, on_before_x_, on_before_y_, from_end_x_, from_end_y_;
  OfSides force_x_, force_y_, total_x_, total_y_, previous_total_x_, previous_total_y_;
  OfSides fraction_, previous_fraction_;
};

}  // namespace

Limits predict(const Gas& gas, const Prediction& arguments, double dt) {
  return Predictor(gas, arguments, dt).run();
}

}  // namespace pennant
