#include "mesh.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "generators.hpp"

namespace pennant {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

[[noreturn]] void fail(const Deck& deck, const std::string& what) {
  throw DeckError(deck.place("meshparams") + ": " + what);
}

std::string zone_name(Index zone) { return "zone " + std::to_string(zone + 1) + " of the mesh"; }

void check_zones(const Deck& deck, const Polygons& polygons) {
  std::size_t sides = 0;
  for (std::size_t z = 0; z < polygons.zone_sides.size(); ++z) {
    const Index count = polygons.zone_sides[z];
    if (count < 3 || count > most_sides)
      fail(deck, zone_name(static_cast<Index>(z)) + " has " + std::to_string(count) +
                     " sides, and has to have from 3 to " + std::to_string(most_sides));
    sides += at(count);
  }
  if (sides != polygons.side_point.size()) fail(deck, "the mesh ends in the middle of a zone");
  for (const Index point : polygons.side_point)
    if (point < 0 || at(point) >= polygons.points.size())
      fail(deck,
           "a zone of the mesh has the point " + std::to_string(point) + ", which is not there");
}

void number_sides(Mesh& mesh) {
  mesh.first_side.push_back(0);
  for (const Index count : mesh.zone_sides)
    mesh.first_side.push_back(mesh.first_side.back() + count);
}

// The corners of a point come in ascending order, as the sides do.
void number_corners(Mesh& mesh) {
  mesh.role.resize(mesh.points.size());
  for (const Index point : mesh.side_point) ++mesh.role[at(point)].corners;
  mesh.first_corner.push_back(0);
  for (const PointRole& role : mesh.role)
    mesh.first_corner.push_back(mesh.first_corner.back() + role.corners);
  mesh.corner_side.resize(mesh.side_point.size());
  std::vector<Index> next(mesh.first_corner.begin(), mesh.first_corner.end() - 1);
  for (Index s = 0; s < mesh.sides(); ++s)
    mesh.corner_side[at(next[at(mesh.side_point[at(s)])]++)] = s;
}

// A side has one zone, and its edge one more, which sees it the other way round, or none.
void check_edges(const Deck& deck, const Mesh& mesh) {
  std::vector<Index> end(mesh.side_point.size());
  for (Index z = 0; z < mesh.zones(); ++z) {
    const auto points = mesh.polygon(z);
    for (std::size_t i = 0; i < points.size(); ++i)
      end[at(mesh.first_side[at(z)]) + i] = points[(i + 1) % points.size()];
  }
  for (std::size_t p = 0; p < mesh.points.size(); ++p) {
    if (mesh.role[p].corners == 0)
      fail(deck, "point " + std::to_string(p + 1) + " of the mesh belongs to no zone");
    for (Index a = mesh.first_corner[p]; a < mesh.first_corner[p + 1]; ++a)
      for (Index b = mesh.first_corner[p]; b < a; ++b)
        if (end[at(mesh.corner_side[at(a)])] == end[at(mesh.corner_side[at(b)])])
          fail(deck, "two zones of the mesh lie on the same side of an edge at point " +
                         std::to_string(p + 1));
  }
}

// Points that lie on one of the lines; each line has some.
void fix_points(const Deck& deck, Mesh& mesh, const std::vector<double>& lines, const char* key,
                double Vec2::*coordinate, bool PointRole::*fixed) {
  for (const double line : lines) {
    bool found = false;
    for (std::size_t p = 0; p < mesh.points.size(); ++p)
      if (std::fabs(mesh.points[p].*coordinate - line) < 1e-12) found = mesh.role[p].*fixed = true;
    if (found) continue;
    std::ostringstream what;
    what << deck.place(key) << ": no point of the mesh lies on the line " << line << " of '" << key
         << "'";
    throw DeckError(what.str());
  }
}

}  // namespace

Mesh make_mesh(const Deck& deck) {
  Mesh mesh{make_polygons(deck.mesh), {}, {}, {}, {}};
  check_zones(deck, mesh);
  number_sides(mesh);
  number_corners(mesh);
  check_edges(deck, mesh);
  fix_points(deck, mesh, deck.fixed_x, "bcx", &Vec2::x, &PointRole::fixed_x);
  fix_points(deck, mesh, deck.fixed_y, "bcy", &Vec2::y, &PointRole::fixed_y);
  return mesh;
}

Chunks cut(const Mesh& mesh, Index size) {
  Chunks chunks;
  for (Index zone = 0; zone < mesh.zones();) {
    const Index first = mesh.first_side[at(zone)];
    Index end = zone + 1;
    while (end < mesh.zones() && mesh.first_side[at(end) + 1] - first <= size) ++end;
    chunks.zones.push_back({zone, end - zone, first, mesh.first_side[at(end)] - first});
    zone = end;
  }
  for (Index point = 0; point < mesh.nodes();) {
    const Index end = point + std::min(size, mesh.nodes() - point);
    const Index first = mesh.first_corner[at(point)];
    chunks.points.push_back({point, end - point, first, mesh.first_corner[at(end)] - first});
    point = end;
  }
  return chunks;
}

}  // namespace pennant
