// The partitions that a context makes: of shapes, of other partitions, and of what a field holds. They are the
// operators of data/partition_ops.hpp on regions. A field is read through an access of the program, which waits for it.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>

#include "base/hash.hpp"
#include "data/index_space.hpp"
#include "data/partition_ops.hpp"
#include "data/projection.hpp"
#include "refrain/error.hpp"
#include "runtime/context_impl.hpp"

namespace refrain {

using runtime::ContextImpl;

namespace {

/// Of each colour, in their order.
struct Pieces {
  data::IndexSpaceRef colours;
  std::vector<data::IndexSpaceRef> spaces;
};

/// A call that makes a partition: its handles are checked, and what is wrong is told with its name, its place and the
/// region. Where the pieces cannot be had, or cannot be a partition, nothing has happened.
struct PartitionCall {
  ContextImpl& context;
  const char* name;
  Where where;
  std::string who;  ///< "halo at main.cpp:12", for the beginning of a message

  /// The points of a region that is alive, and a partition that is alive.
  const data::IndexSpaceRef& points_of(const AnyRegion& region) const {
    context.check_usable(region, who.c_str());
    return region.tree->node(region.node).space;
  }
  const data::PartitionNode& node_of(const AnyPartition& partition) const {
    context.check_usable(partition, who.c_str());
    return partition.tree->partition(partition.index);
  }
  AnyRegion parent_of(const AnyPartition& partition) const {
    return partition.tree->handle(node_of(partition).parent);
  }
  std::vector<data::IndexSpaceRef> pieces_of(const AnyPartition& partition) const {
    const data::PartitionNode& node = node_of(partition);
    std::vector<data::IndexSpaceRef> pieces;
    for (std::uint32_t i = 0; i < node.pieces(); ++i)
      pieces.push_back(partition.tree->node(node.first_child + i).space);
    return pieces;
  }

  /// The result of f(). An error in the numbers that f was given is told with the call and the region, and so is that
  /// there is no memory for so many pieces.
  template <class F>
  auto telling(const AnyRegion& region, F&& f) const {
    const auto about = [&] { return who + ", of " + region.name() + ": "; };
    try {
      return f();
    } catch (const UsageError& error) {
      throw UsageError(about() + error.what());
    } catch (const OutOfMemory& error) {
      throw OutOfMemory(about() + error.what());
    } catch (const std::bad_alloc&) {
    } catch (const std::length_error&) {}
    throw OutOfMemory(about() + "no memory for so many pieces");
  }

