#include "memory/accumulator_pool.hpp"

#include <bit>
#include <cstdlib>
#include <new>
#include <utility>

namespace refrain::data {

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

}  // namespace refrain::data
