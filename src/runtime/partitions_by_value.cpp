// The partitions that depend on what a field holds: by colour, image, preimage. The field is read through an
// access of the program, which waits for it.

#include "data/box_list.hpp"
#include "data/index_space.hpp"
#include "data/partition_ops.hpp"
#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"
#include "runtime/partition_calls.hpp"

namespace refrain {

using runtime::call_for_partition;
using runtime::PartitionCall;
using Pieces = PartitionCall::Pieces;

namespace {

std::size_t point_size(int dim) { return static_cast<std::size_t>(dim) * sizeof(Coord); }

/// Reads what a field holds at each point: a point of `dim` dimensions, or a rectangle.
class PointerField {
 public:
  PointerField(const PartitionCall& call, const AnyRegion& region, const AnyField& field, int dim)
      : call_(call),
        dim_(dim),
        upper_(field.type->size == point_size(dim) ? 0 : dim),
        ticket_(call.begin_access(region, field, physical_)) {}
  ~PointerField() { call_.end_access(ticket_); }
  PointerField(const PointerField&) = delete;

  [[nodiscard]] data::Reader reader() const {
    return [this](const data::BoxPoint& p) {
      const auto* coordinates = reinterpret_cast<const Coord*>(physical_.at(p));
      return data::Box{point(coordinates), point(coordinates + upper_)};
    };
  }

 private:
  [[nodiscard]] data::BoxPoint point(const Coord* coordinates) const {
    data::BoxPoint q;
    for (int d = 0; d < dim_; ++d) q[d] = coordinates[d];
    return q;
  }

  const PartitionCall& call_;
  int dim_, upper_;  ///< upper_: where the upper corner stands behind the lower one
  PhysicalArgument physical_;
  std::uint64_t ticket_;
};

/// Throws unless the field holds points or rectangles of `dim` dimensions.
void check_pointers(const AnyField& field, int dim, const std::string& who) {
  runtime::check_field(field, who);
  if (field.type->size == point_size(dim) || field.type->size == 2 * point_size(dim)) return;
  throw UsageError(who + ": field '" + std::string(field.name) + "' holds " +
                   std::string(field.type->name) + ", expected a Point or a Rect of " +
                   std::to_string(dim) + " dimensions");
}

}  // namespace

AnyPartition Context::make_by_colour(const AnyRegion& region, const AnyField& field,
                                     const AnyIndexSpace& colours, Where where) {
  return call_for_partition(impl_, "by_colour", where, [&](const PartitionCall& call) {
    const data::IndexSpaceRef &points = call.points_of(region), &space = colours.shared().space;
    runtime::check_field(field, call.who());
    if (field.type->size != point_size(space->dim()))
      throw UsageError(call.who() + ": field '" + std::string(field.name) + "' holds " +
                       std::string(field.type->name) + ", expected colours of " +
                       std::to_string(space->dim()) + " dimensions");
    const PointerField field_of_colours(call, region, field, space->dim());
    return call.make(region, "by_colour", {&field, space.get()}, [&] {
      return Pieces{space, data::by_colour(points, field_of_colours.reader(), space)};
    });
  });
}

AnyPartition Context::make_by_colour(const AnyRegion& region, const AnyField& field, Coord colours,
                                     Where where) {
  return call_for_partition(impl_, "by_colour", where, [&](const PartitionCall& call) {
    const AnyIndexSpace space = call.telling(region, [&] {
      if (colours < 0) throw UsageError(std::to_string(colours) + " colours, expected at least 0");
      return AnyIndexSpace(1, Rect<3>{{0, 0, 0}, {colours - 1, 0, 0}});
    });
    return make_by_colour(region, field, space, where);
  });
}

AnyPartition Context::make_image(const AnyRegion& target, const AnyPartition& pieces,
                                 const AnyField& field, Where where) {
  return call_for_partition(impl_, "image", where, [&](const PartitionCall& call) {
    const AnyRegion source = call.parent_of(pieces);
    const data::IndexSpaceRef& points = call.points_of(target);
    check_pointers(field, points->dim(), call.who());
    const PointerField pointers(call, source, field, points->dim());
    return call.make(target, "image", {&pieces, &field}, [&] {
      return Pieces{call.node_of(pieces).colours,
                    data::image(call.pieces_of(pieces), pointers.reader(), points)};
    });
  });
}

AnyPartition Context::make_preimage(const AnyRegion& source, const AnyPartition& pieces,
                                    const AnyField& field, Where where) {
  return call_for_partition(impl_, "preimage", where, [&](const PartitionCall& call) {
    const int dim = call.points_of(call.parent_of(pieces))->dim();
    const data::IndexSpaceRef& points = call.points_of(source);
    check_pointers(field, dim, call.who());
    const PointerField pointers(call, source, field, dim);
    return call.make(source, "preimage", {&pieces, &field}, [&] {
      return Pieces{call.node_of(pieces).colours,
                    data::preimage(call.pieces_of(pieces), pointers.reader(), points)};
    });
  });
}

}  // namespace refrain
