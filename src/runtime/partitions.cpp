// The partitions that a context makes of shapes and of other partitions: the operators of
// data/partition_ops.hpp on regions.

#include <limits>

#include "base/hash.hpp"
#include "data/index_space.hpp"
#include "data/partition_ops.hpp"
#include "data/projection.hpp"
#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"
#include "runtime/partition_calls.hpp"

namespace refrain {

using runtime::call_for_partition;
using runtime::PartitionCall;
using Pieces = PartitionCall::Pieces;

namespace {

/// Of coordinates, for signatures.
std::uint64_t hash_of(const auto& value) { return hash_bytes(&value, sizeof value); }

/// UsageError unless each number is at least 1. `what(number)`: says what is wrong with one.
template <class What>
void check_blocks(const PartitionCall& call, const AnyRegion& region, const Point<3>& numbers,
                  What what) {
  for (int d = 0; d < call.points_of(region)->dim(); ++d)
    if (numbers[d] < 1)
      throw UsageError(call.who() + ": blocks of " + region.name() + ": " + what(numbers[d]) +
                       " in dimension " + std::to_string(d) + ", expected at least 1");
}

}  // namespace

AnyPartition Context::make_blocks(const AnyRegion& region, const Point<3>& colours, Where where) {
  return call_for_partition(impl_, "blocks", where, [&](const PartitionCall& call) {
    check_blocks(call, region, colours,
                 [](Coord number) { return std::to_string(number) + " blocks"; });
    const data::IndexSpaceRef& points = call.points_of(region);
    return call.make(region, "blocks", {hash_of(colours)}, [&] {
      return Pieces{data::block_colours(points->dim(), colours), data::blocks(points, colours)};
    });
  });
}

AnyPartition Context::make_blocks_of_size(const AnyRegion& region, const Point<3>& size,
                                          Where where) {
  return call_for_partition(impl_, "blocks_of_size", where, [&](const PartitionCall& call) {
    check_blocks(call, region, size, [](Coord number) { return "size " + std::to_string(number); });
    const data::IndexSpaceRef& points = call.points_of(region);
    return call.make(region, "blocks", {hash_of(size)}, [&] {
      return Pieces{data::block_colours(points->dim(), data::block_counts(points, size)),
                    data::blocks_of_size(points, size)};
    });
  });
}

AnyPartition Context::make_halo(const AnyPartition& pieces, const Point<3>& width, Where where) {
  return call_for_partition(impl_, "halo", where, [&](const PartitionCall& call) {
    const AnyRegion parent = call.parent_of(pieces);
    return call.make(parent, "halo", {&pieces, hash_of(width)}, [&] {
      return Pieces{call.node_of(pieces).colours,
                    data::halo(call.pieces_of(pieces), width, call.points_of(parent))};
    });
  });
}

AnyPartition Context::make_interior(const AnyPartition& pieces, const Point<3>& width,
                                    Where where) {
  return call_for_partition(impl_, "interior", where, [&](const PartitionCall& call) {
    const AnyRegion parent = call.parent_of(pieces);
    return call.make(parent, "interior", {&pieces, hash_of(width)}, [&] {
      return Pieces{call.node_of(pieces).colours,
                    data::interior(call.pieces_of(pieces), width, call.points_of(parent))};
    });
  });
}

AnyPartition Context::make_restriction(const AnyRegion& region, const AnyIndexSpace& colours,
                                       const Projection& transform, const Rect<3>& extent,
                                       Where where) {
  return call_for_partition(impl_, "restrict_to", where, [&](const PartitionCall& call) {
    const data::IndexSpaceRef& points = call.points_of(region);
    data::AffineMap map;
    if (const Projection::Impl* impl = transform.impl()) {
      if (impl->function != nullptr)
        throw UsageError(call.who() + ": restrict_to " + region.name() +
                         ": the transform must be affine, it is " + data::describe(impl));
      map = {impl->matrix, impl->offset};
    }
    const data::IndexSpaceRef& space = colours.shared().space;
    return call.make(region, "restriction", {space.get(), transform.impl(), hash_of(extent)}, [&] {
      return Pieces{space, data::restrict_affine(space, map, extent, points)};
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

void check_same_colours(const PartitionCall& call, const AnyPartition& a, const AnyPartition& b) {
  if (call.node_of(a).colours == call.node_of(b).colours) return;
  const auto text = [&](const AnyPartition& partition) {
    return partition.name() + " has " + data::to_string(*call.node_of(partition).colours);
  };
  throw UsageError(call.who() + ": the partitions have different colours: " + text(a) + ", " +
                   text(b));
}

/// A union lies in the region of one of the partitions, so all pieces of the other must, too.
void check_union(const PartitionCall& call, const AnyPartition& a, const AnyPartition& b,
                 const AnyRegion& parent) {
  const AnyPartition& other = call.parent_of(a).node == parent.node ? b : a;
  const data::IndexSpaceRef& points = call.points_of(parent);
  const auto pieces = call.pieces_of(other);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (data::contains(points, pieces[i])) continue;
    const data::IndexSpaceRef& colours = call.node_of(other).colours;
    throw UsageError(
        call.who() + ": " + a.name() + " and " + b.name() +
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
  return call_for_partition(impl_, call_of(operation), where, [&](const PartitionCall& call) {
    call.node_of(a), call.node_of(b);
    check_same_colours(call, a, b);
    if (&a.tree->data_tree() != &b.tree->data_tree())
      throw UsageError(call.who() + ": the partitions " + a.name() + " and " + b.name() +
                       " are of different regions");
    const auto left = call.pieces_of(a), right = call.pieces_of(b);
    const AnyRegion parent =
        operation == SetOperation::unite && b.tree == a.tree &&
                b.tree->is_within(call.parent_of(a).node, call.parent_of(b).node)
            ? call.parent_of(b)
            : call.parent_of(a);
    if (operation == SetOperation::unite) check_union(call, a, b, parent);
    const auto make = [&](const char* kind, data::Combine combine) {
      return call.make(parent, kind, {&a, &b}, [&] {
        return Pieces{call.node_of(a).colours, data::combination(left, right, combine)};
      });
    };
    switch (operation) {
      case SetOperation::unite: return make("union", data::unite);
      case SetOperation::intersect: return make("intersection", data::intersect);
      default: return make("difference", data::subtract);
    }
  });
}

AnyPartition Context::make_explicit(const AnyRegion& region,
                                    const std::vector<AnyIndexSpace>& pieces, Where where) {
  return call_for_partition(impl_, "partition", where, [&](const PartitionCall& call) {
    runtime::Signature given;
    for (const AnyIndexSpace& piece : pieces) given.object(piece.shared().space.get());
    return call.make(region, "explicit", {given.token()}, [&] {
      Pieces made{data::IndexSpace::dense(Rect1{0, static_cast<Coord>(pieces.size()) - 1}), {}};
      for (const AnyIndexSpace& piece : pieces) made.spaces.push_back(piece.shared().space);
      return made;
    });
  });
}

}  // namespace refrain

namespace refrain::runtime {

ContextImpl::Place ContextImpl::place_of(const AnyRegion& region, const char* what) {
  check_usable(region, what);
  if (region.tree->in(forest)) return {region.tree, region.node};
  // A region of an enclosing context: its partitions made here live in a tree of this context.
  auto& views = views_[region.tree];
  for (const auto& [view, node] : views)
    if (node == region.node) return {view, 0};
  data::RegionTree& view =
      forest.create(region.tree->node(region.node).space, region.tree->fields());
  view.make_view_of(&region.tree->data_tree());
  views.emplace_back(&view, region.node);
  return {&view, 0};
}

void ContextImpl::check_pieces(const Place& place, const Pieces& pieces) const {
  check_not_planning();
  if (pieces.spaces.size() > std::numeric_limits<std::uint32_t>::max() - place.tree->node_count())
    throw UsageError(std::to_string(pieces.spaces.size()) +
                     " pieces: a region tree has fewer than 2^32 subregions");
  data::check_pieces(pieces.spaces, pieces.colours, place.tree->node(place.node).space);
}

}  // namespace refrain::runtime
