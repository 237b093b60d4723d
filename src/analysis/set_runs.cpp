#include "analysis/set_runs.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "analysis/field_state.hpp"

namespace refrain::analysis {

namespace {

/// The position of each part: what was cut from a part stands right behind it, what was cut last first.
std::vector<std::uint32_t> positions_of(const SubdivisionView& subdivision) {
  constexpr Part kNone = ~Part{0};
  const Part parts = subdivision.parts();
  std::vector<Part> next(parts, kNone);
  Part first = kNone, last = kNone;  // of those that were there from the beginning
  for (Part part = 0; part < parts; ++part) {
    const Part whole = subdivision.cut_from(part);
    if (whole != part) next[part] = std::exchange(next[whole], part);
    else if (first == kNone) first = last = part;
    else last = next[last] = part;
  }
  std::vector<std::uint32_t> positions(parts);
  std::uint32_t position = 0;
  for (Part part = first; part != kNone; part = next[part]) positions[part] = position++;
  return positions;
}

}  // namespace

void SetRuns::begin() {
  const std::vector<Position> position_of = positions_of(field_.subdivision());
  std::vector<EquivalenceSet*> sets(position_of.size());
  for (const auto& set : field_.sets()) sets[position_of[set->part]] = set.get();
  heads_.assign(sets.size() / 64 + 1, ~std::uint64_t{0});
  std::vector<Position> positions;
  field_.for_each_awake([&](Footprint& footprint) {
    positions.clear();
    footprint.intervals.clear();
    for (const EquivalenceSet* set : footprint.sets) positions.push_back(position_of[set->part]);
    std::ranges::sort(positions);
    for (const Position at : positions)
      if (!footprint.intervals.empty() && footprint.intervals.back().second + 1 == at)
        footprint.intervals.back().second = at;
      else footprint.intervals.emplace_back(at, at);
    footprint.many = true;
  });
  balance_ = -all();
  sets_ = std::move(sets);  // last: memory may run out before
}

std::int64_t SetRuns::all() const {
  return static_cast<std::int64_t>(
      std::max(field_.entries(), std::size_t{field_.subdivision().parts()}));
}

void SetRuns::separate() {
  const EquivalenceSet* head = sets_.front();
  for (Position at = 0; at < sets_.size(); ++at)
    if (is_head(at)) head = sets_[at];
    else sets_[at]->copy_state(*head);
  sets_ = {};
  heads_ = {};
  walking_ = {};
  walked_last_ = nullptr;
  if (balance_ >= 0) patience_ = least_patience;
  field_.for_each_awake([](Footprint& footprint) {
    footprint.intervals = {};
    footprint.many = footprint.sets.size() >= least_many;
  });
}

SetRuns::Position SetRuns::head_of(Position position) const {
  std::size_t word = position / 64;
  std::uint64_t bits = heads_[word] << (63 - position % 64);
  if (bits != 0) return position - static_cast<Position>(std::countl_zero(bits));
  while ((bits = heads_[--word]) == 0) {}  // position 0 is a head
  return static_cast<Position>(64 * word + 63) - static_cast<Position>(std::countl_zero(bits));
}

// The first head from `from` on; at least `end` where there is none before.
SetRuns::Position SetRuns::next_head(Position from, Position end) const {
  std::size_t word = from / 64;
  std::uint64_t bits = heads_[word] >> (from % 64);
  if (bits != 0) return from + static_cast<Position>(std::countr_zero(bits));
  while (64 * ++word < end) {
    bits = heads_[word];
    if (bits != 0)
      return static_cast<Position>(64 * word) + static_cast<Position>(std::countr_zero(bits));
  }
  return end;
}

void SetRuns::split(Position at) {
  if (at >= sets_.size() || is_head(at)) return;
  sets_[at]->copy_state(*sets_[head_of(at)]);
  heads_[at / 64] |= std::uint64_t{1} << (at % 64);
  balance_ -= kSplit;
}

void SetRuns::walk_runs(const Footprint& footprint) {
  walked_last_ = nullptr;
  walking_.clear();
  for (const auto& [first, last] : footprint.intervals) {
    split(first);
    split(last + 1);
    for (Position at = first; at <= last; at = next_head(at + 1, last + 1))
      walking_.push_back(sets_[at]);
  }
  walked_last_ = &footprint;
}

void SetRuns::written(const Footprint& footprint, const Instance& instance) {
  const auto sets = static_cast<std::int64_t>(footprint.sets.size());
  if (!begun()) {
    walked_ += sets;
    if (field_.recorded.recorder == 0 && walked_ >= patience_ * all()) begin();
    return;
  }
  walked_last_ = nullptr;
  balance_ = std::min(balance_ + sets - static_cast<std::int64_t>(walking_.size()), all());
  // A write leaves the same behind at every set where no other instance was ever used.
  if (walking_.size() > footprint.intervals.size() &&
      std::ranges::all_of(walking_, [&](const EquivalenceSet* set) {
        return set->uses.size() == 1 && set->uses.front().instance == &instance;
      }))
    for (const auto& [first, last] : footprint.intervals)
      for (Position at = next_head(first + 1, last + 1); at <= last;
           at = next_head(at + 1, last + 1))
        heads_[at / 64] &= ~(std::uint64_t{1} << (at % 64));
  if (balance_ >= -2 * all()) return;
  patience_ = std::min(2 * patience_, kMostPatience);
  end();
}

}  // namespace refrain::analysis
