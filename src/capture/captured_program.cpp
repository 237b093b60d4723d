#include "capture/captured_program.hpp"

#include <algorithm>

namespace refrain::capture {

double seconds_for(const Costs& costs, std::uint64_t bytes) {
  const auto above = std::ranges::lower_bound(costs, bytes, {}, &Durations::bytes);
  if (above != costs.end() && above->bytes == bytes) return above->mean;
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return static_cast<double>(part) / static_cast<double>(std::max<std::uint64_t>(whole, 1));
  };
  // What takes no bytes says nothing of what takes some.
  if (above == costs.begin()) return above->mean * share(bytes, above->bytes);
  const auto below = above - 1;
  if (above == costs.end())
    return below->bytes == 0 ? below->mean : below->mean * share(bytes, below->bytes);
  const double way = share(bytes - below->bytes, above->bytes - below->bytes);
  return below->mean + way * (above->mean - below->mean);
}

std::string_view to_string(CallKind kind) {
  static constexpr std::string_view names[call_kinds] = {
      "region",     "partition", "destroy_region", "destroy_partition",
      "launch",     "fill",      "copy",           "access",
      "end_access", "attach",    "detach",         "reduce",
      "wait",       "fence",     "begin_trace",    "end_trace"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace refrain::capture
