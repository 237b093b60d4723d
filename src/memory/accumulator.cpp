#include "memory/accumulator.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/assert.hpp"
#include "data/layout.hpp"

namespace refrain::detail {

/// The memory of accumulators, recycled between tasks: chunks of 4 KiB, and tables of pointers to chunks. Tables come
/// back with every entry null, wiped by whoever knows which entries were set, so that a large table costs its size once
/// and not once per task. What is kept is bounded; the rest goes back to the heap. Threads: any, one lock, taken for
/// several chunks at a time.
class Accumulator::Pool {
 public:
  static constexpr std::size_t chunk_bytes = 4096;

  /// The process's. Never destroyed: a runtime that is a static object of the program may end after this file's statics.
  static Pool& shared() {
    static Pool& pool = *new Pool;
    return pool;
  }
  static void* from_heap(std::size_t bytes) {
    void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }

  /// A list of up to `count` chunks, one at least, aligned to 64 bytes.
  Chunk* take_chunks(std::size_t count) {
    Chunk* taken = nullptr;
    const std::lock_guard lock(mutex_);
    for (; count > 0 && chunks_ != nullptr; --count, --kept_chunks_) {
      Chunk* chunk = std::exchange(chunks_, chunks_->next);
      chunk->next = std::exchange(taken, chunk);
    }
    return taken != nullptr ? taken : ::new (from_heap(chunk_bytes)) Chunk{nullptr};
  }
  void give_chunks(Chunk* first) {
    const std::lock_guard lock(mutex_);
    while (first != nullptr) {
      Chunk* chunk = std::exchange(first, first->next);
      if (kept_chunks_ == kept_limit / chunk_bytes) {
        std::free(chunk);
      } else {
        chunk->next = std::exchange(chunks_, chunk);
        ++kept_chunks_;
      }
    }
  }

  /// A table of null pointers. Sizes are powers of two, so that pieces of about one size share their tables. From the
  /// heap, a large table is zero without having been touched.
  std::byte** take_table(std::size_t entries) {
    const std::size_t size = std::bit_ceil(entries);
    const std::lock_guard lock(mutex_);
    if (auto known = tables_.extract(size)) {
      kept_entries_ -= size;
      return known.mapped();
    }
    void* table = std::calloc(size, sizeof(std::byte*));
    if (table == nullptr) throw std::bad_alloc();
    return static_cast<std::byte**>(table);
  }
  void give_table(std::byte** table, std::size_t entries) {
    const std::size_t size = std::bit_ceil(entries);
    const std::lock_guard lock(mutex_);
    if (kept_entries_ + size > kept_limit / sizeof(std::byte*)) return std::free(table);
    tables_.emplace(size, table);
    kept_entries_ += size;
  }

 private:
  /// Bytes, of chunks and of tables.
  static constexpr std::size_t kept_limit = std::size_t{64} << 20;

