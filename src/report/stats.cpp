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

double per_task(const Statistics& s) {
  return s.counters.tasks == 0
             ? 0
             : static_cast<double>(s.analysis_ns) / static_cast<double>(s.counters.tasks);
}

double replayed_share(const Statistics& s) {
  return s.counters.tasks == 0 ? 0
                               : static_cast<double>(s.counters.replayed_tasks) /
                                     static_cast<double>(s.counters.tasks);
}

// Labels to the left, values to the right, both as wide as the widest.
class Table {
 public:
  void row(std::string label, std::string value, std::string note = {}) {
    label_width_ = std::max(label_width_, label.size());
    value_width_ = std::max(value_width_, value.size());
    rows_.push_back({std::move(label), std::move(value), std::move(note)});
  }
  [[nodiscard]] std::string text() const {
    std::string out;
    for (const Row& r : rows_) {
      out += fmt::format("  {:<{}}  {:>{}}", r.label, label_width_, r.value, value_width_);
      out += r.note.empty() ? "\n" : "  " + r.note + "\n";
    }
    return out;
  }

 private:
  struct Row {
    std::string label, value, note;
  };
  std::vector<Row> rows_;
  std::size_t label_width_ = 0, value_width_ = 0;
};

void add_copies(Table& table, const Statistics& s) {
  std::map<std::pair<std::string, std::string>, std::pair<std::uint64_t, std::uint64_t>> kinds;
  std::uint64_t copies = 0, bytes = 0;
  for (const LinkTraffic& link : s.links) {
    auto& sum = kinds[{link.from_kind, link.to_kind}];
    sum.first += link.copies;
    sum.second += link.bytes;
    copies += link.copies;
    bytes += link.bytes;
  }
  table.row("copies", grouped(copies), copies == 0 ? "" : short_size(bytes));
  for (const auto& [ends, sum] : kinds)
    table.row("  " + ends.first + " to " + ends.second, grouped(sum.first), short_size(sum.second));
}

void add_traces(Table& table, const Statistics& s) {
  if (s.counters.recordings == 0) return;
  table.row("recordings made", grouped(s.counters.recordings),
            short_size(s.recording_bytes) + " at most in one context");
  table.row("rounds joined", grouped(s.counters.rounds));
  table.row("recordings replayed", grouped(s.counters.replays),
            grouped(s.counters.early_exits) + " more in part");
  table.row("tasks replayed", fmt::format("{:.1f} %", 100 * replayed_share(s)));
  table.row("preconditions failed", grouped(s.counters.preconditions_failed));
  table.row("state caught up", grouped(s.counters.catch_ups));
  table.row("edges left unexamined", grouped(s.counters.unexamined_edges));
}

void add_autotrace(Table& table, const AutotraceCounters& found) {
  const std::uint64_t calls = found.analysed + found.replayed;
  if (calls == 0) return;
  const auto share = [](std::uint64_t part, std::uint64_t all) {
    return fmt::format("{:.1f} %",
                       all == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(all));
  };
  table.row("calls outside of marks", grouped(calls), share(found.replayed, calls) + " replayed");
  table.row("repeats found", grouped(found.candidates),
            grouped(found.mined_calls) + " calls mined, " + grouped(found.mined) + " times, " +
                grouped(found.late) + " late");
  table.row("repeats recorded", grouped(found.recordings));
  table.row("repeats replayed", grouped(found.replays), grouped(found.wrong) + " wrong guesses");
  table.row("calls to steady state",
            found.before_steady ? grouped(*found.before_steady) : "not reached");
}

void add_alive(Table& table, const Statistics& s) {
  table.row("alive: regions", grouped(s.counters.regions_alive));
  table.row("alive: instances", grouped(s.counters.instances_alive));
  table.row("alive: nodes", grouped(s.counters.nodes_alive));
  table.row("alive: futures", grouped(s.counters.futures_alive));
  table.row("alive: accumulators", grouped(s.accumulators_alive));
  table.row("alive: index spaces", grouped(s.index_spaces_alive));
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
  table.row("launches", grouped(s.counters.launches));
  table.row("tasks", grouped(s.counters.tasks));
  table.row("edges", grouped(s.counters.edges));
  add_copies(table, s);
  table.row("fills", grouped(s.counters.fills));
  table.row("folds", grouped(s.counters.folds));
  table.row("evictions", grouped(s.counters.evictions));
  add_traces(table, s);
  add_autotrace(table, s.counters.autotrace);
  table.row("analysis per task", fmt::format("{:.0f} ns", per_task(s)),
            s.counters.recordings == 0 ? "" : "recording included");
  table.row("workers", std::to_string(s.workers), "beside the launching thread");
  table.row("workers idle", fmt::format("{:.1f} %", 100 * s.idle_share));
  table.row("nodes stolen", grouped(s.stolen));
  table.row("times asleep", grouped(s.sleeps));
  table.row("peak resident", short_size(s.peak_resident));
  for (const MemoryUse& m : s.memories)
    table.row("peak in " + m.memory, short_size(m.peak), "of " + short_size(m.capacity));
  add_alive(table, s);
  return "Refrain statistics\n" + table.text();
}

std::string to_json(const Statistics& s) {
  using Json = nlohmann::ordered_json;
  const auto& steady = s.counters.autotrace.before_steady;
  const Json before_steady = steady ? Json(*steady) : Json(nullptr);
  Json root = {{"wall_ns", s.wall_ns},
               {"launches", s.counters.launches},
               {"tasks", s.counters.tasks},
               {"edges", s.counters.edges},
               {"fills", s.counters.fills},
               {"folds", s.counters.folds},
               {"evictions", s.counters.evictions},
               {"recordings", s.counters.recordings},
               {"rounds", s.counters.rounds},
               {"replays", s.counters.replays},
               {"early_exits", s.counters.early_exits},
               {"replayed_tasks", s.counters.replayed_tasks},
               {"replayed_share", replayed_share(s)},
               {"autotrace",
                {{"analysed", s.counters.autotrace.analysed},
                 {"replayed", s.counters.autotrace.replayed},
                 {"candidates", s.counters.autotrace.candidates},
                 {"recordings", s.counters.autotrace.recordings},
                 {"replays", s.counters.autotrace.replays},
                 {"wrong", s.counters.autotrace.wrong},
                 {"mined", s.counters.autotrace.mined},
                 {"mined_calls", s.counters.autotrace.mined_calls},
                 {"late", s.counters.autotrace.late},
                 {"before_steady", before_steady}}},
               {"preconditions_failed", s.counters.preconditions_failed},
               {"catch_ups", s.counters.catch_ups},
               {"unexamined_edges", s.counters.unexamined_edges},
               {"recording_bytes", s.recording_bytes},
               {"analysis_ns", s.analysis_ns},
               {"analysis_ns_per_task", per_task(s)},
               {"workers", s.workers},
               {"idle_share", s.idle_share},
               {"stolen", s.stolen},
               {"sleeps", s.sleeps},
               {"peak_resident", s.peak_resident}};
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
  root["alive"] = {
      {"regions", s.counters.regions_alive},  {"instances", s.counters.instances_alive},
      {"nodes", s.counters.nodes_alive},      {"futures", s.counters.futures_alive},
      {"accumulators", s.accumulators_alive}, {"index_spaces", s.index_spaces_alive}};
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
