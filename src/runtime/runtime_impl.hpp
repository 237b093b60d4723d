#pragma once
// The inside of a Runtime: it runs programs, sums up their counters, and has the reports written.

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
#include "launch/future_state.hpp"
#include "launch/runtime_core.hpp"
#include "refrain/runtime.hpp"
#include "replay/trace_execution.hpp"
#include "runtime/attachments.hpp"

namespace refrain::runtime {

class ContextImpl;
class Reports;

/// Sums over contexts.
struct Totals {
  LaunchCounters launches;
  std::uint64_t analysis_ns = 0;
  analysis::AnalysisCounters analysis;
  TraceTotals traces;
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

/// What runtimes share whose programs run at once and are to agree on names: the shards of one process. Each runtime
/// has contexts, memories and reports of its own. What is null is not shared: the executor is then made as the options
/// say, and slots are the process's.
struct World {
  std::shared_ptr<exec::Executor> executor;
  std::shared_ptr<detail::TaskSlots> task_slots;
};

class RuntimeImpl final : public RuntimeCore {
 public:
  explicit RuntimeImpl(Options options, World world = {});
  ~RuntimeImpl();

  /// A program that runs: its context, from the beginning to the end. All on one thread.
  class Program {
   public:
    /// `call`: what messages say, "run". UsageError while another one runs.
    Program(RuntimeImpl& runtime, const char* call);
    /// Without close(): ends what is in flight, and tells no error.
    ~Program();
    [[nodiscard]] bool is_open() const { return context_ != nullptr; }
    [[nodiscard]] ContextImpl& context() { return *context_; }
    /// Waits for everything. Has ended also when it throws.
    void close();

   private:
    void end() noexcept;
    RuntimeImpl& runtime_;
    void* thread_before_;
    detail::Waiter* waiter_before_;
    std::unique_ptr<ContextImpl> context_;  ///< null: it has ended
  };

  void run(const std::function<void(Context&)>& program);
  [[nodiscard]] bool is_running() const { return running_.load(); }
  /// Runtime::write_reports.
  void write_reports();

  [[nodiscard]] Attachments& attachments() { return attachments_; }
  void set_mapper(std::unique_ptr<Mapper> mapper);
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

  Attachments attachments_;
  std::unique_ptr<Reports> reports_;
  void set_thread(std::optional<pthread_t> thread);

  /// While a program runs: its context, and whose thread it is (under thread_mutex_).
  ContextImpl* program_ = nullptr;
  std::mutex thread_mutex_;
  std::optional<pthread_t> thread_;
  Totals outside_;  ///< for totals_from_outside
  std::atomic<bool> running_ = false;
  mutable std::mutex counters_mutex_;
  Totals totals_;  ///< under counters_mutex_
};

}  // namespace refrain::runtime
