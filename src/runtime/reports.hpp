#pragma once
// What a run leaves behind for people: statistics, timeline, graph, recordings, explanation, what automatic
// tracing did, what it called (--refrain:stats, :timeline, :graph, :graph-calculus, :explain, :autotrace-log, :record).
// Files are opened when the runtime starts, so that a path that cannot be written is an error at once;
// they are complete when the runtime ends.

#include <cstdint>
#include <memory>

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

class Reports {
 public:
  /// Throws Error when a file cannot be opened. Registers with the executor and the runtime.
  explicit Reports(RuntimeImpl& runtime);
  ~Reports();

  /// Writes what was asked for, once. The executor must be idle, and nothing may run any more. Throws
  /// Error when not all of it could be written, after the rest has been.
  void write();
  /// Whether write() was called.
  [[nodiscard]] bool written() const { return written_; }

 private:
  void write_statistics() const;

  RuntimeImpl& runtime_;
  const std::uint64_t start_ns_;
  std::unique_ptr<profile::Timeline> timeline_;
  std::unique_ptr<TimelineListener> listener_;
  std::unique_ptr<GraphFile> graph_;
  std::unique_ptr<ReportFile> recordings_, autotrace_;
  std::unique_ptr<CallRecord> calls_;
  std::unique_ptr<Explanation> explanation_;
  bool written_ = false;
};

}  // namespace refrain::runtime
