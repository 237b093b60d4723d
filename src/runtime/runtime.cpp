#include "refrain/runtime.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "data/index_space.hpp"
#include "finder/steadiness.hpp"
#include "machine/machine.hpp"
#include "mapping/make_mapper.hpp"
#include "refrain/error.hpp"
#include "report/reports.hpp"
#include "runtime/check_options.hpp"
#include "runtime/context_impl.hpp"
#include "runtime/runtime_impl.hpp"
#include "tracing/miners.hpp"
#include "tracing/warm_start.hpp"

namespace refrain::runtime {

namespace {

int worker_count(const Options& options, const Machine& machine) {
  if (options.workers >= 0) return options.workers;
  const auto cores = static_cast<int>(machine.processors(ProcessorKind::cpu).size());
  return std::max(0, cores - 1);
}

std::shared_ptr<exec::Executor> make_executor(const Options& options, const Machine& machine) {
  exec::ExecutorOptions chosen;
  chosen.workers = worker_count(options, machine);
  // With a seed all depends on that, and nothing on time.
  chosen.oldest_first = options.order != Options::Order::local;
  chosen.path_order = options.order == Options::Order::path && !options.schedule;
  if (options.schedule) return exec::make_seeded_executor(machine, chosen, *options.schedule);
  return exec::make_threaded_executor(machine, chosen);
}

Options checked(Options options) {
  check_options(options);
  return options;
}

Machine load_machine(const std::string& description) {
  Machine machine = machine::load(description);
  machine::check_runs_here(machine, description);
  return machine;
}

/// It is one when a window of it has been seen, for `refrain report` too (tools/traced_run.cpp).
std::optional<std::uint64_t> steady_from(const AutotraceCounters& found) {
  const std::uint64_t calls = found.analysed + found.replayed;
  const bool is_seen =
      found.before_steady && calls - *found.before_steady >= autotrace::Steadiness::kWindow;
  return is_seen ? found.before_steady : std::nullopt;
}

}  // namespace

RuntimeImpl::RuntimeImpl(Options options)
    : options_(checked(std::move(options))),
      warm_start_(read_warm_start(options_)),
      machine_(load_machine(options_.machine)),
      memories_(machine_),
      mapper_(mapping::make_mapper(options_.mapper)),
      executor_(make_executor(options_, machine_)),
      miners_(make_miners(*executor_)),
      reports_(std::make_unique<Reports>(*this)) {}

// A program that holds the Runtime itself has its results by now: it is told, no more.
RuntimeImpl::~RuntimeImpl() {
  try {
    write_reports();
  } catch (const std::exception& error) { std::fprintf(stderr, "refrain: %s\n", error.what()); }
}

void RuntimeImpl::write_reports() {
  if (running_.load())
    throw UsageError("write_reports: a program runs; the reports tell of its end");
  reports_->write();
}

void RuntimeImpl::set_mapper(std::unique_ptr<Mapper> mapper) {
  if (mapper == nullptr) throw UsageError("set_mapper: the mapper is null");
  if (program_ != nullptr)
    throw UsageError("set_mapper: a program runs, and has asked the mapper '" +
                     std::string(mapper_->name()) + "' already; set it before run()");
  mapper_ = std::move(mapper);
}

void RuntimeImpl::run(const std::function<void(Context&)>& program) {
  struct Running {
    std::atomic<bool>& flag;
    explicit Running(std::atomic<bool>& running) : flag(running) {
      if (flag.exchange(true))
        throw UsageError("run: this Runtime runs a program already; a second one needs its own");
    }
    ~Running() { flag.store(false); }
  } running{running_};
  if (reports_->written())
    throw UsageError("run: the reports of this Runtime are written; what they tell of runs before");
  /// Whose program it is: who asks the thread holds the mutex meanwhile.
  struct Thread {
    RuntimeImpl& runtime;
    explicit Thread(RuntimeImpl& of) : runtime(of) { set(pthread_self()); }
    ~Thread() { set({}); }
    void set(std::optional<pthread_t> thread) {
      const std::lock_guard lock(runtime.thread_mutex_);
      runtime.thread_ = thread;
    }
  } thread{*this};
  executor_->run_root([&] {
    if (call_log_ != nullptr) call_log_->program_begins();
    ContextImpl context(*this);
    const detail::CurrentWaiter current(context);
    program_ = &context;
    try {
      program(context.facade());
      context.finish();
    } catch (...) {
      context.abandon();
      program_ = nullptr;
      throw;
    }
    program_ = nullptr;
  });
}

void RuntimeImpl::add(const ContextImpl& context) {
  const std::lock_guard lock(counters_mutex_);
  totals_.add(context);
}

namespace {

Counters counters_of(const Totals& now) {
  Counters counters;
  counters.launches = now.launches;
  counters.tasks = now.tasks;
  counters.edges = now.analysis.edges;
  counters.copies = now.analysis.copies;
  counters.copied_bytes = now.analysis.copied_bytes;
  counters.fills = now.analysis.fills;
  counters.folds = now.analysis.folds;
  counters.evictions = now.analysis.evictions;
  counters.recordings = now.traces.recordings;
  counters.rounds = now.traces.rounds;
  counters.replays = now.traces.replays;
  counters.early_exits = now.traces.early_exits;
  counters.replayed_tasks = now.traces.replayed_tasks;
  counters.preconditions_failed = now.traces.preconditions_failed;
  counters.catch_ups = now.traces.catch_ups;
  counters.unexamined_edges = now.traces.unexamined_edges;
  counters.autotrace = now.autotrace;
  return counters;
}

}  // namespace

Counters RuntimeImpl::counters() const {
  const std::lock_guard lock(counters_mutex_);
  Totals now = totals_;
  if (program_ != nullptr) now.add(*program_);
  Counters counters = counters_of(now);
  if (program_ != nullptr) {
    counters.regions_alive = program_->regions_alive();
    counters.instances_alive = program_->instances_alive();
    counters.nodes_alive = program_->scope().collect();
  }
  counters.futures_alive = detail::FutureState::live_count();
  return counters;
}

void RuntimeImpl::add_program(void* runtime) {
  auto& self = *static_cast<RuntimeImpl*>(runtime);
  if (self.program_ == nullptr) return;
  self.outside_.totals.add(*self.program_);
  Counters& counters = self.outside_.counters;
  counters.regions_alive = self.program_->regions_alive();
  counters.instances_alive = self.program_->instances_alive();
  counters.nodes_alive = self.program_->scope().in_flight();
}

RuntimeImpl::Sums RuntimeImpl::sums_from_outside() {
  const std::size_t links = machine_.memories().size() * machine_.memories().size();
  {
    const std::lock_guard lock(counters_mutex_);
    outside_.totals = totals_;
  }
  outside_.totals.analysis.link_copies.resize(links);
  outside_.totals.analysis.link_bytes.resize(links);
  {
    const std::lock_guard lock(thread_mutex_);
    if (thread_) BeforeTermination::interrupt(*thread_, add_program, this);
  }
  const Counters alive = outside_.counters;
  outside_.counters = counters_of(outside_.totals);
  outside_.counters.regions_alive = alive.regions_alive;
  outside_.counters.instances_alive = alive.instances_alive;
  outside_.counters.nodes_alive = alive.nodes_alive;
  outside_.counters.futures_alive = detail::FutureState::live_count();
  return outside_;
}

void Totals::add(const ContextImpl& context) {
  launches += context.launches();
  tasks += context.tasks();
  analysis_ns += context.analysis_ns();
  analysis += context.analysis_counters();
  traces += context.trace_counters();
  const AutotraceCounters found = context.autotrace_counters();
  autotrace.analysed += found.analysed;
  autotrace.replayed += found.replayed;
  autotrace.candidates += found.candidates;
  autotrace.recordings += found.recordings;
  autotrace.replays += found.replays;
  autotrace.wrong += found.wrong;
  autotrace.mined += found.mined;
  autotrace.mined_calls += found.mined_calls;
  autotrace.late += found.late;
  if (context.is_program()) autotrace.before_steady = steady_from(found);
}

}  // namespace refrain::runtime

namespace refrain {

Runtime::Runtime(Options options)
    : impl_(std::make_unique<runtime::RuntimeImpl>(std::move(options))) {}
Runtime::~Runtime() = default;

void Runtime::set_mapper(std::unique_ptr<Mapper> mapper) { impl_->set_mapper(std::move(mapper)); }
void Runtime::run(const std::function<void(Context&)>& program) { impl_->run(program); }
void Runtime::write_reports() { impl_->write_reports(); }
const Machine& Runtime::machine() const { return impl_->machine(); }
Counters Runtime::counters() const { return impl_->counters(); }

}  // namespace refrain
