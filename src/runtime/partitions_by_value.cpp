// The partitions that depend on what a field holds: by colour, image, preimage. The field is read through an
// access of the program, which waits for it.

#include "data/box_list.hpp"
#include "data/index_space.hpp"
#include "data/partition_ops.hpp"
#include "launch/field_check.hpp"
#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"
#include "runtime/partition_calls.hpp"

namespace refrain {

using namespace runtime::partition_calls;
using Pieces = runtime::ContextImpl::Pieces;

namespace {

/// What a field holds at each point: a point of `dim` dimensions, or a rectangle.
class PointerField {
 public:
  PointerField(runtime::ContextImpl& context, const AnyRegion& region, const AnyField& field,
               int dim, const char* call, std::source_location where)
      : context_(context),
        dim_(dim),
        ticket_(context.begin_access(region, field, Privilege::read, physical_, where, call)) {}
  ~PointerField() { context_.end_access(ticket_); }
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

  runtime::ContextImpl& context_;
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
  return impl_.make_call("by_colour", where, [&] {
    const std::string who = at("by_colour", where);
    const auto place = impl_.place_of(region, who.c_str());
    const IndexSpaceRef& space = colours.shared().space;
    runtime::check_field(field, who);
    if (field.type->size != point_size(space->dim()))
      throw UsageError(who + ": field '" + std::string(field.name) + "' holds " +
                       std::string(field.type->name) + ", expected colours of " +
                       std::to_string(space->dim()) + " dimensions");
    const PointerField field_of_colours(impl_, region, field, space->dim(), "by_colour", where);
    return partition_of(region, place, "by_colour", impl_, "by_colour", where, [&] {
      return Pieces{space, data::by_colour(points_of(region), field_of_colours.points(), space)};
    });
  });
}

AnyPartition Context::make_by_colour(const AnyRegion& region, const AnyField& field, Coord colours,
                                     Where where) {
  return impl_.make_call("by_colour", where, [&] {
    const AnyIndexSpace space = telling("by_colour", where, region, [&] {
      if (colours < 0) throw UsageError(std::to_string(colours) + " colours, expected at least 0");
      return AnyIndexSpace(1, Rect<3>{{0, 0, 0}, {colours - 1, 0, 0}});
    });
    return make_by_colour(region, field, space, where);
  });
}

AnyPartition Context::make_image(const AnyRegion& target, const AnyPartition& pieces,
                                 const AnyField& field, Where where) {
  return impl_.make_call("image", where, [&] {
    const std::string who = at("image", where);
    impl_.check_usable(pieces, who.c_str());
    const auto place = impl_.place_of(target, who.c_str());
    const int dim = points_of(target)->dim();
    const bool rects = holds_rects(field, dim, who);
    const PointerField pointers(impl_, parent_of(pieces), field, dim, "image", where);
    return partition_of(target, place, "image", impl_, "image", where, [&] {
      return Pieces{colours_of(pieces),
                    rects
                        ? data::image_rects(pieces_of(pieces), pointers.rects(), points_of(target))
                        : data::image(pieces_of(pieces), pointers.points(), points_of(target))};
    });
  });
}

AnyPartition Context::make_preimage(const AnyRegion& source, const AnyPartition& pieces,
                                    const AnyField& field, Where where) {
  return impl_.make_call("preimage", where, [&] {
    const std::string who = at("preimage", where);
    impl_.check_usable(pieces, who.c_str());
    const auto place = impl_.place_of(source, who.c_str());
    const int dim = points_of(parent_of(pieces))->dim();
    const bool rects = holds_rects(field, dim, who);
    const PointerField pointers(impl_, source, field, dim, "preimage", where);
    return partition_of(source, place, "preimage", impl_, "preimage", where, [&] {
      return Pieces{
          colours_of(pieces),
          rects ? data::preimage_rects(pieces_of(pieces), pointers.rects(), points_of(source))
                : data::preimage(pieces_of(pieces), pointers.points(), points_of(source))};
    });
  });
}

}  // namespace refrain
