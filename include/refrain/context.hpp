#pragma once
// A context is where a program (or a task with children) makes regions and launches tasks. All calls on
// one context come from the thread that runs its program; they mean what they would mean if every
// launch were a plain call, one after the other.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "refrain/access.hpp"
#include "refrain/error.hpp"
#include "refrain/launcher.hpp"
#include "refrain/sharding.hpp"
#include "refrain/trace.hpp"

namespace refrain {

namespace detail {

/// The set; what is wrong with the rectangle is told with the line.
AnyIndexSpace region_points(int dim, const Rect<3>& rect, Where where);

}  // namespace detail

/// Where attached memory keeps its values: bytes between neighbours in each dimension, the region's
/// lowest corner being at the pointer. No two values overlap, and all are aligned for their type.
struct AttachLayout {
  Coord stride[3] = {0, 0, 0};  ///< all zero: C order, contiguous
};
/// Memory of the program's own for the values of a region's points.
struct PlacedMemory {
  void* memory = nullptr;
  AttachLayout layout{};
};
/// The same for each piece of a partition, by its colour.
using PieceMemory = std::function<PlacedMemory(const Point<3>& colour)>;

/// The points of a new region, and the line that makes it (a default argument cannot follow the fields).
template <int N>
struct RegionPoints {
  RegionPoints(const Rect<N>& rect, Where at = Where::current())
      : points(detail::region_points(N, detail::erase_dimension(rect), at)), where(at) {}
  RegionPoints(const IndexSpace<N>& space, Where at = Where::current())
      : points(space), where(at) {}
  AnyIndexSpace points;
  Where where;
};

namespace detail {
[[noreturn]] void fail_no_fields(const Where& where);
}

/// How two partitions are combined, colour by colour.
enum class SetOperation : std::uint8_t { unite, intersect, subtract };

class Context : private detail::Launcher {
 public:
  using Where = refrain::Where;
  explicit Context(runtime::ContextImpl& impl) : Launcher(impl) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // --- regions ------------------------------------------------------------------------------------
  // A new region holds zeros (all bytes zero).

  /// Of a Rect or an IndexSpace: region(points, fields...). Each is a Field, or a vector of fields whose number the program
  /// knows when it runs.
  template <class... T>
  Region<1> region(const RegionPoints<1>& points, const T&... fields) {
    return typed_region(points, fields...);
  }
  template <class... T>
  Region<2> region(const RegionPoints<2>& points, const T&... fields) {
    return typed_region(points, fields...);
  }
  template <class... T>
  Region<3> region(const RegionPoints<3>& points, const T&... fields) {
    return typed_region(points, fields...);
  }
  AnyRegion make_region(const AnyIndexSpace& points, std::span<const AnyField> fields,
                        Where where = Where::current());

  /// Ends a region (with all its subregions, partitions and data), or a partition (and what was made
  /// of its pieces). An operation of the stream: earlier launches still finish with it, and the
  /// program does not wait (only memory attached to the region is detached first, which waits).
  void destroy(const AnyRegion& region, Where where = Where::current());
  void destroy(const AnyPartition& partition, Where where = Where::current());
  /// Ends a region from where the order of the program's calls does not say when, as a finaliser does
  /// that a garbage collector calls. Where several processes run the program, each may call it at another
  /// time: once all have, the region ends, in all of them at the same call, some thousand calls of the
  /// program later ("Dynamic control replication", section 4.3). Where nobody checks that all make the
  /// same calls (Options::check_determinism) it ends with the program. Errors of tasks are told as by
  /// Owned. UsageError as destroy, for a region with memory attached, and for one given up already.
  void destroy_later(const AnyRegion& region, Where where = Where::current());

  // --- partitions ---------------------------------------------------------------------------------
  // All may be made at any time, of any region; equal ones are one.

