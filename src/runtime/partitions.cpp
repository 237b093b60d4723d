// The partitions that a context makes: of shapes, of other partitions, and of what a field holds. They are the
// operators of data/partition_ops.hpp on regions. A field is read through an access of the program, which waits for it.

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

using runtime::ContextImpl, runtime::fail;

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
  runtime::CallName name;
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
    return partition.tree->pieces_of(node_of(partition));
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
    context.note_making({runtime::CallKind::partition, where, std::move(operands), name.text()});
    const AnyPartition made =
        tree->make_partition(node, std::move(pieces.colours), std::move(pieces.spaces), kind);
    context.tell({.kind = capture::CallKind::partition, .where = where, .partition = &made});
    return made;
  }
};

/// Makes the call of the program: body(call).
template <class Body>
AnyPartition call_for_partition(ContextImpl& context, runtime::CallName name, Where where,
                                Body&& body) {
  return context.make_call(name, where, [&](const std::string& who) {
    return body(PartitionCall{context, name, where, who});
  });
}

/// Of coordinates, for signatures.
std::uint64_t hash_of(const auto& value) { return hash_bytes(&value, sizeof value); }

// --- of shapes ---------------------------------------------------------------------------------------

/// Blocks of the region, so many in each dimension or of such a size. UsageError unless each number is at least 1.
/// `what`: what one of them is called, "{} blocks". `divide` finds the colours and the pieces.
AnyPartition make_blocks_by(ContextImpl& context, runtime::CallName name, const AnyRegion& region,
                            const Point<3>& numbers, const char* what, Where where,
                            Pieces (*divide)(const data::IndexSpaceRef&, const Point<3>&)) {
  return call_for_partition(context, name, where, [&](const PartitionCall& call) {
    const data::IndexSpaceRef& points = call.points_of(region);
    for (int d = 0; d < points->dim(); ++d)
      if (numbers[d] < 1)
        fail(call.who, "blocks of {}: {} in dimension {}, expected at least 1", region.name(),
             fmt::format(fmt::runtime(what), numbers[d]), d);
    return call.make(region, "blocks", {hash_of(numbers)}, [&] { return divide(points, numbers); });
  });
}

/// Each of the pieces, made larger or smaller within their region.
AnyPartition make_resized(ContextImpl& context, runtime::CallName name, const AnyPartition& pieces,
                          const Point<3>& width, Where where, decltype(data::halo)& resized) {
  return call_for_partition(context, name, where, [&](const PartitionCall& call) {
    const AnyRegion parent = call.parent_of(pieces);
    return call.make(parent, name.text(), {&pieces, hash_of(width)}, [&] {
      return Pieces{call.node_of(pieces).colours,
                    resized(call.pieces_of(pieces), width, call.points_of(parent))};
    });
  });
}

}  // namespace

AnyPartition Context::make_blocks(const AnyRegion& region, const Point<3>& colours, Where where) {
  const auto divide = [](const data::IndexSpaceRef& points, const Point<3>& counts) {
    return Pieces{data::block_colours(points->dim(), counts), data::blocks(points, counts)};
  };
  return make_blocks_by(impl_, "blocks", region, colours, "{} blocks", where, divide);
}

AnyPartition Context::make_blocks_of_size(const AnyRegion& region, const Point<3>& size,
                                          Where where) {
  const auto divide = [](const data::IndexSpaceRef& points, const Point<3>& of) {
    return Pieces{data::block_colours(points->dim(), data::block_counts(points, of)),
                  data::blocks_of_size(points, of)};
  };
  return make_blocks_by(impl_, "blocks_of_size", region, size, "size {}", where, divide);
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
        fail(call.who, "restrict_to {}: the transform must be affine, it is {}", region.name(),
             data::describe(impl));
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

/// A union lies in the region of one of the partitions, so all pieces of the other must, too.
void check_union(const PartitionCall& call, const AnyPartition& a, const AnyPartition& b,
                 const AnyRegion& parent) {
  const AnyPartition& other = call.parent_of(a).node == parent.node ? b : a;
  const data::IndexSpaceRef& points = call.points_of(parent);
  const auto pieces = call.pieces_of(other);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (data::contains(points, pieces[i])) continue;
    const data::IndexSpaceRef& colours = call.node_of(other).colours;
    fail(call.who,
         "{} and {} are partitions of different regions, of which neither contains what the "
         "other partition has: colour {} of {} has point {}, which {} has not; make both of a "
         "region that contains both",
         a.name(), b.name(), data::to_string(colours->nth(i), colours->dim()), other.name(),
         data::to_string(data::subtract(pieces[i], points)->nth(0), points->dim()), parent.name());
  }
}

}  // namespace

AnyPartition Context::make_combination(const AnyPartition& a, const AnyPartition& b,
                                       SetOperation operation, Where where) {
  struct Combination {
    runtime::CallName name;
    const char* kind;
    data::Combine combine;
  };
  static constexpr Combination all[] = {
      {"unite", "union", data::unite},  // as SetOperation has them
      {"intersect", "intersection", data::intersect},
      {"subtract", "difference", data::subtract}};
  const Combination& chosen = all[static_cast<std::size_t>(operation)];
  return call_for_partition(impl_, chosen.name, where, [&](const PartitionCall& call) {
    const data::IndexSpaceRef &of_a = call.node_of(a).colours, &of_b = call.node_of(b).colours;
    if (of_a != of_b)
      fail(call.who, "the partitions have different colours: {} has {}, {} has {}", a.name(),
           data::to_string(*of_a), b.name(), data::to_string(*of_b));
    if (&a.tree->data_tree() != &b.tree->data_tree())
      fail(call.who, "the partitions {} and {} are of different regions", a.name(), b.name());
    AnyRegion parent = call.parent_of(a);
    if (operation == SetOperation::unite) {
      const AnyRegion other = call.parent_of(b);
      if (b.tree == a.tree && b.tree->is_within(parent.node, other.node)) parent = other;
      check_union(call, a, b, parent);
    }
    return call.make(parent, chosen.kind, {&a, &b}, [&] {
      return Pieces{of_a, data::combination(call.pieces_of(a), call.pieces_of(b), chosen.combine)};
    });
  });
}

