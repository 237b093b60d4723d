#pragma once
// The inside of a Runtime: it runs programs, sums up their counters, and writes the reports.

#include <pthread.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analysis.hpp"
#include "data/layout.hpp"
#include "launch/listener.hpp"
#include "launch/runtime_core.hpp"
#include "mapping/mapping_file.hpp"
#include "net/agreement.hpp"
#include "refrain/runtime.hpp"
#include "replay/trace_execution.hpp"
#include "replication/replication.hpp"
#include "report/listeners.hpp"
#include "report/termination.hpp"

namespace refrain::runtime {

class ContextImpl;
class RuntimeImpl;

/// The memory of the program that is attached to fields, in all contexts of a runtime: none of it twice at the same time.
/// Any thread. Cost: O(log n), and a look at each attachment near by.
class Attachments {
 public:
  using Entry = std::shared_ptr<void>;  ///< the attachment ends with it
  /// `what`: "field 'mass' of region 3, attached at main.cpp:12". Throws UsageError, beginning with `who`, when something
  /// attached has a byte in common with the values. No points: nothing is noted.
  [[nodiscard]] Entry add(const data::PlacedValues& values, const std::string& what,
                          const std::string& who);

 private:
  std::recursive_mutex mutex_;  ///< where there is no memory for an entry, it ends while it is made
  std::multimap<Coord, std::pair<data::PlacedValues, std::string>>
      table_;          ///< by the first address
  Coord longest_ = 0;  ///< of the extents of all
};

/// Sums over contexts.
struct Totals {
  LaunchCounters launches;
  std::uint64_t analysis_ns = 0;
  analysis::AnalysisCounters analysis;
  TraceTotals traces;
  AliveCounters alive;
  ShardCounters shards;
  AutotraceCounters autotrace;
  /// A context.
  void add(const ContextImpl& context);
  /// The program's, which is alive.
  void add_program(ContextImpl& program);
  /// With what the process has alive now.
  [[nodiscard]] Counters counters() const;
};

/// The options as texts, for the ranks of a run to agree on (options.cpp).
std::vector<net::Item> items_of(const Options& options);

/// The options, which a program may have filled in itself, checked as flags are. Throws InputError that names the member,
/// the flag, what was expected and what was found (options.cpp).
const Options& checked(const Options& options);

/// The reports of a run: statistics, timeline, graph, recordings, explanation, the log of automatic tracing, the calls
/// (--refrain:stats, :timeline, :graph, :graph-calculus, :explain, :autotrace-log, :record). Each is made here if the
/// options ask for it, and listens to the events that it wants (launch/listener.hpp). A new one that listens to one kind
/// of events and writes a file is an entry in the table of flags (options.cpp).
///
/// Files are tried when the runtime starts, so that a path that cannot be written is an error at once. They are
/// complete when the runtime ends, or when SIGTERM or SIGINT end the process (report/termination.hpp), and take the
/// places of older ones then. The file of `record` has all calls so far at any time.
class Reports {
 public:
  using Writer = std::function<void(const Totals& totals, bool at_the_end)>;

  /// Throws Error when a file cannot be opened.
  explicit Reports(RuntimeImpl& runtime);
  ~Reports();
  Reports(const Reports&) = delete;
  /// The report is told of these events, and `write` completes it.
  void add(std::unique_ptr<Listener> report, std::initializer_list<Events> events, Writer write);

  /// Writes what was asked for, once. Throws Error when not all of it could be written, after the rest has been. At the
  /// end the executor must be idle, and nothing may run any more. Before it, a program may run: it is called on a thread
  /// of its own, and writes what there is by now.
  void write(bool at_the_end);
  /// Whether write() was called.
  [[nodiscard]] bool written() {
    const std::lock_guard lock(writing_);
    return written_;
  }

 private:
  /// Adds those of such reports that the options ask for: the table of flags has them (options.cpp).
  void add_files(const Options& options, const Machine& machine);
  void write_statistics(const Totals& totals) const;
  /// On several ranks, each of which calls it at the end: one file of all.
  void write_shared(const profile::Timeline& timeline) const;
  [[nodiscard]] std::vector<Explanation::RankWaits> gather(Explanation& explanation) const;

