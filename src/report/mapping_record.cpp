#include "report/mapping_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/json.hpp"
#include "launch/launch_plan.hpp"
#include "mapping/mapping_file.hpp"

namespace refrain::runtime {

namespace {

/// The one with most votes, and how many others there are.
template <class What>
std::pair<What, std::uint64_t> chosen(const std::map<What, std::uint64_t>& votes) {
  std::uint64_t all = 0;
  auto most = votes.begin();
  for (auto at = votes.begin(); at != votes.end(); ++at) {
    all += at->second;
    if (at->second > most->second) most = at;
  }
  return {most->first, all - most->second};
}

/// Whether the points of a group are on the processors that the distribution gives them.
bool is_dealt(const LaunchPlan& plan, const Sharding& among, const Machine& machine) {
  MappingInput input;
  input.points = plan.points.domain->volume();
  return std::ranges::all_of(plan.own.points, [&](const PlannedPoint& point) {
    const auto processors = machine.processors(machine.processor(point.processor).kind);
    input.rank = point.launch_rank;
    return processors[mapping::deal(among, input, processors.size())] == point.processor;
  });
}

}  // namespace

void MappingRecord::launched(LaunchPlan& plan, const std::string& /*why*/) {
  const std::lock_guard lock(mutex_);
  const Place place{std::filesystem::path(plan.info.where.file_name()).filename(),
                    plan.info.where.line()};
  Launches& launches = tasks_[plan.info.name][place];
  const std::size_t count = plan.requirements.size();
  launches.arguments.resize(std::max(launches.arguments.size(), count));
  for (std::size_t rank = 0; rank < plan.own.points.size(); ++rank) {
    ++launches.ran[machine_.processor(plan.own.points[rank].processor).kind];
    for (std::size_t i = 0; i < count; ++i) {
      const ArgumentMapping& answer = plan.own.mappings[plan.arguments_of(rank)[i].mapping];
      std::vector<MemoryKind> kinds;
      kinds.reserve(answer.memories.size());
      for (const MemoryId id : answer.memories)  // a mapper may name several of one kind
        if (const MemoryKind kind = machine_.memory(id).kind;
            std::ranges::find(kinds, kind) == kinds.end())
          kinds.push_back(kind);
      launches.arguments[i].field = plan.requirements[i].field;
      ++launches.arguments[i].lay[{std::move(kinds), answer.layout.order, answer.layout.extent,
                                   answer.layout.sparse, answer.when_full}];
    }
  }
  if (!plan.group || plan.own.points.size() < 2) return;
  launches.any_group = true;
  launches.blocked = launches.blocked && is_dealt(plan, Sharding::blocked(), machine_);
  launches.cyclic = launches.cyclic && is_dealt(plan, Sharding::cyclic(), machine_);
}

std::string MappingRecord::rule(const std::string& task, const Place* place,
                                const Launches& launches) {
  const auto [kind, others] = chosen(launches.ran);
  std::uint64_t otherwise = others;
  std::string text = fmt::format("    {{\"task\": {}", json_string(task));
  if (place != nullptr)
    text +=
        fmt::format(", \"at\": {}", json_string(fmt::format("{}:{}", place->first, place->second)));
  text += fmt::format(", \"processor\": \"{}\"", to_string(kind));
  if (launches.any_group && (launches.blocked || launches.cyclic))
    text += fmt::format(", \"distribution\": \"{}\"", launches.blocked ? "blocked" : "cyclic");
  text += ",\n     \"arguments\": [";
  for (std::size_t i = 0; i < launches.arguments.size(); ++i) {
    const auto& [field, lay] = launches.arguments[i];
    const auto [most, less] = chosen(lay);
    otherwise = std::max(otherwise, less);
    std::string memories;
    for (const MemoryKind memory : most.memories)
      memories += fmt::format("{}\"{}\"", memories.empty() ? "" : ", ", to_string(memory));
    text += fmt::format(
        "{}{{\"argument\": {}, \"field\": {}, \"memories\": [{}], \"order\": \"{}\", \"extent\": "
        "\"{}\"{}{}}}",
        i == 0 ? "" : ",\n                   ", i, json_string(field), memories,
        most.order == Order::c ? "c" : "fortran", most.extent == Extent::whole ? "whole" : "exact",
        most.sparse == Sparse::by_density ? ""
        : most.sparse == Sparse::box      ? ", \"sparse\": \"box\""
                                          : ", \"sparse\": \"compact\"",
        most.when_full == WhenFull::next ? ", \"when_full\": \"next\"" : "");
  }
  text += "]";
  if (otherwise > 0)
    text += fmt::format(",\n     \"note\": \"{} points were mapped otherwise\"", otherwise);
  if (launches.any_group && !launches.blocked && !launches.cyclic && otherwise == 0)
    text += ",\n     \"note\": \"the points were dealt out neither blocked nor cyclic\"";
  return text + "}";
}

void MappingRecord::close() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(closed_, true)) return;
  std::vector<std::string> rules;
  for (const auto& [task, places] : tasks_) {
    std::set<std::string> different;
    for (const auto& [place, launches] : places)
      if (!launches.ran.empty()) different.insert(rule(task, nullptr, launches));
    if (different.size() == 1) rules.push_back(*different.begin());
    if (different.size() > 1)
      for (const auto& [place, launches] : places)
        if (!launches.ran.empty()) rules.push_back(rule(task, &place, launches));
  }
  append(fmt::format("{{\n  \"{}\": {},\n  \"machine\": {},\n  \"rules\": [",
                     mapping::kMappingMember, mapping::kMappingVersion,
                     json_string(machine_.name())));
  for (std::size_t i = 0; i < rules.size(); ++i) append((i == 0 ? "\n" : ",\n") + rules[i]);
  append("\n  ]\n}\n");
  ReportFile::close();
}

}  // namespace refrain::runtime
