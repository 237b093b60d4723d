// The partitions that a context makes of shapes and of other partitions: the operators of
// data/partition_ops.hpp on regions.

#include <limits>

#include "data/partition_ops.hpp"
#include "data/projection.hpp"
#include "data/set_algebra.hpp"
#include "data/shared_index_space.hpp"
#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"
#include "runtime/partition_calls.hpp"

namespace refrain {

using namespace runtime::partition_calls;

AnyPartition Context::make_blocks(const AnyRegion& region, const Point<3>& colours, Where where) {
  impl_.check_caller("blocks", where);
  const auto place = impl_.place_of(region, at("blocks", where).c_str());
  const IndexSpaceRef& points = points_of(region);
  for (int d = 0; d < points->dim(); ++d)
    if (colours[d] < 1)
      throw UsageError(at("blocks", where) + ": blocks of " + region.name() + ": " +
                       std::to_string(colours[d]) + " blocks in dimension " + std::to_string(d) +
                       ", expected at least 1");
  return telling("blocks", where, region, [&] {
    return impl_.make_partition(place, data::block_colours(points->dim(), colours),
                                data::blocks(points, colours), "blocks");
  });
}

AnyPartition Context::make_blocks_of_size(const AnyRegion& region, const Point<3>& size,
                                          Where where) {
  impl_.check_caller("blocks_of_size", where);
  const auto place = impl_.place_of(region, at("blocks_of_size", where).c_str());
  const IndexSpaceRef& points = points_of(region);
  for (int d = 0; d < points->dim(); ++d)
    if (size[d] < 1)
      throw UsageError(at("blocks_of_size", where) + ": blocks of " + region.name() + ": size " +
                       std::to_string(size[d]) + " in dimension " + std::to_string(d) +
                       ", expected at least 1");
  return telling("blocks_of_size", where, region, [&] {
    const IndexSpaceRef colours =
        data::block_colours(points->dim(), data::block_counts(points, size));
    return impl_.make_partition(place, colours, data::blocks_of_size(points, size), "blocks");
  });
}

AnyPartition Context::make_halo(const AnyPartition& pieces, const Point<3>& width, Where where) {
  impl_.check_caller("halo", where);
  impl_.check_usable(pieces, at("halo", where).c_str());
  const AnyRegion parent = parent_of(pieces);
  const auto place = impl_.place_of(parent, at("halo", where).c_str());
  return telling("halo", where, parent, [&] {
    return impl_.make_partition(place, colours_of(pieces),
                                data::halo(pieces_of(pieces), width, points_of(parent)), "halo");
  });
}

AnyPartition Context::make_interior(const AnyPartition& pieces, const Point<3>& width,
                                    Where where) {
  impl_.check_caller("interior", where);
  impl_.check_usable(pieces, at("interior", where).c_str());
  const AnyRegion parent = parent_of(pieces);
  const auto place = impl_.place_of(parent, at("interior", where).c_str());
  return telling("interior", where, parent, [&] {
    return impl_.make_partition(place, colours_of(pieces),
                                data::interior(pieces_of(pieces), width, points_of(parent)),
                                "interior");
  });
}

AnyPartition Context::make_restriction(const AnyRegion& region, const AnyIndexSpace& colours,
                                       const Projection& transform, const Rect<3>& extent,
                                       Where where) {
  impl_.check_caller("restrict_to", where);
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
  return telling("restrict_to", where, region, [&] {
    return impl_.make_partition(
        place, colours.shared().space,
        data::restrict_affine(colours.shared().space, map, extent, points_of(region)),
        "restriction");
  });
}

namespace {

const char* call_of(SetOperation operation) {
  switch (operation) {
    case SetOperation::unite: return "unite";
    case SetOperation::intersect: return "intersect";
    default: return "subtract";
  }
}

/// A union lies in the region of one of the partitions, so all pieces of the other must, too.
void check_union(const AnyPartition& a, const AnyPartition& b, const AnyRegion& parent,
                 const std::string& who) {
  const AnyPartition& other = parent_of(a).node == parent.node ? b : a;
  const IndexSpaceRef& points = points_of(parent);
  const auto pieces = pieces_of(other);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (data::contains_uncached(points, pieces[i])) continue;
    const IndexSpaceRef& colours = colours_of(other);
    throw UsageError(
        who + ": " + a.name() + " and " + b.name() +
        " are partitions of different regions, of which neither contains what the other "
        "partition has: colour " +
        data::to_string(colours->nth(i), colours->dim()) + " of " + other.name() + " has point " +
        data::to_string(data::subtract_uncached(pieces[i], points)->nth(0), points->dim()) +
        ", which " + parent.name() + " has not; make both of a region that contains both");
  }
}

}  // namespace

