// The partitions that a context makes: the operators of data/partition_ops.hpp on regions.

#include <optional>

#include "data/box.hpp"
#include "data/partition_ops.hpp"
#include "data/projection.hpp"
#include "data/shared_index_space.hpp"
#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"

namespace refrain {

namespace {

using data::IndexSpaceRef;

std::vector<IndexSpaceRef> pieces_of(const AnyPartition& partition) {
  const data::PartitionNode& node = partition.tree->partition(partition.index);
  std::vector<IndexSpaceRef> pieces;
  for (std::uint32_t i = 0; i < node.pieces(); ++i)
    pieces.push_back(partition.tree->node(node.first_child + i).space);
  return pieces;
}

const IndexSpaceRef& colours_of(const AnyPartition& partition) {
  return partition.tree->partition(partition.index).colours;
}

// The beginning of a message.
std::string at(const char* call, std::source_location where) {
  return std::string(call) + " at " + to_string(where);
}

AnyRegion parent_of(const AnyPartition& partition) {
  return partition.tree->handle(partition.tree->partition(partition.index).parent);
}

const IndexSpaceRef& points_of(const AnyRegion& region) {
  return region.tree->node(region.node).space;
}

}  // namespace

AnyPartition Context::make_blocks(const AnyRegion& region, const Point<3>& colours, Where where) {
  const auto place = impl_.place_of(region, at("blocks", where).c_str());
  const IndexSpaceRef& points = points_of(region);
  for (int d = 0; d < points->dim(); ++d)
    if (colours[d] < 1)
      throw UsageError(at("blocks", where) + ": blocks of " + region.name() + ": " +
                       std::to_string(colours[d]) + " blocks in dimension " + std::to_string(d) +
                       ", expected at least 1");
  return impl_.make_partition(place, data::block_colours(points->dim(), colours),
                              data::blocks(points, colours), "blocks");
}

AnyPartition Context::make_halo(const AnyPartition& pieces, const Point<3>& width, Where where) {
  impl_.check_usable(pieces, at("halo", where).c_str());
  const AnyRegion parent = parent_of(pieces);
  return impl_.make_partition(impl_.place_of(parent, at("halo", where).c_str()), colours_of(pieces),
                              data::halo(pieces_of(pieces), width, points_of(parent)), "halo");
}

AnyPartition Context::make_interior(const AnyPartition& pieces, const Point<3>& width,
                                    Where where) {
  impl_.check_usable(pieces, at("interior", where).c_str());
  const AnyRegion parent = parent_of(pieces);
  return impl_.make_partition(
      impl_.place_of(parent, at("interior", where).c_str()), colours_of(pieces),
      data::interior(pieces_of(pieces), width, points_of(parent)), "interior");
}

AnyPartition Context::make_restriction(const AnyRegion& region,
                                       const detail::SharedIndexSpace& colours,
                                       const Projection& transform, const Rect<3>& extent,
                                       Where where) {
  const auto place = impl_.place_of(region, at("restrict_to", where).c_str());
  data::AffineMap map;
  if (const Projection::Impl* impl = transform.impl()) {
    if (impl->kind != Projection::Impl::Kind::affine)
      throw UsageError(at("restrict_to", where) + ": restrict_to " + region.name() +
                       ": the transform must be affine, it is " + data::describe(impl));
    map.matrix = impl->matrix;
    map.offset = impl->offset;
  } else {
    for (std::size_t d = 0; d < 3; ++d) map.matrix[d][d] = 1;
  }
  return impl_.make_partition(place, colours.space,
                              data::restrict_affine(colours.space, map, extent, points_of(region)),
                              "restriction");
}

AnyPartition Context::make_combination(const AnyPartition& a, const AnyPartition& b, char operation,
                                       Where where) {
  impl_.check_usable(a, at("combination of partitions", where).c_str());
  impl_.check_usable(b, at("combination of partitions", where).c_str());
  if (colours_of(a) != colours_of(b))
    throw UsageError(at("combination of partitions", where) + ": the partitions " + a.name() +
                     " and " + b.name() + " have different colours");
  const auto left = pieces_of(a), right = pieces_of(b);
  const AnyRegion parent = operation == '|' && b.tree == a.tree &&
                                   b.tree->is_within(parent_of(a).node, parent_of(b).node)
                               ? parent_of(b)
                               : parent_of(a);
  const auto place = impl_.place_of(parent, at("combination of partitions", where).c_str());
  switch (operation) {
    case '|':
      return impl_.make_partition(place, colours_of(a), data::union_of(left, right), "union");
    case '&':
      return impl_.make_partition(place, colours_of(a), data::intersection_of(left, right),
                                  "intersection");
    default:
      return impl_.make_partition(place, colours_of(a), data::difference_of(left, right),
                                  "difference");
  }
}

AnyPartition Context::make_explicit(const AnyRegion& region,
                                    const std::vector<const detail::SharedIndexSpace*>& pieces,
                                    Where where) {
  const auto place = impl_.place_of(region, at("partition", where).c_str());
  std::vector<IndexSpaceRef> spaces;
  for (const detail::SharedIndexSpace* piece : pieces) spaces.push_back(piece->space);
  const IndexSpaceRef colours =
      data::IndexSpace::dense(Rect1{0, static_cast<Coord>(pieces.size()) - 1});
  return impl_.make_partition(place, colours, std::move(spaces), "explicit");
}

namespace {

// Reads a pointer field box by box, through an inline access.
class PointerField {
 public:
  PointerField(runtime::ContextImpl& context, const AnyRegion& region, const AnyField& field,
               int pointed_dim, std::source_location where)
      : context_(context), pointed_dim_(pointed_dim) {
    ticket_ = context.begin_access(region, field, Privilege::read, physical_, where);
  }
  ~PointerField() { context_.end_access(ticket_); }
  PointerField(const PointerField&) = delete;

