#pragma once
// Accessors: how a task body reaches its region arguments. The accessor type in a task's signature *is*
// the privilege: Read, Write, ReadWrite, Reduce<Operator>. Accessors are small values, valid during the
// task's body (for Context::access: during the scope).
//
// Addressing is affine: the address of point p is that of the point zero + sum of p[d] * stride[d] (bytes). Dense inner
// loops should go row by row through row(), which the compiler can vectorise. Where scattered points lie compactly
// (Sparse::compact), an access looks up the rectangle of its point; rows within one are as quick as elsewhere.
//
// Checked (debug preset, or --refrain:check): an access outside the argument's points, or to data that
// a launched child may be changing, throws UsageError naming task, argument, region and point.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "refrain/domain.hpp"
#include "refrain/field.hpp"
#include "refrain/privilege.hpp"
#include "refrain/reduction.hpp"
#include "refrain/region.hpp"

namespace refrain {

namespace data {
class IndexSpace;
}

namespace detail {

class Accumulator;
struct ArgumentInfo;  ///< for messages: task, argument position, region, field

/// The runs of points of one dimension, found by the coordinate in a few steps. Interval i, of 2^shift points from `lo` on, has
/// the number of the first run that ends in it or behind it.
struct RunIndex {
  struct Run {
    Coord lo = 0;
    std::size_t before = 0;  ///< points in the runs before it
  };
  Coord lo = 0;
  std::size_t length = 0;  ///< from lo to the last point
  int shift = 0;
  const std::uint32_t* first = nullptr;
  const Run* runs = nullptr;  ///< one more behind the last one
  static constexpr std::size_t none = ~std::size_t{0};

  /// How many points are before this one; `none` where it takes a search, or it is not there.
  [[nodiscard]] std::size_t quick_position(Coord x) const {
    const auto offset = static_cast<std::size_t>(x - lo);
    if (offset >= length) return none;
    const Run* const run = &runs[first[offset >> shift]];
    const auto in_run = static_cast<std::size_t>(x - run->lo);
    return in_run < run[1].before - run->before ? run->before + in_run : none;
  }
};

/// Where a field lies in a memory.
struct Placement {
  std::byte* zero = nullptr;  ///< address of the point (0, 0, 0), perhaps outside the storage
  Coord stride[3] = {};       ///< in bytes, per dimension
  /// Null, or the values are compact: those of these points from `zero` on, box after box, each in C order, the stride of
  /// the last dimension apart.
  const data::IndexSpace* compact = nullptr;
  const RunIndex* runs = nullptr;  ///< of these points, in one dimension
};

/// Of these points, box after box. UsageError for another one.
std::size_t compact_position(const data::IndexSpace& points, const Point<3>& p);
/// Null in more than one dimension.
const RunIndex* compact_runs(const data::IndexSpace& points);
/// Of a compact placement. UsageError for a point that it has no room for.
std::byte* compact_address(const Placement& placement, const Point<3>& p);
/// Of a compact placement, which has no strides but in a rectangle.
[[noreturn]] void fail_strides(const ArgumentInfo* info, const char* function);
/// A row would leave its rectangle.
[[noreturn]] void fail_row(const ArgumentInfo* info, const Point<3>& p, std::size_t count);

/// What a region argument is, wherever its values are.
struct ArgumentPoints {
  const Rect<3>* bounds = nullptr;  ///< of its points
  const Rect<3>* rects = nullptr;   ///< its disjoint rectangles when not dense
  std::size_t rect_count = 0;
  AnyRegion region;
};

}  // namespace detail

/// A region argument as the task sees it. What it points to lasts as long as the task runs (the access is
/// open).
struct PhysicalArgument {
  const detail::ArgumentPoints* points = nullptr;
  union {
    const detail::Placement* placement = nullptr;
    detail::Accumulator* accumulator;  ///< of a reduction, in place of that
  };
  const detail::ArgumentInfo* info = nullptr;  ///< set when accesses are checked

