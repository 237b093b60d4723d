#pragma once
// Handles of regions and partitions: small values that name a slot of a region tree. A region is an
// index space times a field space; a partition maps colours to subregions. Handles stay cheap to copy
// and do not own anything: Context::destroy (or Owned) ends a region tree, and using a handle after
// that is an error (the generation in the handle tells). A handle must not outlive its Runtime.

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "refrain/domain.hpp"
#include "refrain/field.hpp"
#include "refrain/projection.hpp"
#include "refrain/where.hpp"

namespace refrain {

namespace data {
class RegionTree;
}

/// A region with its number of dimensions forgotten.
struct AnyRegion {
  data::RegionTree* tree = nullptr;
  std::uint32_t node = 0;
  std::uint32_t generation = 0;

  [[nodiscard]] int dim() const;
  [[nodiscard]] AnyIndexSpace points() const;
  [[nodiscard]] std::string name()
      const;  ///< as in error texts: "region 3", "region 3[blocks 1, 4]"
  friend bool operator==(const AnyRegion&, const AnyRegion&) = default;
};

/// What a piece of a partition has of a rectangle.
template <int N, int M = 1>
struct Owner {
  Point<M> colour;
  Rect<N> rect;
  friend bool operator==(const Owner&, const Owner&) = default;
};

/// A partition with its dimensions forgotten.
struct AnyPartition {
  data::RegionTree* tree = nullptr;
  std::uint32_t index = 0;
  std::uint32_t generation = 0;

  [[nodiscard]] int dim() const;
  [[nodiscard]] int colour_dim() const;
  [[nodiscard]] AnyIndexSpace colours() const;
  [[nodiscard]] std::size_t pieces() const;  ///< number of colours
  [[nodiscard]] bool is_disjoint() const;    ///< no two pieces share a point (computed, then kept)
  [[nodiscard]] bool is_complete() const;    ///< the pieces cover the parent (computed, then kept)
  /// The subregion of a colour; UsageError if the partition does not have it.
  [[nodiscard]] AnyRegion piece(const Point<3>& colour,
                                const Where& where = Where::current()) const;
  /// What pieces have of the rectangle, colour by colour, each in the order of its rectangles. UsageError unless colours
  /// have so many dimensions, where that is not 0.
  [[nodiscard]] std::vector<Owner<3, 3>> owners_of(const Rect<3>& rect, int colour_dim = 0) const;
  [[nodiscard]] AnyRegion parent() const;
  [[nodiscard]] std::string name() const;
  friend bool operator==(const AnyPartition&, const AnyPartition&) = default;
};

/// A region argument of a launch: which region, which field. Made by region[field].
template <class T, int N>
struct RegionArgument {
  AnyRegion region;
  AnyField field;
  bool is_relaxed = false;
  /// Gives up the order of folding (reductions only) among neighbours that are relaxed too and have the same
  /// operator: sums of floating-point numbers may then differ in their last bits from run to run.
  [[nodiscard]] RegionArgument relaxed() const {
    RegionArgument copy = *this;
    copy.is_relaxed = true;
    return copy;
  }
};

/// A partition argument of a group launch: point p gets the piece projection(p). Made by partition[field].
template <class T, int N>
struct PartitionArgument {
  AnyPartition partition;
  AnyField field;
  Projection projection;
  bool is_relaxed = false;
  /// As for a region.
  [[nodiscard]] PartitionArgument relaxed() const {
    PartitionArgument copy = *this;
    copy.is_relaxed = true;
    return copy;
  }
};

namespace detail {

/// The arguments of several fields, each as `of[field]`.
template <class Of, class... Ts>
auto argument_for_each(const Of& of, const std::tuple<Field<Ts>...>& fields) {
  return std::apply([&of](const auto&... each) { return std::tuple(of[each]...); }, fields);
}
template <class Of, class T>
auto argument_for_each(const Of& of, const std::vector<Field<T>>& fields) {
  std::vector<decltype(of[fields[0]])> arguments;
  arguments.reserve(fields.size());
  for (const Field<T>& each : fields) arguments.push_back(of[each]);
  return arguments;
}

}  // namespace detail

/// A region of N-dimensional points.
template <int N>
struct Region : AnyRegion {
  Region() = default;
  explicit Region(const AnyRegion& any) : AnyRegion(any) {}

