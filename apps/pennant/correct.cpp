// The corrector: everything at the end of the step.

#include <cmath>

#include "strip.hpp"

namespace pennant {

namespace {

class Corrector {
 public:
  Corrector(const Correction& arguments, double dt)
      : c_(arguments), dt_(dt), strip_(arguments.zones) {}

  Limits run() {
    while (strip_.next()) {
      gather();
      find_work();
      update_zones();
    }
    return limits_;
  }

 private:
  void gather() {
    const int sides = strip_.sides();
    for (int i = 0; i < sides; ++i) {
      const Index point = strip_.point(i);
      const Vec2 &at = c_.position[point], &moves = c_.velocity_sum[point];
      x_[i] = at.x;
      y_[i] = at.y;
      u_[i] = moves.x;
      v_[i] = moves.y;
      radius_[i] = c_.radius[point];
    }
    strip_.from_next(x_, next_x_);
    strip_.from_next(y_, next_y_);
    strip_.mean(x_, centre_x_);
    strip_.mean(y_, centre_y_);
    triangles_.find(strip_, x_, y_, next_x_, next_y_, centre_x_, centre_y_);
    strip_.sum(triangles_.volume, volume_);
    limits_.inverted = std::min(limits_.inverted, triangles_.inverted(strip_));
  }

  // The force of a side pushes the point where it begins, and pulls the one where it ends.
  void find_work() {
    strip_.from_next(u_, next_u_);
    strip_.from_next(v_, next_v_);
    strip_.from_next(radius_, next_radius_);
    const double half_dt = 0.5 * dt_;
    const int sides = strip_.sides();
    const Vec2* force = c_.force + strip_.side();
    for (int i = 0; i < sides; ++i) {
      const double fx = force[i].x, fy = force[i].y;
      const double begin = fx * u_[i] + fy * v_[i];
      const double end = -fx * next_u_[i] + -fy * next_v_[i];
      work_[i] = -half_dt * (begin * radius_[i] + end * next_radius_[i]);
    }
  }

  void update_zones() {
    const std::ptrdiff_t zone = strip_.zone();
    strip_.each_zone([&](int z, int begin, int end) {
      double energy = c_.total_energy[zone + z], work = 0;
      for (int i = begin; i < end; ++i) {
        energy += work_[i];
        work += work_[i];
      }
      c_.total_energy[zone + z] = energy;
      zone_work_[z] = work;
    });
    const double over_dt = 1.0 / dt_;
    const int zones = strip_.zones();
    for (int z = 0; z < zones; ++z) {
      const double before = c_.volume[zone + z], growth = volume_[z] - before;
      const double mass = c_.mass[zone + z];
      c_.work_rate[zone + z] = (zone_work_[z] + c_.pressure[zone + z] * growth) * over_dt;
      c_.energy[zone + z] = c_.total_energy[zone + z] / (mass + 1e-99);
      c_.density[zone + z] = mass / volume_[z];
      c_.volume[zone + z] = volume_[z];
      swelling_[z] = std::fabs(growth / before);
    }
    for (int z = 0; z < zones; ++z) {
      if (!(swelling_[z] > limits_.swelling)) continue;
      limits_.swelling = swelling_[z];
      limits_.swelling_zone = strip_.number(z);
    }
  }

  const Correction c_;
  const double dt_;
  Strip strip_;
  Limits limits_;
  OfSides x_, y_, u_, v_, radius_;  // of the side's point
  OfSides next_x_, next_y_, next_u_, next_v_, next_radius_;
  OfSides centre_x_, centre_y_;
  Triangles triangles_;
  OfSides work_;
  OfZones volume_, zone_work_, swelling_;
};

}  // namespace

Limits correct(const Correction& arguments, double dt) { return Corrector(arguments, dt).run(); }

}  // namespace pennant
