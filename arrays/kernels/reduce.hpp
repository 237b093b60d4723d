#pragma once
// Reductions over plain memory whose result depends on the terms and their number alone: neither on how the work is
// cut nor on the processor.
//
// The order in which n terms x_0, x_1, ... are taken together is this. Chunk j is x_i for 256 j <= i < 256 (j + 1). In
// a chunk, lane l takes together the x_i with i mod 8 = l, from the first to the last, and the lanes make
// ((0+4) + (2+6)) + ((1+5) + (3+7)), where lanes without terms are left out. The results of the chunks are terms of
// the same rule again, until there is one. No term at all makes the identity, one term makes itself.
//
// So tasks that each have a range of whole chunks write the results of their chunks to memory, and the task that reads
// these as terms gets what one task would have got. A lane holds up to 32 terms: the error of a sum grows like that
// of pairwise summation.
//
// Of NaNs it is not said which sign and payload come out. minimum and maximum are the operations of kernels/loops.hpp,
// and NaN wins; of equal numbers (the zeros) the later operand stays, of complex ones the earlier.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "refrain/arrays/dtype.hpp"

namespace refrain::arrays::kernels {

enum class Reduce : std::uint8_t { sum, prod, min, max, any, all, argmin, argmax };
inline constexpr int kReduces = static_cast<int>(Reduce::argmax) + 1;

inline constexpr std::size_t kChunk = 256;  ///< terms
inline constexpr std::size_t kLanes = 8;

/// sum and prod: int64 and wider (others are cast before); any and all: bool; the rest: all types.
[[nodiscard]] bool exists(Reduce reduce, DType type) noexcept;
/// What no terms make, of sum, prod, any and all.
void write_identity(Reduce reduce, DType type, void* out) noexcept;

/// The chunks that n terms have.
[[nodiscard]] constexpr std::size_t chunks_of(std::size_t terms) noexcept {
  return (terms + kChunk - 1) / kChunk;
}

/// One processor's part: the inner loops. Lanes are kLanes elements; the first min(filled, kLanes) of them hold
/// something.
struct Reducer {
  /// Takes further terms of a chunk into the lanes, of which `filled` terms are in them.
  void (*fold)(void* lanes, std::size_t filled, const void* terms, std::size_t count);
  /// The result of the lanes.
  void (*combine)(void* out, const void* lanes, std::size_t filled);
  /// The results of whole chunks.
  void (*chunks)(void* out, const void* terms, std::size_t chunks);
  /// Of argmin and argmax, whose other functions are min's and max's: the position of the first term that equals the
  /// value, or with NaN as the value is NaN; `count` if there is none.
  std::size_t (*first_of)(const void* terms, std::size_t count, const void* value);
  /// Likewise: puts each term that is before the best, with its position, into its place. Without positions, the
  /// position of all is `here`.
  void (*improve)(std::size_t width, void* best, std::int64_t* positions, const void* terms,
                  const std::int64_t* term_positions, std::int64_t here);
};
/// Null where exists() says no.
[[nodiscard]] const Reducer* find_reducer(Reduce reduce, DType type) noexcept;

/// sum, prod, min, max, any or all of consecutive terms, given in blocks of any size. One thread at a time. Blocks
/// that begin at multiples of kChunk and are as long are the quickest.
class Sequence {
 public:
  Sequence(Reduce reduce, DType type) : Sequence(reduce, type, nullptr) {}
  /// Writes the results of the chunks one after another to memory that has room for them, instead of reducing them.
  Sequence(Reduce reduce, DType type, void* chunk_results);

  void feed(const void* terms, std::size_t count);
  /// The result, at the end. (min and max of nothing do not exist: whoever feeds nothing gets memory unchanged.)
  void result(void* out);
  /// With chunk results: completes the last one, and tells how many there are.
  std::size_t finish();

 private:
  static constexpr std::size_t kLevels = 8;  // 256^8 terms
  struct Level {
    alignas(64) std::byte lanes[kLanes * 16];
    std::size_t filled = 0;
  };
  void feed(std::size_t level, const std::byte* terms, std::size_t count);
  void close(std::size_t level);

  const Reducer* reducer_;
  std::size_t size_;
  Reduce reduce_;
  DType type_;
  std::size_t count_ = 0;
  std::byte* chunk_results_;
  Level levels_[kLevels];
};

/// The same for `width` sequences side by side: each row is one term of each. Every column's result has the bits that
/// Sequence gives for that column.
class Columns {
 public:
  Columns(Reduce reduce, DType type, std::size_t width) : Columns(reduce, type, width, nullptr) {}
  /// Chunk results are rows, too.
  Columns(Reduce reduce, DType type, std::size_t width, void* chunk_results);
  ~Columns();
  Columns(Columns&&) noexcept;
  Columns& operator=(Columns&&) noexcept;

  void feed(const void* row);
  void result(void* out);
  std::size_t finish();

 private:
  struct Level {
    std::unique_ptr<std::byte[]> lanes;
    std::size_t filled = 0;
  };
  void feed(std::size_t level, const void* row);
  void close(std::size_t level);
  [[nodiscard]] std::byte* lane(std::size_t level, std::size_t lane) const;

  void (*fold_)(std::size_t count, void* out, const void* a, const void* b, const void* c);
  std::size_t bytes_;  // of a row
  std::size_t width_;
  Reduce reduce_;
  DType type_;
  std::size_t count_ = 0;
  std::byte* chunk_results_;
  std::vector<Level> levels_;
};

/// argmin or argmax of consecutive terms: the first position of the best, NaN being the best.
class ArgSequence {
 public:
  /// The first term's position is `first`.
  ArgSequence(Reduce reduce, DType type, std::int64_t first = 0);
  void feed(const void* terms, std::size_t count);
  /// Takes in the result of a range of later terms.
  void merge(const void* value, std::int64_t position);
  [[nodiscard]] bool empty() const { return position_ < 0; }
  [[nodiscard]] std::int64_t position() const { return position_; }
  [[nodiscard]] const void* value() const { return best_; }

 private:
  const Reducer* reducer_;
  std::size_t size_;
  std::int64_t next_;
  std::int64_t position_ = -1;
  alignas(16) std::byte best_[16];
};

class ArgColumns {
 public:
  ArgColumns(Reduce reduce, DType type, std::size_t width, std::int64_t first = 0);
  void feed(const void* row);
  void merge(const void* values, const std::int64_t* positions);
  [[nodiscard]] bool empty() const { return empty_; }
  [[nodiscard]] const std::int64_t* positions() const { return positions_.data(); }
  [[nodiscard]] const void* values() const { return best_.get(); }

 private:
  void start(const void* values);

  const Reducer* reducer_;
  std::size_t bytes_;
  std::int64_t next_;
  bool empty_ = true;
  std::vector<std::int64_t> positions_;
  std::unique_ptr<std::byte[]> best_;
};

}  // namespace refrain::arrays::kernels
