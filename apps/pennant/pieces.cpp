#include "pieces.hpp"

#include "../common/host_task.hpp"

namespace pennant {

namespace {

using namespace refrain;
using apps::host_task;

std::size_t at(Coord i) { return static_cast<std::size_t>(i); }

Rect1 run(Coord first, Coord count) { return {first, first + count - 1}; }

void cut_by_chunks(Context& ctx, const Chunks& chunks, Pieces& p) {
  std::vector<Rect1> zones, sides, points, corners;
  std::vector<Rect2> gases;
  for (const Chunk& c : chunks.zones) {
    zones.push_back(run(c.first_zone, c.zones));
    sides.push_back(run(c.first_side, c.sides));
    gases.push_back({{0, c.first_zone}, {Gases::rows - 1, c.first_zone + c.zones - 1}});
  }
  for (const PointChunk& c : chunks.points) {
    points.push_back(run(c.first_point, c.points));
    corners.push_back(run(c.first_corner, c.corners));
  }
  p.own_zones = ctx.partition(p.zones, zones);
  p.own_sides = ctx.partition(p.sides, sides);
  p.own_gases = ctx.partition(p.gases, gases);
  p.own_points = ctx.partition(p.points, points);
  p.own_corners = ctx.partition(p.corners, corners);
}

void start_points(Context& ctx, const Mesh& mesh, const State& state, const Pieces& p) {
  const auto start =
      host_task("start_points", [&mesh, &state](Write<Vec2> position, Write<Vec2> velocity,
                                                Write<PointRole> role, Write<Index> corner_side) {
        for (auto n : position.domain()) {
          position[n] = state.position[at(n)];
          velocity[n] = state.velocity[at(n)];
          role[n] = mesh.role[at(n)];
        }
        for (auto c : corner_side.domain()) corner_side[c] = mesh.corner_side[at(c)];
      });
  ctx.launch(start, p.point_chunks, p.own_points[Points::position], p.own_points[Points::velocity],
             p.own_points[Points::role], p.own_corners[Corners::side]);
}

void start_zones(Context& ctx, const Mesh& mesh, const State& state, const Pieces& p) {
  const auto start =
      host_task("start_zones",
                [&mesh, &state](Write<double, 2> gas, Write<Index> sides, Write<Rect1> to_sides) {
                  for (auto z : sides.domain()) {
                    const auto set = [&](Coord row, const std::vector<double>& values) {
                      gas[{row, z}] = values[at(z)];
                    };
                    set(Gases::mass, state.mass);
                    set(Gases::density, state.density);
                    set(Gases::energy, state.energy);
                    set(Gases::total_energy, state.total_energy);
                    set(Gases::work_rate, state.work_rate);
                    set(Gases::volume, state.volume);
                    set(Gases::pressure, state.pressure);
                    sides[z] = mesh.zone_sides[at(z)];
                    to_sides[z] = run(mesh.first_side[at(z)], mesh.zone_sides[at(z)]);
                  }
                });
  ctx.launch(start, p.zone_chunks, p.own_gases[Gases::value], p.own_zones[Zones::sides],
             p.own_zones[Zones::to_sides]);
}

void start_sides(Context& ctx, const Mesh& mesh, const State& state, const Pieces& p) {
  const auto start =
      host_task("start_sides", [&mesh, &state](Write<Index> point, Write<Index> zone,
                                               Write<double> mass_fraction, Read<Rect1> to_sides) {
        for (auto z : to_sides.domain())
          for (Coord s = to_sides[z].lo; s <= to_sides[z].hi; ++s) {
            point[s] = mesh.side_point[at(s)];
            zone[s] = static_cast<Index>(z);
            mass_fraction[s] = state.mass_fraction[at(s)];
          }
      });
  ctx.launch(start, p.zone_chunks, p.own_sides[Sides::point], p.own_sides[Sides::zone],
             p.own_sides[Sides::mass_fraction], p.own_zones[Zones::to_sides]);
}

}  // namespace

Pieces make_pieces(Context& ctx, const Mesh& mesh, const Chunks& chunks, const State& state) {
  Pieces p;
  p.zone_chunks = static_cast<Coord>(chunks.zones.size());
  p.point_chunks = static_cast<Coord>(chunks.points.size());
  p.points = ctx.region(run(0, mesh.nodes()), Points::position, Points::velocity,
                        Points::velocity_sum, Points::radius, Points::role);
  p.sides = ctx.region(run(0, mesh.sides()), Sides::point, Sides::zone, Sides::mass_fraction,
                       Sides::force, Sides::corner);
  p.zones = ctx.region(run(0, mesh.zones()), Zones::sides, Zones::to_sides);
  p.gases = ctx.region(Rect2{{0, 0}, {Gases::rows - 1, mesh.zones() - 1}}, Gases::value);
  p.corners = ctx.region(run(0, mesh.sides()), Corners::side);
  cut_by_chunks(ctx, chunks, p);
  start_points(ctx, mesh, state, p);
  start_zones(ctx, mesh, state, p);
  start_sides(ctx, mesh, state, p);

  p.touched_points = ctx.image(p.points, p.own_sides, Sides::point);
  const auto corners = ctx.preimage(p.sides, p.own_points, Sides::point);
  const auto zones_around = ctx.image(p.zones, corners, Sides::zone);
  p.sides_around = ctx.image(p.sides, zones_around, Zones::to_sides);
  return p;
}

}  // namespace pennant