  /// The address of the value at a point. Not of a reduction.
  [[nodiscard]] std::byte* at(const Point<3>& p) const;
  /// Of a reduction: the address of what the task contributes at a point.
  [[nodiscard]] std::byte* contribution(const Point<3>& p) const;
};

namespace detail {

/// Throws UsageError unless the point belongs to the argument and may be touched now.
void check_access(const ArgumentInfo& info, const Point<3>& p);
template <int N>
void check_access(const ArgumentInfo& info, const Point<N>& p) {
  check_access(info, erase_dimension(p));
}

/// Throws UsageError unless an accessor of this kind may be made of the argument.
void check_accessor(const ArgumentInfo& info, Privilege privilege, const ValueType& type, int dim);
[[noreturn]] void fail_argument(std::size_t asked, std::size_t arguments);
[[noreturn]] void fail_field(std::size_t asked, std::size_t fields);
/// `info`: null where accesses are not checked.
[[noreturn]] void fail_values(const ArgumentInfo* info);
[[noreturn]] void fail_origin(const ArgumentInfo* info, std::size_t value_size, Coord stride);

/// Null, and positions are row-major ones inside the argument's bounding rectangle; or they are those of these points, box
/// after box.
const data::IndexSpace* accumulator_points(const Accumulator& accumulator);
/// The accumulator's storage for the point at a position: identity until something was folded in.
void* accumulator_slot(Accumulator& accumulator, std::size_t index);

/// An accumulator keeps its values in chunks of 2^shift, at most 512 values and 4 KiB (one value, if
/// that is larger).
constexpr int accumulator_chunk_shift(std::size_t value_size) {
  int shift = 0;
  while (shift < 9 && value_size << (shift + 1) <= 4096) ++shift;
  return shift;
}
/// Its chunks by position; null where nothing was touched yet. Read entries with acquire.
std::byte** accumulator_chunks(Accumulator& accumulator);
/// Folds a value in at a position whose chunk is not there.
void accumulator_contribute(Accumulator& accumulator, std::size_t index, const void* value);

}  // namespace detail

inline std::byte* PhysicalArgument::at(const Point<3>& p) const {
  if (info != nullptr) [[unlikely]]
    detail::check_access(*info, p);
  if (placement->compact != nullptr) [[unlikely]]
    return detail::compact_address(*placement, p);
  std::byte* address = placement->zero;
  for (int d = 0; d < 3; ++d) address += p[d] * placement->stride[d];
  return address;
}

inline std::byte* PhysicalArgument::contribution(const Point<3>& p) const {
  if (info != nullptr) [[unlikely]]
    detail::check_access(*info, p);
  if (const data::IndexSpace* of = detail::accumulator_points(*accumulator)) [[unlikely]]
    return static_cast<std::byte*>(
        detail::accumulator_slot(*accumulator, detail::compact_position(*of, p)));
  const Rect<3>& bounds = *points->bounds;
  std::size_t index = 0;
  for (int d = 0; d < 3; ++d)
    index = index * static_cast<std::size_t>(bounds.hi[d] - bounds.lo[d] + 1) +
            static_cast<std::size_t>(p[d] - bounds.lo[d]);
  return static_cast<std::byte*>(detail::accumulator_slot(*accumulator, index));
}

namespace detail {

template <class T, int N, class Value>
class DenseAccessor {
 public:
  using value_type = T;
  static constexpr int dim = N;

  explicit DenseAccessor(const PhysicalArgument& a)
      : zero_(a.placement->zero),
        bounds_(restore_dimension<N>(*a.points->bounds)),
        rects_(a.points->rects),
        rect_count_(a.points->rect_count),
        info_(a.info),
        compact_(a.placement->compact != nullptr ? a.placement : nullptr),
        region_(a.points->region) {
    for (int d = 0; d < N; ++d) stride_[d] = a.placement->stride[d];
  }

  /// The argument's points.
  [[nodiscard]] Domain<N> domain() const { return {bounds_, rects_, rect_count_}; }

  Value& operator[](const Point<N>& p) const {
    if (info_ != nullptr) [[unlikely]]
      check_access(*info_, p);
    if (compact_ != nullptr) [[unlikely]]
      return compact_value(p);
    std::byte* address = zero_;
    for (int d = 0; d < N; ++d) address += p[d] * stride_[d];
    return *reinterpret_cast<Value*>(address);
  }

