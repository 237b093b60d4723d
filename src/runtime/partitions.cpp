// The partitions that a context makes of shapes and of other partitions: the operators of
// data/partition_ops.hpp on regions.

#include <limits>

#include "data/index_space.hpp"
#include "data/partition_ops.hpp"
#include "data/projection.hpp"
#include "data/set_algebra.hpp"
#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"
#include "runtime/partition_calls.hpp"

namespace refrain {

using namespace runtime::partition_calls;
using Pieces = runtime::ContextImpl::Pieces;

AnyPartition Context::make_blocks(const AnyRegion& region, const Point<3>& colours, Where where) {
  return impl_.make_call("blocks", where, [&] {
    const auto place = impl_.place_of(region, at("blocks", where).c_str());
    const IndexSpaceRef& points = points_of(region);
    for (int d = 0; d < points->dim(); ++d)
      if (colours[d] < 1)
        throw UsageError(at("blocks", where) + ": blocks of " + region.name() + ": " +
                         std::to_string(colours[d]) + " blocks in dimension " + std::to_string(d) +
                         ", expected at least 1");
    return partition_of(region, place, "blocks", impl_, "blocks", where, [&] {
      return Pieces{data::block_colours(points->dim(), colours), data::blocks(points, colours)};
    });
  });
}

AnyPartition Context::make_blocks_of_size(const AnyRegion& region, const Point<3>& size,
                                          Where where) {
  return impl_.make_call("blocks_of_size", where, [&] {
    const auto place = impl_.place_of(region, at("blocks_of_size", where).c_str());
    const IndexSpaceRef& points = points_of(region);
    for (int d = 0; d < points->dim(); ++d)
      if (size[d] < 1)
        throw UsageError(at("blocks_of_size", where) + ": blocks of " + region.name() + ": size " +
                         std::to_string(size[d]) + " in dimension " + std::to_string(d) +
                         ", expected at least 1");
    return partition_of(region, place, "blocks", impl_, "blocks_of_size", where, [&] {
      return Pieces{data::block_colours(points->dim(), data::block_counts(points, size)),
                    data::blocks_of_size(points, size)};
    });
  });
}

AnyPartition Context::make_halo(const AnyPartition& pieces, const Point<3>& width, Where where) {
  return impl_.make_call("halo", where, [&] {
    const std::string who = at("halo", where);
    impl_.check_usable(pieces, who.c_str());
    const AnyRegion parent = parent_of(pieces);
    const auto place = impl_.place_of(parent, who.c_str());
    return partition_of(parent, place, "halo", impl_, "halo", where, [&] {
      return Pieces{colours_of(pieces), data::halo(pieces_of(pieces), width, points_of(parent))};
    });
  });
}

AnyPartition Context::make_interior(const AnyPartition& pieces, const Point<3>& width,
                                    Where where) {
  return impl_.make_call("interior", where, [&] {
    const std::string who = at("interior", where);
    impl_.check_usable(pieces, who.c_str());
    const AnyRegion parent = parent_of(pieces);
    const auto place = impl_.place_of(parent, who.c_str());
    return partition_of(parent, place, "interior", impl_, "interior", where, [&] {
      return Pieces{colours_of(pieces),
                    data::interior(pieces_of(pieces), width, points_of(parent))};
    });
  });
}

AnyPartition Context::make_restriction(const AnyRegion& region, const AnyIndexSpace& colours,
                                       const Projection& transform, const Rect<3>& extent,
                                       Where where) {
  return impl_.make_call("restrict_to", where, [&] {
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
    return partition_of(region, place, "restriction", impl_, "restrict_to", where, [&] {
      const IndexSpaceRef& space = colours.shared().space;
      return Pieces{space, data::restrict_affine(space, map, extent, points_of(region))};
    });
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

void check_same_colours(const AnyPartition& a, const AnyPartition& b, const std::string& who) {
  if (colours_of(a) == colours_of(b)) return;
  const auto text = [](const AnyPartition& partition) {
    const IndexSpaceRef& colours = colours_of(partition);
    return partition.name() + " has " + data::to_string(*colours);
  };
  throw UsageError(who + ": the partitions have different colours: " + text(a) + ", " + text(b));
}

/// A union lies in the region of one of the partitions, so all pieces of the other must, too.
void check_union(const AnyPartition& a, const AnyPartition& b, const AnyRegion& parent,
                 const std::string& who) {
  const AnyPartition& other = parent_of(a).node == parent.node ? b : a;
  const IndexSpaceRef& points = points_of(parent);
  const auto pieces = pieces_of(other);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (data::contains(points, pieces[i])) continue;
    const IndexSpaceRef& colours = colours_of(other);
    throw UsageError(
        who + ": " + a.name() + " and " + b.name() +
        " are partitions of different regions, of which neither contains what the other "
        "partition has: colour " +
        data::to_string(colours->nth(i), colours->dim()) + " of " + other.name() + " has point " +
        data::to_string(data::subtract(pieces[i], points)->nth(0), points->dim()) + ", which " +
        parent.name() + " has not; make both of a region that contains both");
  }
}

}  // namespace

AnyPartition Context::make_combination(const AnyPartition& a, const AnyPartition& b,
                                       SetOperation operation, Where where) {
  const char* call = call_of(operation);
  return impl_.make_call(call, where, [&] {
    const std::string who = at(call, where);
    impl_.check_usable(a, who.c_str());
    impl_.check_usable(b, who.c_str());
    check_same_colours(a, b, who);
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
    const auto make = [&](const char* kind, auto combine) {
      return partition_of(parent, place, kind, impl_, call, where, [&] {
        return Pieces{colours_of(a), combine(left, right)};
      });
    };
    switch (operation) {
      case SetOperation::unite: return make("union", data::union_of);
      case SetOperation::intersect: return make("intersection", data::intersection_of);
      default: return make("difference", data::difference_of);
    }
  });
}

AnyPartition Context::make_explicit(const AnyRegion& region,
                                    const std::vector<AnyIndexSpace>& pieces, Where where) {
  return impl_.make_call("partition", where, [&] {
    const auto place = impl_.place_of(region, at("partition", where).c_str());
    return partition_of(region, place, "explicit", impl_, "partition", where, [&] {
      Pieces given{data::IndexSpace::dense(Rect1{0, static_cast<Coord>(pieces.size()) - 1}), {}};
      given.spaces.reserve(pieces.size());
      for (const AnyIndexSpace& piece : pieces) given.spaces.push_back(piece.shared().space);
      return given;
    });
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

void ContextImpl::check_pieces(const Place& parent, const Pieces& pieces) const {
  check_not_planning();
  if (pieces.spaces.size() > std::numeric_limits<std::uint32_t>::max() - parent.tree->node_count())
    throw UsageError(std::to_string(pieces.spaces.size()) +
                     " pieces: a region tree has fewer than 2^32 subregions");
  data::check_pieces(pieces.spaces, pieces.colours, parent.tree->node(parent.node).space);
}

AnyPartition ContextImpl::make_partition(const Place& parent, Pieces pieces, const char* kind) {
  return parent.tree->make_partition(parent.node, std::move(pieces.colours),
                                     std::move(pieces.spaces), kind);
}

}  // namespace refrain::runtime