  [[nodiscard]] data::PointReader reader() const {
    return [this](const data::Box& box, std::span<data::BoxPoint> values) {
      std::size_t i = 0;
      data::BoxPoint p;
      for (p[0] = box.lo[0]; p[0] <= box.hi[0]; ++p[0])
        for (p[1] = box.lo[1]; p[1] <= box.hi[1]; ++p[1])
          for (p[2] = box.lo[2]; p[2] <= box.hi[2]; ++p[2]) values[i++] = read(p);
    };
  }

 private:
  [[nodiscard]] data::BoxPoint read(const data::BoxPoint& p) const {
    const std::byte* address = physical_.placement->origin;
    for (int d = 0; d < 3; ++d) address += p[d] * physical_.placement->stride[d];
    const auto* coordinates = reinterpret_cast<const Coord*>(address);
    data::BoxPoint q;
    for (int d = 0; d < pointed_dim_; ++d) q[d] = coordinates[d];
    return q;
  }

  runtime::ContextImpl& context_;
  int pointed_dim_;
  std::uint64_t ticket_ = 0;
  detail::PhysicalArgument physical_;
};

int pointed_dim(const AnyField& field) {
  return static_cast<int>(field.type->size / sizeof(Coord));
}

}  // namespace

AnyPartition Context::make_by_colour(const AnyRegion& region, const AnyField& field,
                                     const detail::SharedIndexSpace& colours, Where where) {
  const auto place = impl_.place_of(region, at("by_colour", where).c_str());
  std::vector<IndexSpaceRef> pieces;
  {
    const PointerField pointers(impl_, region, field, pointed_dim(field), where);
    pieces = data::by_colour(points_of(region), pointers.reader(), colours.space);
  }
  return impl_.make_partition(place, colours.space, std::move(pieces), "by_colour");
}

AnyPartition Context::make_image(const AnyRegion& target, const AnyPartition& pieces,
                                 const AnyField& field, Where where) {
  impl_.check_usable(pieces, at("image", where).c_str());
  const auto place = impl_.place_of(target, at("image", where).c_str());
  std::vector<IndexSpaceRef> images;
  {
    const PointerField pointers(impl_, parent_of(pieces), field, pointed_dim(field), where);
    images = data::image(pieces_of(pieces), pointers.reader(), points_of(target));
  }
  return impl_.make_partition(place, colours_of(pieces), std::move(images), "image");
}

AnyPartition Context::make_preimage(const AnyRegion& source, const AnyPartition& pieces,
                                    const AnyField& field, Where where) {
  impl_.check_usable(pieces, at("preimage", where).c_str());
  const auto place = impl_.place_of(source, at("preimage", where).c_str());
  std::vector<IndexSpaceRef> preimages;
  {
    const PointerField pointers(impl_, source, field, pointed_dim(field), where);
    preimages = data::preimage(pieces_of(pieces), pointers.reader(), points_of(source));
  }
  return impl_.make_partition(place, colours_of(pieces), std::move(preimages), "preimage");
}

}  // namespace refrain

namespace refrain::runtime {

ContextImpl::Place ContextImpl::place_of(const AnyRegion& region, const char* what) {
  check_usable(region, what);
  if (region.tree->in(forest_)) return {region.tree, region.node};
  // A region of an enclosing context: its partitions made here live in a tree of this context.
  auto& views = views_[region.tree];
  for (const auto& [view, node] : views)
    if (node == region.node) return {view, 0};
  data::RegionTree& view =
      forest_.create(region.tree->node(region.node).space, region.tree->fields());
  view.origin = region.tree->origin != nullptr ? region.tree->origin : region.tree;
  views.emplace_back(&view, region.node);
  return {&view, 0};
}

AnyPartition ContextImpl::make_partition(Place parent, data::IndexSpaceRef colours,
                                         std::vector<data::IndexSpaceRef> pieces,
                                         const char* kind) {
  data::check_pieces(pieces, colours, parent.tree->node(parent.node).space);
  return parent.tree->make_partition(parent.node, std::move(colours), std::move(pieces), kind);
}

}  // namespace refrain::runtime