  /// Address of point p; neighbours in dimension d are stride(d) bytes away, in compact values those of one rectangle in
  /// the last dimension.
  [[nodiscard]] Value* pointer(const Point<N>& p) const { return &(*this)[p]; }
  /// Throws UsageError for compact values, but in the last dimension.
  [[nodiscard]] Coord stride(int d) const {
    if (compact_ != nullptr && d < N - 1) [[unlikely]]
      fail_strides(info_, "stride()");
    return stride_[d];
  }

  /// `count` values from p along the last dimension; only when they are contiguous (contiguous_rows()). Throws UsageError
  /// for compact values that are not all of one rectangle.
  [[nodiscard]] std::span<Value> row(const Point<N>& p, std::size_t count) const {
    if ((info_ != nullptr || compact_ != nullptr) && count > 0) [[unlikely]] {
      Point<N> last = p;
      last[N - 1] += static_cast<Coord>(count) - 1;
      if (info_ != nullptr) check_access(*info_, last);
      if (pointer(last) - pointer(p) != last[N - 1] - p[N - 1])
        fail_row(info_, erase_dimension(p), count);
    }
    return {pointer(p), count};
  }
  /// Whether the values are compact: each access is a look-up, and rows end with their rectangle.
  [[nodiscard]] bool is_compact() const { return compact_ != nullptr; }
  [[nodiscard]] bool contiguous_rows() const { return stride_[N - 1] == Coord{sizeof(T)}; }

  /// For gathers in one dimension whose places are numbered once: the value of point p is values()[position(p)], and
  /// position(p) counts the argument's points before p, so it is the same wherever the values lie. Throws UsageError where
  /// the argument's points do not lie side by side: scattered ones that are not compact, or have others between them
  /// (then Extent::exact helps). Points are checked by position().
  [[nodiscard]] Value* values() const requires(N == 1) {
    const std::size_t count = domain().volume();
    if (count == 0) return nullptr;
    Value* const first = pointer(bounds_.lo);
    if (!contiguous_rows() || pointer(bounds_.hi) - first != static_cast<std::ptrdiff_t>(count) - 1)
      fail_values(info_);
    return first;
  }
  [[nodiscard]] std::size_t position(const Point<N>& p) const requires(N == 1) {
    return static_cast<std::size_t>(pointer(p) - pointer(bounds_.lo));
  }

  /// For gathers in one dimension: the value at coordinate i is origin()[i], a stride that the compiler knows. It may lie
  /// outside the storage, and what is read through it is not checked. Throws UsageError where values are not contiguous.
  [[nodiscard]] Value* origin() const requires(N == 1) {
    if (compact_ != nullptr) [[unlikely]]
      fail_strides(info_, "origin()");
    if (!contiguous_rows()) [[unlikely]]
      fail_origin(info_, sizeof(T), stride_[0]);
    return reinterpret_cast<Value*>(zero_);
  }

  /// The region this argument is a view of, for launching child tasks on its subregions.
  [[nodiscard]] Region<N> region() const { return Region<N>{region_}; }

 private:
  Value& compact_value(const Point<N>& p) const {
    if constexpr (N == 1)
      if (const std::size_t position = compact_->runs->quick_position(p[0]);
          position != RunIndex::none)
        return reinterpret_cast<Value*>(zero_)[position];
    return *reinterpret_cast<Value*>(compact_address(*compact_, erase_dimension(p)));
  }

