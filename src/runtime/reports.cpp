#include "runtime/reports.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include "data/accumulator.hpp"
#include "data/index_space.hpp"
#include "profile/clock.hpp"
#include "profile/timeline.hpp"
#include "refrain/error.hpp"
#include "runtime/call_record.hpp"
#include "runtime/explanation.hpp"
#include "runtime/future_state.hpp"
#include "runtime/graph_file.hpp"
#include "runtime/report_file.hpp"
#include "runtime/runtime_impl.hpp"
#include "runtime/stats.hpp"
#include "runtime/timeline_listener.hpp"

namespace refrain::runtime {

namespace {

void check_writable(const char* flag, const std::string& path) {
  if (path.empty()) return;
  errno = 0;
  if (!std::ofstream(path, std::ios::app))
    throw Error(std::string("--refrain:") + flag + ": cannot write the file '" + path +
                "': " + std::generic_category().message(errno));
}

/// What `path`.txt and the like are to be called: as .txt in a folder they would be missed.
void check_prefix(const char* flag, const std::string& path) {
  if (path.ends_with('/'))
    throw InputError(std::string("--refrain:") + flag +
                     ": expected a prefix of files to write, not ending in '/', found '" + path +
                     "'");
}

}  // namespace

Reports::Reports(RuntimeImpl& runtime) : runtime_(runtime), start_ns_(profile::now_ns()) {
  const Options& options = runtime.options();
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
    check_prefix("explain", options.explain);
    check_writable("explain", options.explain + ".txt");
    check_writable("explain", options.explain + ".json");
    explanation_ = std::make_unique<Explanation>(graph_.get(), listener_.get());
    runtime.set_explanation(explanation_.get());
    runtime.set_graph_log(&explanation_->waits());
    runtime.executor().set_listener(&explanation_->waits());
  }
}

Reports::~Reports() = default;

void Reports::write() {
  if (std::exchange(written_, true)) return;
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
  if (calls_) attempt([this] { calls_->close(); });
  if (explanation_) {
    attempt([this] {
      write_explanation(explanation_->told(std::string(runtime_.mapper().name())),
                        runtime_.machine(), runtime_.options().explain);
    });
  }
  if (runtime_.options().stats) attempt([this] { write_statistics(); });
  if (!faults.empty()) throw Error(faults);
}

void Reports::write_statistics() const {
  const Machine& machine = runtime_.machine();
  const Totals& totals = runtime_.totals();
  const exec::ExecutorCounters executed = runtime_.executor().counters();
  Statistics s;
  s.wall_ns = profile::now_ns() - start_ns_;
  s.counters = runtime_.counters();
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
