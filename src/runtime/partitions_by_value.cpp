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

/// What a field holds at each point: a point of `dim` dimensions, or a rectangle.
class PointerField {
 public:
  PointerField(const PartitionCall& call, const AnyRegion& region, const AnyField& field, int dim)
      : call_(call), dim_(dim), ticket_(call.begin_access(region, field, physical_)) {}
  ~PointerField() { call_.end_access(ticket_); }
  PointerField(const PointerField&) = delete;

  [[nodiscard]] data::PointReader points() const {
    return [this](const data::Box& box, std::span<data::BoxPoint> values) {
      each(box, values, [this](const Coord* coordinates) { return point(coordinates); });
    };
  }
  [[nodiscard]] data::RectReader rects() const {
    return [this](const data::Box& box, std::span<data::Box> values) {
      each(box, values, [this](const Coord* coordinates) {
        return data::Box{point(coordinates), point(coordinates + dim_)};
      });
    };
  }

 private:
  template <class Value, class F>
  void each(const data::Box& box, std::span<Value> values, F&& read) const {
    std::size_t i = 0;
    data::BoxPoint p;
    for (p[0] = box.lo[0]; p[0] <= box.hi[0]; ++p[0])
      for (p[1] = box.lo[1]; p[1] <= box.hi[1]; ++p[1])
        for (p[2] = box.lo[2]; p[2] <= box.hi[2]; ++p[2])
          values[i++] = read(reinterpret_cast<const Coord*>(physical_.at(p)));
  }
  [[nodiscard]] data::BoxPoint point(const Coord* coordinates) const {
    data::BoxPoint q;
    for (int d = 0; d < dim_; ++d) q[d] = coordinates[d];
    return q;
  }

  const PartitionCall& call_;
  int dim_;
  PhysicalArgument physical_;
  std::uint64_t ticket_;
};

std::size_t point_size(int dim) { return static_cast<std::size_t>(dim) * sizeof(Coord); }

/// Whether the field holds rectangles. Throws unless it holds those or points, of `dim` dimensions.
bool holds_rects(const AnyField& field, int dim, const std::string& who) {
  runtime::check_field(field, who);
  if (field.type->size == point_size(dim)) return false;
  if (field.type->size == 2 * point_size(dim)) return true;
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
      return Pieces{space, data::by_colour(points, field_of_colours.points(), space)};
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
    const bool rects = holds_rects(field, points->dim(), call.who());
    const PointerField pointers(call, source, field, points->dim());
    return call.make(target, "image", {&pieces, &field}, [&] {
      const auto parts = call.pieces_of(pieces);
      return Pieces{call.node_of(pieces).colours,
                    rects ? data::image_rects(parts, pointers.rects(), points)
                          : data::image(parts, pointers.points(), points)};
    });
  });
}

AnyPartition Context::make_preimage(const AnyRegion& source, const AnyPartition& pieces,
                                    const AnyField& field, Where where) {
  return call_for_partition(impl_, "preimage", where, [&](const PartitionCall& call) {
    const int dim = call.points_of(call.parent_of(pieces))->dim();
    const data::IndexSpaceRef& points = call.points_of(source);
    const bool rects = holds_rects(field, dim, call.who());
    const PointerField pointers(call, source, field, dim);
    return call.make(source, "preimage", {&pieces, &field}, [&] {
      const auto parts = call.pieces_of(pieces);
      return Pieces{call.node_of(pieces).colours,
                    rects ? data::preimage_rects(parts, pointers.rects(), points)
                          : data::preimage(parts, pointers.points(), points)};
    });
  });
}

}  // namespace refrain
