#include "data/set_cache.hpp"

#include <functional>
#include <utility>

namespace refrain::data {

namespace {

/// Queries whose operands may be exchanged are kept once.
void order_operands(SetQuery query, const IndexSpaceRef*& a, const IndexSpaceRef*& b) {
  const bool symmetric = query != SetQuery::subtract && query != SetQuery::cover;
  if (symmetric && std::less<>()(b->get(), a->get())) std::swap(a, b);
}

}  // namespace

SetCache& set_cache() {
  static SetCache* const cache = new SetCache;
  return *cache;
}

std::size_t SetCache::bucket_of(SetQuery query, const IndexSpace* a, const IndexSpace* b) const {
  std::uint64_t h = a->id() * 0x9E3779B97F4A7C15u;
  h = (h ^ h >> 32 ^ b->id()) * 0xC2B2AE3D27D4EB4Fu + static_cast<std::uint64_t>(query);
  return (h ^ h >> 29) & (buckets_.size() - 1);
}

SetCache::Entry* SetCache::find(SetQuery query, const IndexSpace* a, const IndexSpace* b) {
  for (Number n = buckets_[bucket_of(query, a, b)]; n != 0; n = entry(n).next_in_bucket) {
    Entry& e = entry(n);
    if (e.operand[0] == a && e.operand[1] == b && e.query == query) {
      e.asked = true;
      ++stats_.hits;
      return &e;
    }
  }
  ++stats_.misses;
  return nullptr;
}

std::optional<IndexSpaceRef> SetCache::find_set(SetQuery query, const IndexSpaceRef& a_in,
                                                const IndexSpaceRef& b_in) {
  const IndexSpaceRef *a = &a_in, *b = &b_in;
  order_operands(query, a, b);
  const std::lock_guard lock(mutex_);
  const Entry* found = find(query, a->get(), b->get());
  if (!found) return std::nullopt;
  if (found->answer == Answer::operand_a) return *a;
  if (found->answer == Answer::operand_b) return *b;
  return found->result;
}

std::optional<bool> SetCache::find_truth(SetQuery query, const IndexSpaceRef& a_in,
                                         const IndexSpaceRef& b_in) {
  const IndexSpaceRef *a = &a_in, *b = &b_in;
  order_operands(query, a, b);
  const std::lock_guard lock(mutex_);
  const Entry* found = find(query, a->get(), b->get());
  if (!found) return std::nullopt;
  return found->answer == Answer::yes;
}

void SetCache::insert_set(SetQuery query, const IndexSpaceRef& a_in, const IndexSpaceRef& b_in,
                          const IndexSpaceRef& result) {
  const IndexSpaceRef *a = &a_in, *b = &b_in;
  order_operands(query, a, b);
  // An operand as its own result is not counted again: the entry would keep itself alive.
  const Answer answer = result == *a   ? Answer::operand_a
                        : result == *b ? Answer::operand_b
                                       : Answer::set;
  Dead dead;
  const std::lock_guard lock(mutex_);
  insert(query, *a, *b, answer, answer == Answer::set ? result : IndexSpaceRef(), dead);
}

void SetCache::insert_truth(SetQuery query, const IndexSpaceRef& a_in, const IndexSpaceRef& b_in,
                            bool result) {
  const IndexSpaceRef *a = &a_in, *b = &b_in;
  order_operands(query, a, b);
  Dead dead;
  const std::lock_guard lock(mutex_);
  insert(query, *a, *b, result ? Answer::yes : Answer::no, {}, dead);
}

void SetCache::insert(SetQuery query, const IndexSpaceRef& a, const IndexSpaceRef& b, Answer answer,
                      const IndexSpaceRef& result, Dead& dead) {
  const std::size_t boxes = result ? result->boxes().size() : 0;
  if (boxes > max_boxes_ / 8 || max_entries_ == 0) return;
  for (Number n = buckets_[bucket_of(query, a.get(), b.get())]; n != 0; n = entry(n).next_in_bucket)
    if (entry(n).operand[0] == a.get() && entry(n).operand[1] == b.get() && entry(n).query == query)
      return;  // another thread computed it too
  shrink_to(max_entries_ - 1, max_boxes_ - boxes, dead);
  const Number n = take_unused();
  Entry& e = entry(n);
  e.operand[0] = a.get();
  e.operand[1] = b.get();
  e.query = query;
  e.answer = answer;
  e.asked = false;
  e.result = result;
  e.next_in_bucket = std::exchange(buckets_[bucket_of(query, a.get(), b.get())], n);
  link(n, 0);
  link(n, 1);
  ++stats_.entries;
  stats_.boxes += boxes;
}

SetCache::Number SetCache::take_unused() {
  if (unused_ != 0) return std::exchange(unused_, entry(unused_).next_in_bucket);
  entries_.emplace_back();
  if (entries_.size() > buckets_.size()) {
    buckets_.assign(2 * buckets_.size(), 0);
    for (Number n = 1; n < entries_.size(); ++n) {  // none is unused
      Number& bucket =
          buckets_[bucket_of(entry(n).query, entry(n).operand[0], entry(n).operand[1])];
      entry(n).next_in_bucket = std::exchange(bucket, n);
    }
  }
  return static_cast<Number>(entries_.size());
}

void SetCache::link(Number n, int side) {
  Entry& e = entry(n);
  const std::uint32_t self = 2 * n + static_cast<std::uint32_t>(side);
  e.operand[side]->cached_.store(true, std::memory_order_relaxed);
  std::uint32_t& head = e.operand[side]->cache_entries_;
  e.previous[side] = 0;
  e.next[side] = head;
  if (head) entry(head / 2).previous[head % 2] = self;
  head = self;
}

void SetCache::unlink(Number n, int side) {
  Entry& e = entry(n);
  const std::uint32_t next = e.next[side], previous = e.previous[side];
  if (next) entry(next / 2).previous[next % 2] = previous;
  if (previous) entry(previous / 2).next[previous % 2] = next;
  else e.operand[side]->cache_entries_ = next;
}

void SetCache::erase(Number n, Dead& dead) {
  Entry& e = entry(n);
  Number* bucket = &buckets_[bucket_of(e.query, e.operand[0], e.operand[1])];
  while (*bucket != n) bucket = &entry(*bucket).next_in_bucket;
  *bucket = e.next_in_bucket;
  unlink(n, 0);
  unlink(n, 1);
  --stats_.entries;
  if (e.result) {
    stats_.boxes -= e.result->boxes().size();
    dead.push_back(std::move(e.result));
  }
  e = Entry{};
  e.next_in_bucket = std::exchange(unused_, n);
}

void SetCache::shrink_to(std::size_t entries, std::size_t boxes, Dead& dead) {
  while (stats_.entries > entries || stats_.boxes > boxes) {
    if (hand_ >= entries_.size()) hand_ = 0;
    const auto n = static_cast<Number>(++hand_);
    if (!entry(n).operand[0] || std::exchange(entry(n).asked, false)) continue;
    erase(n, dead);
    ++stats_.evictions;
  }
}

void SetCache::forget(const IndexSpace& space) noexcept {
  Dead dead;
  const std::lock_guard lock(mutex_);
  while (space.cache_entries_) erase(space.cache_entries_ / 2, dead);
}

void SetCache::clear() {
  Dead dead;
  const std::lock_guard lock(mutex_);
  for (Number n = 1; n <= entries_.size(); ++n)
    if (entry(n).operand[0]) erase(n, dead);
}

void SetCache::set_bounds(std::size_t max_entries, std::size_t max_boxes) {
  Dead dead;
  const std::lock_guard lock(mutex_);
  max_entries_ = max_entries;
  max_boxes_ = max_boxes;
  shrink_to(max_entries, max_boxes, dead);
}

SetCacheStats SetCache::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace refrain::data
