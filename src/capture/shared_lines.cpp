#include "capture/shared_lines.hpp"

#include <algorithm>

namespace refrain::capture {
namespace {

/// Of what a cache has room for it keeps so much among other values, as these are not used in turn.
constexpr double kept = 0.5;

double volume(const data::Box& box) {
  double points = 1;
  for (int d = 0; d < 3; ++d)
    points *= static_cast<double>(std::max<Coord>(0, box.hi[d] - box.lo[d] + 1));
  return points;
}

/// Whether half of the points of `part` or more are in `box`.
bool has_most(const data::Box& box, const data::Box& part) {
  data::Box both = part;
  for (int d = 0; d < 3; ++d) {
    both.lo[d] = std::max(both.lo[d], box.lo[d]);
    both.hi[d] = std::min(both.hi[d], box.hi[d]);
  }
  return 2 * volume(both) >= volume(part);
}

}  // namespace

SharedLines::SharedLines(Costs shared_writes) : shared_writes_(std::move(shared_writes)) {
  if (shared_writes_.empty()) return;
  const auto longest = std::ranges::max_element(shared_writes_, {}, &Durations::mean);
  shared_writes_.erase(longest + 1, shared_writes_.end());
}

std::uint32_t SharedLines::block(const Instance& instance, const data::Box& points) {
  data::BoxIndex<Block>& index = instances_[instance];
  std::vector<Block*> near;
  const Block* found = nullptr;
  index.find(points, [&](Block& other) {
    if (other.points == points) found = &other;
    near.push_back(&other);
  });
  if (found != nullptr) return found->number;
  Block& made = blocks_.emplace_back(Block{points, static_cast<std::uint32_t>(blocks_.size())});
  near.push_back(&made);
  for (Block* other : near) {
    if (has_most(points, other->points)) made.has_most_of.push_back(other);
    if (other != &made && has_most(other->points, points)) other->has_most_of.push_back(&made);
  }
  index.insert(points, made);
  return made.number;
}

double SharedLines::begin(const std::vector<Touch>& touches, std::uint32_t core) {
  if (core >= touched_.size()) touched_.resize(core + 1);
  const double capacity = kept * static_cast<double>(shared_writes_.back().bytes);
  double seconds = 0;
  for (const Touch& touch : touches) {
    const Block& used = blocks_[touch.block];
    touched_[core] += touch.bytes;
    if (touch.reads)
      for (Block* block : used.has_most_of) {
        if (block->last.core != core) block->before = block->last;
        block->last = {core, touched_[core]};
      }
    if (!touch.writes) continue;
    const Reader& other = used.last.core != core ? used.last : used.before;
    if (other.core != kNobody) {
      const double there = capacity - (touched_[other.core] - other.touched);
      seconds += seconds_for(shared_writes_,
                             static_cast<std::uint64_t>(std::clamp(there, 0.0, touch.bytes)));
    }
    for (Block* block : used.has_most_of) block->last = block->before = {};
  }
  return seconds;
}

}  // namespace refrain::capture
