#include "refrain/runtime.hpp"

#include <cxxabi.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/text.hpp"
#include "data/index_space.hpp"
#include "finder/trace_finder.hpp"
#include "machine/machine.hpp"
#include "mapping/mapping.hpp"
#include "memory/accumulator.hpp"
#include "net/dry.hpp"
#include "replication/connection.hpp"
#include "runtime/context_impl.hpp"
#include "runtime/runtime_impl.hpp"
#include "tracing/found_traces.hpp"

namespace refrain::runtime {

namespace {

std::shared_ptr<exec::Executor> make_executor(const Options& options, const Machine& machine) {
  exec::ExecutorOptions chosen;
  const auto cores = static_cast<int>(machine.processors(ProcessorKind::cpu).size());
  chosen.workers = options.workers >= 0 ? options.workers : std::max(0, cores - 1);
  chosen.tasks_do_nothing = options.dry;
  // With a seed all depends on that, and nothing on time.
  chosen.oldest_first = options.order != Options::Order::local;
  chosen.path_order = options.order == Options::Order::path && !options.schedule;
  if (options.schedule) return exec::make_seeded_executor(machine, chosen, *options.schedule);
  return exec::make_threaded_executor(machine, chosen);
}

Machine load_machine(const std::string& description) {
  Machine machine = machine::load(description);
  machine::check_runs_here(machine, description);
  return machine;
}

/// The file of a report of this rank: "stats.2.json". What is no file, as /dev/stdout, is everybody's.
std::string of_rank(const std::string& path, net::Rank rank) {
  std::error_code ignored;
  if (path.empty() || rank == 0 || std::filesystem::is_character_file(path, ignored) ||
      std::filesystem::is_fifo(path, ignored))
    return path;
  std::filesystem::path own(path);
  own.replace_extension(std::to_string(rank) + own.extension().string());
  return own;
}

/// Reports come from rank 0, or from all.
Options for_world(Options options, const World& world) {
  if (world.mailbox == nullptr) return options;
  const net::Rank rank = world.mailbox->rank();
  const bool silent = rank != 0 && options.output == Options::Output::first && !options.dry;
  if (silent) options.stats = false;
  const auto own = [&](std::string Options::*file) {
    if (silent) options.*file = std::string();
    else if (!options.dry) options.*file = of_rank(options.*file, rank);
  };
  for (std::string Options::*file :
       {&Options::stats_file, &Options::graph, &Options::graph_calculus, &Options::autotrace_log,
        &Options::record, &Options::write_mapping, &Options::capture})
    own(file);
  // Of processes these tell of all ranks (Reports).
  if (world.connection == nullptr) own(&Options::timeline);
  if (world.connection == nullptr || !silent) own(&Options::explain);
  return options;
}

/// What the program prints is discarded from here on.
void silence() {
  std::fflush(stdout);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  dup2(nowhere, STDOUT_FILENO);
  close(nowhere);
}

std::vector<std::uint64_t> capacities_of(const Machine& machine) {
  std::vector<std::uint64_t> capacities;
  for (const Memory& memory : machine.memories()) capacities.push_back(memory.capacity);
  return capacities;
}

/// The ranks agree on what has to be the same on all of them. The least capacity that any rank has, by memory. A
/// description that this rank cannot read differs from those of the others.
std::vector<std::uint64_t> agree(replication::Connection& connection, const Options& options) {
  std::vector<net::Item> items = items_of(options);
  std::vector<std::uint64_t> capacities;
  try {
    const Machine machine = machine::load(options.machine);
    capacities = capacities_of(machine);
    items.push_back({"the machine", machine::to_outline(machine, options.machine)});
  } catch (const InputError& error) { items.push_back({"the machine", error.what()}); }
  connection.agree(items, capacities);
  return capacities;
}

/// This process's; the first time it connects the process.
replication::Connection* connection_for(const Options& options) {
  replication::Connection* const connection = replication::Connection::make();
  if (connection == nullptr || connection->has_agreed()) return connection;
  agree(*connection, options);
  if (connection->rank() != 0 && options.output == Options::Output::first) silence();
  connection->set_limit(options.hang_after * 1'000'000'000);
  return connection;
}

}  // namespace

World World::of_process(const Options& options) {
  World world;
  if (const Options::Shard& shard = checked(options).shard; shard.of > 0) {
    world.mailbox =
        std::make_shared<net::Mailbox>(std::make_unique<net::Dry>(shard.number, shard.of));
    return world;
  }
  replication::Connection* const connection = connection_for(options);
  if (connection == nullptr) return world;
  if (connection->is_used())
    fail("Runtime",
         "another Runtime of this process is connected with the other ranks; end it before, or set "
         "REFRAIN_NET=alone");
  // Of each Runtime, as each may have options of its own; what a description's file says may change, too.
  world.capacities = agree(*connection, options);
  world.mailbox = connection->use();
  world.connection = connection;
  return world;
}

// Braces: the options are checked first, and the warm start is read before its file may be recorded anew.
RuntimeImpl::RuntimeImpl(Options options, World world)
    : RuntimeCore{for_world(checked(options), world), read_warm_start(options),
                  world.imagined ? *world.imagined : load_machine(options.machine),
                  world.imagined.has_value()} {
  if (options_.mapping.empty()) {
    mapper_ = mapping::make_mapper(options_.mapper);
  } else {
    auto file = std::make_unique<mapping::MappingFile>(
        JsonFile::read(options_.mapping, "mapping file"), options_.mapping, machine_);
    mapping_file_ = file.get();
    mapper_ = std::move(file);
  }
  executor_ = world.executor ? std::move(world.executor) : make_executor(options_, machine_);
  task_slots_ = world.task_slots ? world.task_slots : detail::TaskSlots::process();
  if (world.mailbox != nullptr && world.mailbox->ranks() > 1) {
    if (world.capacities.empty()) world.capacities = capacities_of(machine_);
    ranks_ = std::make_unique<replication::Ranks>(std::move(world.mailbox), world.connection,
                                                  options_.check_determinism,
                                                  std::move(world.capacities));
  }
  reports_ = std::make_unique<Reports>(*this);
  if (ranks_ != nullptr) executor_->add(*ranks_);
}

// A program that holds the Runtime itself has its results by now: it is told, no more.
RuntimeImpl::~RuntimeImpl() {
  try {
    write_reports();
  } catch (const std::exception& error) { std::fprintf(stderr, "refrain: %s\n", error.what()); }
  if (ranks_ != nullptr) executor_->remove(*ranks_);
}

void RuntimeImpl::write_reports() {
  if (is_running()) fail("write_reports", "a program runs; the reports tell of its end");
  reports_->write(true);
}

void RuntimeImpl::set_mapper(std::unique_ptr<Mapper> mapper) {
  if (mapper == nullptr) fail("set_mapper", "the mapper is null");
  if (program_ != nullptr)
    fail("set_mapper", "a program runs, and has asked the mapper '{}' already; set it before run()",
         mapper_->name());
  if (mapping_file_ == nullptr) mapper_ = std::move(mapper);
}

RuntimeImpl::Program::Program(RuntimeImpl& runtime, const char* call) : runtime_(runtime) {
  if (!runtime.set_thread(pthread_self()))
    fail(call, "this Runtime runs a program already; a second one needs its own");
  thread_before_ = runtime.executor().enter_root();
  waiter_before_ = detail::Waiter::current();
  try {
    if (runtime.reports_->written())
      fail(call, "the reports of this Runtime are written; what they tell of runs before");
    if (Listener* calls = runtime.listener(Events::calls)) calls->program_begins();
    context_ = std::make_unique<ContextImpl>(runtime);
  } catch (...) {
    end();
    throw;
  }
  runtime.program_ = context_.get();
  detail::Waiter::set_current(context_.get());
}

RuntimeImpl::Program::~Program() {
  if (context_ == nullptr) return;
  if (context_->replicated != nullptr) context_->end_early(error_);
  context_->abandon();
  end();
}

void RuntimeImpl::Program::note_error(const std::exception_ptr& error) noexcept {
  if (context_->replicated == nullptr) return;
  try {
    error_ = type_and_text_of(error);
  } catch (const std::bad_alloc&) {}  // then the other ranks are not told it
}

void RuntimeImpl::Program::close() {
  context_->finish();
  end();
}

void RuntimeImpl::Program::end() noexcept {
  runtime_.program_ = nullptr;
  detail::Waiter::set_current(waiter_before_);
  context_.reset();
  runtime_.executor().leave_root(thread_before_);
  runtime_.set_thread({});
}

bool RuntimeImpl::is_running() const {
  const std::lock_guard lock(thread_mutex_);
  return thread_.has_value();
}

bool RuntimeImpl::set_thread(std::optional<pthread_t> thread) {
  const std::lock_guard lock(thread_mutex_);
  const bool is_free = !thread_ || !thread;
  if (is_free) thread_ = thread;
  return is_free;
}

void RuntimeImpl::add(const ContextImpl& context) {
  const std::lock_guard lock(counters_mutex_);
  totals_.add(context);
}

Totals RuntimeImpl::totals() const {
  const std::lock_guard lock(counters_mutex_);
  Totals now = totals_;
  if (program_ != nullptr) {
    program_->scope.collect();
    now.add_program(*program_);
  }
  return now;
}

Totals RuntimeImpl::totals_from_outside() {
  const std::size_t links = analysis::AnalysisCounters::links_of(machine_);
  {
    const std::lock_guard lock(counters_mutex_);
    outside_ = totals_;
  }
  outside_.analysis.links.resize(links);
  // On the program's thread, between two of its instructions: adds its sums to what has room for them.
  const auto add_program = [](void* runtime) {
    auto& self = *static_cast<RuntimeImpl*>(runtime);
    if (self.program_ != nullptr) self.outside_.add_program(*self.program_);
  };
  {
    const std::lock_guard lock(thread_mutex_);
    if (thread_) BeforeTermination::interrupt(*thread_, add_program, this);
  }
  return outside_;
}

void Totals::add(const ContextImpl& context) {
  launches += {context.launches, context.tasks};
  analysis_ns += context.analysis_ns;
  analysis += context.analysis.counters();
  traces += context.traces.counters();
  if (context.replicated != nullptr) shards += context.replicated->counters();
  const AutotraceCounters found = context.traces.autotrace_counters();
  autotrace += found;
  if (context.parent != nullptr) return;
  // It is steady when a window of it has been seen, for `refrain report` too (tools/traced_run.cpp).
  const std::uint64_t calls = found.analysed + found.replayed;
  autotrace.before_steady = found.before_steady;
  if (found.before_steady && calls - *found.before_steady < autotrace::Steadiness::kWindow)
    autotrace.before_steady.reset();
}

void Totals::add_program(ContextImpl& program) {
  add(program);
  alive.regions_alive = program.forest.alive();
  alive.instances_alive = program.analysis.store().alive();
  alive.nodes_alive = program.scope.in_flight();
}

Counters Totals::counters() const {
  AliveCounters now = alive;
  now.futures_alive = detail::FutureState::live_count();
  now.accumulators_alive = detail::Accumulator::live_count();
  now.index_spaces_alive = data::IndexSpace::live_count();
  return {launches, analysis, traces, now, shards, autotrace};
}

}  // namespace refrain::runtime

namespace refrain {

Runtime::Runtime(Options options)
    : impl_(std::make_shared<runtime::RuntimeImpl>(options, runtime::World::of_process(options))) {}
Runtime::~Runtime() = default;

/// What is behind an open program. The runtime lives until it has ended.
struct OpenProgram::Impl {
  std::shared_ptr<runtime::RuntimeImpl> runtime;
  std::thread::id thread = std::this_thread::get_id();
  runtime::RuntimeImpl::Program program{*runtime, "open"};
};

OpenProgram Runtime::open() {
  if (detail::Waiter::current() != nullptr && !impl_->is_running())
    runtime::fail(
        "open",
        "this thread runs another program or a task; a thread of its own may open this one");
  return OpenProgram(std::unique_ptr<OpenProgram::Impl>(new OpenProgram::Impl{impl_}));
}

OpenProgram::OpenProgram(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
OpenProgram::OpenProgram(OpenProgram&&) noexcept = default;

OpenProgram::~OpenProgram() {
  if (!impl_ || impl_->thread == std::this_thread::get_id()) return;
  std::fprintf(stderr,
               "refrain: an open program ends on another thread than the one that opened it\n");
  std::abort();
}

void OpenProgram::check(const char* call) const {
  if (!impl_) runtime::fail(call, "the program is closed");
  if (impl_->thread != std::this_thread::get_id())
    runtime::fail(call, "the program was opened by another thread, which alone uses and closes it");
}

Context& OpenProgram::context() const {
  check("context");
  return impl_->program.context().facade();
}

void OpenProgram::close() {
  check("close");
  const std::unique_ptr<Impl> ending = std::move(impl_);
  ending->program.close();
}

void Runtime::set_mapper(std::unique_ptr<Mapper> mapper) { impl_->set_mapper(std::move(mapper)); }
void Runtime::run(const std::function<void(Context&)>& program) {
  impl_->executor().run_root([&] {
    runtime::RuntimeImpl::Program running(*impl_, "run");
    try {
      program(running.context().facade());
      running.close();
    } catch (const abi::__forced_unwind&) { throw; } catch (...) {
      running.note_error(std::current_exception());
      throw;
    }
  });
}
void Runtime::write_reports() { impl_->write_reports(); }
const Machine& Runtime::machine() const { return impl_->machine(); }
Counters Runtime::counters() const { return impl_->totals().counters(); }

Processes processes() {
  const replication::Connection* const connection = replication::Connection::get();
  if (connection == nullptr) return {};
  return {connection->rank(), connection->ranks()};
}

void connect_processes(const Options& options) {
  runtime::connection_for(runtime::checked(options));
}

void report_error(const std::string& text) {
  std::fflush(stdout);
  replication::Connection* connection = nullptr;
  try {
    // The others may be on their way to this one: they are told.
    connection = replication::Connection::make();
  } catch (const Error&) {}  // most likely that is what the text says
  if (connection != nullptr) return connection->tell(text);
  std::fprintf(stderr, "%s\n", text.c_str());
}

/// A whole program under the runtime's flags.
int run(int& argc, char** argv, const std::function<void(Context&)>& program) {
  try {
    const Options options = parse_options(argc, argv);
    if (options.help) {
      std::printf("usage: %s [FLAGS]\n\n%s", argc > 0 ? argv[0] : "program", flags_help().c_str());
      return 0;
    }
    Runtime runtime(options);
    runtime.run(program);
    runtime.write_reports();
    return 0;
  } catch (const std::exception& error) {
    report_error(std::string("refrain: ") + error.what());
  } catch (const abi::__forced_unwind&) {
    throw;  // the program ends its thread: pthread_exit
  } catch (...) {
    report_error("refrain: the program ended with an exception of type " +
                 type_of_current_exception());
  }
  return 1;
}

}  // namespace refrain
