// What --refrain:explain writes.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/new_file.hpp"
#include "refrain/error.hpp"
#include "report/explanation.hpp"

namespace refrain::runtime {

namespace {

using Json = nlohmann::ordered_json;

/// The most frequent first.
std::vector<std::pair<std::string, std::uint64_t>> by_count(const ReasonCounts& reasons) {
  std::vector<std::pair<std::string, std::uint64_t>> sorted(reasons.begin(), reasons.end());
  std::ranges::stable_sort(sorted, std::greater(), &std::pair<std::string, std::uint64_t>::second);
  return sorted;
}

std::string times(std::uint64_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string milliseconds(const Wait& wait) {
  return fmt::format("{:.3f} ms in all, {}", static_cast<double>(wait.ns) * 1e-6,
                     times(wait.times, "time"));
}

std::string choice_of(const Placement& placement) {
  constexpr const char* kNames[] = {"the mapper's first choice", "its second choice",
                                    "its third choice"};
  return placement.choice < std::size(kNames) ? kNames[placement.choice] : "a later choice";
}

std::string explain(const ExplainedTrace& trace) {
  std::string text = fmt::format(
      "trace '{}', first begun at {}\n  {}: {} replayed, {} replayed in part, {} analysed\n",
      trace.name, to_string(trace.where),
      times(trace.replayed + trace.partly + trace.analysed, "occurrence"), trace.replayed,
      trace.partly, trace.analysed);
  for (const auto& [ended_by, count] : by_count(trace.recordings))
    text += fmt::format("  recorded {}, up to where: {}\n", times(count, "time"), ended_by);
  for (const auto& [reason, count] : by_count(trace.reasons))
    text += fmt::format("  not replayed, {}: {}\n", times(count, "time"), reason);
  return text + "\n";
}

std::string explain(const std::string& name, const ExplainedTask& task, const std::string& mapper,
                    const Machine& machine) {
  std::string text =
      fmt::format("task '{}'\n  {}: {} replayed, {} analysed\n", name,
                  times(task.replayed + task.analysed, "point"), task.replayed, task.analysed);
  for (const auto& [reason, points] : by_count(task.reasons))
    text += fmt::format("  analysed, {}: {}\n", times(points, "point"), reason);
  for (const auto& [after, wait] : task.waits.after)
    text += fmt::format("  waited for {}: {}\n", after, milliseconds(wait));
  text += fmt::format("  waited for a thread: {}\n", milliseconds(task.waits.thread));
  text += fmt::format(
      "  mapped by '{}', asked about {}; {} remembered\n", mapper, times(task.asked, "point"),
      task.replayed + task.analysed - std::min(task.asked, task.replayed + task.analysed));
  for (const auto& [processor, points] : task.processors)
    text += fmt::format("  on {}: {}\n", machine.processor(processor).name, times(points, "point"));
  for (const auto& [placement, points] : task.placements)
    text += fmt::format("  argument {}, '{}', in {}: {}, {}\n", placement.argument, placement.field,
                        machine.memory(placement.memory).name, times(points, "point"),
                        choice_of(placement));
  return text + "\n";
}

Json counts(const ReasonCounts& reasons, const char* what) {
  Json list = Json::array();
  for (const auto& [reason, count] : by_count(reasons))
    list.push_back({{"why", reason}, {what, count}});
  return list;
}

Json waits_of(const Waits& waits) {
  Json list = Json::array();
  for (const auto& [after, wait] : waits.after)
    list.push_back({{"for", after}, {"ns", wait.ns}, {"times", wait.times}});
  return list;
}

Json describe(const std::string& name, const ExplainedTask& task, const Machine& machine) {
  Json processors = Json::array(), placements = Json::array();
  for (const auto& [processor, points] : task.processors)
    processors.push_back({{"processor", machine.processor(processor).name}, {"points", points}});
  for (const auto& [placement, points] : task.placements)
    placements.push_back({{"argument", placement.argument},
                          {"field", placement.field},
                          {"memory", machine.memory(placement.memory).name},
                          {"choice", placement.choice},
                          {"points", points}});
  return {{"name", name},
          {"replayed", task.replayed},
          {"analysed", task.analysed},
          {"reasons", counts(task.reasons, "points")},
          {"waited", waits_of(task.waits)},
          {"waited_for_thread", {{"ns", task.waits.thread.ns}, {"times", task.waits.thread.times}}},
          {"mapper_asked", task.asked},
          {"processors", processors},
          {"arguments", placements}};
}

}  // namespace

std::string to_text(const Explained& told, const Machine& machine) {
  std::string text = "Refrain explains: what was replayed, what was analysed and why\n\n";
  for (const auto& [id, trace] : told.traces) text += explain(trace);
  for (const auto& [name, task] : told.tasks) text += explain(name, task, told.mapper, machine);
  return text;
}

std::string to_json(const Explained& told, const Machine& machine) {
  Json root = {{"mapper", told.mapper}, {"traces", Json::array()}, {"tasks", Json::array()}};
  for (const auto& [id, trace] : told.traces)
    root["traces"].push_back({{"name", trace.name},
                              {"begun_at", to_string(trace.where)},
                              {"replayed", trace.replayed},
                              {"replayed_in_part", trace.partly},
                              {"analysed", trace.analysed},
                              {"recordings", counts(trace.recordings, "times")},
                              {"reasons", counts(trace.reasons, "times")}});
  for (const auto& [name, task] : told.tasks)
    root["tasks"].push_back(describe(name, task, machine));
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_explanation(const Explained& told, const Machine& machine, const std::string& prefix) {
  write_file(prefix + ".txt", "explanation", to_text(told, machine));
  write_file(prefix + ".json", "explanation", to_json(told, machine));
}

}  // namespace refrain::runtime