  /// This region's points, valid until the region is destroyed.
  [[nodiscard]] Domain<N> domain() const;

  template <class T>
  RegionArgument<T, N> operator[](const Field<T>& field) const {
    return {*this, field};
  }
  /// Several fields: `region[fields(position, velocity)]`.
  template <class... Ts>
  auto operator[](const std::tuple<Field<Ts>...>& fields) const {
    return detail::argument_for_each(*this, fields);
  }
  /// As many as the vector has; the parameter is a FieldList.
  template <class T>
  auto operator[](const std::vector<Field<T>>& fields) const {
    return detail::argument_for_each(*this, fields);
  }
};

/// A partition of a region of N-dimensional points.
template <int N>
struct Partition : AnyPartition {
  Partition() = default;
  explicit Partition(const AnyPartition& any) : AnyPartition(any) {}

  template <class T>
  PartitionArgument<T, N> operator[](const Field<T>& field) const {
    return {*this, field, {}};
  }
  /// Several fields: `pieces[fields(position, velocity)]`.
  template <class... Ts>
  auto operator[](const std::tuple<Field<Ts>...>& fields) const {
    return detail::argument_for_each(*this, fields);
  }
  /// As many as the vector has; the parameter is a FieldList.
  template <class T>
  auto operator[](const std::vector<Field<T>>& fields) const {
    return detail::argument_for_each(*this, fields);
  }

  /// The same partition seen through a projection: `cells.at(shift(1))[field]` gives point p the
  /// piece of colour p + 1.
  struct Projected {
    AnyPartition partition;
    Projection projection;
    template <class T>
    PartitionArgument<T, N> operator[](const Field<T>& field) const {
      return {partition, field, projection};
    }
    template <class... Ts>
    auto operator[](const std::tuple<Field<Ts>...>& fields) const {
      return detail::argument_for_each(*this, fields);
    }
    template <class T>
    auto operator[](const std::vector<Field<T>>& fields) const {
      return detail::argument_for_each(*this, fields);
    }
  };
  [[nodiscard]] Projected at(Projection projection) const { return {*this, std::move(projection)}; }

  /// What pieces have of a rectangle, colour by colour, each in the order of its rectangles: a task's body sees which
  /// neighbour a rectangle of its argument belongs to,
  /// `for (const auto& [colour, part] : blocks.owners_of(ghosts.domain().rect(i)))`. M: dimensions of the colours. Cost: a
  /// search; the first time an index of all rectangles is made.
  template <int M = 1>
  [[nodiscard]] std::vector<Owner<N, M>> owners_of(const Rect<N>& rect) const {
    std::vector<Owner<N, M>> owners;
    for (const auto& [colour, part] : AnyPartition::owners_of(detail::erase_dimension(rect), M))
      owners.push_back({detail::restore_dimension<M>(colour), detail::restore_dimension<N>(part)});
    return owners;
  }

  /// The subregion of a colour.
  template <int M = 1>
  [[nodiscard]] Region<N> operator()(const Point<M>& colour, Where where = Where::current()) const {
    return Region<N>{piece(detail::erase_dimension(colour), where)};
  }
  [[nodiscard]] Region<N> operator()(Coord colour, Where where = Where::current()) const {
    return Region<N>{piece({colour, 0, 0}, where)};
  }
  // For colours written in braces: `pieces({1, 0})`.
  [[nodiscard]] Region<N> operator()(const Point<2>& colour, Where where = Where::current()) const {
    return operator()<2>(colour, where);
  }
  [[nodiscard]] Region<N> operator()(const Point<3>& colour, Where where = Where::current()) const {
    return operator()<3>(colour, where);
  }
};

}  // namespace refrain
