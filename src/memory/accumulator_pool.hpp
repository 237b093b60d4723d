#pragma once
// The memory of accumulators, recycled between tasks: chunks of 4 KiB, and tables of pointers to chunks.
//
// Tables come back with every entry null, wiped by whoever knows which entries were set, so that a large
// table costs its size once and not once per task. What is kept is bounded (limits below); the rest goes
// back to the heap. Threads: any, one lock, taken for several chunks at a time.

#include <cstddef>
#include <map>
#include <mutex>

namespace refrain::data {

class AccumulatorPool {
 public:
  static constexpr std::size_t chunk_bytes = 4096;
  static constexpr std::size_t kept_chunks_limit = 16384;                  ///< 64 MiB
  static constexpr std::size_t kept_entries_limit = std::size_t{8} << 20;  ///< 64 MiB

  /// A chunk that is not in use.
  struct Chunk {
    Chunk* next = nullptr;
  };

  /// The process's pool.
  static AccumulatorPool& shared();

  /// A list of `count` chunks, aligned to 64 bytes.
  [[nodiscard]] Chunk* take_chunks(std::size_t count);
  /// Takes back a list of chunks.
  void give_chunks(Chunk* first);

  /// A table of null pointers.
  [[nodiscard]] std::byte** take_table(std::size_t entries);
  /// Requires: a table of take_table for as many entries, every one of them null again.
  void give_table(std::byte** table, std::size_t entries);

  /// Bytes kept for reuse.
  [[nodiscard]] std::size_t kept_bytes() const;
  /// Gives all that is kept back to the heap.
  void trim();

 private:
  AccumulatorPool() = default;

  mutable std::mutex mutex_;
  Chunk* chunks_ = nullptr;
  std::size_t kept_chunks_ = 0;
  std::multimap<std::size_t, std::byte**> tables_;  // by number of entries
  std::size_t kept_entries_ = 0;
};

}  // namespace refrain::data
