#include "profile/lanes.hpp"

namespace refrain::profile {

namespace {

// The ends of the events of a lane that are open, the innermost last.
using Lane = std::vector<std::uint64_t>;

bool accepts(Lane& lane, const Interval& event) {
  while (!lane.empty() && lane.back() <= event.begin) lane.pop_back();
  return lane.empty() || event.end <= lane.back();
}

}  // namespace

std::vector<int> assign_lanes(std::span<const Interval> events) {
  std::vector<int> lanes;
  lanes.reserve(events.size());
  std::vector<Lane> open;
  for (const Interval& event : events) {
    std::size_t lane = 0;
    while (lane < open.size() && !accepts(open[lane], event)) ++lane;
    if (lane == open.size()) open.emplace_back();
    open[lane].push_back(event.end);
    lanes.push_back(static_cast<int>(lane));
  }
  return lanes;
}

}  // namespace refrain::profile
