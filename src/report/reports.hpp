#pragma once
// What a run leaves behind for people: statistics, timeline, graph, recordings, explanation, what automatic
// tracing did, what it called (--refrain:stats, :timeline, :graph, :graph-calculus, :explain, :autotrace-log, :record).
// Files are tried when the runtime starts, so that a path that cannot be written is an error at once, and so are two
// reports to one file; they are complete when the runtime ends, or when SIGTERM or SIGINT end the process
// (report/termination.hpp), and take the places of older ones then. What `record` writes is in a file all along.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "report/termination.hpp"

namespace refrain {
struct Counters;
}

namespace refrain::profile {
class Timeline;
}

namespace refrain::runtime {

class CallRecord;
class Explanation;
class GraphFile;
class ReportFile;
class RuntimeImpl;
class TimelineListener;
struct Totals;

class Reports {
 public:
  /// Throws Error when a file cannot be opened. Registers with the executor and the runtime.
  explicit Reports(RuntimeImpl& runtime);
  ~Reports();

  /// Writes what was asked for, once. The executor must be idle, and nothing may run any more. Throws
  /// Error when not all of it could be written, after the rest has been.
  void write();
  /// Called while a program may run, on a thread of its own: the same with what there is by now.
  void write_early() noexcept;
  /// Whether write() was called.
  [[nodiscard]] bool written() {
    const std::lock_guard lock(writing_);
    return written_;
  }

 private:
  void write_all(const Totals& totals, const Counters& counters, bool at_the_end);
  void write_statistics(const Totals& totals, const Counters& counters) const;

  RuntimeImpl& runtime_;
  const std::uint64_t start_ns_;
  std::unique_ptr<profile::Timeline> timeline_;
  std::unique_ptr<TimelineListener> listener_;
  std::unique_ptr<GraphFile> graph_;
  std::unique_ptr<ReportFile> recordings_, autotrace_;
  std::unique_ptr<CallRecord> calls_;
  std::unique_ptr<Explanation> explanation_;
  std::mutex writing_;
  bool written_ = false;  ///< under the mutex
  std::optional<BeforeTermination> before_termination_;
};

}  // namespace refrain::runtime
