#pragma once
// Remembers the results of set algebra per pair of index spaces.
//
// Bounded in entries and in boxes of the results; past a bound the clock algorithm drops what was not
// asked for since the hand last came by. An entry does not keep its operands alive: it goes when
// either of them dies (IndexSpace tells the cache). It does keep a result alive that is neither
// operand, so results of a destroyed region's pieces go with the pieces, and what a cycle of results
// and operands could hold on to is bounded by the cache's own bounds and freed by clear().
//
// Any thread may call anything; one lock, held for a look-up or a list operation, never while set
// algebra is computed or a set is freed. Results never depend on what the cache holds.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "data/index_space.hpp"

namespace refrain::data {

/// What was asked about a pair (a, b).
enum class SetQuery : std::uint8_t { intersect, unite, subtract, overlap, cover };

struct SetCacheStats {
  std::uint64_t hits = 0, misses = 0, evictions = 0;
  std::size_t entries = 0;
  std::size_t boxes = 0;  // in results other than operands
};

/// There is one in the process, set_cache(): sets tell it of their death.
class SetCache {
 public:
  SetCache(const SetCache&) = delete;
  SetCache& operator=(const SetCache&) = delete;

  /// The set remembered for a set-valued query.
  std::optional<IndexSpaceRef> find_set(SetQuery query, const IndexSpaceRef& a,
                                        const IndexSpaceRef& b);
  /// The truth value remembered for overlap and cover.
  std::optional<bool> find_truth(SetQuery query, const IndexSpaceRef& a, const IndexSpaceRef& b);
  void insert_set(SetQuery query, const IndexSpaceRef& a, const IndexSpaceRef& b,
                  const IndexSpaceRef& result);
  void insert_truth(SetQuery query, const IndexSpaceRef& a, const IndexSpaceRef& b, bool result);

  /// Drops every entry about a set that is being freed.
  void forget(const IndexSpace& space) noexcept;
  void clear();
  /// Changes the bounds, and drops what exceeds them. Results with more than max_boxes / 8 boxes are
  /// not kept.
  void set_bounds(std::size_t max_entries, std::size_t max_boxes);
  [[nodiscard]] SetCacheStats stats() const;

 private:
  friend SetCache& set_cache();
  SetCache() : buckets_(64, 0) {}

  using Number = std::uint32_t;  // of an entry plus 1; 0 is none
  enum class Answer : std::uint8_t { no, yes, operand_a, operand_b, set };
  struct Entry {
    const IndexSpace* operand[2] = {nullptr, nullptr};  // null while the entry is unused
    SetQuery query{};
    Answer answer{};
    bool asked = false;         // since the clock's hand came by
    Number next_in_bucket = 0;  // the next unused entry while this one is unused
    // The list of entries about operand[i]; a link is 2 * number + side, 0 is the end.
    std::uint32_t next[2] = {0, 0}, previous[2] = {0, 0};
    IndexSpaceRef result;  // for Answer::set
  };
  using Dead = std::vector<IndexSpaceRef>;  // freed by the caller once the lock is released

  // All of these need the lock.
  Entry& entry(Number n) { return entries_[n - 1]; }
  std::size_t bucket_of(SetQuery query, const IndexSpace* a, const IndexSpace* b) const;
  Entry* find(SetQuery query, const IndexSpace* a, const IndexSpace* b);
  void insert(SetQuery query, const IndexSpaceRef& a, const IndexSpaceRef& b, Answer answer,
              const IndexSpaceRef& result, Dead& dead);
  Number take_unused();
  void link(Number n, int side);
  void unlink(Number n, int side);
  void erase(Number n, Dead& dead);
  void shrink_to(std::size_t entries, std::size_t boxes, Dead& dead);

  mutable std::mutex mutex_;
  std::size_t max_entries_ = std::size_t{1} << 15, max_boxes_ = std::size_t{1} << 20;
  std::vector<Entry> entries_;
  std::vector<Number> buckets_;
  Number unused_ = 0;
  std::size_t hand_ = 0;
  SetCacheStats stats_;
};

/// The cache that set algebra uses; never destroyed.
SetCache& set_cache();

}  // namespace refrain::data
