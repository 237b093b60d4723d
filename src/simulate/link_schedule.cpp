#include "simulate/link_schedule.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace refrain::simulate {

namespace {

/// Small copies come one after the other, too.
double busy_seconds(const Link& link, std::uint64_t bytes) {
  return link.latency + static_cast<double>(bytes) / link.bandwidth;
}

}  // namespace

// The link between the two, or the fastest way over one memory more. (Links join what is near, so none is longer.)
const std::vector<const Link*>& LinkSchedule::route(const Ends& ends) {
  const auto [at, added] = routes_.try_emplace(ends);
  if (!added) return at->second;
  const auto [from, to] = ends;
  if (const Link* const link = machine_.link(from, to)) {
    at->second = {link};
    return at->second;
  }
  const auto per_rank = static_cast<MemoryId>(machine_.memories().size() / machine_.ranks());
  const MemoryId first = machine_.memory(from).rank * per_rank;
  constexpr std::uint64_t kUsual = 1 << 20;
  double best = std::numeric_limits<double>::infinity();
  for (MemoryId between = first; between < first + per_rank; ++between) {
    const Link *const there = machine_.link(from, between), *const on = machine_.link(between, to);
    if (there == nullptr || on == nullptr) continue;
    const double seconds = busy_seconds(*there, kUsual) + busy_seconds(*on, kUsual);
    if (seconds >= best) continue;
    best = seconds;
    at->second = {there, on};
  }
  return at->second;
}

double LinkSchedule::begin(const Ends& ends, std::uint64_t bytes, double now) {
  const std::uint32_t from = machine_.memory(ends.first).rank,
                      to = machine_.memory(ends.second).rank;
  double begin = now, busy = 0;
  if (from != to) {
    double &out = adapters_[from].first, &in = adapters_[to].second;
    if (const std::optional<Link>& network = machine_.network())
      busy = busy_seconds(*network, bytes);
    begin = std::max({begin, out, in});
    out = in = begin + busy;
  } else {
    const std::vector<const Link*>& links = route(ends);
    for (const Link* link : links) begin = std::max(begin, free_at_[link]);
    for (const Link* link : links) {
      const double seconds = busy_seconds(*link, bytes);
      free_at_[link] = begin + seconds;
      busy = std::max(busy, seconds);
    }
  }
  count(ends, bytes, busy);
  return begin;
}

void LinkSchedule::count(const Ends& ends, std::uint64_t bytes, double seconds) {
  Use& use = uses_[ends];
  ++use.copies;
  use.bytes += bytes;
  use.busy += seconds;
}

}  // namespace refrain::simulate
