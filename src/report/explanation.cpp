#include "report/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/new_file.hpp"
#include "graph/scope.hpp"
#include "launch/launch_plan.hpp"
#include "profile/clock.hpp"
#include "refrain/error.hpp"
#include "replay/trace_execution.hpp"

namespace refrain::runtime {

// --- what happens ------------------------------------------------------------------------------------

namespace {

std::string name_of(const analysis::LoggedOperation& operation) {
  using exec::NodeKind;
  const std::string of = " of '" + operation.field + "'";
  switch (operation.kind) {
    case NodeKind::copy: return "copy" + of;
    case NodeKind::fill: return "fill" + of;
    case NodeKind::fold: return "fold" + of;
    default: return operation.info != nullptr ? operation.info->name : "other";
  }
}

/// The program's own accesses are not run, so nobody tells when they are done.
bool is_run(exec::NodeKind kind) {
  return kind != exec::NodeKind::access && kind != exec::NodeKind::detach;
}

}  // namespace

void Explanation::count(ReasonCounts& reasons, const std::string& reason, std::uint64_t times) {
  if (reasons.size() >= kMostReasons && !reasons.contains(reason)) reasons["others"] += times;
  else reasons[reason] += times;
}

void Explanation::occurred(std::uint64_t trace, const std::string& name, std::source_location where,
                           const TraceExecution& occurrence) {
  if (occurrence.empty()) return;
  const std::lock_guard lock(mutex_);
  ExplainedTrace& told = traces_[trace];
  if (told.where.line() == 0) {
    told.name = name;
    told.where = where;
  }
  ++(occurrence.whole() ? told.replayed : occurrence.replayed ? told.partly : told.analysed);
  for (const Reason& reason : occurrence.reasons) count(told.reasons, reason.text, 1);
}

void Explanation::recorded(const Recorded& recorded) {
  const std::lock_guard lock(mutex_);
  count(traces_[recorded.trace].recordings, recorded.ended_by, 1);
}

void Explanation::launched(LaunchPlan& plan, const std::string& why) {
  const std::lock_guard lock(mutex_);
  ExplainedTask& told = tasks_[plan.info.name];
  if (why.empty()) {
    told.replayed += plan.own_points();
  } else {
    told.analysed += plan.own_points();
    count(told.reasons, why, plan.own_points());
  }
  std::map<std::tuple<std::size_t, MemoryId, std::uint32_t>, std::uint64_t> found;
  for (std::size_t rank = 0; rank < plan.own_points(); ++rank) {
    ++told.processors[plan.own.points[rank].processor];
    const std::span<const PlannedArgument> arguments = plan.arguments_of(rank);
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i].instance != nullptr) ++found[{i, arguments[i].memory, arguments[i].mapping}];
  }
  for (const auto& [place, points] : found) {
    const auto& [argument, memory, mapping] = place;
    const auto& memories = plan.own.mappings[mapping].memories;
    const auto choice =
        static_cast<std::size_t>(std::ranges::find(memories, memory) - memories.begin());
    told.placements[{argument, plan.requirements[argument].field, memory, choice}] += points;
  }
}

void Explanation::asked(const LaunchPlan& plan) {
  const std::lock_guard lock(mutex_);
  tasks_[plan.info.name].asked += plan.own_points();
}

void Explanation::opened(std::uint64_t identity, std::uint64_t context) {
  const std::lock_guard lock(mutex_);
  contexts_[identity] = context;
}

void Explanation::closed(std::uint64_t identity) {
  const std::lock_guard lock(mutex_);
  contexts_.erase(identity);
}

void Explanation::operation(const analysis::LoggedOperation& operation) {
  if (!is_run(operation.kind)) return;
  const std::lock_guard lock(mutex_);
  issued_[{operation.scope, operation.seq}] = {
      name_of(operation), operation.kind == exec::NodeKind::task, profile::now_ns(), 0, {}, {}};
}