  /// `colours` nearly equal blocks per dimension: block c of n in a dimension of length len covers
  /// [c len / n, (c + 1) len / n).
  template <int N>
  Partition<N> blocks(const Region<N>& region, const std::type_identity_t<Point<N>>& colours,
                      Where where = Where::current()) {
    return Partition<N>{make_blocks(region, detail::erase_dimension(colours), where)};
  }
  /// Blocks of `size` points per dimension from the region's low end; the last may be smaller.
  template <int N>
  Partition<N> blocks_of_size(const Region<N>& region, const std::type_identity_t<Point<N>>& size,
                              Where where = Where::current()) {
    return Partition<N>{make_blocks_of_size(region, detail::erase_dimension(size), where)};
  }
  /// Each piece grown by `width` points in every direction, clipped to the region.
  template <int N>
  Partition<N> halo(const Partition<N>& pieces, const std::type_identity_t<Point<N>>& width,
                    Where where = Where::current()) {
    return Partition<N>{make_halo(pieces, detail::erase_dimension(width), where)};
  }
  template <int N>
  Partition<N> halo(const Partition<N>& pieces, Coord width,
                    Where where = Where::current()) requires(N > 1) {
    return Partition<N>{make_halo(pieces, {width, width, width}, where)};
  }
  /// Each piece minus the points within `width` of the region's boundary.
  template <int N>
  Partition<N> interior(const Partition<N>& pieces, const std::type_identity_t<Point<N>>& width,
                        Where where = Where::current()) {
    return Partition<N>{make_interior(pieces, detail::erase_dimension(width), where)};
  }
  template <int N>
  Partition<N> interior(const Partition<N>& pieces, Coord width,
                        Where where = Where::current()) requires(N > 1) {
    return Partition<N>{make_interior(pieces, {width, width, width}, where)};
  }
  /// Piece of colour c: (transform(c) + extent) restricted to the region, transform an affine projection.
  template <int N, int M>
  Partition<N> restrict_to(const Region<N>& region, const IndexSpace<M>& colours,
                           const Projection& transform, const Rect<N>& extent,
                           Where where = Where::current()) {
    return Partition<N>{
        make_restriction(region, colours, transform, detail::erase_dimension(extent), where)};
  }
  /// Piece of colour c: the points whose `field` holds c. Waits for the field.
  template <int N, int M>
  Partition<N> by_colour(const Region<N>& region, const Field<Point<M>>& field,
                         const IndexSpace<M>& colours, Where where = Where::current()) {
    return Partition<N>{make_by_colour(region, field, colours, where)};
  }
  /// The same for colours 0 .. colours - 1.
  template <int N, Coordinate I>
  Partition<N> by_colour(const Region<N>& region, const Field<I>& field, Coord colours,
                         Where where = Where::current()) {
    return Partition<N>{make_by_colour(region, field, colours, where)};
  }
  /// Piece of colour c: the points of `target` that `field` points to from pieces(c). Waits for the field.
  template <int N, int M>
  Partition<M> image(const Region<M>& target, const Partition<N>& pieces,
                     const Field<Point<M>>& field, Where where = Where::current()) {
    return Partition<M>{make_image(target, pieces, field, where)};
  }
  /// The same for integers that point to points of one dimension.
  template <int N, Coordinate I>
  Partition<1> image(const Region<1>& target, const Partition<N>& pieces, const Field<I>& field,
                     Where where = Where::current()) {
    return Partition<1>{make_image(target, pieces, field, where)};
  }
  /// The same for fields that point to all points of a rectangle (to none, where it is empty).
  template <int N, int M>
  Partition<M> image(const Region<M>& target, const Partition<N>& pieces,
                     const Field<Rect<M>>& field, Where where = Where::current()) {
    return Partition<M>{make_image(target, pieces, field, where)};
  }
  /// Piece of colour c: the points of `source` whose `field` points into pieces(c). Waits for the field.
  template <int N, int M>
  Partition<N> preimage(const Region<N>& source, const Partition<M>& pieces,
                        const Field<Point<M>>& field, Where where = Where::current()) {
    return Partition<N>{make_preimage(source, pieces, field, where)};
  }
  /// The same for integers that point to points of one dimension.
  template <int N, Coordinate I>
  Partition<N> preimage(const Region<N>& source, const Partition<1>& pieces, const Field<I>& field,
                        Where where = Where::current()) {
    return Partition<N>{make_preimage(source, pieces, field, where)};
  }
  /// The same for rectangles: those that have a point in common with pieces(c).
  template <int N, int M>
  Partition<N> preimage(const Region<N>& source, const Partition<M>& pieces,
                        const Field<Rect<M>>& field, Where where = Where::current()) {
    return Partition<N>{make_preimage(source, pieces, field, where)};
  }
  /// Colour by colour; both are partitions of one region tree with the same colours.
  template <int N>
  Partition<N> unite(const Partition<N>& a, const Partition<N>& b, Where where = Where::current()) {
    return Partition<N>{make_combination(a, b, SetOperation::unite, where)};
  }
  template <int N>
  Partition<N> intersect(const Partition<N>& a, const Partition<N>& b,
                         Where where = Where::current()) {
    return Partition<N>{make_combination(a, b, SetOperation::intersect, where)};
  }
  template <int N>
  Partition<N> subtract(const Partition<N>& a, const Partition<N>& b,
                        Where where = Where::current()) {
    return Partition<N>{make_combination(a, b, SetOperation::subtract, where)};
  }
  /// Pieces given explicitly, colours 0 .. size-1; each within the region.
  template <int N>
  Partition<N> partition(const Region<N>& region, const std::vector<IndexSpace<N>>& pieces,
                         Where where = Where::current()) {
    return Partition<N>{make_explicit(region, {pieces.begin(), pieces.end()}, where)};
  }
  template <int N, std::same_as<std::vector<Rect<N>>> Rects>
  Partition<N> partition(const Region<N>& region, const Rects& pieces,
                         Where where = Where::current()) {
    return partition(region, std::vector<IndexSpace<N>>(pieces.begin(), pieces.end()), where);
  }

