#include "tracing/segment.hpp"

#include <algorithm>
#include <utility>

namespace refrain::runtime {

bool Unit::has(const Segment& segment) const {
  return std::ranges::find(parts, &segment, &Part::segment) != parts.end();
}

Segment& Fork::add(std::unique_ptr<Segment> segment) {
  Segment& added = *segment;
  decltype(segments_) place(1);  // both places, or none
  by_first_call_.emplace(hash(added.trace->calls().front()->key), &added);
  place.front() = std::move(segment);
  segments_.splice(segments_.end(), place);
  ++added_;
  added.home = this;
  added.at_home = std::prev(segments_.end());
  return added;
}

std::unique_ptr<Segment> Fork::remove(Segment& segment) {
  const auto [first, last] = by_first_call_.equal_range(hash(segment.trace->calls().front()->key));
  by_first_call_.erase(
      std::find_if(first, last, [&](const auto& entry) { return entry.second == &segment; }));
  std::unique_ptr<Segment> removed = std::move(*segment.at_home);
  segments_.erase(segment.at_home);
  return removed;
}

void Fork::note_recorded(bool beside_others) {
  unused_ += beside_others ? kMostUnused / kFew : 1;
  if (unused_ >= kMostUnused) recording.judge(false);
}

void Fork::note_replayed() {
  if (unused_ >= kMostUnused) recording.judge(true);
  unused_ = 0;
}

void Fork::judge(const Occurrence& occurrence) {
  balance_ = std::clamp(balance_ + occurrence.gain, -kCredit, std::max(balance_, kCredit));
  if (balance_ > 0) replaying.judge(true);
  if (balance_ == -kCredit) replaying.judge(false);
}

}  // namespace refrain::runtime
