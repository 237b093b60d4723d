// The decks that need no file. In all of them a gas of density 1 has artificial viscosity of both kinds.

#include <algorithm>
#include <cmath>

#include "deck.hpp"

namespace pennant {

namespace {

constexpr double edge = 1.125;  // of the square in which a blast happens

Deck begin(std::string_view name, MeshPlan mesh) {
  Deck deck;
  deck.name = name;
  deck.mesh = mesh;
  deck.time.cycles = 10;
  deck.gas.least_sound_speed = 0.1;
  deck.gas.q1 = 0.1;
  deck.gas.q2 = 1;
  return deck;
}

// Energy in the zones of one corner; the walls stand still.
Deck begin_blast(std::string_view name, MeshPlan mesh, const Box& corner, double energy,
                 double first_step) {
  Deck deck = begin(name, mesh);
  deck.time.end = 1;
  deck.time.first_step = first_step;
  deck.subregion = corner;
  deck.energy_inside = energy;
  deck.fixed_x = deck.fixed_y = {0, edge};
  return deck;
}

// Cold gas that flows to the axis.
Deck noh() {
  Deck deck = begin("noh", {MeshKind::pie, 30, 100, 90, 1});
  deck.time.end = 0.6;
  deck.time.first_step = 0.001;
  deck.radial_velocity = -1;
  deck.fixed_x = deck.fixed_y = {0};
  deck.energy_error = 0.02;
  return deck;
}

}  // namespace

std::optional<Deck> built_in_deck(std::string_view name) {
  if (name == "sedovsmall")
    return begin_blast(name, {MeshKind::rect, 9, 9, edge, edge}, {0, 0.125, 0, 0.125}, 40.222,
                       0.0025);
  if (name == "sedov")
    return begin_blast(name, {MeshKind::rect, 45, 45, edge, edge}, {0, 0.025, 0, 0.025}, 5027.7,
                       1e-4);
  if (name == "noh") return noh();
  return std::nullopt;
}

// One zone has as much energy as in the deck sedov.
Deck blast(Index zones_x, Index zones_y) {
  const double dx = edge / zones_x, dy = edge / zones_y;
  const double energy = 5027.7 * (0.025 / dx) * (0.025 / dx) * (0.025 / dy);
  const double first_step = 0.1 * std::min(dx, dy) / std::sqrt(energy);
  return begin_blast("blast", {MeshKind::rect, zones_x, zones_y, edge, edge}, {0, dx, 0, dy},
                     energy, first_step);
}

// With the shorter steps and softer subzones that polygons want.
Deck implosion(MeshKind kind, Index zones_x, Index zones_y) {
  Deck deck = noh();
  deck.name = "implosion";
  deck.mesh = {kind, zones_x, zones_y, 1, 1};
  deck.time.first_step = 0.001 / std::max(zones_x, zones_y);
  deck.gas.cfl = 0.1;
  deck.gas.stiffness = 0.1;
  return deck;
}

}  // namespace pennant
