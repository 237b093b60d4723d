#include "report/stats.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/new_file.hpp"
#include "base/text.hpp"
#include "refrain/error.hpp"

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

// Labels to the left, values to the right, both as wide as the widest.
class Table {
 public:
  struct Row {
    std::string label, value, note = {};
  };
  void row(std::string label, std::string value, std::string note = {}) {
    rows_.push_back({std::move(label), std::move(value), std::move(note)});
  }
  /// What the row of a counter has beside the number, in its place, and below.
  struct Told {
    std::string note, value = {};
    std::vector<Row> below = {};
  };
  /// A row for each of the counters that has one.
  template <class Counters>
  void rows(const Counters& counters, const std::map<std::string_view, Told>& told = {}) {
    counters.each([&](std::string_view name, const char* label, std::uint64_t count) {
      if (*label == 0) return;
      const auto found = told.find(name);
      const Told& more = found != told.end() ? found->second : Told{};
      row(label, more.value.empty() ? grouped(count) : more.value, more.note);
      rows_.insert(rows_.end(), more.below.begin(), more.below.end());
    });
  }
  [[nodiscard]] std::string text() const {
    std::size_t labels = 0, values = 0;
    for (const Row& r : rows_) {
      labels = std::max(labels, r.label.size());
      values = std::max(values, r.value.size());
    }
    std::string out;
    for (const Row& r : rows_)
      out += fmt::format("  {:<{}}  {:>{}}{}{}\n", r.label, labels, r.value, values,
                         r.note.empty() ? "" : "  ", r.note);
    return out;
  }

 private:
  std::vector<Row> rows_;
};

/// Also by the kinds of memory that they join.
Table::Told copies_of(const Statistics& s) {
  std::map<std::pair<std::string, std::string>, std::pair<std::uint64_t, std::uint64_t>> kinds;
  std::uint64_t copies = 0, bytes = 0;
  for (const LinkTraffic& link : s.links) {
    auto& sum = kinds[{link.from_kind, link.to_kind}];
    sum.first += link.copies;
    sum.second += link.bytes;
    copies += link.copies;
    bytes += link.bytes;
  }
  Table::Told told{copies == 0 ? "" : short_size(bytes), grouped(copies)};
  for (const auto& [ends, sum] : kinds)
    told.below.push_back(
        {"  " + ends.first + " to " + ends.second, grouped(sum.first), short_size(sum.second)});
  return told;
}

void add_traces(Table& table, const Statistics& s) {
  const TraceCounters& traces = s.counters;
  if (traces.recordings == 0) return;
  table.rows(traces, {{"recordings", {short_size(s.recording_bytes) + " at most in one context"}},
                      {"replays", {grouped(traces.early_exits) + " more in part"}},
                      {"replayed_tasks", {"", percent(replayed_share(s))}}});
}

void add_autotrace(Table& table, const AutotraceCounters& found) {
  const std::uint64_t calls = found.analysed + found.replayed;
  if (calls == 0) return;
  table.rows(found, {{"analysed",
                      {percent(share_of(found.replayed, calls)) + " replayed", grouped(calls)}},
                     {"candidates",
                      {grouped(found.mined_calls) + " calls mined, " + grouped(found.mined) +
                       " times, " + grouped(found.late) + " late"}},
                     {"replays", {grouped(found.wrong) + " wrong guesses"}}});
  table.row("calls to steady state",
            found.before_steady ? grouped(*found.before_steady) : "not reached");
}

}  // namespace

std::uint64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

std::string to_text(const Statistics& s) {
  Table table;
  table.row("time", fmt::format("{:.3f} s", static_cast<double>(s.wall_ns) * 1e-9));
  const OperationCounters& operations = s.counters;
  const LaunchCounters& launches = s.counters;
  const AliveCounters& alive = s.counters;
  table.rows(launches);
  table.rows(operations, {{"copies", copies_of(s)}});
  add_traces(table, s);
  add_autotrace(table, s.counters.autotrace);
  table.row("analysis per task", fmt::format("{:.0f} ns", per_task(s)),
            s.counters.recordings == 0 ? "" : "recording included");
  table.row("workers", std::to_string(s.workers), "beside the launching thread");
  table.row("workers idle", percent(s.idle_share));
  table.row("nodes stolen", grouped(s.stolen));
  table.row("times asleep", grouped(s.sleeps));
  table.row("peak resident", short_size(s.peak_resident));
  for (const MemoryUse& m : s.memories)
    table.row("peak in " + m.memory, short_size(m.peak), "of " + short_size(m.capacity));
  table.rows(alive);
  return "Refrain statistics\n" + table.text();
}

std::string to_json(const Statistics& s) {
  using Json = nlohmann::ordered_json;
  const LaunchCounters& launches = s.counters;
  const OperationCounters& operations = s.counters;
  const TraceCounters& traces = s.counters;
  const AliveCounters& alive = s.counters;
  const auto into = [](Json& json) {
    return [&json](std::string_view name, const char*, std::uint64_t count) {
      json[std::string(name)] = count;
    };
  };
  Json root = {{"wall_ns", s.wall_ns}};
  launches.each(into(root));
  operations.each(into(root));
  traces.each(into(root));
  s.counters.autotrace.each(into(root["autotrace"]));
  const auto& steady = s.counters.autotrace.before_steady;
  root["autotrace"]["before_steady"] = steady ? Json(*steady) : Json(nullptr);
  root.update({{"replayed_share", replayed_share(s)},
               {"recording_bytes", s.recording_bytes},
               {"analysis_ns", s.analysis_ns},
               {"analysis_ns_per_task", per_task(s)},
               {"workers", s.workers},
               {"idle_share", s.idle_share},
               {"stolen", s.stolen},
               {"sleeps", s.sleeps},
               {"peak_resident", s.peak_resident}});
  root["links"] = Json::array();
  for (const LinkTraffic& l : s.links)
    root["links"].push_back({{"from", l.from},
                             {"to", l.to},
                             {"from_kind", l.from_kind},
                             {"to_kind", l.to_kind},
                             {"copies", l.copies},
                             {"bytes", l.bytes}});
  root["memories"] = Json::array();
  for (const MemoryUse& m : s.memories)
    root["memories"].push_back({{"memory", m.memory}, {"capacity", m.capacity}, {"peak", m.peak}});
  alive.each([&](std::string name, const char*, std::uint64_t count) {
    root["alive"][name.substr(0, name.rfind("_alive"))] = count;
  });
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void report(const Statistics& statistics, const std::string& file) {
  if (file.empty()) {
    std::fputs(to_text(statistics).c_str(), stderr);
    return;
  }
  write_file(file, "statistics", to_json(statistics));
}

}  // namespace refrain::runtime
