#include "report/explanation.hpp"

#include <algorithm>

namespace refrain::runtime {

void Explanation::count(ReasonCounts& reasons, const std::string& reason, std::uint64_t times) {
  if (reasons.size() >= kMostReasons && !reasons.contains(reason)) reasons["others"] += times;
  else reasons[reason] += times;
}

void Explanation::occurred(std::uint64_t trace, const std::string& name, std::source_location where,
                           const TraceExecution& occurrence) {
  if (occurrence.empty()) return;
  const std::lock_guard lock(mutex_);
  ExplainedTrace& told = told_.traces[trace];
  if (told.where.line() == 0) {
    told.name = name;
    told.where = where;
  }
  ++(occurrence.whole() ? told.replayed : occurrence.replayed ? told.partly : told.analysed);
  for (const Reason& reason : occurrence.reasons) count(told.reasons, reason.text, 1);
}

void Explanation::recorded(std::uint64_t trace, const char* ended_by) {
  const std::lock_guard lock(mutex_);
  count(told_.traces[trace].recordings, ended_by, 1);
}

void Explanation::launched(LaunchPlan& plan, const std::string& why) {
  const std::lock_guard lock(mutex_);
  ExplainedTask& told = told_.tasks[plan.info.name];
  if (why.empty()) {
    told.replayed += plan.points.size();
  } else {
    told.analysed += plan.points.size();
    count(told.reasons, why, plan.points.size());
  }
  std::map<std::tuple<std::size_t, MemoryId, std::uint32_t>, std::uint64_t> found;
  for (std::size_t rank = 0; rank < plan.points.size(); ++rank) {
    ++told.processors[plan.points[rank].processor];
    const std::span<const PlannedArgument> arguments = plan.arguments_of(rank);
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i].instance != nullptr) ++found[{i, arguments[i].memory, arguments[i].mapping}];
  }
  for (const auto& [place, points] : found) {
    const auto& [argument, memory, mapping] = place;
    const auto& memories = plan.mappings[mapping].memories;
    const auto choice =
        static_cast<std::size_t>(std::ranges::find(memories, memory) - memories.begin());
    told.placements[{argument, plan.requirements[argument].field, memory, choice}] += points;
  }
}

void Explanation::asked(const LaunchPlan& plan) {
  const std::lock_guard lock(mutex_);
  told_.tasks[plan.info.name].asked += plan.points.size();
}

Explained Explanation::told(std::string mapper) const {
  const std::lock_guard lock(mutex_);
  Explained all = told_;
  all.mapper = std::move(mapper);
  for (auto& [task, waits] : waits_.by_task()) all.tasks[task].waits = waits;
  return all;
}

}  // namespace refrain::runtime
