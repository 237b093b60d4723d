#pragma once
// The way in: refrain::run for a whole program, Runtime for a part of one.

#include <functional>
#include <memory>
#include <utility>

#include "refrain/context.hpp"
#include "refrain/counters.hpp"
#include "refrain/mapper.hpp"
#include "refrain/options.hpp"

namespace refrain {

namespace runtime {
class RuntimeImpl;
}

/// Processors, memories and workers for programs. May be made several times in a process, one after the
/// other or side by side; run() may be called again and again, from one thread at a time
/// (inside its own run: a UsageError).
class Runtime {
 public:
  explicit Runtime(Options options = {});
  /// For layers that make several of one world.
  explicit Runtime(std::shared_ptr<runtime::RuntimeImpl> impl) : impl_(std::move(impl)) {}
  /// Does write_reports() if nobody has; what cannot be written is told on standard error.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// The mapper for all runs from now on (default: the one that the options name). Not while one runs.
  void set_mapper(std::unique_ptr<Mapper> mapper);

  /// Runs `program` and waits for everything it launched. Regions that it did not destroy end here.
  /// Throws what the program throws, or the first failure that it did not see.
  void run(const std::function<void(Context&)>& program);

  /// After the last run: writes the reports (statistics, timeline, ...) that the options ask for. Throws Error
  /// when not all of them could be written, after the others have been. A second call does nothing. While a
  /// program runs it is a UsageError, and so is a run after it.
  void write_reports();

  [[nodiscard]] const Machine& machine() const;
  [[nodiscard]] Counters counters() const;

  [[nodiscard]] runtime::RuntimeImpl& impl() { return *impl_; }

 private:
  std::shared_ptr<runtime::RuntimeImpl> impl_;
};

/// Runs a whole program: takes the --refrain: flags out of argv (argc becomes smaller), runs `program`, and
/// returns the exit status: 0, or 1 after printing the error that ended it, or which of its reports
/// could not be written.
int run(int& argc, char** argv, const std::function<void(Context&)>& program);

}  // namespace refrain