  // --- data ---------------------------------------------------------------------------------------

  /// Every point of the region's field becomes `value`. Lazy: done where and when it is needed.
  template <int N, class T>
  void fill(const Region<N>& region, const Field<T>& field, const std::type_identity_t<T>& value,
            Where where = Where::current()) {
    fill_bytes(region, field, &value, where);
  }
  template <int N, class T>
  void fill(const Region<N>& region, const Field<T>& field, const Future<T>& value,
            Where where = Where::current()) {
    fill_future(region, field, value, where);
  }
  template <int N, class... Rest>
  void fill(const Partition<N>&, const Rest&...) {
    static_assert(N == 0,
                  "fill is for a region: pass the partition's parent, or one piece, "
                  "partition(colour)");
  }
  /// Copies the values at the target's points; the source must contain them (of the same or another region).
  template <class T, int N>
  void copy(const RegionArgument<T, N>& source, const RegionArgument<T, N>& target,
            Where where = Where::current()) {
    copy_fields(source.region, source.field, target.region, target.field, where);
  }
  /// Access from the program itself: `auto x = ctx.access<Read>(region[field])`. Waits for the data.
  template <template <class, int> class A, class T, int N>
  Access<A<T, N>> access(const RegionArgument<T, N>& argument, Where where = Where::current()) {
    PhysicalArgument physical;
    const std::uint64_t ticket =
        begin_access(argument.region, argument.field, A<T, N>::privilege, physical, where);
    return {runtime::living(impl_), ticket, physical};
  }
  /// Uses the caller's memory as the storage of the region's field, without copying: its present
  /// contents become the field's values. It must stay alive until detach.
  template <int N, class T>
  void attach(const Region<N>& region, const Field<T>& field, T* memory,
              const AttachLayout& layout = {}, Where where = Where::current()) {
    attach_memory(region, field, memory, layout, where);
  }
  /// The same for the pieces of a partition, which share no points: `memory(colour)` has the values of a piece, a T*
  /// in C order, or a PlacedMemory. Each process that runs the program is asked for its own pieces only, as `sharding`
  /// deals the colours out, and has the values of those after detach. An empty piece has no memory. UsageError
  /// around what `memory` throws.
  template <int N, class T, class F>
  void attach(const Partition<N>& pieces, const Field<T>& field, F&& memory,
              const Sharding& sharding = {}, Where where = Where::current()) {
    const auto of_piece = [&](const Point<3>& colour) -> PlacedMemory {
      constexpr int taken = detail::asked_dim<std::remove_reference_t<F>>;
      if (pieces.colour_dim() > taken)
        throw UsageError("the function takes colours of " + std::to_string(taken) +
                         " dimension(s), the partition's have " +
                         std::to_string(pieces.colour_dim()));
      const auto given = detail::ask_at(memory, colour);
      if constexpr (std::is_same_v<decltype(given), const PlacedMemory>) {
        return given;
      } else {
        T* const values = given;
        return {values};
      }
    };
    attach_pieces(pieces, field, of_piece, sharding, where);
  }
  /// Waits until the attached memory holds the field's values, and gives it back. The field has no
  /// values until it is written again: reading it before is an error.
  template <int N, class T>
  void detach(const Region<N>& region, const Field<T>& field, Where where = Where::current()) {
    detach_memory(region, field, where);
  }
  /// Waits for the pieces of all processes.
  template <int N, class T>
  void detach(const Partition<N>& pieces, const Field<T>& field, Where where = Where::current()) {
    detach_pieces(pieces, field, where);
  }

