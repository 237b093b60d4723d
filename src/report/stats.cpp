#include "report/stats.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/new_file.hpp"
#include "base/text.hpp"

namespace refrain::runtime {

namespace {

double share_of(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}
double per_task(const Statistics& s) { return share_of(s.analysis_ns, s.counters.tasks); }
double replayed_share(const Statistics& s) {
  return share_of(s.counters.replayed_tasks, s.counters.tasks);
}
std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

using Json = nlohmann::ordered_json;
struct Row {
  std::string label, value, note;
};
using Rows = std::vector<Row>;

/// What is told, for programs by name and for people in rows.
struct Told {
  Json json;
  Rows rows;

  void add(const char* name, Json value, std::string label, std::string text,
           std::string note = {}) {
    json[name] = std::move(value);
    rows.push_back({std::move(label), std::move(text), std::move(note)});
  }
  /// All counters by name, and a row for each that has one. `instead`: rows in place of that with the number alone.
  template <class Counters>
  void add(const Counters& counters, Json& into, std::map<std::string_view, Rows> instead = {},
           bool has_rows = true) {
    counters.each([&](std::string_view name, const char* label, std::uint64_t count) {
      into[std::string(name.substr(0, name.rfind("_alive")))] = count;
      if (*label == 0 || !has_rows) return;
      Rows& own = instead[name];
      if (own.empty()) own.push_back({"", grouped(count), ""});
      own.front().label = label;
      std::ranges::move(own, std::back_inserter(rows));
    });
  }
  /// Labels to the left, values to the right, both as wide as the widest.
  [[nodiscard]] std::string text() const {
    std::size_t labels = 0, values = 0;
    for (const Row& row : rows) {
      labels = std::max(labels, row.label.size());
      values = std::max(values, row.value.size());
    }
    std::string text;
    for (const Row& row : rows)
      text += fmt::format("  {:<{}}  {:>{}}{}{}\n", row.label, labels, row.value, values,
                          row.note.empty() ? "" : "  ", row.note);
    return text;
  }
};

/// Also by the kinds of memory that they join.
Rows copies_of(const Statistics& s) {
  std::map<std::pair<std::string, std::string>, LinkTraffic> kinds;
  LinkTraffic all;
  for (const LinkTraffic& link : s.links)
    for (LinkTraffic* sum : {&kinds[{link.from_kind, link.to_kind}], &all}) {
      sum->copies += link.copies;
      sum->bytes += link.bytes;
    }
  Rows rows{{"", grouped(all.copies), all.copies == 0 ? "" : short_size(all.bytes)}};
  for (const auto& [ends, sum] : kinds)
    rows.push_back(
        {"  " + ends.first + " to " + ends.second, grouped(sum.copies), short_size(sum.bytes)});
  return rows;
}

void add_traces(Told& told, const Statistics& s) {
  const TraceCounters& traces = s.counters;
  told.add(
      traces, told.json,
      {{"recordings",
        {{"", grouped(traces.recordings),
          short_size(s.recording_bytes) + " at most in one context"}}},
       {"replays", {{"", grouped(traces.replays), grouped(traces.early_exits) + " more in part"}}},
       {"replayed_tasks", {{"", percent(replayed_share(s)), ""}}}},
      traces.recordings > 0);
}

void add_autotrace(Told& told, const AutotraceCounters& found) {
  const std::uint64_t calls = found.analysed + found.replayed;
  Json& json = told.json["autotrace"];
  told.add(
      found, json,
      {{"analysed", {{"", grouped(calls), percent(share_of(found.replayed, calls)) + " replayed"}}},
       {"candidates",
        {{"", grouped(found.candidates),
          fmt::format("{} calls mined, {} times, {} late", grouped(found.mined_calls),
                      grouped(found.mined), grouped(found.late))}}},
       {"replays", {{"", grouped(found.replays), grouped(found.wrong) + " wrong guesses"}}}},
      calls > 0);
  const auto& steady = found.before_steady;
  json["before_steady"] = steady ? Json(*steady) : Json(nullptr);
  if (calls > 0)
    told.rows.push_back({"calls to steady state", steady ? grouped(*steady) : "not reached", ""});
}

Told tell(const Statistics& s) {
  Told told;
  told.add("wall_ns", s.wall_ns, "time",
           fmt::format("{:.3f} s", static_cast<double>(s.wall_ns) * 1e-9));
  told.add<LaunchCounters>(s.counters, told.json);
  told.add<OperationCounters>(s.counters, told.json, {{"copies", copies_of(s)}});
  told.add<ShardCounters>(
      s.counters, told.json,
      {{"messages", {{"", grouped(s.counters.messages), short_size(s.counters.message_bytes)}}}},
      s.counters.message_plans > 0);
  add_traces(told, s);
  add_autotrace(told, s.counters.autotrace);
  told.json["replayed_share"] = replayed_share(s);
  told.json["recording_bytes"] = s.recording_bytes;
  told.json["analysis_ns"] = s.analysis_ns;
  told.add("analysis_ns_per_task", per_task(s), "analysis per task",
           fmt::format("{:.0f} ns", per_task(s)),
           s.counters.recordings == 0 ? "" : "recording included");
  told.add("workers", s.workers, "workers", std::to_string(s.workers),
           "beside the launching thread");
  told.add("idle_share", s.idle_share, "workers idle", percent(s.idle_share));
  told.add("stolen", s.stolen, "nodes stolen", grouped(s.stolen));
  told.add("sleeps", s.sleeps, "times asleep", grouped(s.sleeps));
  told.add("peak_resident", s.peak_resident, "peak resident", short_size(s.peak_resident));
  told.json["links"] = Json::array();
  for (const LinkTraffic& l : s.links)
    told.json["links"].push_back({{"from", l.from},
                                  {"to", l.to},
                                  {"from_kind", l.from_kind},
                                  {"to_kind", l.to_kind},
                                  {"copies", l.copies},
                                  {"bytes", l.bytes}});
  told.json["memories"] = Json::array();
  for (const MemoryUse& m : s.memories) {
    told.json["memories"].push_back(
        {{"memory", m.memory}, {"capacity", m.capacity}, {"peak", m.peak}});
    told.rows.push_back(
        {"peak in " + m.memory, short_size(m.peak), "of " + short_size(m.capacity)});
  }
  told.add<AliveCounters>(s.counters, told.json["alive"]);
  return told;
}

}  // namespace

std::uint64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

std::string to_text(const Statistics& s) { return "Refrain statistics\n" + tell(s).text(); }

std::string to_json(const Statistics& s) {
  return tell(s).json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void report(const Statistics& statistics, const std::string& file) {
  if (file.empty()) std::fputs(to_text(statistics).c_str(), stderr);
  else write_file(file, "statistics", to_json(statistics));
}

}  // namespace refrain::runtime
