#pragma once
// The way in: refrain::run for a whole program, Runtime for a part of one.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "refrain/context.hpp"
#include "refrain/mapper.hpp"
#include "refrain/options.hpp"

namespace refrain {

namespace runtime {
class RuntimeImpl;
}

/// Of traces that are found (docs/automatic-tracing.md). A call: a launch, or another call that can be traced.
struct AutotraceCounters {
  std::uint64_t analysed = 0, replayed = 0;  ///< calls outside of marks
  std::uint64_t candidates = 0;              ///< sequences of calls that were found to repeat
  std::uint64_t recordings = 0;              ///< of candidates, to their ends
  std::uint64_t replays = 0;                 ///< of these, to their ends
  std::uint64_t wrong = 0;                   ///< replays begun and left before their ends
  /// Histories mined for repeats, calls in them, and how many results came late (then another run may differ).
  std::uint64_t mined = 0, mined_calls = 0, late = 0;
  /// In the program's context: calls before the first after which of any 1,000 in a row 95% were replayed. None until
  /// 1,000 have come after it. Of several programs it is that of the last.
  std::optional<std::uint64_t> before_steady;
};

/// What a runtime has counted so far (--refrain:stats prints these and more).
struct Counters {
  std::uint64_t launches = 0;  ///< single launches and group launches
  std::uint64_t tasks = 0;     ///< points
  std::uint64_t edges = 0;     ///< between operations not complete when they were found
  std::uint64_t copies = 0, copied_bytes = 0, fills = 0, folds = 0;
  std::uint64_t regions_alive = 0, instances_alive = 0, nodes_alive = 0, futures_alive = 0;
  std::uint64_t evictions = 0;
  // Traces: recordings made, rounds of recordings joined into one, whole replays of recordings, replays left
  // before their end, tasks replayed; how often no recording fitted where the data was, how often the
  // analysis took over from replays, and how many recorded edges nobody has looked at whether others imply
  // them, because that would have taken too long: they stay, which does no harm.
  std::uint64_t recordings = 0, rounds = 0, replays = 0, early_exits = 0, replayed_tasks = 0;
  std::uint64_t preconditions_failed = 0, catch_ups = 0, unexamined_edges = 0;
  AutotraceCounters autotrace;
};

/// Processors, memories and workers for programs. May be made several times in a process, one after the
/// other or side by side; run() may be called again and again, from one thread at a time
/// (inside its own run: a UsageError).
class Runtime {
 public:
  explicit Runtime(Options options = {});
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
  std::unique_ptr<runtime::RuntimeImpl> impl_;
};

/// Runs a whole program: takes the --refrain: flags out of argv (argc becomes smaller), runs `program`, and
/// returns the exit status: 0, or 1 after printing the error that ended it, or which of its reports
/// could not be written.
int run(int& argc, char** argv, const std::function<void(Context&)>& program);

}  // namespace refrain
