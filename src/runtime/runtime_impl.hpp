#pragma once
// What is behind a Runtime: the machine, the memories, the executor and the mapper that its contexts
// share, and what it counts.

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "analysis/analysis.hpp"
#include "analysis/instance_store.hpp"
#include "data/forest.hpp"
#include "finder/trace_finder.hpp"
#include "graph/executor.hpp"
#include "refrain/mapper.hpp"
#include "refrain/runtime.hpp"
#include "report/call_log.hpp"
#include "runtime/attachments.hpp"
#include "tracing/trace_counters.hpp"

namespace refrain::runtime {

class ContextImpl;
class Explanation;
class ReportFile;
class Reports;
class TimelineListener;

/// Sums over contexts.
struct Totals {
  std::uint64_t launches = 0, tasks = 0, analysis_ns = 0;
  analysis::AnalysisCounters analysis;
  TraceCounters traces;
  AutotraceCounters autotrace;
  void add(const ContextImpl& context);
};

class RuntimeImpl {
 public:
  explicit RuntimeImpl(Options options);
  ~RuntimeImpl();
  RuntimeImpl(const RuntimeImpl&) = delete;

  void run(const std::function<void(Context&)>& program);
  /// Runtime::write_reports.
  void write_reports();

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const Machine& machine() const { return machine_; }
  [[nodiscard]] exec::Executor& executor() { return *executor_; }
  [[nodiscard]] analysis::Memories& memories() { return memories_; }
  [[nodiscard]] const std::shared_ptr<data::TreeGraveyard>& graveyard() const { return graveyard_; }
  [[nodiscard]] Attachments& attachments() { return attachments_; }
  [[nodiscard]] Mapper& mapper() { return *mapper_; }
  void set_mapper(std::unique_ptr<Mapper> mapper);
  /// Whether somebody wants to know how long launches take.
  [[nodiscard]] bool times_launches() const { return times_launches_; }
  /// Of each context's scope.
  [[nodiscard]] std::uint32_t window() const { return static_cast<std::uint32_t>(options_.window); }

  /// Told of every operation and edge; null: nobody. Before run().
  void set_graph_log(analysis::GraphLog* log) { graph_log_ = log; }
  [[nodiscard]] analysis::GraphLog* graph_log() const { return graph_log_; }
  /// Gets what is recorded of traces, in graph calculus; null: nobody. Before run().
  void set_recordings_file(ReportFile* file) { recordings_file_ = file; }
  [[nodiscard]] ReportFile* recordings_file() const { return recordings_file_; }
  /// Gets what automatic tracing does; null: nobody. Before run().
  void set_autotrace_file(ReportFile* file) { autotrace_file_ = file; }
  [[nodiscard]] ReportFile* autotrace_file() const { return autotrace_file_; }
  /// Told when contexts analyse, record and replay; null: nobody. Before run().
  void set_timeline(TimelineListener* timeline) { timeline_ = timeline; }
  [[nodiscard]] TimelineListener* timeline() const { return timeline_; }
  /// Told of every call of the program's context; null: nobody. Before run().
  void set_call_log(CallLog* log) { call_log_ = log; }
  [[nodiscard]] CallLog* call_log() const { return call_log_; }

  /// Told what is replayed, and why not the rest; null: nobody. Before run().
  void set_explanation(Explanation* explanation) { explanation_ = explanation; }
  [[nodiscard]] Explanation* explanation() const { return explanation_; }

  /// What a file of an earlier run says that programs repeat (tracing/warm_start.hpp).
  [[nodiscard]] const std::vector<autotrace::MinedRepeat>& warm_start() const {
    return warm_start_;
  }
  /// Who looks for repeats.
  [[nodiscard]] autotrace::Miners& miners() { return *miners_; }

  /// A number for a nested context; the program's is 0.
  std::uint64_t next_context_id() {
    return context_ids_.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  /// What a context has counted is added when it ends. Any thread.
  void add(const ContextImpl& context);
  /// Sums over the contexts that have ended and the program's (on the thread that runs it).
  [[nodiscard]] Counters counters() const;
  [[nodiscard]] const Totals& totals() const { return totals_; }
  /// The same from a thread of BeforeTermination: the program's as its thread has them, if that comes by in time.
  struct Sums {
    Totals totals;
    Counters counters;
  };
  [[nodiscard]] Sums sums_from_outside();

 private:
  /// On the program's thread, between two of its instructions: adds its sums to what has room for them.
  static void add_program(void* runtime);

  Options options_;
  const std::vector<autotrace::MinedRepeat>
      warm_start_;  ///< read before the file may be recorded anew
  Machine machine_;
  analysis::Memories memories_;
  std::shared_ptr<data::TreeGraveyard> graveyard_ = data::make_graveyard();
  Attachments attachments_;
  std::unique_ptr<Mapper> mapper_;
  std::shared_ptr<exec::Executor> executor_;
  std::unique_ptr<autotrace::Miners> miners_;
  analysis::GraphLog* graph_log_ = nullptr;
  ReportFile* recordings_file_ = nullptr;
  ReportFile* autotrace_file_ = nullptr;
  TimelineListener* timeline_ = nullptr;
  const bool times_launches_ = options_.stats || !options_.timeline.empty();
  CallLog* call_log_ = nullptr;
  Explanation* explanation_ = nullptr;
  std::atomic<std::uint64_t> context_ids_{0};
  std::unique_ptr<Reports> reports_;
  /// While run() runs; its own thread's, and whose that is (under thread_mutex_).
  ContextImpl* program_ = nullptr;
  std::mutex thread_mutex_;
  std::optional<pthread_t> thread_;
  Sums outside_;  ///< for sums_from_outside
  std::atomic<bool> running_ = false;
  mutable std::mutex counters_mutex_;
  Totals totals_;  ///< under counters_mutex_
};

}  // namespace refrain::runtime
