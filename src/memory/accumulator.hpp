#pragma once
// An accumulator: what one reducing task contributes to one argument, point by point, each starting at
// the operator's identity; folded into the region when the task's turn has come.
//
// It covers the bounding box of the argument's points in row-major order, or the points alone, box after box,
// where the argument's mapping says so (Layout::sparse, as for instances): in chunks of up to 512 values.
// A chunk is made (and set to the identity) when the task has touched several of its points, or two side by
// side; until then its values are kept one by one. When most chunks have turned out
// to be wanted, they are made at once; in a small region always. Folding goes through what was touched
// alone, which gives the bits of folding every point because fold(x, identity) == x. So a task that
// touches 1% of a large region pays for about that much, wherever the points are; the table of chunks is
// recycled clean. Scattered values that are kept one by one cost 55 ns each; a chunk for each would cost 520 ns
// at one point in a thousand, 335 at one in 200, 170 at one in a hundred; at one in fifty both cost the same.
//
// Threads: made, filled, folded and ended by one thread after another; where parts of it are folded, by several at once.
// While it is filled, several threads (of one gang task) may use slots of different points; what has no chunk is under
// the lock. Cost: a slot is two loads, after a look-up where the points alone are covered; where there is no chunk, a lock
// and a look-up. Folding: the smaller of the rows of the points and the rows in touched chunks, the values in those
// chunks, and those kept one by one.

#include <boost/container/small_vector.hpp>
#include <boost/container/static_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "data/index_space.hpp"
#include "refrain/accessor.hpp"
#include "refrain/mapper.hpp"
#include "refrain/reduction.hpp"

namespace refrain::detail {

/// The address of a point of the set. Addresses wrap: the point zero may lie anywhere, only the sum is a real one.
/// Of an affine placement.
std::byte* address_of(const Placement& placement, const data::BoxPoint& p);
/// A compact placement as it is in one of its boxes, whose values begin at a position: affine.
Placement affine_in(const Placement& compact, const data::Box& box, std::size_t position);

class Accumulator {
 public:
  /// For contributions to any of `points`.
  Accumulator(const ReductionOp& op, const data::IndexSpace& points,
              Sparse sparse = Sparse::by_density);
  ~Accumulator();
  Accumulator(const Accumulator&) = delete;
  Accumulator& operator=(const Accumulator&) = delete;

  /// The value at a position.
  [[nodiscard]] void* slot(std::size_t index);

  /// Folds the contributions to `points`, some or all of the points it was made for, into a
  /// placement. `shared`: others may fold into the same points meanwhile, if they say so too.
  void fold_into(const data::IndexSpace& points, const Placement& target, bool shared = false);
  /// The same into another accumulator of the operator, which was made for these points at least. Other
  /// points of it may be in use meanwhile.
  void fold_into(const data::IndexSpace& points, Accumulator& target, bool shared = false);

  /// The contributions to `points`, the identity where there are none, box after box, each in row-major order. Some or all
  /// of the points it was made for; and back, into one to which nobody has contributed.
  void pack(const data::IndexSpace& points, std::byte* bytes);
  void unpack(const data::IndexSpace& points, const std::byte* bytes);

  /// The chunks by position, null where nothing was touched; for accumulator_slot in accessors.
  [[nodiscard]] std::byte** chunks() { return table_; }
  /// Null, or positions are those of these points, box after box.
  [[nodiscard]] const data::IndexSpace* compact() const { return compact_.get(); }
  /// Folds a value in where there may be no chunk.
  void contribute(std::size_t index, const void* value);

  [[nodiscard]] std::size_t value_size() const { return value_size_; }
  /// The bytes that its values take, with the room for more beside them.
  [[nodiscard]] std::size_t bytes() const;
  /// Accumulators alive in the process.
  static std::size_t live_count() noexcept;

 private:
  static constexpr std::size_t inline_entries = 8;
  /// Storage that is not in use: a link of a list.
  struct Chunk {
    Chunk* next;
  };
  class Pool;
  /// Contributions to a chunk of which the task has touched few points: these points and their values, in place of a
  /// whole chunk of identities.
  struct FewValues {
    static constexpr std::size_t most = 12;
    boost::container::static_vector<std::uint16_t, most> positions;  ///< in the chunk
    std::byte* values;                                               ///< room for `most`
  };

  [[nodiscard]] std::size_t index_of(const data::BoxPoint& p) const;
  [[nodiscard]] data::BoxPoint point_at(std::size_t index) const;
  [[nodiscard]] data::Box row_of(const data::BoxPoint& start, std::size_t count) const;
  [[nodiscard]] std::size_t in_chunk(std::size_t index) const {
    return index & ((std::size_t{1} << shift_) - 1);
  }
  [[nodiscard]] std::size_t left_in_chunk(std::size_t index) const {
    return (std::size_t{1} << shift_) - in_chunk(index);
  }
  bool move_into(const data::Box& box, data::BoxPoint& p) const;
  std::byte* make_chunk(std::size_t chunk);
  std::byte* place_among_few(std::size_t chunk, std::size_t position);
  std::byte* room_for_few();
  std::byte* new_chunk();
  void free_chunk(std::byte* chunk);
  template <class To>
  void fold_points(const data::IndexSpace& points, const To& to);
  template <class To>
  void fold_box(const data::Box& box, const To& to) const;
  template <class To>
  void fold_compact(const data::IndexSpace& points, const To& to) const;
  template <class F>
  void for_each_stretch(const data::BoxPoint& start, std::size_t count, const F& f) const;
  void sort_touched();
  void fold_values(std::byte* values, std::ptrdiff_t stride, const std::byte* contributions,
                   std::size_t count, bool shared) const;

  decltype(ReductionOp::initialise) const initialise_;
  decltype(ReductionOp::fold) const fold_;
  const std::size_t value_size_;
  const int shift_;  // a chunk holds 2^shift_ values
  const int row_;    // the dimension along which positions follow each other
  const data::Box bounds_;
  const data::IndexSpaceRef compact_;
  std::size_t extent_[3];
  std::size_t volume_ = 1;  // how many positions there are
  std::size_t entries_;     // of the table
  std::byte** table_;
  std::byte* inline_table_[inline_entries] = {};
  std::mutex touching_;  // guards the making of chunks, and all members below
  boost::container::small_vector<std::size_t, inline_entries> touched_;
  std::unordered_map<std::size_t, FewValues> few_;  // by chunk; those that are not made
  std::size_t few_outgrown_ = 0;                    // chunks that were there, and are made
  std::vector<std::byte*> few_slabs_;               // chunks that the values above are in
  std::size_t few_used_ = 0;                        // bytes of the last one
  Chunk* spare_ = nullptr;
};

}  // namespace refrain::detail
