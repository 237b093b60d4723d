#include "water.hpp"

#include <algorithm>

namespace shallow_water {

using namespace refrain::arrays;

namespace {

constexpr double g = Lake::kGravity;

/// What flows through faces: of the height and of both momenta.
struct Flux {
  Array h, hu, hv;
};

/// A field on both sides of each face across x, and across y, the walls included.
struct Sides {
  Array before, behind;
};
Sides across_x(const Array& a) { return {a["1:-1, :-1"], a["1:-1, 1:"]}; }
Sides across_y(const Array& a) { return {a[":-1, 1:-1"], a["1:, 1:-1"]}; }

/// Rusanov's flux through each face of one quantity.
Array rusanov(const Sides& flux, const Sides& quantity, const Array& speed) {
  return 0.5 * (flux.before + flux.behind - speed * (quantity.behind - quantity.before));
}

/// Through all faces across an axis: `along` is the velocity along it, and `flux` what it carries in each cell.
Flux through(Sides (*across)(const Array&), const Water& water, const Flux& flux,
             const Array& along, const Array& gravity_wave) {
  const Sides wave = across(abs(along) + gravity_wave);
  const Array speed = maximum(wave.before, wave.behind);
  return {rusanov(across(flux.h), across(water.h), speed),
          rusanov(across(flux.hu), across(water.hu), speed),
          rusanov(across(flux.hv), across(water.hv), speed)};
}

/// A field beyond the walls across x and across y: as before them, times these.
void mirror(const Array& field, double x, double y) {
  field[":, 0"] = x * field[":, 1"];
  field[":, -1"] = x * field[":, -2"];
  field["0, :"] = y * field["1, :"];
  field["-1, :"] = y * field["-2, :"];
}

/// A field less what flows out of each cell.
void update(const Array& field, const Array& x, const Array& y, double share) {
  inside(field) -= share * (x[":, 1:"] - x[":, :-1"] + y["1:, :"] - y[":-1, :"]);
}

}  // namespace

void step(const Lake& lake, Water& water, double dt) {
  const auto& [h, hu, hv] = water;
  mirror(h, 1, 1);  // beyond a wall water stands as high, and comes towards it as fast
  mirror(hu, -1, 1);
  mirror(hv, 1, -1);
  const Array u = hu / h, v = hv / h;
  const Array gravity_wave = sqrt(g * h), pressure = 0.5 * g * square(h);
  const Flux x = through(across_x, water, {hu, hu * u + pressure, hv * u}, u, gravity_wave);
  const Flux y = through(across_y, water, {hv, hu * v, hv * v + pressure}, v, gravity_wave);
  update(h, x.h, y.h, dt / lake.cell());
  update(hu, x.hu, y.hu, dt / lake.cell());
  update(hv, x.hv, y.hv, dt / lake.cell());
}

double time_step(const Lake& lake, const Water& water) {
  const Array h = inside(water.h);
  const Array speed = maximum(abs(inside(water.hu)), abs(inside(water.hv))) / h + sqrt(g * h);
  return lake.courant * lake.cell() / max(speed).item<double>();
}

Water::Water(Session& np, const Lake& lake)
    : h(np.full({lake.ny + 2, lake.nx + 2}, lake.low)),
      hu(np.zeros({lake.ny + 2, lake.nx + 2})),
      hv(np.zeros({lake.ny + 2, lake.nx + 2})) {
  // The middles of cells, from the middle of the lake.
  const auto middles = [&](Coord n) { return np.arange(n) - 0.5 * static_cast<double>(n - 1); };
  const Array x = middles(lake.nx), y = middles(lake.ny)(all, new_axis);
  const double radius = 0.2 * static_cast<double>(std::min(lake.nx, lake.ny));
  const Array behind = lake.dam == Dam::across_x   ? x < 0.0
                       : lake.dam == Dam::across_y ? y < 0.0
                                                   : square(x) + square(y) < radius * radius;
  inside(h) = where(behind, lake.high, lake.low);
}

}  // namespace shallow_water