void Explanation::edge(std::uint64_t scope, std::uint64_t from, std::uint64_t to, exec::EdgeKind) {
  const std::lock_guard lock(mutex_);
  const auto before = issued_.find({scope, from});
  if (before != issued_.end()) before->second.successors.push_back({scope, to});
}

void Explanation::executed(const exec::Node& node, int, std::uint64_t begin_ns,
                           std::uint64_t end_ns) {
  const std::lock_guard lock(mutex_);
  std::uint64_t context = 0;
  if (node.scope->parent() != nullptr) {
    const auto known = contexts_.find(node.scope->identity());
    if (known == contexts_.end()) return;
    context = known->second;
  }
  done({context, node.seq}, begin_ns, end_ns);
}

void Explanation::replayed(const exec::NodeInfo*, exec::NodeKind, std::uint64_t seq, int,
                           std::uint64_t begin_ns, std::uint64_t end_ns) {
  const std::lock_guard lock(mutex_);
  done({0, seq}, begin_ns, end_ns);  // those of nested contexts are nodes
}

// Before its successors learn of it: so what an operation has waited for is known when it has run.
void Explanation::done(const Key& key, std::uint64_t begin_ns, std::uint64_t end_ns) try {
  const auto found = issued_.find(key);
  if (found == issued_.end()) return;
  const Issued ran = std::move(found->second);
  issued_.erase(found);
  if (ran.task) {
    ExplainedTask& task = tasks_[ran.name];
    if (ran.done_ns > ran.issued_ns) task.waited[ran.after].add(ran.done_ns - ran.issued_ns);
    const std::uint64_t ready = std::max(ran.issued_ns, ran.done_ns);
    if (begin_ns > ready) task.waited_for_thread.add(begin_ns - ready);
  }
  for (const Key& later : ran.successors) {
    const auto waiting = issued_.find(later);
    if (waiting == issued_.end() || waiting->second.done_ns >= end_ns) continue;
    waiting->second.done_ns = end_ns;
    waiting->second.after = ran.name;
  }
} catch (const std::bad_alloc&) {}  // a thread that runs tasks goes on; some waits are not told

// --- what is told ------------------------------------------------------------------------------------

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
  for (const auto& [after, wait] : task.waited)
    text += fmt::format("  waited for {}: {}\n", after, milliseconds(wait));
  text += fmt::format("  waited for a thread: {}\n", milliseconds(task.waited_for_thread));
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

Json describe(const std::string& name, const ExplainedTask& task, const Machine& machine) {
  Json waited = Json::array(), processors = Json::array(), placements = Json::array();
  for (const auto& [after, wait] : task.waited)
    waited.push_back({{"for", after}, {"ns", wait.ns}, {"times", wait.times}});
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
          {"waited", waited},
          {"waited_for_thread",
           {{"ns", task.waited_for_thread.ns}, {"times", task.waited_for_thread.times}}},
          {"mapper_asked", task.asked},
          {"processors", processors},
          {"arguments", placements}};
}

Json describe(const ExplainedTrace& trace) {
  return {{"name", trace.name},
          {"begun_at", to_string(trace.where)},
          {"replayed", trace.replayed},
          {"replayed_in_part", trace.partly},
          {"analysed", trace.analysed},
          {"recordings", counts(trace.recordings, "times")},
          {"reasons", counts(trace.reasons, "times")}};
}

}  // namespace

void Explanation::write(const std::string& mapper, const Machine& machine,
                        const std::string& prefix) const {
  const std::lock_guard lock(mutex_);
  std::string text = "Refrain explains: what was replayed, what was analysed and why\n\n";
  Json root = {{"mapper", mapper}, {"traces", Json::array()}, {"tasks", Json::array()}};
  for (const auto& [id, trace] : traces_) {
    text += explain(trace);
    root["traces"].push_back(describe(trace));
  }
  for (const auto& [name, task] : tasks_) {
    text += explain(name, task, mapper, machine);
    root["tasks"].push_back(describe(name, task, machine));
  }
  write_file(prefix + ".txt", "explanation", text);
  write_file(prefix + ".json", "explanation",
             root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace refrain::runtime