  std::byte* zero_;
  Coord stride_[N];
  Rect<N> bounds_;
  const Rect<3>* rects_;
  std::size_t rect_count_;
  const ArgumentInfo* info_;
  const Placement* compact_;  ///< null: affine
  AnyRegion region_;
};

}  // namespace detail

/// The task sees the values.
template <class T, int N = 1>
class Read : public detail::DenseAccessor<T, N, const T> {
 public:
  static constexpr Privilege privilege = Privilege::read;
  using detail::DenseAccessor<T, N, const T>::DenseAccessor;
};

/// The task overwrites every point; what was there before is discarded.
template <class T, int N = 1>
class Write : public detail::DenseAccessor<T, N, T> {
 public:
  static constexpr Privilege privilege = Privilege::write;
  using detail::DenseAccessor<T, N, T>::DenseAccessor;
};

/// The task sees and changes the values.
template <class T, int N = 1>
class ReadWrite : public detail::DenseAccessor<T, N, T> {
 public:
  static constexpr Privilege privilege = Privilege::read_write;
  using detail::DenseAccessor<T, N, T>::DenseAccessor;
};

/// The task contributes with operator Op: `charge.reduce(p, x)`, or for Sum `charge[p] += x`.
template <class Op, class T, int N = 1>
class Reduce {
  static_assert(detail::Operator<Op, T>,
                "a reduction operator has a static member name, and static member functions "
                "template <class T> T identity() and fold(T, T), as refrain::Sum has");

 public:
  using value_type = T;
  static constexpr int dim = N;
  static constexpr Privilege privilege = Privilege::reduce;

  explicit Reduce(const PhysicalArgument& a)
      : accumulator_(a.accumulator),
        chunks_(detail::accumulator_chunks(*a.accumulator)),
        bounds_(detail::restore_dimension<N>(*a.points->bounds)),
        rects_(a.points->rects),
        rect_count_(a.points->rect_count),
        info_(a.info),
        compact_(detail::accumulator_points(*a.accumulator)),
        runs_(compact_ != nullptr ? detail::compact_runs(*compact_) : nullptr),
        region_(a.points->region) {}

  [[nodiscard]] Domain<N> domain() const { return {bounds_, rects_, rect_count_}; }

  /// The region this argument is a view of, for launching child tasks that reduce to its subregions.
  [[nodiscard]] Region<N> region() const { return Region<N>{region_}; }

  /// accumulator(p) = Op::fold(accumulator(p), contribution)
  void reduce(const Point<N>& p, const T& contribution) const {
    if (info_ != nullptr) [[unlikely]]
      check_access(*info_, p);
    const std::size_t index = position(p);
    constexpr int shift = detail::accumulator_chunk_shift(sizeof(T));
    // Several threads of a gang task may reduce to different points, so a chunk may be another's.
    std::byte* chunk = std::atomic_ref(chunks_[index >> shift]).load(std::memory_order_acquire);
    if (chunk == nullptr) [[unlikely]]
      return detail::accumulator_contribute(*accumulator_, index, &contribution);
    T& slot = reinterpret_cast<T*>(chunk)[index & ((std::size_t{1} << shift) - 1)];
    slot = Op::fold(slot, contribution);
  }

  /// What operator[] gives: += for Sum, *= for Product.
  class Slot {
   public:
    Slot(const Reduce& accessor, const Point<N>& p) : accessor_(accessor), point_(p) {}
    void operator+=(const T& x) const requires std::is_same_v<Op, Sum> {
      accessor_.reduce(point_, x);
    }
    void operator*=(const T& x) const requires std::is_same_v<Op, Product> {
      accessor_.reduce(point_, x);
    }

   private:
    const Reduce& accessor_;
    Point<N> point_;
  };
  Slot operator[](const Point<N>& p) const { return {*this, p}; }

 private:
  [[nodiscard]] std::size_t position(const Point<N>& p) const {
    if (compact_ != nullptr) [[unlikely]] {
      if constexpr (N == 1)
        if (const std::size_t quick = runs_->quick_position(p[0]); quick != detail::RunIndex::none)
          return quick;
      return detail::compact_position(*compact_, detail::erase_dimension(p));
    }
    std::size_t index = 0;
    for (int d = 0; d < N; ++d)
      index = index * static_cast<std::size_t>(bounds_.hi[d] - bounds_.lo[d] + 1) +
              static_cast<std::size_t>(p[d] - bounds_.lo[d]);
    return index;
  }

  detail::Accumulator* accumulator_;
  std::byte** chunks_;
  Rect<N> bounds_;
  const Rect<3>* rects_;
  std::size_t rect_count_;
  const detail::ArgumentInfo* info_;
  const data::IndexSpace* compact_;  ///< null: positions are those of the bounding rectangle
  const detail::RunIndex* runs_;
  AnyRegion region_;
};

}  // namespace refrain
