#include "memory/arena.hpp"

#include <algorithm>
#include <iterator>

namespace refrain::memory {

std::optional<std::uint64_t> Arena::take(std::uint64_t bytes, const void* owner,
                                         std::vector<std::uint64_t>& awaited) {
  std::optional<std::uint64_t> at = find(next_, bytes, owner);
  if (!at) at = find(0, bytes, owner);
  if (!at) return at;
  // The last block may be cut short by the end, so that exactly `size` bytes fit.
  const std::uint64_t end = std::min((*at + bytes + unit - 1) / unit * unit, size_);
  cut_out(*at, end, awaited);
  blocks_.emplace(*at, end - *at);
  next_ = end;
  return at;
}

// Holes that touch are one to the owner, whichever of them are settled: what it finds must not depend on that.
std::optional<std::uint64_t> Arena::find(std::uint64_t from, std::uint64_t bytes,
                                         const void* owner) const {
  auto hole = holes_.upper_bound(from);
  if (hole != holes_.begin()) --hole;
  std::uint64_t begin = from, end = from;  // of what is free here
  for (; hole != holes_.end(); ++hole) {
    const auto& [at, what] = *hole;
    if (at + what.size < from || (what.of.owner != nullptr && what.of.owner != owner)) continue;
    if (at > end) begin = at;
    end = at + what.size;
    if (end - begin >= bytes) return begin;
  }
  return {};
}

void Arena::cut_out(std::uint64_t begin, std::uint64_t end, std::vector<std::uint64_t>& awaited) {
  // First what may throw.
  for (auto hole = std::prev(holes_.upper_bound(begin)); hole != holes_.end() && hole->first < end;
       ++hole)
    if (hole->second.of.owner != nullptr) awaited.push_back(hole->second.of.number);
  for (auto hole = std::prev(holes_.upper_bound(begin));
       hole != holes_.end() && hole->first < end;) {
    const auto [at, what] = *hole;
    const std::uint64_t stop = at + what.size;
    if (at < begin) (hole++)->second.size = begin - at;
    else hole = holes_.erase(hole);
    if (stop > end) hole = holes_.emplace_hint(hole, end, Hole{stop - end, what.of});
  }
}

std::uint64_t Arena::give_up(std::uint64_t at) {
  const auto block = blocks_.find(at);
  REFRAIN_ASSERT(block != blocks_.end(), "a block is given up once, by who took it");
  const std::uint64_t size = block->second;
  blocks_.erase(block);
  // Who comes next finds what the first one found.
  if (blocks_.empty()) next_ = 0;
  return size;
}

void Arena::retire(std::uint64_t at, const Retirement& by) {
  const std::uint64_t size = give_up(at);
  holes_.emplace(at, Hole{size, by});
  retired_.emplace(by, std::pair{at, at + size});
}

void Arena::release(std::uint64_t at) {
  const std::uint64_t size = give_up(at);
  join(holes_.emplace(at, Hole{size, {}}).first);
}

void Arena::settle(const Retirement& what) {
  const auto [begin, end] = retired_.take_out(what);
  for (auto hole = holes_.lower_bound(begin); hole != holes_.end() && hole->first < end; ++hole) {
    if (hole->second.of != what) continue;
    hole->second.of = {};
    hole = join(hole);
  }
}

std::size_t Arena::settle_all(const void* owner) {
  return retired_.settle_all(owner, [this](const Retirement& what) { settle(what); });
}

// Puts a hole of everybody's together with its neighbours.
Arena::Holes::iterator Arena::join(Holes::iterator hole) {
  const auto everybodys = [this](Holes::iterator other) {
    return other != holes_.end() && other->second.of.owner == nullptr;
  };
  if (const auto next = std::next(hole);
      everybodys(next) && hole->first + hole->second.size == next->first) {
    hole->second.size += next->second.size;
    holes_.erase(next);
  }
  if (hole == holes_.begin()) return hole;
  const auto before = std::prev(hole);
  if (!everybodys(before) || before->first + before->second.size != hole->first) return hole;
  before->second.size += hole->second.size;
  holes_.erase(hole);
  return before;
}

}  // namespace refrain::memory
