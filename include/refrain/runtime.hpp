#pragma once
// The way in: refrain::run for a whole program, Runtime for a part of one.

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "refrain/context.hpp"
#include "refrain/counters.hpp"
#include "refrain/mapper.hpp"
#include "refrain/options.hpp"

namespace refrain {

namespace runtime {
class RuntimeImpl;
}

/// A program that is open, from Runtime::open() to close(), for what is not one function: a session of another language,
/// a library that is begun and ended. All calls come from the thread that has opened it, which runs no other program
/// meanwhile and ends later. The Runtime's insides live until it has ended.
class OpenProgram {
 public:
  OpenProgram(OpenProgram&& other) noexcept;
  /// Without close(): ends what was launched, and tells no error.
  ~OpenProgram();

  /// UsageError when the program is closed, or on another thread.
  [[nodiscard]] Context& context() const;
  /// The end of the program, as that of Runtime::run: waits for everything that was launched, ends the regions that are
  /// left, and throws the first failure that the program did not see. The program is closed also when it throws.
  void close();

 private:
  friend class Runtime;
  struct Impl;
  explicit OpenProgram(std::unique_ptr<Impl> impl);
  void check(const char* call) const;
  std::unique_ptr<Impl> impl_;
};

/// Processors, memories and workers for programs. May be made several times in a process, one after the
/// other or side by side; run() may be called again and again, from one thread at a time
/// (inside its own run: a UsageError).
///
/// Where a launcher has started several processes, each makes its Runtimes in the same order, one at a time. The ranks
/// then agree on their machines, so all of them have to come: InputError that names two ranks where those are not alike.
class Runtime {
 public:
  explicit Runtime(Options options = {});
  /// For layers that make several of one world.
  explicit Runtime(std::shared_ptr<runtime::RuntimeImpl> impl) : impl_(std::move(impl)) {}
  /// Does write_reports() if nobody has; what cannot be written is told on standard error.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// The mapper for all runs from now on (default: the one that the options name). Not while one runs. A mapping file
  /// (Options::mapping) stays in its place.
  void set_mapper(std::unique_ptr<Mapper> mapper);

  /// Runs `program` and waits for everything it launched. Regions that it did not destroy end here.
  /// Throws what the program throws, or the first failure that it did not see.
  void run(const std::function<void(Context&)>& program);

  /// Begins a program that goes on until it is closed. UsageError while one runs, and where this thread runs another
  /// program or a task.
  [[nodiscard]] OpenProgram open();

  /// After the last run: writes the reports (statistics, timeline, ...) that the options ask for. Throws Error
  /// when not all of them could be written, after the others have been. A second call does nothing. While a
  /// program runs it is a UsageError, and so is a run after it.
  void write_reports();

  /// This process's, on which its tasks run. Programs decide by Context::machine(), which is that of all ranks.
  [[nodiscard]] const Machine& machine() const;
  [[nodiscard]] Counters counters() const;

  [[nodiscard]] runtime::RuntimeImpl& impl() { return *impl_; }

 private:
  std::shared_ptr<runtime::RuntimeImpl> impl_;
};

/// Which of the processes that run one program together this is (docs/control-replication.md).
struct Processes {
  unsigned rank = 0;
  unsigned ranks = 1;
};
/// Known once the process is connected; before that it is the only one. Any thread.
Processes processes();

/// Connects this process with the others that mpirun or srun has started, if there are any. The first call does so, or
/// the first Runtime; its options count, and have to be the same on all of them. From then on standard output is that of
/// rank 0, unless they ask for that of all. All of them call it, and wait for each other. InputError where there is a
/// launcher and Refrain was built without its MPI, and where the ranks were not started alike.
void connect_processes(const Options& options);

/// The error that ends the program, on standard error: once where several processes run it, which all end with it. It
/// connects the process if that has not happened, and waits for the others; one that does not end with an error ends the
/// run, and says which rank had which.
void report_error(const std::string& text);

/// Runs a whole program: takes the --refrain: flags out of argv (argc becomes smaller), runs `program`, and
/// returns the exit status: 0, or 1 after printing the error that ended it, or which of its reports
/// could not be written.
int run(int& argc, char** argv, const std::function<void(Context&)>& program);

}  // namespace refrain