  // --- launches -----------------------------------------------------------------------------------
  // launch(task, arguments...)           once; arguments in the order of the body's parameters
  // launch(task, domain, arguments...)   once per point of the domain: an int n (0 .. n-1), a Rect, an
  //                                      IndexSpace; partition arguments give each point its piece
  // launch(request)                      the run-time form (dynamic.hpp)
  // Returns Future<R> (once), FutureMap<R> (group), nothing if the body returns nothing.

  using Launcher::launch;

  /// One future from a group's values, folded in a fixed binary tree over the launch domain.
  template <class Op, class T>
  Future<T> reduce(const FutureMap<T>& values, Op, Where where = Where::current()) {
    return Future<T>(reduce_futures(values, reduction_op<Op, T>, where));
  }

  /// Waits until everything launched so far has finished; throws the first failure in launch order
  /// that was not thrown before. In a task: its own accessors, invalid since it launched children that
  /// conflict with them, are valid again (as they are when it has waited for those by futures); and if
  /// it ends while one of its arguments still lacks what a failed child should have written there, it
  /// fails too.
  void fence(Where where = Where::current());

  // --- traces -------------------------------------------------------------------------------------
  // Marks around calls that repeat (trace.hpp). They do not nest, and change no result. A trace ends in the
  // context in which it was begun: one that is open when the program or the task's body returns is a
  // UsageError, told when everything else is done. What the program or the body throws is told instead, and so
  // is a task that has failed.

  /// UsageError when a trace is open in this context, with the lines of both.
  void begin_trace(const Trace& trace, Where where = Where::current());
  /// UsageError when none is open, or another one, with the lines of both; and when this execution had to be
  /// replayed (require_replay) and was not.
  void end_trace(const Trace& trace, Where where = Where::current());
  /// Calls `body` between the two marks, and throws as they do. An exception ends the trace on its way.
  template <class F>
  void trace(const Trace& trace, F&& body, Where where = Where::current()) {
    begin_trace(trace, where);
    try {
      std::forward<F>(body)();
    } catch (...) {
      leave_trace(trace);
      throw;
    }
    end_trace(trace, where);
  }
  /// Writes what is recorded of this context's traces and may still be replayed, in graph calculus
  /// (docs/tracing.md). At any time, also while it is being replayed; of a trace that is open, what is recorded
  /// of it so far is not there yet.
  void print_recordings(std::ostream& out, Where where = Where::current()) const;
  /// From the next begin_trace on, end_trace throws UsageError when calls between the marks were analysed
  /// although the same calls, in the same order, were made between them before, since this was said and in
  /// this context. The text says which, and why they could not be replayed. Calls are the same when they
  /// have the same task or kind, source line, mapping, fields, and regions by number: also of a region
  /// that is made anew in each round. Calls without an operation that could be replayed, as fills are until
  /// somebody reads what they fill, are not missed.
  ///
  /// A sequence is recorded when it is made for the first time. Data that is elsewhere the second time
  /// (a fill was pending, values came to where they are used, another part was cut) is forgiven then,
  /// where the first time was not a replay; from the third time on it is not. A program whose data takes
  /// longer to settle says this after its first rounds. An execution that ends with an exception is not
  /// judged; with `--refrain:tracing off` none is. What is required is replayed also where the analysis would
  /// take less time (docs/tracing.md, "Short replays"). UsageError while the trace is open.
  void require_replay(const Trace& trace, Where where = Where::current());

  /// The machine that the program runs on as a whole: the same on all ranks, so the program may decide by it, such as
  /// how many pieces there are. In one process it is the Runtime's. Of several processes it has the processors and
  /// memories of all, one rank after the other; the ranks have as many, and a memory has the least capacity that any
  /// rank has for it. A task's context has this machine, too, though its launches run on one rank alone. What mappers
  /// choose from is the rank's own (Runtime::machine()). Any thread. Cost: on several ranks the first call makes it, in
  /// proportion to all that they have; the others are free.
  [[nodiscard]] const Machine& machine() const;
  /// Whether this process writes what the program writes once: files that it opens itself. Of several processes that run
  /// the program it is the first one.
  [[nodiscard]] bool is_output_shard() const;

