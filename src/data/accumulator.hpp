#pragma once
// An accumulator: what one reducing task contributes to one argument, point by point, each starting at
// the operator's identity; folded into the region when the task's turn has come.
//
// It covers the bounding box of the argument's points in row-major order, in chunks of up to 512 values
// that are made (and set to the identity) when the task first touches them. Folding goes through the
// touched chunks alone, which gives the bits of folding every point because fold(x, identity) == x.
// So a task that touches 1% of a large region pays for about that much; the table of chunks is recycled
// clean (data/accumulator_pool.hpp).
//
// Threads: made, filled, folded and ended by one thread after another. While it is filled, several
// threads (of one gang task) may use slots of different points. Cost: a slot is two loads; the first
// touch of a chunk takes a lock. Folding: the smaller of the rows of the points and the touched chunks,
// and the values in those chunks.

#include <cstddef>
#include <mutex>
#include <vector>

#include "data/accumulator_pool.hpp"
#include "data/index_space.hpp"
#include "refrain/accessor.hpp"
#include "refrain/reduction.hpp"

namespace refrain::detail {

class Accumulator {
 public:
  /// For contributions to any of `points`. Keeps no reference to either.
  Accumulator(const ReductionOp& op, const data::IndexSpace& points);
  ~Accumulator();
  Accumulator(const Accumulator&) = delete;
  Accumulator& operator=(const Accumulator&) = delete;

  /// The value at a row-major position of the bounding box.
  [[nodiscard]] void* slot(std::size_t index);

  /// Folds the contributions to `points`, some or all of the points it was made for, into an affine
  /// layout: the address of the point (0, 0, 0), and the strides in bytes. `shared`: others may fold into
  /// the same points meanwhile, if they say so too.
  void fold_into(const data::IndexSpace& points, std::byte* origin, const Coord stride[3],
                 bool shared = false);
  /// The same into another accumulator of the operator, which was made for these points at least. Other
  /// points of it may be in use meanwhile.
  void fold_into(const data::IndexSpace& points, Accumulator& target, bool shared = false);

  /// The chunks by position, null where nothing was touched; for accumulator_slot in accessors.
  [[nodiscard]] std::byte** chunks() { return table_; }
  /// Makes a chunk, if it is not there yet.
  std::byte* touch(std::size_t chunk);

  [[nodiscard]] std::size_t touched_chunks() const;
  /// Accumulators alive in the process.
  static std::size_t live_count() noexcept;

 private:
  static constexpr std::size_t inline_entries = 8;

  /// Where values are folded to: an affine layout, or an accumulator.
  struct Target {
    std::byte* origin;
    const Coord* stride;
    Accumulator* accumulator;
    bool shared;
  };
  [[nodiscard]] bool lists_touched() const { return table_ != inline_table_; }
  [[nodiscard]] std::size_t index_of(const data::BoxPoint& p) const;
  [[nodiscard]] data::BoxPoint point_at(std::size_t index) const;
  std::byte* new_chunk();
  void free_chunk(std::byte* chunk);
  void fold_points(const data::IndexSpace& points, const Target& target);
  void fold_box(const data::Box& box, const Target& target);
  void fold_rows(const data::Box& box, const Target& target);
  void fold_touched(const data::Box& box, const Target& target, std::size_t first,
                    std::size_t last);
  void fold_run(data::BoxPoint start, std::size_t index, std::size_t count, const Target& target);
  void fold_affine(const data::BoxPoint& start, const std::byte* contributions, std::size_t count,
                   const Target& target) const;
  void take_in(const data::BoxPoint& start, const std::byte* contributions, std::size_t count,
               bool shared);
  void fold_values(std::byte* values, std::ptrdiff_t stride, const std::byte* contributions,
                   std::size_t count, bool shared) const;

  decltype(ReductionOp::initialise) const initialise_;
  decltype(ReductionOp::fold) const fold_;
  const std::size_t value_size_;
  const int shift_;  // a chunk holds 2^shift_ values
  const int row_;    // the dimension along which positions follow each other
  const data::Box bounds_;
  std::size_t extent_[3];
  std::size_t volume_;   // of the bounding box
  std::size_t entries_;  // of the table
  std::byte** table_;
  std::byte* inline_table_[inline_entries] = {};
  std::mutex touching_;               // guards the two below and the making of chunks
  std::vector<std::size_t> touched_;  // unless the table is the inline one
  data::AccumulatorPool::Chunk* spare_ = nullptr;
};

}  // namespace refrain::detail
