#pragma once
// The meshes that a plan may ask for. Each begins with a lattice of vertices, (zones_x + 1) by (zones_y + 1), between
// which the zones lie row by row.
//
//   rect    quadrangles
//   pie     a sector: x goes round the origin, y away from it; the first row are triangles
//   hex     hexagons: an inner vertex is two points, one up on the left, one down on the right
//   random  polygons of 3 to 8 sides: an inner vertex is moved a little, and is one point, or two that lie along one
//           diagonal or the other; some quadrangles are cut into triangles. What vertex or zone i is depends on the
//           seed and i alone.

#include "mesh.hpp"

namespace pennant {

/// Of a plan that is sound: it has zones, at least 2 by 2 of them if they are hexagons, and lengths above 0.
Polygons make_polygons(const MeshPlan& plan);

}  // namespace pennant
