#include "tracing/required_replays.hpp"

#include <algorithm>

#include "refrain/error.hpp"

namespace refrain::runtime {

void RequiredReplays::require(const Trace& trace, std::source_location where) {
  traces_[trace.id()].where = where;
}

void RequiredReplays::judge(const Trace& trace, const TraceExecution& occurrence,
                            std::source_location begun, std::source_location ended) {
  Required& required = traces_.at(trace.id());
  if (required.settled.size() >= kMost) required.settled.clear();
  const auto [at, first] =
      required.settled.try_emplace(occurrence.sequence.hash, occurrence.as_required());
  if (first || occurrence.as_required()) {
    at->second = occurrence.as_required();
    return;
  }
  const bool excused = !at->second && occurrence.may_settle();
  at->second = true;
  if (excused) return;
  const std::uint64_t analysed = occurrence.analysed - occurrence.vacuous;
  std::string text = "end_trace('" + trace.name() + "') at " + to_string(ended) +
                     ": the trace, begun at " + to_string(begun) +
                     ", was not replayed as require_replay at " + to_string(required.where) +
                     " asks; " + std::to_string(analysed) +
                     (analysed == 1 ? " call was" : " calls were") + " analysed";
  for (const Reason& reason : occurrence.reasons) text += "; " + reason.text;
  throw UsageError(text);
}

}  // namespace refrain::runtime
