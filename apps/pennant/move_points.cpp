// Points: what their corners bring, and what follows from it.

#include <algorithm>

#include "kernels.hpp"

namespace pennant {

void move_points(const Motion& m, double dt) {
  const double half_dt = 0.5 * dt;
  const Index* side = m.corner_side;
  for (Index p = 0; p < m.count; ++p) {
    const PointRole& role = m.role[p];
    double mass = 0;
    Vec2 force;
    for (const Index* end = side + role.corners; side != end; ++side) {
      const Corner& corner = m.corner[*side];
      mass += corner.mass;
      force = force + corner.force;
    }
    const Vec2 at = m.position[p];
    Vec2 before = m.velocity[p];
    m.radius[p] = at.x + before.x * half_dt;
    if (role.fixed_x) before.x = force.x = 0;
    if (role.fixed_y) before.y = force.y = 0;
    const double over_mass = 1.0 / std::max(mass, 1e-99);
    const Vec2 after{before.x + force.x * over_mass * dt, before.y + force.y * over_mass * dt};
    const Vec2 sum = after + before;
    m.velocity[p] = after;
    m.velocity_sum[p] = sum;
    m.position[p] = {at.x + 0.5 * sum.x * dt, at.y + 0.5 * sum.y * dt};
  }
}

}  // namespace pennant