  /// A partition of the region, whose pieces f() computes from these operands.
  template <class F>
  AnyPartition make(const AnyRegion& region, const char* kind,
                    decltype(runtime::CallIdentity::parts) operands, F&& f) const {
    points_of(region);
    const auto [tree, node] = context.place_of(region);
    operands.insert(operands.begin(), &region);
    Pieces pieces = telling(region, [&, tree = tree, node = node] {
      Pieces computed = f();
      context.check_not_planning();
      const std::size_t count = computed.spaces.size();
      if (count > std::numeric_limits<std::uint32_t>::max() - tree->node_count())
        throw UsageError(std::to_string(count) +
                         " pieces: a region tree has fewer than 2^32 subregions");
      data::check_pieces(computed.spaces, computed.colours, tree->node(node).space);
      return computed;
    });
    context.note_making({runtime::CallKind::partition, where, std::move(operands), name});
    return tree->make_partition(node, std::move(pieces.colours), std::move(pieces.spaces), kind);
  }
};

/// Makes the call of the program: body(call).
template <class Body>
AnyPartition call_for_partition(ContextImpl& context, const char* name, Where where, Body&& body) {
  return context.make_call(name, where, [&](const std::string& who) {
    return body(PartitionCall{context, name, where, who});
  });
}

/// Of coordinates, for signatures.
std::uint64_t hash_of(const auto& value) { return hash_bytes(&value, sizeof value); }

// --- of shapes ---------------------------------------------------------------------------------------

/// UsageError unless each number is at least 1. `what`: what one of them is called, "{} blocks".
void check_blocks(const PartitionCall& call, const AnyRegion& region, const Point<3>& numbers,
                  const char* what) {
  for (int d = 0; d < call.points_of(region)->dim(); ++d)
    if (numbers[d] < 1)
      throw UsageError(fmt::format("{}: blocks of {}: {} in dimension {}, expected at least 1",
                                   call.who, region.name(),
                                   fmt::format(fmt::runtime(what), numbers[d]), d));
}

/// Each of the pieces, made larger or smaller within their region.
AnyPartition make_resized(ContextImpl& context, const char* name, const AnyPartition& pieces,
                          const Point<3>& width, Where where, decltype(data::halo)& resized) {
  return call_for_partition(context, name, where, [&](const PartitionCall& call) {
    const AnyRegion parent = call.parent_of(pieces);
    return call.make(parent, name, {&pieces, hash_of(width)}, [&] {
      return Pieces{call.node_of(pieces).colours,
                    resized(call.pieces_of(pieces), width, call.points_of(parent))};
    });
  });
}

}  // namespace

AnyPartition Context::make_blocks(const AnyRegion& region, const Point<3>& colours, Where where) {
  return call_for_partition(impl_, "blocks", where, [&](const PartitionCall& call) {
    check_blocks(call, region, colours, "{} blocks");
    const data::IndexSpaceRef& points = call.points_of(region);
    return call.make(region, "blocks", {hash_of(colours)}, [&] {
      return Pieces{data::block_colours(points->dim(), colours), data::blocks(points, colours)};
    });
  });
}

AnyPartition Context::make_blocks_of_size(const AnyRegion& region, const Point<3>& size,
                                          Where where) {
  return call_for_partition(impl_, "blocks_of_size", where, [&](const PartitionCall& call) {
    check_blocks(call, region, size, "size {}");
    const data::IndexSpaceRef& points = call.points_of(region);
    return call.make(region, "blocks", {hash_of(size)}, [&] {
      return Pieces{data::block_colours(points->dim(), data::block_counts(points, size)),
                    data::blocks_of_size(points, size)};
    });
  });
}

AnyPartition Context::make_halo(const AnyPartition& pieces, const Point<3>& width, Where where) {
  return make_resized(impl_, "halo", pieces, width, where, data::halo);
}

AnyPartition Context::make_interior(const AnyPartition& pieces, const Point<3>& width,
                                    Where where) {
  return make_resized(impl_, "interior", pieces, width, where, data::interior);
}

AnyPartition Context::make_restriction(const AnyRegion& region, const AnyIndexSpace& colours,
                                       const Projection& transform, const Rect<3>& extent,
                                       Where where) {
  return call_for_partition(impl_, "restrict_to", where, [&](const PartitionCall& call) {
    const data::IndexSpaceRef& points = call.points_of(region);
    data::AffineMap map;
    if (const Projection::Impl* impl = transform.impl()) {
      if (impl->function != nullptr)
        throw UsageError(call.who + ": restrict_to " + region.name() +
                         ": the transform must be affine, it is " + data::describe(impl));
      map = {impl->matrix, impl->offset};
    }
    const data::IndexSpaceRef& space = colours.shared().space;
    return call.make(region, "restriction", {space.get(), transform.impl(), hash_of(extent)}, [&] {
      return Pieces{space, data::restrict_affine(space, map, extent, points)};
    });
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

// --- of other partitions -----------------------------------------------------------------------------

namespace {

void check_same_colours(const PartitionCall& call, const AnyPartition& a, const AnyPartition& b) {
  if (call.node_of(a).colours == call.node_of(b).colours) return;
  const auto text = [&](const AnyPartition& partition) {
    return partition.name() + " has " + data::to_string(*call.node_of(partition).colours);
  };
  throw UsageError(
      fmt::format("{}: the partitions have different colours: {}, {}", call.who, text(a), text(b)));
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
    throw UsageError(fmt::format(
        "{}: {} and {} are partitions of different regions, of which neither contains what the "
        "other partition has: colour {} of {} has point {}, which {} has not; make both of a "
        "region that contains both",
        call.who, a.name(), b.name(), data::to_string(colours->nth(i), colours->dim()),
        other.name(), data::to_string(data::subtract(pieces[i], points)->nth(0), points->dim()),
        parent.name()));
  }
}

}  // namespace

AnyPartition Context::make_combination(const AnyPartition& a, const AnyPartition& b,
                                       SetOperation operation, Where where) {
  struct Combination {
    const char *name, *kind;
    data::Combine combine;
  };
  static constexpr Combination all[] = {
      {"unite", "union", data::unite},  // as SetOperation has them
      {"intersect", "intersection", data::intersect},
      {"subtract", "difference", data::subtract}};
  const Combination& chosen = all[static_cast<std::size_t>(operation)];
  return call_for_partition(impl_, chosen.name, where, [&](const PartitionCall& call) {
    call.node_of(a), call.node_of(b);
    check_same_colours(call, a, b);
    if (&a.tree->data_tree() != &b.tree->data_tree())
      throw UsageError(call.who + ": the partitions " + a.name() + " and " + b.name() +
                       " are of different regions");
    AnyRegion parent = call.parent_of(a);
    if (operation == SetOperation::unite) {
      const AnyRegion other = call.parent_of(b);
      if (b.tree == a.tree && b.tree->is_within(parent.node, other.node)) parent = other;
      check_union(call, a, b, parent);
    }
    return call.make(parent, chosen.kind, {&a, &b}, [&] {
      return Pieces{call.node_of(a).colours,
                    data::combination(call.pieces_of(a), call.pieces_of(b), chosen.combine)};
    });
  });
}

// --- of what a field holds ---------------------------------------------------------------------------

namespace {

std::size_t point_size(int dim) { return static_cast<std::size_t>(dim) * sizeof(Coord); }

/// Reads what a field holds at each point: a point of `dim` dimensions, or a rectangle.
class PointerField {
 public:
  PointerField(const PartitionCall& call, const AnyRegion& region, const AnyField& field, int dim)
      : context_(call.context),
        dim_(dim),
        upper_(field.type->size == point_size(dim) ? 0 : dim),
        ticket_(context_.begin_access(region, field, Privilege::read, physical_, call.where,
                                      call.name)) {}
  ~PointerField() { context_.end_access(ticket_); }
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
    std::copy_n(coordinates, dim_, &q[0]);
    return q;
  }

  ContextImpl& context_;
  int dim_, upper_;  ///< upper_: where the upper corner stands behind the lower one
  PhysicalArgument physical_;
  std::uint64_t ticket_;
};

/// UsageError unless the field holds values of one of these sizes. `expected`: what those are.
void check_holds(const PartitionCall& call, const AnyField& field,
                 std::initializer_list<std::size_t> sizes, const std::string& expected) {
  runtime::check_field(field, call.who);
  if (std::ranges::count(sizes, field.type->size) == 0)
    throw UsageError(fmt::format("{}: field '{}' holds {}, expected {} dimensions", call.who,
                                 field.name, field.type->name, expected));
}

/// A partition of `divided` with the colours of `pieces`, after the pointers in `source` to points of `target`. `kind`:
/// of the call, too. `divide` finds the pieces, out of those of `pieces` and for all points of `divided`.
AnyPartition make_pointed(const PartitionCall& call, const char* kind, const AnyRegion& divided,
                          const AnyPartition& pieces, const AnyRegion& source,
                          const AnyRegion& target, const AnyField& field,
                          decltype(data::image)& divide) {
  const data::IndexSpaceRef& points = call.points_of(divided);
  const int dim = call.points_of(target)->dim();
  const std::size_t size = point_size(dim);
  check_holds(call, field, {size, 2 * size}, "a Point or a Rect of " + std::to_string(dim));
  const PointerField pointers(call, source, field, dim);
  return call.make(divided, kind, {&pieces, &field}, [&] {
    return Pieces{call.node_of(pieces).colours,
                  divide(call.pieces_of(pieces), pointers.reader(), points)};
  });
}

}  // namespace

AnyPartition Context::make_by_colour(const AnyRegion& region, const AnyField& field,
                                     const AnyIndexSpace& colours, Where where) {
  return call_for_partition(impl_, "by_colour", where, [&](const PartitionCall& call) {
    const data::IndexSpaceRef &points = call.points_of(region), &space = colours.shared().space;
    check_holds(call, field, {point_size(space->dim())},
                "colours of " + std::to_string(space->dim()));
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
    return make_pointed(call, "image", target, pieces, call.parent_of(pieces), target, field,
                        data::image);
  });
}

AnyPartition Context::make_preimage(const AnyRegion& source, const AnyPartition& pieces,
                                    const AnyField& field, Where where) {
  return call_for_partition(impl_, "preimage", where, [&](const PartitionCall& call) {
    return make_pointed(call, "preimage", source, pieces, source, call.parent_of(pieces), field,
                        data::preimage);
  });
}

}  // namespace refrain

namespace refrain::runtime {

std::pair<data::RegionTree*, std::uint32_t> ContextImpl::place_of(const AnyRegion& region) {
  if (region.tree->in(forest)) return {region.tree, region.node};
  data::RegionTree*& view = views_[{region.tree, region.node}];
  if (view == nullptr) {
    view = &forest.create(region.tree->node(region.node).space, region.tree->fields());
    view->make_view_of(&region.tree->data_tree());
  }
  return {view, 0};
}

}  // namespace refrain::runtime
