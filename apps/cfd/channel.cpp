#include "channel.hpp"

#include <cmath>
#include <numbers>

namespace cfd {

using namespace refrain::arrays;

namespace {

/// Views of a field: some of its points, and their neighbours on four sides.
struct Points {
  Array here, west, east, south, north;
};
Points inner(const Array& a) {
  return {a["1:-1, 1:-1"], a["1:-1, :-2"], a["1:-1, 2:"], a[":-2, 1:-1"], a["2:, 1:-1"]};
}
// Between the walls the channel is a ring: west of the first column is the last.
Points first_column(const Array& a) {
  return {a["1:-1, 0"], a["1:-1, -1"], a["1:-1, 1"], a[":-2, 0"], a["2:, 0"]};
}
Points last_column(const Array& a) {
  return {a["1:-1, -1"], a["1:-1, -2"], a["1:-1, 0"], a[":-2, -1"], a["2:, -1"]};
}
constexpr auto everywhere = {inner, first_column, last_column};

/// The numbers of a channel, and what the course does with them.
struct Scheme {
  const double dx, dy, dt, rho, nu, force;
  const int pressure_iterations;

  explicit Scheme(const Channel& c)
      : dx(c.dx()),
        dy(c.dy()),
        dt(c.dt()),
        rho(c.rho),
        nu(c.nu),
        force(c.force),
        pressure_iterations(c.pressure_iterations) {}

  void step(Session& np, Flow& flow) const {
    auto& [u, v, p] = flow;
    const Array un = u.copy(), vn = v.copy();
    find_pressure(p, divergence(np, un, vn));
    for (const auto at : everywhere) {
      const Points uu = at(un), vv = at(vn), pp = at(p);
      at(u).here = moved(uu, uu, vv) - dt / (2 * rho * dx) * (pp.east - pp.west) + force * dt;
      at(v).here = moved(vv, uu, vv) - dt / (2 * rho * dy) * (pp.north - pp.south);
    }
    u["0, :"] = 0.0;  // the fluid sticks to the walls
    u["-1, :"] = 0.0;
    v["0, :"] = 0.0;
    v["-1, :"] = 0.0;
  }

  /// A field after dt of convection by (u, v) and of diffusion.
  Array moved(const Points& f, const Points& u, const Points& v) const {
    return f.here - u.here * (dt / dx) * (f.here - f.west) -
           v.here * (dt / dy) * (f.here - f.south) +
           nu * dt / (dx * dx) * (f.east - 2.0 * f.here + f.west) +
           nu * dt / (dy * dy) * (f.north - 2.0 * f.here + f.south);
  }

  /// The right side of the equation of pressure.
  Array divergence(Session& np, const Array& u, const Array& v) const {
    Array b = np.zeros(u.shape());
    for (const auto at : everywhere) {
      const Points uu = at(u), vv = at(v);
      const Array u_x = (uu.east - uu.west) / (2 * dx), u_y = (uu.north - uu.south) / (2 * dy);
      const Array v_x = (vv.east - vv.west) / (2 * dx), v_y = (vv.north - vv.south) / (2 * dy);
      at(b).here = rho * ((u_x + v_y) / dt - square(u_x) - 2.0 * (u_y * v_x) - square(v_y));
    }
    return b;
  }

  /// Some of Jacobi's iterations for d2p/dx2 + d2p/dy2 = b, with dp/dy = 0 at the walls.
  void find_pressure(Array& p, const Array& b) const {
    const double xx = dx * dx, yy = dy * dy, sides = 2 * (xx + yy);
    for (int i = 0; i < pressure_iterations; ++i) {
      const Array pn = p.copy();
      for (const auto at : everywhere) {
        const Points pp = at(pn);
        at(p).here = ((pp.east + pp.west) * yy + (pp.north + pp.south) * xx) / sides -
                     xx * yy / sides * at(b).here;
      }
      p["-1, :"] = p["-2, :"];
      p["0, :"] = p["1, :"];
    }
  }
};

}  // namespace

double Channel::dt() const {
  const double diffusion = 2 * nu / (dx() * dx()) + 2 * nu / (dy() * dy());
  return 0.8 / (diffusion + fastest() / dx() + std::abs(swirl) / dy());
}

Flow::Flow(Session& np, const Channel& c)
    : u(np.zeros({c.ny, c.nx})), v(np.zeros({c.ny, c.nx})), p(np.zeros({c.ny, c.nx})) {
  if (c.swirl == 0) return;
  const Array x = np.arange(0.0, static_cast<double>(c.nx)) / static_cast<double>(c.nx);
  const Array y = np.linspace(0, 1, c.ny);
  v = c.swirl * square(sin(std::numbers::pi * y))(all, new_axis) * sin(4 * std::numbers::pi * x);
}

void step(Session& np, const Channel& channel, Flow& flow) { Scheme(channel).step(np, flow); }

double step_and_compare(Session& np, const Channel& channel, Flow& flow) {
  const Array before = sum(flow.u);
  step(np, channel, flow);
  const Array after = sum(flow.u);
  return ((after - before) / after).item<double>();
}

}  // namespace cfd
