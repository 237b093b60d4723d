#pragma once
// The inside of a Runtime: the machine, the memories, the executor and the mapper that its contexts share, and its
// counters.

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
#include "launch/listener.hpp"
#include "refrain/mapper.hpp"
#include "refrain/runtime.hpp"
#include "runtime/attachments.hpp"
#include "tracing/trace_counters.hpp"

namespace refrain::runtime {

class ContextImpl;
class Reports;

/// Sums over contexts.
struct Totals {
  LaunchCounters launches;
  std::uint64_t analysis_ns = 0;
  analysis::AnalysisCounters analysis;
  TraceCounters traces;
  AliveCounters alive;
  AutotraceCounters autotrace;
  /// A context.
  void add(const ContextImpl& context);
  /// The program's, which is alive.
  void add_program(ContextImpl& program);
  /// What the process has alive.
  void add_process();
  [[nodiscard]] Counters counters() const { return {launches, analysis, traces, alive, autotrace}; }
};

/// Options that a program has filled in itself are checked as flags are. Throws InputError that names the member, the
/// flag, what was expected and what was found (options.cpp).
void check_options(const Options& options);

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

  /// Who is told what happens. They come and go while no program runs.
  [[nodiscard]] Listeners& listeners() { return listeners_; }
  /// Null: nobody wants to know.
  [[nodiscard]] Listener* listener(Events kind) const { return listeners_.of(kind); }
  [[nodiscard]] analysis::GraphLog* graph_log() const { return listener(Events::graph); }

  /// Repeats of an earlier run, out of its record (tracing/warm_start.hpp).
  [[nodiscard]] const std::vector<autotrace::MinedRepeat>& warm_start() const {
    return warm_start_;
  }
  /// Who looks for repeats.
  [[nodiscard]] autotrace::Miners& miners() { return *miners_; }

  /// A number for a nested context; the program's is 0.
  std::uint64_t next_context_id() {
    return context_ids_.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  /// The counters of a context that ends. Any thread.
  void add(const ContextImpl& context);
  /// Sums over the contexts that have ended and the program's (on the thread that runs it).
  [[nodiscard]] Totals totals() const;
  [[nodiscard]] Counters counters() const { return totals().counters(); }
  /// The same from a thread of BeforeTermination: the program's as its thread has them, if that comes by in time.
  [[nodiscard]] Totals totals_from_outside();

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
  std::unique_ptr<exec::Executor> executor_;
  std::unique_ptr<autotrace::Miners> miners_;
  Listeners listeners_;
  const bool times_launches_ = options_.stats || !options_.timeline.empty();
  std::atomic<std::uint64_t> context_ids_{0};
  std::unique_ptr<Reports> reports_;
  /// While run() runs; its own thread's, and whose that is (under thread_mutex_).
  ContextImpl* program_ = nullptr;
  std::mutex thread_mutex_;
  std::optional<pthread_t> thread_;
  Totals outside_;  ///< for totals_from_outside
  std::atomic<bool> running_ = false;
  mutable std::mutex counters_mutex_;
  Totals totals_;  ///< under counters_mutex_
};

}  // namespace refrain::runtime
