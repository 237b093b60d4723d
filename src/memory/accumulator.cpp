#include "memory/accumulator.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

namespace refrain::memory {

/// Contributions to a chunk of which the task has touched few points: these points and their values, in place of a whole
/// chunk of identities. Threads: one at a time. Cost: a search among at most `most` entries.
class alignas(64) FewValues {
 public:
  static constexpr std::size_t most = 12;

  /// What one takes, a multiple of 64; its storage is aligned to 64.
  static constexpr std::size_t bytes(std::size_t value_size) {
    return sizeof(FewValues) + (most * value_size + 63) / 64 * 64;
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  /// The position in the chunk of entry i, and its value.
  [[nodiscard]] std::size_t position(std::size_t i) const { return positions_[i]; }
  [[nodiscard]] std::byte* value(std::size_t i, std::size_t value_size) {
    return reinterpret_cast<std::byte*>(this + 1) + i * value_size;
  }

  /// The entry of a position; size() if it has none.
  [[nodiscard]] std::size_t find(std::size_t position) const {
    return static_cast<std::size_t>(std::find(positions_, positions_ + size_, position) -
                                    positions_);
  }
  /// Whether this would be no place for another entry: it is full, or the task goes through the chunk point
  /// by point.
  [[nodiscard]] bool refuses(std::size_t position) const {
    if (size_ == 0) return false;
    const std::size_t last = positions_[size_ - 1];
    return size_ == most || position == last + 1 || position + 1 == last;
  }
  /// A new entry, its value not initialised. Requires: it is not refused.
  std::size_t add(std::size_t position) {
    positions_[size_] = static_cast<std::uint16_t>(position);
    return size_++;
  }

 private:
  std::uint16_t size_ = 0;
  std::uint16_t positions_[most] = {};
};

namespace {

AccumulatorPool::Chunk* new_chunk() {
  void* chunk = std::aligned_alloc(64, AccumulatorPool::chunk_bytes);
  if (chunk == nullptr) throw std::bad_alloc();
  return ::new (chunk) AccumulatorPool::Chunk;
}

void free_chunks(AccumulatorPool::Chunk* first) {
  while (first != nullptr) std::free(std::exchange(first, first->next));
}

}  // namespace

// Never destroyed: a runtime that is a static object of the program may end after this file's statics.
AccumulatorPool& AccumulatorPool::shared() {
  static AccumulatorPool& pool = *new AccumulatorPool;
  return pool;
}

AccumulatorPool::Chunk* AccumulatorPool::take_chunks(std::size_t count) {
  Chunk* taken = nullptr;
  {
    const std::lock_guard lock(mutex_);
    for (; count > 0 && chunks_ != nullptr; --count) {
      Chunk* chunk = std::exchange(chunks_, chunks_->next);
      chunk->next = std::exchange(taken, chunk);
      --kept_chunks_;
    }
  }
  for (; count > 0; --count) {
    Chunk* chunk = new_chunk();
    chunk->next = std::exchange(taken, chunk);
  }
  return taken;
}

void AccumulatorPool::give_chunks(Chunk* first) {
  {
    const std::lock_guard lock(mutex_);
    for (; first != nullptr && kept_chunks_ < kept_chunks_limit; ++kept_chunks_) {
      Chunk* chunk = std::exchange(first, first->next);
      chunk->next = std::exchange(chunks_, chunk);
    }
  }
  free_chunks(first);
}

// Sizes are rounded to powers of two, so that pieces of about one size share their tables. From the
// heap, a large table is zero without having been touched.
std::byte** AccumulatorPool::take_table(std::size_t entries) {
  const std::size_t size = std::bit_ceil(entries);
  {
    const std::lock_guard lock(mutex_);
    if (auto found = tables_.find(size); found != tables_.end()) {
      std::byte** table = found->second;
      tables_.erase(found);
      kept_entries_ -= size;
      return table;
    }
  }
  void* table = std::calloc(size, sizeof(std::byte*));
  if (table == nullptr) throw std::bad_alloc();
  return static_cast<std::byte**>(table);
}

void AccumulatorPool::give_table(std::byte** table, std::size_t entries) {
  const std::size_t size = std::bit_ceil(entries);
  const std::lock_guard lock(mutex_);
  if (kept_entries_ + size > kept_entries_limit) return std::free(table);
  tables_.emplace(size, table);
  kept_entries_ += size;
}

std::size_t AccumulatorPool::kept_bytes() const {
  const std::lock_guard lock(mutex_);
  return kept_chunks_ * chunk_bytes + kept_entries_ * sizeof(std::byte*);
}

void AccumulatorPool::trim() {
  const std::lock_guard lock(mutex_);
  free_chunks(std::exchange(chunks_, nullptr));
  for (const auto& [size, table] : tables_) std::free(table);
  tables_.clear();
  kept_chunks_ = kept_entries_ = 0;
}

}  // namespace refrain::memory

namespace refrain::detail {

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

// Folds into storage that others fold into at the same time. A fold is not atomic, so updates of one value exclude each
// other. Where a value lies says which lock is held while it is updated: the locks are a fixed number for the process,
// and each block of 16 KiB has one of them. So folds of disjoint sets do not wait for each other, and folds of the same
// set pass through it one block behind another; a lock per instance would make all of them take turns, since all regions
// of main memory share one. Unrelated blocks that share a lock lose a little time now and then. A fold holds one lock at
// a time and waits for nothing while it does, so there is no deadlock; under the seeded scheduler a fold runs in one
// piece, and no lock is ever taken when another holds it.
void fold_shared(decltype(ReductionOp::fold) fold, std::byte* values, std::ptrdiff_t value_stride,
                 const std::byte* contributions, std::ptrdiff_t contribution_stride,
                 std::size_t count) {
  while (count > 0) {
    const auto address = reinterpret_cast<std::uintptr_t>(values);
    const std::size_t n = values_in_block(address, value_stride, count);
    {
      const std::lock_guard lock(locks[address / block_bytes % lock_count].mutex);
      fold(values, value_stride, contributions, contribution_stride, n);
    }
    values += static_cast<std::ptrdiff_t>(n) * value_stride;
    contributions += static_cast<std::ptrdiff_t>(n) * contribution_stride;
    count -= n;
  }
}

}  // namespace

Accumulator::Accumulator(const ReductionOp& op, const data::IndexSpace& points)
    : initialise_(op.initialise),
      fold_(op.fold),
      value_size_(op.type->size),
      shift_(accumulator_chunk_shift(op.type->size)),
      row_(points.dim() - 1),
      bounds_(points.bounds()) {
  volume_ = 1;
  for (int d = 0; d < 3; ++d) {
    extent_[d] = points.empty() ? 0 : static_cast<std::size_t>(bounds_.hi[d] - bounds_.lo[d] + 1);
    if (__builtin_mul_overflow(volume_, extent_[d], &volume_)) throw std::bad_alloc();
  }
  entries_ = (volume_ >> shift_) + 1;
  table_ = entries_ <= inline_entries ? inline_table_
                                      : memory::AccumulatorPool::shared().take_table(entries_);
  live.fetch_add(1, std::memory_order_relaxed);
}

Accumulator::~Accumulator() {
  if (lists_touched()) {
    for (std::size_t chunk : touched_) free_chunk(std::exchange(table_[chunk], nullptr));
    memory::AccumulatorPool::shared().give_table(table_, entries_);
    for (std::byte* slab : few_slabs_) free_chunk(slab);
  } else {
    for (std::byte* chunk : inline_table_) free_chunk(chunk);
  }
  if (spare_ != nullptr) memory::AccumulatorPool::shared().give_chunks(spare_);
  live.fetch_sub(1, std::memory_order_relaxed);
}

std::size_t Accumulator::live_count() noexcept { return live.load(std::memory_order_relaxed); }

std::size_t Accumulator::touched_chunks() const {
  if (lists_touched()) return touched_.size();
  return inline_entries - static_cast<std::size_t>(std::count(std::begin(inline_table_),
                                                              std::end(inline_table_), nullptr));
}

void* Accumulator::slot(std::size_t index) {
  const std::size_t chunk = index >> shift_;
  // Pairs with the release in touch(): the chunk's values are initialised.
  std::byte* values = std::atomic_ref(table_[chunk]).load(std::memory_order_acquire);
  if (values == nullptr) values = touch(chunk);
  return values + (index - (chunk << shift_)) * value_size_;
}

std::byte* Accumulator::touch(std::size_t chunk) {
  const std::lock_guard lock(touching_);
  return make_chunk(chunk);
}

// Under the lock. Unless it is there already; with what was kept of it one by one.
std::byte* Accumulator::make_chunk(std::size_t chunk) {
  std::atomic_ref entry(table_[chunk]);
  if (std::byte* made = entry.load(std::memory_order_relaxed)) return made;
  if (lists_touched()) touched_.push_back(chunk);
  std::byte* values = new_chunk();
  try {
    initialise_(values, std::min(std::size_t{1} << shift_, volume_ - (chunk << shift_)));
  } catch (...) {  // the operator is the program's
    free_chunk(values);
    throw;
  }
  if (const auto found = few_.find(chunk); found != few_.end()) {
    memory::FewValues& few = *found->second;
    for (std::size_t i = 0; i < few.size(); ++i)
      std::memcpy(values + few.position(i) * value_size_, few.value(i, value_size_), value_size_);
    few_.erase(found);
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

// Under the lock. Null when the chunk is there or should be.
std::byte* Accumulator::place_among_few(std::size_t chunk, std::size_t position) {
  constexpr std::size_t trials = 16;
  const bool small = !lists_touched() || (std::size_t{1} << shift_) < 4 * memory::FewValues::most;
  if (small || table_[chunk] != nullptr) return nullptr;
  const auto found = few_.find(chunk);
  if (found == few_.end() && few_ever_ >= trials && 2 * few_outgrown_ > few_ever_) return nullptr;
  memory::FewValues& few = found == few_.end() ? few_of(chunk) : *found->second;
  std::size_t entry = few.find(position);
  if (entry == few.size()) {
    if (few.refuses(position)) return nullptr;
    entry = few.add(position);
    initialise_(few.value(entry, value_size_), 1);
  }
  return few.value(entry, value_size_);
}

// Their storage is cut from chunks.
memory::FewValues& Accumulator::few_of(std::size_t chunk) {
  const std::size_t bytes = memory::FewValues::bytes(value_size_);
  if (few_slabs_.empty() || (few_in_slab_ + 1) * bytes > memory::AccumulatorPool::chunk_bytes) {
    few_slabs_.push_back(new_chunk());
    few_in_slab_ = 0;
  }
  auto* few = ::new (few_slabs_.back() + few_in_slab_++ * bytes) memory::FewValues;
  few_.emplace(chunk, few);
  ++few_ever_;
  return *few;
}

// A task that touches much asks the shared pool seldom.
std::byte* Accumulator::new_chunk() {
  if (value_size_ > memory::AccumulatorPool::chunk_bytes) {
    void* chunk = std::aligned_alloc(64, (value_size_ + 63) / 64 * 64);
    if (chunk == nullptr) throw std::bad_alloc();
    return static_cast<std::byte*>(chunk);
  }
  if (spare_ == nullptr)
    spare_ = memory::AccumulatorPool::shared().take_chunks(
        std::clamp<std::size_t>(touched_.size(), 1, 16));
  return reinterpret_cast<std::byte*>(std::exchange(spare_, spare_->next));
}

void Accumulator::free_chunk(std::byte* chunk) {
  if (chunk == nullptr) return;
  if (value_size_ > memory::AccumulatorPool::chunk_bytes) return std::free(chunk);
  auto* freed = ::new (chunk) memory::AccumulatorPool::Chunk;
  freed->next = std::exchange(spare_, freed);
}

std::size_t Accumulator::index_of(const data::BoxPoint& p) const {
  std::size_t index = 0;
  for (int d = 0; d < 3; ++d)
    index = index * extent_[d] + static_cast<std::size_t>(p[d] - bounds_.lo[d]);
  return index;
}

data::BoxPoint Accumulator::point_at(std::size_t index) const {
  data::BoxPoint p;
  for (int d = 2; d >= 0; --d) {
    p[d] = bounds_.lo[d] + static_cast<Coord>(index % extent_[d]);
    index /= extent_[d];
  }
  return p;
}

void Accumulator::fold_into(const data::IndexSpace& points, std::byte* zero, const Coord stride[3],
                            bool shared) {
  fold_points(points, [&](const data::BoxPoint& start, const std::byte* values, std::size_t count) {
    // Addresses wrap: only the sum is sure to be inside the storage.
    auto address = reinterpret_cast<std::uintptr_t>(zero);
    for (int d = 0; d < 3; ++d)
      address += static_cast<std::uintptr_t>(start[d]) * static_cast<std::uintptr_t>(stride[d]);
    fold_values(reinterpret_cast<std::byte*>(address), static_cast<std::ptrdiff_t>(stride[row_]),
                values, count, shared);
  });
}

void Accumulator::fold_into(const data::IndexSpace& points, Accumulator& target, bool shared) {
  fold_points(points, [&](const data::BoxPoint& start, const std::byte* values, std::size_t count) {
    std::size_t index = target.index_of(start);
    if (count == 1 && !shared) return target.contribute(index, values);
    while (count > 0) {
      const std::size_t n = std::min(count, target.left_in_chunk(index));
      fold_values(static_cast<std::byte*>(target.slot(index)),
                  static_cast<std::ptrdiff_t>(value_size_), values, n, shared);
      values += n * value_size_;
      index += n;
      count -= n;
    }
  });
}

/// Calls to(start, values, count) for contributions to `count` points of a row.
template <class To>
void Accumulator::fold_points(const data::IndexSpace& points, const To& to) {
  std::ranges::sort(touched_);
  for (const data::Box& box : points.boxes()) fold_box(box, to);
  // What was kept one by one. A point is folded once, so their order does not matter.
  for (const auto& [chunk, few] : few_)
    for (std::size_t i = 0; i < few->size(); ++i) {
      const data::BoxPoint p = point_at((chunk << shift_) + few->position(i));
      if (points.contains(p)) to(p, few->value(i, value_size_), 1);
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
      const std::size_t next = next_touched(chunk);
      if (next > last) return;
      p = point_at(next << shift_);
    }
  } while (move_into(box, p));
}

/// The first chunk behind this one that is there; `entries_` or more: none.
std::size_t Accumulator::next_touched(std::size_t chunk) const {
  if (lists_touched()) {
    const auto next = std::ranges::upper_bound(touched_, chunk);
    return next != touched_.end() ? *next : entries_;
  }
  do { ++chunk; } while (chunk < inline_entries && inline_table_[chunk] == nullptr);
  return chunk;
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

void Accumulator::fold_values(std::byte* values, std::ptrdiff_t stride,
                              const std::byte* contributions, std::size_t count,
                              bool shared) const {
  const auto size = static_cast<std::ptrdiff_t>(value_size_);
  if (shared) fold_shared(fold_, values, stride, contributions, size, count);
  else fold_(values, stride, contributions, size, count);
}

void* accumulator_slot(Accumulator& accumulator, std::size_t index) {
  return accumulator.slot(index);
}
std::byte** accumulator_chunks(Accumulator& accumulator) { return accumulator.chunks(); }
void accumulator_contribute(Accumulator& accumulator, std::size_t index, const void* value) {
  accumulator.contribute(index, value);
}

}  // namespace refrain::detail
