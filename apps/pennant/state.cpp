#include "state.hpp"

#include <bit>
#include <cstring>

namespace pennant {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

Vec2 centre_of(const Mesh& mesh, const std::vector<Vec2>& position, Index zone) {
  Vec2 sum;
  for (const Index point : mesh.polygon(zone)) sum = sum + position[at(point)];
  const auto count = static_cast<double>(mesh.zone_sides[at(zone)]);
  return {sum.x / count, sum.y / count};
}

// Of a zone; `side_area` receives those of its triangles.
struct Size {
  double area = 0, volume = 0;
  bool inverted = false;
};
Size size_of(const Mesh& mesh, const std::vector<Vec2>& position, Index zone, double* side_area) {
  constexpr double third = 1.0 / 3.0;
  const Vec2 centre = centre_of(mesh, position, zone);
  const auto polygon = mesh.polygon(zone);
  Size size;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Vec2 &begin = position[at(polygon[i])],
               &end = position[at(polygon[(i + 1) % polygon.size()])];
    const double area = 0.5 * cross(end - begin, centre - begin);
    const double volume = third * area * (begin.x + end.x + centre.x);
    size.area += area;
    size.volume += volume;
    size.inverted = size.inverted || !(volume > 0);
    side_area[i] = area;
  }
  return size;
}

bool is_inside(const Box& box, const Vec2& place) {
  constexpr double margin = 1e-12;
  return place.x > box.x_low - margin && place.x < box.x_high + margin &&
         place.y > box.y_low - margin && place.y < box.y_high + margin;
}

Vec2 first_velocity(const Deck& deck, const Vec2& place) {
  const double distance = length(place);
  if (deck.radial_velocity == 0 || distance <= 1e-12) return {};
  const double over_distance = 1.0 / distance;
  return {deck.radial_velocity * place.x * over_distance,
          deck.radial_velocity * place.y * over_distance};
}

template <class T>
bool equal_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

bool equal_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

State first_state(const Deck& deck, const Mesh& mesh) {
  State state;
  state.position = mesh.points;
  for (const Vec2& place : mesh.points) state.velocity.push_back(first_velocity(deck, place));
  state.mass_fraction.resize(mesh.side_point.size());
  Limits limits;
  for (Index z = 0; z < mesh.zones(); ++z) {
    double* fraction = state.mass_fraction.data() + mesh.first_side[at(z)];
    const Size size = size_of(mesh, mesh.points, z, fraction);
    if (size.inverted && limits.inverted == Limits::none) limits.inverted = z;
    for (Index i = 0; i < mesh.zone_sides[at(z)]; ++i) fraction[i] /= size.area;
    const bool inside =
        deck.subregion && is_inside(*deck.subregion, centre_of(mesh, mesh.points, z));
    state.density.push_back(inside ? deck.density_inside : deck.density);
    state.energy.push_back(inside ? deck.energy_inside : deck.energy);
    state.volume.push_back(size.volume);
    state.mass.push_back(state.density.back() * size.volume);
    state.total_energy.push_back(state.energy.back() * state.mass.back());
  }
  check_shapes(limits, 0);
  state.pressure.resize(mesh.zone_sides.size());
  state.work_rate.resize(mesh.zone_sides.size());
  return state;
}

bool equal(const State& a, const State& b) {
  return equal_bytes(a.position, b.position) && equal_bytes(a.velocity, b.velocity) &&
         equal_bytes(a.density, b.density) && equal_bytes(a.energy, b.energy) &&
         equal_bytes(a.total_energy, b.total_energy) && equal_bytes(a.pressure, b.pressure) &&
         equal_bytes(a.volume, b.volume) && equal_bytes(a.work_rate, b.work_rate);
}

bool equal(const Outcome& a, const Outcome& b) {
  return a.last.cycle == b.last.cycle && equal_bits(a.last.dt, b.last.dt) &&
         equal_bits(a.last.time, b.last.time) && a.last.limiter == b.last.limiter &&
         a.last.zone == b.last.zone && equal(a.state, b.state);
}

// The kinetic energy of a zone is its mass times the mean of half the squared velocity, each corner weighted by its
// volume.
Energy energy_of(const Mesh& mesh, const State& state) {
  Energy energy;
  double side_area[most_sides];
  for (Index z = 0; z < mesh.zones(); ++z) {
    energy.internal += state.total_energy[at(z)];
    const Size size = size_of(mesh, state.position, z, side_area);
    const auto polygon = mesh.polygon(z);
    const double* fraction = state.mass_fraction.data() + mesh.first_side[at(z)];
    for (std::size_t i = 0; i < polygon.size(); ++i) {
      const double before = fraction[i == 0 ? polygon.size() - 1 : i - 1];
      const Vec2& velocity = state.velocity[at(polygon[i])];
      const double volume =
          size.area * state.position[at(polygon[i])].x * 0.5 * (fraction[i] + before);
      energy.kinetic +=
          state.mass[at(z)] * volume / state.volume[at(z)] * 0.5 * dot(velocity, velocity);
    }
  }
  return energy;
}

}  // namespace pennant
