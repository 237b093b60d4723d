#include "kernels/reduce.hpp"

#include <algorithm>
#include <complex>
#include <cstring>

#include "kernels/variants.hpp"

namespace refrain::arrays::kernels {

namespace {

/// Chunk results on their way up a level, at a time.
constexpr std::size_t kBatch = 32;
constexpr std::size_t kLargest = 16;  // bytes of an element

Op fold_of(Reduce reduce) {
  switch (reduce) {
    case Reduce::sum: return Op::add;
    case Reduce::prod: return Op::multiply;
    case Reduce::min:
    case Reduce::argmin: return Op::minimum;
    case Reduce::max:
    case Reduce::argmax: return Op::maximum;
    case Reduce::any: return Op::logical_or;
    case Reduce::all: return Op::logical_and;
  }
  return Op::add;
}

template <class T>
void write(void* out, T value) {
  std::memcpy(out, &value, sizeof(value));
}

}  // namespace

bool exists(Reduce reduce, DType type) noexcept {
  switch (reduce) {
    case Reduce::sum:
    case Reduce::prod: return type != DType::boolean && type != DType::int32;
    case Reduce::any:
    case Reduce::all: return type == DType::boolean;
    default: return true;
  }
}

void write_identity(Reduce reduce, DType type, void* out) noexcept {
  const int value = reduce == Reduce::prod || reduce == Reduce::all ? 1 : 0;
  switch (type) {
    case DType::boolean: return write(out, value != 0);
    case DType::int32: return write(out, std::int32_t{value});
    case DType::int64: return write(out, std::int64_t{value});
    case DType::float32: return write(out, static_cast<float>(value));
    case DType::float64: return write(out, static_cast<double>(value));
    case DType::complex128: return write(out, std::complex<double>(value));
  }
}

const Reducer* find_reducer(Reduce reduce, DType type) noexcept {
  return exists(reduce, type) ? best_variant().find_reducer(reduce, type) : nullptr;
}

// --- Sequences --------------------------------------------------------------------------------------------------------

Sequence::Sequence(Reduce reduce, DType type, void* chunk_results)
    : reducer_(find_reducer(reduce, type)),
      size_(size_of(type)),
      reduce_(reduce),
      type_(type),
      chunk_results_(static_cast<std::byte*>(chunk_results)) {}

void Sequence::feed(const void* terms, std::size_t count) {
  count_ += count;
  feed(0, static_cast<const std::byte*>(terms), count);
}

void Sequence::feed(std::size_t level, const std::byte* terms, std::size_t count) {
  if (level == 1 && chunk_results_ != nullptr) {
    std::memcpy(chunk_results_, terms, count * size_);
    chunk_results_ += count * size_;
    return;
  }
  Level& here = levels_[level];
  while (count > 0) {
    std::size_t taken = 0;
    if (here.filled == 0 && count >= kChunk) {
      alignas(64) std::byte results[kBatch * kLargest];
      const std::size_t chunks = std::min(count / kChunk, kBatch);
      reducer_->chunks(results, terms, chunks);
      feed(level + 1, results, chunks);
      taken = chunks * kChunk;
    } else {
      taken = std::min(count, kChunk - here.filled);
      reducer_->fold(here.lanes, here.filled, terms, taken);
      here.filled += taken;
      if (here.filled == kChunk) close(level);
    }
    terms += taken * size_;
    count -= taken;
  }
}

void Sequence::close(std::size_t level) {
  Level& here = levels_[level];
  alignas(16) std::byte result[kLargest];
  reducer_->combine(result, here.lanes, here.filled);
  here.filled = 0;
  feed(level + 1, result, 1);
}

void Sequence::result(void* out) {
  if (count_ == 0) {
    if (reduce_ != Reduce::min && reduce_ != Reduce::max) write_identity(reduce_, type_, out);
    return;
  }
  std::size_t level = 0;
  for (std::size_t terms = count_; terms > 1; terms = chunks_of(terms), ++level) {
    if (levels_[level].filled > 0) close(level);
  }
  std::memcpy(out, levels_[level].lanes, size_);
}

std::size_t Sequence::finish() {
  if (levels_[0].filled > 0) close(0);
  return chunks_of(count_);
}

// --- Columns --------------------------------------------------------------------------------------------------------

Columns::Columns(Reduce reduce, DType type, std::size_t width, void* chunk_results)
    : fold_(find_loop(fold_of(reduce), type)),
      bytes_(width * size_of(type)),
      width_(width),
      reduce_(reduce),
      type_(type),
      chunk_results_(static_cast<std::byte*>(chunk_results)) {}
Columns::~Columns() = default;
Columns::Columns(Columns&&) noexcept = default;
Columns& Columns::operator=(Columns&&) noexcept = default;

std::byte* Columns::lane(std::size_t level, std::size_t lane) const {
  return levels_[level].lanes.get() + lane * bytes_;
}

void Columns::feed(const void* row) {
  ++count_;
  feed(0, row);
}

void Columns::feed(std::size_t level, const void* row) {
  if (level == 1 && chunk_results_ != nullptr) {
    std::memcpy(chunk_results_, row, bytes_);
    chunk_results_ += bytes_;
    return;
  }
  if (level == levels_.size()) {
    levels_.push_back({std::unique_ptr<std::byte[]>(new std::byte[kLanes * bytes_])});
  }
  std::size_t& filled = levels_[level].filled;
  std::byte* const to = lane(level, filled % kLanes);
  if (filled < kLanes) {
    std::memcpy(to, row, bytes_);
  } else {
    fold_(width_, to, to, row, nullptr);
  }
  if (++filled == kChunk) close(level);
}

void Columns::close(std::size_t level) {
  const std::size_t lanes = std::min(levels_[level].filled, kLanes);
  for (const std::size_t gap : {4, 2, 1}) {
    for (std::size_t l = 0; l < gap && l + gap < lanes; ++l) {
      fold_(width_, lane(level, l), lane(level, l), lane(level, l + gap), nullptr);
    }
  }
  levels_[level].filled = 0;
  feed(level + 1, lane(level, 0));
}

void Columns::result(void* out) {
  if (count_ == 0) {
    if (reduce_ == Reduce::min || reduce_ == Reduce::max) return;
    for (std::size_t i = 0; i < width_; ++i) {
      write_identity(reduce_, type_, static_cast<std::byte*>(out) + i * size_of(type_));
    }
    return;
  }
  std::size_t level = 0;
  for (std::size_t terms = count_; terms > 1; terms = chunks_of(terms), ++level) {
    if (levels_[level].filled > 0) close(level);
  }
  std::memcpy(out, lane(level, 0), bytes_);
}

std::size_t Columns::finish() {
  if (!levels_.empty() && levels_[0].filled > 0) close(0);
  return chunks_of(count_);
}

// --- argmin and argmax ----------------------------------------------------------------------------------------------

ArgSequence::ArgSequence(Reduce reduce, DType type, std::int64_t first)
    : reducer_(find_reducer(reduce, type)), size_(size_of(type)), next_(first) {}

void ArgSequence::feed(const void* terms, std::size_t count) {
  const auto* from = static_cast<const std::byte*>(terms);
  // The best of a block is found by its value, and its position only if it is better than what is known.
  for (std::size_t done = 0; done < count;) {
    const std::size_t chunks = std::min((count - done) / kChunk, kBatch);
    const std::size_t block = chunks > 0 ? chunks * kChunk : count - done;
    alignas(64) std::byte results[kBatch * kLargest], lanes[kLanes * kLargest], best[kLargest];
    if (chunks > 0) {
      reducer_->chunks(results, from, chunks);
      reducer_->fold(lanes, 0, results, chunks);
    } else {
      reducer_->fold(lanes, 0, from, block);
    }
    reducer_->combine(best, lanes, chunks > 0 ? chunks : block);
    constexpr std::int64_t kNew = -2;
    std::int64_t position = kNew;
    if (!empty()) {
      position = position_;
      reducer_->improve(1, best_, &position, best, nullptr, kNew);
    }
    if (position == kNew) {
      const std::size_t found = reducer_->first_of(from, block, best);
      std::memcpy(best_, from + found * size_, size_);
      position_ = next_ + static_cast<std::int64_t>(found);
    }
    next_ += static_cast<std::int64_t>(block);
    from += block * size_;
    done += block;
  }
}

void ArgSequence::merge(const void* value, std::int64_t position) {
  if (empty()) {
    std::memcpy(best_, value, size_);
    position_ = position;
  } else {
    reducer_->improve(1, best_, &position_, value, nullptr, position);
  }
}

ArgColumns::ArgColumns(Reduce reduce, DType type, std::size_t width, std::int64_t first)
    : reducer_(find_reducer(reduce, type)),
      bytes_(width * size_of(type)),
      next_(first),
      positions_(width, first),
      best_(new std::byte[std::max<std::size_t>(bytes_, 1)]) {}

void ArgColumns::start(const void* values) {
  std::memcpy(best_.get(), values, bytes_);
  empty_ = false;
}

void ArgColumns::feed(const void* row) {
  if (empty_) {
    start(row);
    std::fill(positions_.begin(), positions_.end(), next_);
  } else {
    reducer_->improve(positions_.size(), best_.get(), positions_.data(), row, nullptr, next_);
  }
  ++next_;
}

void ArgColumns::merge(const void* values, const std::int64_t* positions) {
  if (empty_) {
    start(values);
    std::copy_n(positions, positions_.size(), positions_.data());
  } else {
    reducer_->improve(positions_.size(), best_.get(), positions_.data(), values, positions, 0);
  }
}

}  // namespace refrain::arrays::kernels
