#pragma once
// --refrain:explain: of each trace and each task, what was replayed, what was analysed and why, what it
// waited for, and where it was mapped.
//
// Threads: any context tells it, one lock. Memory: bounded by the names of the program; of one trace or
// task no more than kMostReasons reasons are told apart.

#include <cstdint>
#include <map>
#include <mutex>
#include <source_location>
#include <string>
#include <tuple>

#include "launch/launch_plan.hpp"
#include "refrain/machine.hpp"
#include "replay/trace_execution.hpp"
#include "report/wait_times.hpp"

namespace refrain::runtime {

using ReasonCounts = std::map<std::string, std::uint64_t>;

struct ExplainedTrace {
  std::string name;
  std::source_location where;                            ///< of its first begin_trace
  std::uint64_t replayed = 0, partly = 0, analysed = 0;  ///< occurrences
  ReasonCounts reasons;                                  ///< occurrences with it
  ReasonCounts recordings;                               ///< by what ended them
};

/// Where an argument of a task was.
struct Placement {
  std::size_t argument = 0;
  std::string field;
  MemoryId memory = 0;
  std::size_t choice = 0;  ///< which of the mapper's memories that is, from 0
  auto operator<=>(const Placement&) const = default;
};

/// All launches of the tasks of one name, in points.
struct ExplainedTask {
  std::uint64_t replayed = 0, analysed = 0;
  ReasonCounts reasons;     ///< why they were analysed
  std::uint64_t asked = 0;  ///< the mapper was; for the others its answer was remembered
  std::map<ProcessorId, std::uint64_t> processors;
  std::map<Placement, std::uint64_t> placements;
  Waits waits;
};

struct Explained {
  std::string mapper;
  std::map<std::uint64_t, ExplainedTrace> traces;  ///< by Trace::id
  std::map<std::string, ExplainedTask> tasks;
};

class Explanation {
 public:
  explicit Explanation(analysis::GraphLog* log, exec::ExecutionListener* listener)
      : waits_(log, listener) {}

  void occurred(std::uint64_t trace, const std::string& name, std::source_location where,
                const TraceExecution& occurrence);
  /// A recording under this name; `ended_by` says why it goes no further.
  void recorded(std::uint64_t trace, const char* ended_by);
  /// A launch, which has its instances. `why` it was analysed; empty: it was replayed.
  void launched(LaunchPlan& plan, const std::string& why);
  /// The mapper was asked about every point.
  void asked(const LaunchPlan& plan);

  [[nodiscard]] WaitTimes& waits() { return waits_; }
  /// All so far.
  [[nodiscard]] Explained told(std::string mapper) const;

 private:
  static constexpr std::size_t kMostReasons = 64;
  static void count(ReasonCounts& reasons, const std::string& reason, std::uint64_t times);

  WaitTimes waits_;
  mutable std::mutex mutex_;
  Explained told_;
};

/// For people, and for programs.
std::string to_text(const Explained& told, const Machine& machine);
std::string to_json(const Explained& told, const Machine& machine);

/// Writes PREFIX.txt and PREFIX.json. Throws Error, naming the file that cannot be written.
void write_explanation(const Explained& told, const Machine& machine, const std::string& prefix);

}  // namespace refrain::runtime