  std::mutex mutex_;
  Chunk* chunks_ = nullptr;
  std::size_t kept_chunks_ = 0, kept_entries_ = 0;
  std::unordered_multimap<std::size_t, std::byte**> tables_;  // by number of entries
};

namespace {

std::atomic<std::size_t> live{0};

constexpr std::size_t block_bytes = 16384, lock_count = 256;

struct alignas(64) BlockLock {
  std::mutex mutex;
};
constinit BlockLock locks[lock_count];

/// How many of `count` values begin in the block in which the first one begins.
std::size_t values_in_block(std::uintptr_t first, std::ptrdiff_t stride, std::size_t count) {
  const std::size_t into = first % block_bytes;
  if (stride == 0) return count;
  const std::size_t values = stride > 0
                                 ? (block_bytes - 1 - into) / static_cast<std::size_t>(stride) + 1
                                 : into / static_cast<std::size_t>(-stride) + 1;
  return std::min(values, count);
}

}  // namespace

std::byte* address_of(const Placement& placement, const data::BoxPoint& p) {
  auto address = reinterpret_cast<std::uintptr_t>(placement.zero);
  for (int d = 0; d < 3; ++d)
    address += static_cast<std::uintptr_t>(p[d]) * static_cast<std::uintptr_t>(placement.stride[d]);
  return reinterpret_cast<std::byte*>(address);
}

Placement affine_in(const Placement& compact, const data::Box& box, std::size_t position) {
  Placement affine;
  auto step = static_cast<std::size_t>(compact.stride[compact.compact->dim() - 1]);
  auto zero = reinterpret_cast<std::uintptr_t>(compact.zero) + position * step;
  for (int d = compact.compact->dim() - 1; d >= 0; --d) {
    affine.stride[d] = static_cast<Coord>(step);
    zero -= static_cast<std::uintptr_t>(box.lo[d]) * step;
    step *= static_cast<std::size_t>(box.hi[d] - box.lo[d] + 1);
  }
  affine.zero = reinterpret_cast<std::byte*>(zero);
  return affine;
}

Accumulator::Accumulator(const ReductionOp& op, const data::IndexSpace& points, Sparse sparse)
    : initialise_(op.initialise),
      fold_(op.fold),
      value_size_(op.type->size),
      shift_(accumulator_chunk_shift(op.type->size)),
      row_(points.dim() - 1),
      bounds_(points.bounds()),
      compact_(data::is_compact(points, sparse) ? &points : nullptr) {
  for (int d = 0; d < 3; ++d) {
    extent_[d] = points.empty() ? 0 : static_cast<std::size_t>(bounds_.hi[d] - bounds_.lo[d] + 1);
    if (compact_ == nullptr && __builtin_mul_overflow(volume_, extent_[d], &volume_))
      throw std::bad_alloc();
  }
  if (compact_ != nullptr) volume_ = points.volume();
  entries_ = (volume_ >> shift_) + 1;
  table_ = entries_ <= inline_entries ? inline_table_ : Pool::shared().take_table(entries_);
  live.fetch_add(1, std::memory_order_relaxed);
}

Accumulator::~Accumulator() {
  for (std::size_t chunk : touched_) free_chunk(std::exchange(table_[chunk], nullptr));
  for (std::byte* slab : few_slabs_) free_chunk(slab);
  if (spare_ != nullptr) Pool::shared().give_chunks(spare_);
  if (table_ != inline_table_) Pool::shared().give_table(table_, entries_);
  live.fetch_sub(1, std::memory_order_relaxed);
}

std::size_t Accumulator::live_count() noexcept { return live.load(std::memory_order_relaxed); }

std::size_t Accumulator::bytes() const {
  return touched_.size() * (value_size_ << shift_) + few_slabs_.size() * Pool::chunk_bytes;
}

void* Accumulator::slot(std::size_t index) {
  const std::size_t chunk = index >> shift_;
  // Pairs with the release in make_chunk(): the chunk's values are initialised.
  std::byte* values = std::atomic_ref(table_[chunk]).load(std::memory_order_acquire);
  if (values == nullptr) {
    const std::lock_guard lock(touching_);
    values = make_chunk(chunk);
  }
  return values + (index - (chunk << shift_)) * value_size_;
}

// Under the lock. Unless it is there already; with what was kept of it one by one.
std::byte* Accumulator::make_chunk(std::size_t chunk) {
  std::atomic_ref entry(table_[chunk]);
  if (std::byte* made = entry.load(std::memory_order_relaxed)) return made;
  std::byte* values = new_chunk();
  try {
    initialise_(values, std::min(std::size_t{1} << shift_, volume_ - (chunk << shift_)));
    touched_.push_back(chunk);
  } catch (...) {  // the operator is the program's
    free_chunk(values);
    throw;
  }
  if (const auto few = few_.extract(chunk)) {
    const std::byte* value = few.mapped().values;
    for (const std::size_t position : few.mapped().positions) {
      std::memcpy(values + position * value_size_, value, value_size_);
      value += value_size_;
    }
    ++few_outgrown_;
  }
  // Pairs with the acquire in slot() and in accessors.
  entry.store(values, std::memory_order_release);
  return values;
}

void Accumulator::contribute(std::size_t index, const void* value) {
  const std::lock_guard lock(touching_);
  const std::size_t chunk = index >> shift_, position = index - (chunk << shift_);
  std::byte* at = place_among_few(chunk, position);
  if (at == nullptr) at = make_chunk(chunk) + position * value_size_;
  const auto size = static_cast<std::ptrdiff_t>(value_size_);
  fold_(at, size, static_cast<const std::byte*>(value), size, 1);
}

// Under the lock. Null when the chunk is there or should be: its few values are full, or the task goes through it point
// by point, or most chunks have been wanted in the end.
std::byte* Accumulator::place_among_few(std::size_t chunk, std::size_t position) {
  constexpr std::size_t trials = 16;
  const bool small = table_ == inline_table_ || (std::size_t{1} << shift_) < 4 * FewValues::most;
  if (small || table_[chunk] != nullptr) return nullptr;
  auto found = few_.find(chunk);
  if (found == few_.end()) {
    if (few_outgrown_ > few_.size() && few_outgrown_ + few_.size() >= trials) return nullptr;
    found = few_.emplace(chunk, FewValues{{}, room_for_few()}).first;
  }
  auto& [positions, values] = found->second;
  const auto known = std::ranges::find(positions, position);
  std::byte* value = values + static_cast<std::size_t>(known - positions.begin()) * value_size_;
  if (known != positions.end()) return value;
  if (positions.size() == FewValues::most) return nullptr;
  if (!positions.empty() && (position == positions.back() + 1U || position + 1 == positions.back()))
    return nullptr;
  initialise_(value, 1);
  positions.push_back(static_cast<std::uint16_t>(position));
  return value;
}

std::byte* Accumulator::room_for_few() {
  const std::size_t bytes = FewValues::most * value_size_;
  if (few_slabs_.empty() || few_used_ + bytes > Pool::chunk_bytes) {
    few_slabs_.push_back(new_chunk());
    few_used_ = 0;
  }
  return few_slabs_.back() + std::exchange(few_used_, few_used_ + bytes);
}

// A task that touches much asks the shared pool seldom.
std::byte* Accumulator::new_chunk() {
  if (value_size_ > Pool::chunk_bytes) return static_cast<std::byte*>(Pool::from_heap(value_size_));
  if (spare_ == nullptr)
    spare_ = Pool::shared().take_chunks(std::clamp<std::size_t>(touched_.size(), 1, 16));
  return reinterpret_cast<std::byte*>(std::exchange(spare_, spare_->next));
}

void Accumulator::free_chunk(std::byte* chunk) {
  if (value_size_ > Pool::chunk_bytes) return std::free(chunk);
  spare_ = ::new (chunk) Chunk{spare_};
}

std::size_t Accumulator::index_of(const data::BoxPoint& p) const {
  if (compact_ != nullptr) {
    const auto position = compact_->rank_by_boxes(p);
    REFRAIN_ASSERT(position, "what is folded are points of the accumulator");
    return *position;
  }
  std::size_t index = 0;
  for (int d = 0; d < 3; ++d)
    index = index * extent_[d] + static_cast<std::size_t>(p[d] - bounds_.lo[d]);
  return index;
}

data::BoxPoint Accumulator::point_at(std::size_t index) const {
  data::BoxPoint p;
  if (compact_ != nullptr) {
    compact_->for_each_row(index, 1,
                           [&](const data::BoxPoint& at, std::size_t, std::size_t) { p = at; });
    return p;
  }
  for (int d = 2; d >= 0; --d) {
    p[d] = bounds_.lo[d] + static_cast<Coord>(index % extent_[d]);
    index /= extent_[d];
  }
  return p;
}

data::Box Accumulator::row_of(const data::BoxPoint& start, std::size_t count) const {
  data::Box row{start, start};
  row.hi[row_] += static_cast<Coord>(count) - 1;
  return row;
}

/// Calls f(index, values before it, count) for the positions of a row of points, which lie in one chunk each time.
template <class F>
void Accumulator::for_each_stretch(const data::BoxPoint& start, std::size_t count,
                                   const F& f) const {
  const auto chunk_by_chunk = [&](std::size_t index, std::size_t done, std::size_t left) {
    while (left > 0) {
      const std::size_t n = std::min(left, left_in_chunk(index));
      f(index, done, n);
      done += n;
      index += n;
      left -= n;
    }
  };
  if (compact_ == nullptr) return chunk_by_chunk(index_of(start), 0, count);
  const data::Box row = row_of(start, count);
  compact_->for_each_meeting(row, [&](const data::Box& box, std::size_t) {
    const data::Box part = intersection(box, row);
    chunk_by_chunk(index_of(part.lo), static_cast<std::size_t>(part.lo[row_] - start[row_]),
                   static_cast<std::size_t>(part.hi[row_] - part.lo[row_] + 1));
  });
}

void Accumulator::fold_into(const data::IndexSpace& points, const Placement& target, bool shared) {
  const auto fold_row = [&](const data::BoxPoint& start, const Placement& at,
                            const std::byte* values, std::size_t count) {
    fold_values(address_of(at, start), static_cast<std::ptrdiff_t>(at.stride[row_]), values, count,
                shared);
  };
  fold_points(points, [&](const data::BoxPoint& start, const std::byte* values, std::size_t count) {
    if (target.compact == nullptr) return fold_row(start, target, values, count);
    const data::Box row = row_of(start, count);
    target.compact->for_each_meeting(row, [&](const data::Box& rectangle, std::size_t before) {
      const data::Box part = intersection(rectangle, row);
      fold_row(part.lo, affine_in(target, rectangle, before),
               values + static_cast<std::size_t>(part.lo[row_] - start[row_]) * value_size_,
               static_cast<std::size_t>(part.hi[row_] - part.lo[row_] + 1));
    });
  });
}

void Accumulator::fold_into(const data::IndexSpace& points, Accumulator& target, bool shared) {
  fold_points(points, [&](const data::BoxPoint& start, const std::byte* values, std::size_t count) {
    if (count == 1 && !shared) return target.contribute(target.index_of(start), values);
    target.for_each_stretch(start, count, [&](std::size_t index, std::size_t done, std::size_t n) {
      fold_values(static_cast<std::byte*>(target.slot(index)),
                  static_cast<std::ptrdiff_t>(value_size_), values + done * value_size_, n, shared);
    });
  });
}

// Whoever folds sorts first, and after that nobody writes.
void Accumulator::sort_touched() {
  if (touched_.size() < 2) return;
  const std::lock_guard lock(touching_);
  if (!std::ranges::is_sorted(touched_)) std::ranges::sort(touched_);
}

void Accumulator::pack(const data::IndexSpace& points, std::byte* bytes) {
  initialise_(bytes, points.volume());
  fold_points(points, [&](const data::BoxPoint& start, const std::byte* values, std::size_t count) {
    std::memcpy(bytes + *points.rank_by_boxes(start) * value_size_, values, count * value_size_);
  });
}

void Accumulator::unpack(const data::IndexSpace& points, const std::byte* bytes) {
  for (const data::Box& box : points.boxes()) {
    data::BoxPoint p = box.lo;
    const auto row = static_cast<std::size_t>(box.hi[row_] - box.lo[row_] + 1);
    do {
      for_each_stretch(p, row, [&](std::size_t index, std::size_t done, std::size_t n) {
        std::memcpy(slot(index), bytes + done * value_size_, n * value_size_);
      });
      bytes += row * value_size_;
      p[row_] = box.hi[row_] + 1;
    } while (move_into(box, p));
  }
}

/// Calls to(start, values, count) for contributions to `count` points of a row.
template <class To>
void Accumulator::fold_points(const data::IndexSpace& points, const To& to) {
  sort_touched();
  if (compact_ != nullptr) fold_compact(points, to);
  else
    for (const data::Box& box : points.boxes()) fold_box(box, to);
  // What was kept one by one. A point is folded once, so their order does not matter.
  for (const auto& [chunk, few] : few_)
    for (std::size_t i = 0; i < few.positions.size(); ++i) {
      const data::BoxPoint p = point_at((chunk << shift_) + few.positions[i]);
      if (points.contains(p)) to(p, few.values + i * value_size_, 1);
    }
}

// Row by row and chunk by chunk. From a chunk that is not there it goes on at the next one that is.
template <class To>
void Accumulator::fold_box(const data::Box& box, const To& to) const {
  const std::size_t last = index_of(box.hi) >> shift_;
  data::BoxPoint p = box.lo;
  do {
    const std::size_t index = index_of(p), chunk = index >> shift_;
    if (const std::byte* values = table_[chunk]) {
      const auto row = static_cast<std::size_t>(box.hi[row_] - p[row_] + 1);
      const std::size_t n = std::min(row, left_in_chunk(index));
      to(p, values + (index - (chunk << shift_)) * value_size_, n);
      p[row_] += static_cast<Coord>(n);
    } else {
      const auto next = std::ranges::upper_bound(touched_, chunk);
      if (next == touched_.end() || *next > last) return;
      p = point_at(*next << shift_);
    }
  } while (move_into(box, p));
}

// By what was touched, or where that is more, by the points.
template <class To>
void Accumulator::fold_compact(const data::IndexSpace& points, const To& to) const {
  const bool is_all = &points == compact_.get();
  if (!is_all && points.volume() < touched_.size() << shift_) {
    for (const data::Box& box : points.boxes()) {
      data::BoxPoint p = box.lo;
      do {
        for_each_stretch(p, static_cast<std::size_t>(box.hi[row_] - p[row_] + 1),
                         [&](std::size_t index, std::size_t done, std::size_t n) {
                           const std::byte* const chunk = table_[index >> shift_];
                           if (chunk == nullptr) return;
                           data::BoxPoint start = p;
                           start[row_] += static_cast<Coord>(done);
                           to(start, chunk + in_chunk(index) * value_size_, n);
                         });
        p[row_] = box.hi[row_] + 1;
      } while (move_into(box, p));
    }
    return;
  }
  for (const std::size_t chunk : touched_) {
    const std::size_t first = chunk << shift_;
    const std::size_t count = std::min(std::size_t{1} << shift_, volume_ - first);
    compact_->for_each_row(
        first, count, [&](const data::BoxPoint& start, std::size_t index, std::size_t n) {
          const std::byte* values = table_[chunk] + (index - first) * value_size_;
          if (is_all) return to(start, values, n);
          const data::Box row = row_of(start, n);
          points.for_each_meeting(row, [&](const data::Box& box, std::size_t) {
            const data::Box part = intersection(box, row);
            to(part.lo,
               values + static_cast<std::size_t>(part.lo[row_] - start[row_]) * value_size_,
               static_cast<std::size_t>(part.hi[row_] - part.lo[row_] + 1));
          });
        });
  }
}

/// Moves p on to the next point of the box, in row-major order, if it is none; false when there is none.
bool Accumulator::move_into(const data::Box& box, data::BoxPoint& p) const {
  int d = 0;
  while (d <= row_ && box.lo[d] <= p[d] && p[d] <= box.hi[d]) ++d;
  if (d > row_) return true;
  if (p[d] < box.lo[d]) --d;
  else do {
      if (--d < 0) return false;
    } while (++p[d] > box.hi[d]);
  while (++d <= row_) p[d] = box.lo[d];
  return true;
}

// `shared`: others fold into the storage at the same time. A fold is not atomic, so updates of one value exclude each
// other. Where a value lies says which lock is held while it is updated: the locks are a fixed number for the process,
// and each block of 16 KiB has one of them. So folds of disjoint sets do not wait for each other, and folds of the same
// set pass through it one block behind another; a lock per instance would make all of them take turns, since all regions
// of main memory share one. Unrelated blocks that share a lock lose a little time now and then. A fold holds one lock at
// a time and waits for nothing while it does, so there is no deadlock; under the seeded scheduler a fold runs in one
// piece, and no lock is ever taken when another holds it.
void Accumulator::fold_values(std::byte* values, std::ptrdiff_t stride,
                              const std::byte* contributions, std::size_t count,
                              bool shared) const {
  const auto size = static_cast<std::ptrdiff_t>(value_size_);
  if (!shared) return fold_(values, stride, contributions, size, count);
  while (count > 0) {
    const auto address = reinterpret_cast<std::uintptr_t>(values);
    const std::size_t n = values_in_block(address, stride, count);
    {
      const std::lock_guard lock(locks[address / block_bytes % lock_count].mutex);
      fold_(values, stride, contributions, size, n);
    }
    values += static_cast<std::ptrdiff_t>(n) * stride;
    contributions += n * value_size_;
    count -= n;
  }
}

void* accumulator_slot(Accumulator& accumulator, std::size_t index) {
  return accumulator.slot(index);
}
std::byte** accumulator_chunks(Accumulator& accumulator) { return accumulator.chunks(); }
const data::IndexSpace* accumulator_points(const Accumulator& accumulator) {
  return accumulator.compact();
}
void accumulator_contribute(Accumulator& accumulator, std::size_t index, const void* value) {
  accumulator.contribute(index, value);
}

}  // namespace refrain::detail
