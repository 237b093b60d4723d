#include "traced_run.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "finder/trace_finder.hpp"

namespace refrain::tools {

using autotrace::Steadiness;

void TracedRun::analysed(std::uint64_t from, std::uint64_t to) {
  REFRAIN_ASSERT(calls_ <= from && from < to, "stretches come in order");
  calls_ = to;
}

void TracedRun::replayed(std::uint64_t from, std::uint64_t to) {
  REFRAIN_ASSERT(calls_ <= from && from < to, "stretches come in order");
  replayed_.push_back({from, to, replayed_of_first(from)});
  calls_ = to;
}

std::uint64_t TracedRun::replayed_of_first(std::uint64_t calls) const {
  const auto after =
      std::partition_point(replayed_.begin(), replayed_.end(),
                           [calls](const Stretch& stretch) { return stretch.from < calls; });
  if (after == replayed_.begin()) return 0;
  const Stretch& last = *std::prev(after);
  return last.replayed_before + std::min(calls, last.to) - last.from;
}

double TracedRun::share_before(std::uint64_t call, std::uint64_t window) const {
  const std::uint64_t counted = std::min(call, window);
  if (counted == 0) return 0;
  return static_cast<double>(replayed_of_first(call) - replayed_of_first(call - counted)) /
         static_cast<double>(counted);
}

std::optional<std::uint64_t> TracedRun::steady_from() const {
  Steadiness steadiness;
  const auto analyse = [&steadiness](std::uint64_t from, std::uint64_t to) {
    // It remembers fewer calls than a window has, so the last ones of a long stretch stand for all.
    for (std::uint64_t call = std::max(from, to - std::min(to, Steadiness::kWindow)); call < to;
         ++call)
      steadiness.analysed(call);
  };
  std::uint64_t end = 0;
  for (const Stretch& stretch : replayed_) {
    analyse(end, stretch.from);
    end = stretch.to;
  }
  analyse(end, calls_);
  const std::uint64_t since = steadiness.since();
  if (calls_ - since < Steadiness::kWindow) return std::nullopt;
  return since;
}

}  // namespace refrain::tools
