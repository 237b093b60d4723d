#include "report/reports.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/new_file.hpp"
#include "data/index_space.hpp"
#include "launch/future_state.hpp"
#include "memory/accumulator.hpp"
#include "profile/clock.hpp"
#include "profile/timeline.hpp"
#include "refrain/error.hpp"
#include "report/call_record.hpp"
#include "report/explanation.hpp"
#include "report/graph_file.hpp"
#include "report/report_file.hpp"
#include "report/stats.hpp"
#include "report/timeline_listener.hpp"
#include "runtime/runtime_impl.hpp"

namespace refrain::runtime {

namespace {

void check_writable(const char* flag, const std::string& path) {
  if (path.empty()) return;
  const NewFile tried(path);
  if (tried.error() != 0)
    throw Error(std::string("--refrain:") + flag + ": cannot write the file '" + path +
                "': " + std::generic_category().message(tried.error()));
}

/// Throws InputError when two flags name one file, however they spell it. What is no regular file, or the program's
/// output, may have several.
void check_different(const Options& options) {
  std::vector<std::pair<std::string, std::string>> files;  // flag, path
  const auto add = [&files](const char* flag, const std::string& path) {
    if (!path.empty()) files.emplace_back(flag, path);
  };
  add("stats", options.stats_file);
  add("timeline", options.timeline);
  add("graph", options.graph);
  add("graph-calculus", options.graph_calculus);
  add("autotrace-log", options.autotrace_log);
  add("record", options.record);
  if (!options.explain.empty()) {
    add("explain", options.explain + ".txt");
    add("explain", options.explain + ".json");
  }
  namespace fs = std::filesystem;
  std::error_code none;
  for (std::size_t i = 0; i < files.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const auto& [flag, path] = files[i];
      const auto& [other, same] = files[j];
      const bool is_special = descriptor_of(path).has_value() ||
                              (fs::exists(path, none) && !fs::is_regular_file(path, none));
      // Of a relative path of which nothing is there yet the canonical one would be relative, too.
      const auto named = [&none](const std::string& name) {
        return fs::weakly_canonical(fs::absolute(name, none), none);
      };
      if (is_special || !(fs::equivalent(path, same, none) || named(path) == named(same))) continue;
      throw InputError(fmt::format(
          "--refrain:{} and --refrain:{} write to one file, '{}'{}; give each a file of its own",
          flag, other, path, path == same ? "" : fmt::format(" and '{}'", same)));
    }
}

}  // namespace

Reports::Reports(RuntimeImpl& runtime) : runtime_(runtime), start_ns_(profile::now_ns()) {
  const Options& options = runtime.options();
  check_different(options);
  check_writable("timeline", options.timeline);
  check_writable("stats", options.stats_file);
  if (!options.timeline.empty()) {
    timeline_ = std::make_unique<profile::Timeline>(runtime.executor().threads());
    listener_ = std::make_unique<TimelineListener>(*timeline_);
    runtime.executor().set_listener(listener_.get());
    runtime.set_timeline(listener_.get());
  }
  if (!options.graph.empty()) {
    graph_ = std::make_unique<GraphFile>(options.graph, runtime.machine());
    runtime.set_graph_log(graph_.get());
  }
  if (!options.graph_calculus.empty()) {
    recordings_ = std::make_unique<ReportFile>(options.graph_calculus, "recordings of traces");
    runtime.set_recordings_file(recordings_.get());
  }
  if (!options.autotrace_log.empty()) {
    autotrace_ = std::make_unique<ReportFile>(options.autotrace_log, "log of automatic tracing");
    runtime.set_autotrace_file(autotrace_.get());
  }
  if (!options.record.empty()) {
    calls_ = std::make_unique<CallRecord>(options.record);
    runtime.set_call_log(calls_.get());
  }
  if (!options.explain.empty()) {
    check_writable("explain", options.explain + ".txt");
    check_writable("explain", options.explain + ".json");
    explanation_ = std::make_unique<Explanation>(graph_.get(), listener_.get());
    runtime.set_explanation(explanation_.get());
    runtime.set_graph_log(&explanation_->waits());
    runtime.executor().set_listener(&explanation_->waits());
  }
  if (timeline_ || graph_ || recordings_ || autotrace_ || calls_ || explanation_ || options.stats)
    before_termination_.emplace([this] { write_early(); });
}

Reports::~Reports() = default;

void Reports::write() {
  const std::lock_guard lock(writing_);
  if (std::exchange(written_, true)) return;
  write_all(runtime_.totals(), runtime_.counters(), true);
}

void Reports::write_early() noexcept {
  const std::lock_guard lock(writing_);
  if (std::exchange(written_, true)) return;
  try {
    const RuntimeImpl::Sums now = runtime_.sums_from_outside();
    write_all(now.totals, now.counters, false);
  } catch (const std::exception& error) { std::fprintf(stderr, "refrain: %s\n", error.what()); }
}

// The record is the program's thread's alone: before the end there is what that has written so far.
void Reports::write_all(const Totals& totals, const Counters& counters, bool at_the_end) {
  std::string faults;
  const auto attempt = [&faults](const auto& write_one) {
    try {
      write_one();
    } catch (const std::exception& error) {
      faults += (faults.empty() ? "" : "\n") + std::string(error.what());
    }
  };
  if (timeline_) attempt([this] { timeline_->write(runtime_.options().timeline); });
  if (graph_) attempt([this] { graph_->close(); });
  if (recordings_) attempt([this] { recordings_->close(); });
  if (autotrace_) attempt([this] { autotrace_->close(); });
  if (calls_ && at_the_end) attempt([this] { calls_->close(); });
  else if (calls_) calls_->keep_so_far();
  if (explanation_) {
    attempt([this] {
      write_explanation(explanation_->told(std::string(runtime_.mapper().name())),
                        runtime_.machine(), runtime_.options().explain);
    });
  }
  if (runtime_.options().stats) attempt([&] { write_statistics(totals, counters); });
  if (!faults.empty()) throw Error(faults);
}

void Reports::write_statistics(const Totals& totals, const Counters& counters) const {
  const Machine& machine = runtime_.machine();
  const exec::ExecutorCounters executed = runtime_.executor().counters();
  Statistics s;
  s.wall_ns = profile::now_ns() - start_ns_;
  s.counters = counters;
  s.accumulators_alive = detail::Accumulator::live_count();
  s.index_spaces_alive = data::IndexSpace::live_count();
  s.analysis_ns = totals.analysis_ns;
  s.workers = runtime_.executor().threads() - 1;
  s.idle_share = executed.idle_share;
  s.stolen = executed.stolen;
  s.sleeps = executed.sleeps;
  s.peak_resident = peak_resident_bytes();
  s.recording_bytes = totals.traces.most_bytes;
  const std::size_t memories = machine.memories().size();
  for (std::size_t link = 0; link < totals.analysis.link_copies.size(); ++link) {
    if (totals.analysis.link_copies[link] == 0) continue;
    const Memory& from = machine.memory(static_cast<MemoryId>(link / memories));
    const Memory& to = machine.memory(static_cast<MemoryId>(link % memories));
    s.links.push_back({from.name, to.name, std::string(to_string(from.kind)),
                       std::string(to_string(to.kind)), totals.analysis.link_copies[link],
                       totals.analysis.link_bytes[link]});
  }
  for (const Memory& memory : machine.memories())
    s.memories.push_back(
        {memory.name, memory.capacity, runtime_.memories().pool(memory.id).peak()});
  report(s, runtime_.options().stats_file);
}

}  // namespace refrain::runtime
