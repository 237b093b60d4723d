#pragma once
// The mesh: points, and zones that are polygons of them. It is unstructured: what is next to what stands in lists.
//
//   side    an edge as one zone sees it: from a point to the zone's next one, counter-clockwise. The sides of all zones
//           stand zone by zone, so consecutive zones have consecutive sides.
//   corner  a zone at one of its points. It has the number of the side that begins there.

#include <span>
#include <vector>

#include "deck.hpp"
#include "vec2.hpp"

namespace pennant {

/// What a point is in the mesh.
struct PointRole {
  Index corners = 0;                      ///< how many zones meet in it
  bool fixed_x = false, fixed_y = false;  ///< it stays on a line of the deck
};

inline constexpr Index most_sides = 32;  ///< of a zone

/// Zones as a generator makes them.
struct Polygons {
  std::vector<Vec2> points;
  std::vector<Index> zone_sides;  ///< how many each zone has
  std::vector<Index> side_point;  ///< in which point each side begins
};

struct Mesh : Polygons {
  std::vector<Index> first_side;    ///< of each zone, and behind the last
  std::vector<PointRole> role;      ///< of each point
  std::vector<Index> first_corner;  ///< of each point, and behind the last
  std::vector<Index>
      corner_side;  ///< the corners of all points, point by point, in ascending order

  [[nodiscard]] Index zones() const { return static_cast<Index>(zone_sides.size()); }
  [[nodiscard]] Index sides() const { return static_cast<Index>(side_point.size()); }
  [[nodiscard]] Index nodes() const { return static_cast<Index>(points.size()); }
  /// The points of a zone, counter-clockwise.
  [[nodiscard]] std::span<const Index> polygon(Index zone) const {
    return {side_point.data() + first_side[static_cast<std::size_t>(zone)],
            static_cast<std::size_t>(zone_sides[static_cast<std::size_t>(zone)])};
  }
};

/// The mesh of a deck. Throws DeckError where zones and points make none, or a line of fixed points has none.
Mesh make_mesh(const Deck& deck);

/// Consecutive zones with all their sides.
struct Chunk {
  Index first_zone = 0, zones = 0;
  Index first_side = 0, sides = 0;
};
/// Consecutive points with all their corners.
struct PointChunk {
  Index first_point = 0, points = 0;
  Index first_corner = 0, corners = 0;
};
struct Chunks {
  std::vector<Chunk> zones;
  std::vector<PointChunk> points;
};
/// Chunks of at most `size` sides, or of one zone, and of at most `size` points.
Chunks cut(const Mesh& mesh, Index size);

}  // namespace pennant
