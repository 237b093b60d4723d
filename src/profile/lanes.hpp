#pragma once
// Viewers draw the events of one track as a stack: each must lie inside the one that began before it,
// or after it. Lanes split a track's events into as few rows as that takes, first fit.

#include <cstdint>
#include <span>
#include <vector>

namespace refrain::profile {

struct Interval {
  std::uint64_t begin = 0, end = 0;
};

/// The lane of each event, from 0. `events` ascend by begin, and among equals descend by end.
/// O(events x lanes).
std::vector<int> assign_lanes(std::span<const Interval> events);

}  // namespace refrain::profile
