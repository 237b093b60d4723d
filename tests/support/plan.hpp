#pragma once
// A random program as plain data. A Plan is a list of statements that name regions, partitions and
// futures by numbers; resolve.hpp finds out what each means (and leaves out what cannot be), and the
// interpreter, the naive analysis and the runner all execute what came out of that. So any subset of a
// plan's statements is a program too, which is what shrinking needs.
//
// Regions are small, at most 64 points, so that a set of points of one region tree is a 64-bit mask:
// bit i is the i-th point of the root region in the order of its domain.

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "refrain/geometry.hpp"
#include "refrain/privilege.hpp"
#include "support/values.hpp"

namespace refrain::test {

using Mask = std::uint64_t;
inline constexpr int max_points = 64;

inline bool has(Mask mask, int i) { return (mask >> i & 1) != 0; }
inline int count(Mask mask) { return std::popcount(mask); }
inline Mask first_bits(std::size_t n) { return n >= 64 ? ~Mask{0} : (Mask{1} << n) - 1; }

/// What a root region looks like: its points in the order of the domain, its fields' types.
struct Shape {
  int dim = 1;
  std::vector<Point<3>> points;
  std::vector<ValueKind> fields;
  /// The position of a point, or -1.
  [[nodiscard]] int find(const Point<3>& p) const;
  [[nodiscard]] Mask all() const { return first_bits(points.size()); }
};

/// A region: a root or the piece of a partition. In the children of a nested task `root` is the number
/// of the parent's argument instead.
struct RegionRef {
  int root = 0;
  int partition = -1;  ///< -1: the root (or argument) itself
  int colour = 0;      ///< position in the order of the colours
};

struct PartitionSpec {
  enum class Op : std::uint8_t {
    blocks,
    halo,
    interior,
    restriction,
    pieces,
    by_colour,
    image,
    preimage,
    unite,
    intersect,
    subtract
  };
  Op op = Op::blocks;
  RegionRef parent;    ///< but of those that take it from their operands: halo, interior, unite ...
  int a = -1, b = -1;  ///< operand partitions: of halo, interior, image, preimage, unite ...
  Point<3>
      numbers{};  ///< colours per dimension: blocks, restriction, by_colour; halo, interior: width
  int colour_dim = 1;  ///< restriction
  Point<3> scale{},
      offset{};       ///< restriction: the box of colour c starts at scale * c + offset, where
  Point<3> extent{};  ///< c is repeated cyclically over the dimensions, and is this long
  std::vector<Mask> pieces;
  int field = 0;  ///< by_colour, image, preimage: a field that points
};
/// Does it depend on data?
inline bool by_data(PartitionSpec::Op op) {
  return op == PartitionSpec::Op::by_colour || op == PartitionSpec::Op::image ||
         op == PartitionSpec::Op::preimage;
}

/// colour = scale * point + offset, or a pure function of the point and a key.
struct ProjectionSpec {
  enum class Kind : std::uint8_t { identity, affine, function };
  Kind kind = Kind::identity;
  Point<3> scale{1, 1, 1}, offset{};
  std::uint64_t key = 0;
};
/// The function of ProjectionSpec::Kind::function: spreads the points over the colours 0..n-1 of a
/// colour space whose extents the key holds.
Point<3> spread(const Point<3>& point, std::uint64_t key);
std::uint64_t spread_key(const Point<3>& colours, int stride, int offset);
/// Where the projection sends a point.
Point<3> project(const ProjectionSpec& projection, const Point<3>& point);

struct RequirementSpec {
  bool partitioned = false;
  RegionRef region;
  int partition = -1;
  ProjectionSpec projection;
  int field = 0;
  Privilege privilege = Privilege::read;
  OpKind op = OpKind::sum;
  bool relaxed =
      false;  ///< of a reduction; where the order shows in the bits it counts for nothing
};

/// The points of a launch, sorted; a dense rectangle where `dense`.
struct DomainSpec {
  bool group = false;
  int dim = 1;
  bool dense = true;
  std::vector<Point<3>> points;
};

/// How the program's own memory is laid out that it attaches.
struct MemoryLayout {
  bool fortran = false;  ///< the first dimension is contiguous
  Point<3> padding{};    ///< values left unused between neighbours in each dimension
};

/// A task: what it returns and for which processors it has a body.
struct TaskSpec {
  bool returns = false;
  ValueKind result = ValueKind::f64;
  bool gpu = false;
};

struct Statement;

struct LaunchSpec {
  int task = 0;
  DomainSpec domain;
  std::vector<RequirementSpec> requirements;
  std::uint64_t salt = 0;    ///< the by-value argument
  bool bare = false;         ///< there is none (the salt is 0): two that look alike are alike
  std::vector<int> futures;  ///< future arguments
  int future = -1;           ///< number of the future (or future map) that it makes
  int priority = 0;
  bool inline_if_ready = false;
  std::vector<Statement> children;  ///< what the body launches, after its own work
  int throws_at = -1;               ///< the point, by position, whose body throws
  bool throws_late = false;         ///< after it has launched its children
};

struct Statement {
  enum class Kind : std::uint8_t {
    create,
    partition,
    destroy_region,
    destroy_partition,
    fill,
    fill_future,
    launch,
    reduce,
    copy,
    access,
    attach,
    detach,
    get,
    fence,
    begin_trace,
    end_trace,
    remap  ///< the mapper forgets, and answers otherwise from now on; of programs without children only
  };
  Kind kind = Kind::fence;
  /// Region (create, destroy_region), partition, attachment, future (reduce), or trace.
  int id = -1;
  int shape = 0;  ///< create
  PartitionSpec partition;
  LaunchSpec launch;
  RequirementSpec source;   ///< copy
  RequirementSpec target;   ///< fill, fill_future, copy, access, attach (perhaps by pieces)
  MemoryLayout memory;      ///< attach
  int future = -1;          ///< fill_future, get, reduce: the future read
  OpKind op = OpKind::sum;  ///< reduce
  std::uint64_t salt = 0;   ///< fill, access, attach: makes the values
};

struct Plan {
  std::uint64_t seed = 0;
  std::vector<Shape> shapes;
  std::vector<TaskSpec> tasks;
  std::vector<Statement> statements;
};

}  // namespace refrain::test