// --- of what a field holds ---------------------------------------------------------------------------

namespace {

std::size_t point_size(int dim) { return static_cast<std::size_t>(dim) * sizeof(Coord); }

/// Whether the field holds integers of 32 bits, which are points of one dimension.
bool holds_short(const AnyField& field, int dim) {
  return dim == 1 &&
         (*field.type == value_type<std::int32_t>() || *field.type == value_type<std::uint32_t>());
}

/// Reads what a field holds at each point: a point of `dim` dimensions, or a rectangle. The reader holds an access.
data::Reader reader_of(const PartitionCall& call, const AnyRegion& region, const AnyField& field,
                       int dim) {
  if (call.context.runtime.options().dry && call.context.replicated != nullptr)
    throw UsageError(
        call.who + ": after the first fence of a dry run fields have no values to make pieces of");
  PhysicalArgument physical;
  const std::uint64_t ticket = call.context.begin_access(region, field, Privilege::read, physical,
                                                         call.where, call.name.text());
  const auto access =
      std::make_shared<Access<PhysicalArgument>>(call.context.alive(), ticket, physical);
  if (holds_short(field, dim)) {
    const bool is_signed = *field.type == value_type<std::int32_t>();
    return [=](const data::BoxPoint& p) {
      const std::byte* const at = access->at(p);
      const Coord x = is_signed ? Coord{*reinterpret_cast<const std::int32_t*>(at)}
                                : Coord{*reinterpret_cast<const std::uint32_t*>(at)};
      return data::Box({x, 0, 0}, {x, 0, 0});
    };
  }
  // Where the upper corner stands behind the lower one.
  const int upper = field.type->size == point_size(dim) ? 0 : dim;
  return [=](const data::BoxPoint& p) {
    const auto* coordinates = reinterpret_cast<const Coord*>(access->at(p));
    data::Box box(data::BoxPoint{}, data::BoxPoint{});  // trailing coordinates are 0
    std::copy_n(coordinates, dim, &box.lo[0]);
    std::copy_n(coordinates + upper, dim, &box.hi[0]);
    return box;
  };
}

/// UsageError unless the field holds values of one of these sizes, or integers for them. `expected`: what those are.
void check_holds(const PartitionCall& call, const AnyField& field, int dim,
                 std::initializer_list<std::size_t> sizes, const std::string& expected) {
  runtime::check_field(field, call.who);
  if (std::ranges::count(sizes, field.type->size) == 0 && !holds_short(field, dim))
    fail(call.who, "field '{}' holds {}, expected {} dimensions", field.name, field.type->name,
         expected);
}

/// A partition of `divided` with the colours of `pieces`, after the pointers in `source` to points of `target`.
/// `divide` finds the pieces, out of those of `pieces` and for all points of `divided`.
AnyPartition make_pointed(const PartitionCall& call, const AnyRegion& divided,
                          const AnyPartition& pieces, const AnyRegion& source,
                          const AnyRegion& target, const AnyField& field,
                          decltype(data::image)& divide) {
  const data::IndexSpaceRef& points = call.points_of(divided);
  const int dim = call.points_of(target)->dim();
  const std::size_t size = point_size(dim);
  check_holds(call, field, dim, {size, 2 * size}, "a Point or a Rect of " + std::to_string(dim));
  const data::Reader pointers = reader_of(call, source, field, dim);
  return call.make(divided, call.name.text(), {&pieces, &field}, [&] {
    return Pieces{call.node_of(pieces).colours, divide(call.pieces_of(pieces), pointers, points)};
  });
}

}  // namespace

AnyPartition Context::make_by_colour(const AnyRegion& region, const AnyField& field,
                                     const AnyIndexSpace& colours, Where where) {
  return call_for_partition(impl_, "by_colour", where, [&](const PartitionCall& call) {
    const data::IndexSpaceRef &points = call.points_of(region), &space = colours.shared().space;
    check_holds(call, field, space->dim(), {point_size(space->dim())},
                "colours of " + std::to_string(space->dim()));
    const data::Reader held = reader_of(call, region, field, space->dim());
    return call.make(region, "by_colour", {&field, space.get()}, [&] {
      return Pieces{space, data::by_colour(points, held, space)};
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
    return make_pointed(call, target, pieces, call.parent_of(pieces), target, field, data::image);
  });
}

AnyPartition Context::make_preimage(const AnyRegion& source, const AnyPartition& pieces,
                                    const AnyField& field, Where where) {
  return call_for_partition(impl_, "preimage", where, [&](const PartitionCall& call) {
    return make_pointed(call, source, pieces, source, call.parent_of(pieces), field,
                        data::preimage);
  });
}

// --- where partitions are kept -----------------------------------------------------------------------

std::pair<data::RegionTree*, std::uint32_t> ContextImpl::place_of(const AnyRegion& region) {
  if (region.tree->in(forest)) return {region.tree, region.node};
  data::RegionTree*& view = views_[{region.tree, region.node}];
  if (view == nullptr) {
    view = &forest.create(region.tree->node(region.node).space, region.tree->fields());
    view->make_view_of(&region.tree->data_tree());
  }
  return {view, 0};
}

}  // namespace refrain