  RuntimeImpl& runtime_;
  const std::uint64_t start_ns_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<Writer> writers_;
  std::mutex writing_;
  bool written_ = false;  ///< under the mutex
  std::optional<BeforeTermination> before_termination_;
};

/// What runtimes share whose programs run at once and are to agree on names: the shards of one process, or of several.
/// Each runtime has contexts, memories and reports of its own. What is null is not shared: the executor is then made as
/// the options say, and slots are the process's.
struct World {
  /// That of this process, which a launcher may have started as one rank of several (replication/connection.hpp).
  /// UsageError when another runtime is connected with them.
  /// InputError where the machines of the ranks are not alike.
  static World of_process(const Options& options);

  std::shared_ptr<exec::Executor> executor{};
  std::shared_ptr<detail::TaskSlots> task_slots{};
  /// To the other ranks that run the program, as one shard on each; null: it runs alone.
  std::shared_ptr<net::Mailbox> mailbox{};
  replication::Connection* connection = nullptr;  ///< the mailbox's; null: ranks in one process
  /// The least that any rank has, by memory; empty: all have what this one has.
  std::vector<std::uint64_t> capacities{};
  /// The machine of a simulation, which need not be this one; nothing is computed (RuntimeCore::is_imagined).
  std::optional<Machine> imagined{};
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
    /// Without close(), or after its error: ends what is in flight, and tells no error.
    ~Program();
    [[nodiscard]] ContextImpl& context() { return *context_; }
    /// The program has thrown this, and is about to end.
    void note_error(const std::exception_ptr& error) noexcept;
    /// Waits for everything, and ends.
    void close();

   private:
    void end() noexcept;
    RuntimeImpl& runtime_;
    void* thread_before_;
    detail::Waiter* waiter_before_;
    std::unique_ptr<ContextImpl> context_;          ///< null: it has ended
    std::string error_ = "no error that is known";  ///< what it has thrown
  };

  [[nodiscard]] bool is_running() const;
  /// Runtime::write_reports.
  void write_reports();

  [[nodiscard]] Attachments& attachments() { return attachments_; }
  /// Null: the program runs alone.
  [[nodiscard]] replication::Ranks* ranks() { return ranks_.get(); }
  /// Context::machine().
  [[nodiscard]] const Machine& whole_machine() const {
    return ranks_ == nullptr ? machine_ : ranks_->machine(machine_);
  }
  void set_mapper(std::unique_ptr<Mapper> mapper);
  /// The mapper, where it is one; else null.
  [[nodiscard]] const mapping::MappingFile* mapping_file() const { return mapping_file_; }
  /// The counters of a context that ends. Any thread.
  void add(const ContextImpl& context);
  /// Sums over the contexts that have ended and the program's (on the thread that runs it).
  [[nodiscard]] Totals totals() const;
  /// The same from a thread of BeforeTermination: the program's as its thread has them, if that comes by in time.
  [[nodiscard]] Totals totals_from_outside();

 private:
  /// The thread of the program that begins, or none: it has ended. False: another one runs. Who has the thread
  /// interrupted holds the mutex meanwhile.
  bool set_thread(std::optional<pthread_t> thread);

  Attachments attachments_;
  std::unique_ptr<replication::Ranks> ranks_;
  std::unique_ptr<Reports> reports_;
  const mapping::MappingFile* mapping_file_ = nullptr;  ///< the mapper's
  /// While a program runs: its context, and whose thread it is (under thread_mutex_).
  ContextImpl* program_ = nullptr;
  mutable std::mutex thread_mutex_;
  std::optional<pthread_t> thread_;
  Totals outside_;  ///< for totals_from_outside
  mutable std::mutex counters_mutex_;
  Totals totals_;  ///< under counters_mutex_
};

}  // namespace refrain::runtime