AnyPartition Context::make_combination(const AnyPartition& a, const AnyPartition& b,
                                       SetOperation operation, Where where) {
  const char* call = call_of(operation);
  const std::string who = at(call, where);
  impl_.check_caller(call, where);
  impl_.check_usable(a, who.c_str());
  impl_.check_usable(b, who.c_str());
  if (colours_of(a) != colours_of(b))
    throw UsageError(who + ": the partitions " + a.name() + " and " + b.name() +
                     " have different colours");
  if (&a.tree->data_tree() != &b.tree->data_tree())
    throw UsageError(who + ": the partitions " + a.name() + " and " + b.name() +
                     " are of different regions");
  const auto left = pieces_of(a), right = pieces_of(b);
  const AnyRegion parent = operation == SetOperation::unite && b.tree == a.tree &&
                                   b.tree->is_within(parent_of(a).node, parent_of(b).node)
                               ? parent_of(b)
                               : parent_of(a);
  const auto place = impl_.place_of(parent, who.c_str());
  if (operation == SetOperation::unite) check_union(a, b, parent, who);
  return telling(call, where, parent, [&] {
    switch (operation) {
      case SetOperation::unite:
        return impl_.make_partition(place, colours_of(a), data::union_of(left, right), "union");
      case SetOperation::intersect:
        return impl_.make_partition(place, colours_of(a), data::intersection_of(left, right),
                                    "intersection");
      default:
        return impl_.make_partition(place, colours_of(a), data::difference_of(left, right),
                                    "difference");
    }
  });
}

AnyPartition Context::make_explicit(const AnyRegion& region,
                                    const std::vector<AnyIndexSpace>& pieces, Where where) {
  impl_.check_caller("partition", where);
  const auto place = impl_.place_of(region, at("partition", where).c_str());
  std::vector<IndexSpaceRef> spaces;
  spaces.reserve(pieces.size());
  for (const AnyIndexSpace& piece : pieces) spaces.push_back(piece.shared().space);
  const IndexSpaceRef colours =
      data::IndexSpace::dense(Rect1{0, static_cast<Coord>(pieces.size()) - 1});
  return telling("partition", where, region, [&] {
    return impl_.make_partition(place, colours, std::move(spaces), "explicit");
  });
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
  view.make_view_of(&region.tree->data_tree());
  views.emplace_back(&view, region.node);
  return {&view, 0};
}

AnyPartition ContextImpl::make_partition(Place parent, data::IndexSpaceRef colours,
                                         std::vector<data::IndexSpaceRef> pieces,
                                         const char* kind) {
  check_not_planning();
  if (pieces.size() > std::numeric_limits<std::uint32_t>::max() - parent.tree->node_count())
    throw UsageError(std::to_string(pieces.size()) +
                     " pieces: a region tree has fewer than 2^32 subregions");
  data::check_pieces(pieces, colours, parent.tree->node(parent.node).space);
  return make_call(
      [&] {
        return parent.tree->make_partition(parent.node, std::move(colours), std::move(pieces),
                                           kind);
      },
      [&] { return std::string("its ") + kind; });
}

}  // namespace refrain::runtime
