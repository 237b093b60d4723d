#pragma once
// The regions of the simulation and how they are cut. Zones and sides are cut by chunks of zones, points by chunks of
// points. Seen from a chunk of zones, its points are those in which its sides begin; chunks share points. Seen from a
// chunk of points, its corners are among the sides of the zones around it; whole zones are read, so that a piece
// consists of few runs of sides.

#include "kernels.hpp"
#include "refrain/refrain.hpp"
#include "state.hpp"

namespace pennant {

using refrain::Coord;

struct Points {
  static constexpr refrain::Field<Vec2> position{"position"}, velocity{"velocity"},
      velocity_sum{"velocity_sum"};
  static constexpr refrain::Field<double> radius{"radius"};
  static constexpr refrain::Field<PointRole> role{"role"};
};

struct Sides {
  static constexpr refrain::Field<Index> point{"point"}, zone{"zone"};
  static constexpr refrain::Field<double> mass_fraction{"mass_fraction"};
  static constexpr refrain::Field<Vec2> force{"force"};
  static constexpr refrain::Field<Corner> corner{"corner"};
};

struct Zones {
  static constexpr refrain::Field<Index> sides{"sides"};
  static constexpr refrain::Field<refrain::Rect1> to_sides{"to_sides"};  // for cutting
};

/// What a zone has, as rows of a region of two dimensions, zones along the second: one argument of a task instead of
/// seven.
struct Gases {
  static constexpr refrain::Field<double> value{"value"};
  enum Row : Coord { mass, density, energy, total_energy, work_rate, volume, pressure, rows };
};

/// The corners of all points, point by point.
struct Corners {
  static constexpr refrain::Field<Index> side{"side"};
};

struct Pieces {
  Coord zone_chunks = 0, point_chunks = 0;  ///< how many
  refrain::Region<1> points, sides, zones, corners;
  refrain::Region<2> gases;
  // By chunks of zones.
  refrain::Partition<1> own_zones, own_sides;
  refrain::Partition<2> own_gases;
  refrain::Partition<1> touched_points;
  // By chunks of points.
  refrain::Partition<1> own_points, own_corners;
  refrain::Partition<1> sides_around;
};

/// Makes the regions, with the state before the first cycle, and cuts them. Mesh and state live until the runtime has
/// finished.
Pieces make_pieces(refrain::Context& ctx, const Mesh& mesh, const Chunks& chunks,
                   const State& state);

}  // namespace pennant