  // --- the run-time forms of the calls above ------------------------------------------------------
  // Points and widths with the coordinates that the region has; the others are not looked at.

  AnyPartition make_blocks(const AnyRegion& region, const Point<3>& colours,
                           Where where = Where::current());
  AnyPartition make_blocks_of_size(const AnyRegion& region, const Point<3>& size,
                                   Where where = Where::current());
  AnyPartition make_halo(const AnyPartition& pieces, const Point<3>& width,
                         Where where = Where::current());
  AnyPartition make_interior(const AnyPartition& pieces, const Point<3>& width,
                             Where where = Where::current());
  AnyPartition make_restriction(const AnyRegion& region, const AnyIndexSpace& colours,
                                const Projection& transform, const Rect<3>& extent,
                                Where where = Where::current());
  // Fields of Points with the dimensions of the colours (the region pointed to), or of Rects.
  AnyPartition make_by_colour(const AnyRegion& region, const AnyField& field,
                              const AnyIndexSpace& colours, Where where = Where::current());
  AnyPartition make_by_colour(const AnyRegion& region, const AnyField& field, Coord colours,
                              Where where = Where::current());
  AnyPartition make_image(const AnyRegion& target, const AnyPartition& pieces,
                          const AnyField& field, Where where = Where::current());
  AnyPartition make_preimage(const AnyRegion& source, const AnyPartition& pieces,
                             const AnyField& field, Where where = Where::current());
  AnyPartition make_combination(const AnyPartition& a, const AnyPartition& b,
                                SetOperation operation, Where where = Where::current());
  AnyPartition make_explicit(const AnyRegion& region, const std::vector<AnyIndexSpace>& pieces,
                             Where where = Where::current());

  /// `value`: one value of the field's type.
  void fill_bytes(const AnyRegion& region, const AnyField& field, const void* value,
                  Where where = Where::current());
  void fill_future(const AnyRegion& region, const AnyField& field, const AnyFuture& value,
                   Where where = Where::current());
  void copy_fields(const AnyRegion& source, const AnyField& source_field, const AnyRegion& target,
                   const AnyField& target_field, Where where = Where::current());
  /// Returns a ticket for end_access. `physical` says where the data is until then.
  std::uint64_t begin_access(const AnyRegion& region, const AnyField& field, Privilege privilege,
                             PhysicalArgument& physical, Where where = Where::current());
  void end_access(std::uint64_t ticket);
  void attach_memory(const AnyRegion& region, const AnyField& field, void* memory,
                     const AttachLayout& layout = {}, Where where = Where::current());
  void detach_memory(const AnyRegion& region, const AnyField& field,
                     Where where = Where::current());
  void attach_pieces(const AnyPartition& pieces, const AnyField& field, const PieceMemory& memory,
                     const Sharding& sharding = {}, Where where = Where::current());
  void detach_pieces(const AnyPartition& pieces, const AnyField& field,
                     Where where = Where::current());
  AnyFuture reduce_futures(const AnyFuture& values, const ReductionOp& op,
                           Where where = Where::current());

  [[nodiscard]] runtime::ContextImpl& impl() const { return impl_; }

 private:
  void leave_trace(const Trace& trace);
  template <int N, class... T>
  Region<N> typed_region(const RegionPoints<N>& points, const T&... fields) {
    static_assert(sizeof...(T) > 0, "a region needs at least one field");
    std::vector<AnyField> columns;
    (add_columns(columns, fields), ...);
    if (columns.empty()) detail::fail_no_fields(points.where);
    return Region<N>{make_region(points.points, columns, points.where)};
  }
  template <class T>
  static void add_columns(std::vector<AnyField>& columns, const T& fields) {
    constexpr bool is_field = std::is_base_of_v<AnyField, T>;
    constexpr bool is_list = requires {
      requires std::is_base_of_v<AnyField, typename T::value_type>;
    };
    static_assert(is_field || is_list,
                  "after its points a region takes fields, or vectors of fields");
    if constexpr (is_field) columns.push_back(fields);
    else if constexpr (is_list) columns.insert(columns.end(), fields.begin(), fields.end());
  }
};

}  // namespace refrain
