#pragma once
// The reports of a run: statistics, timeline, graph, recordings, explanation, the log of automatic tracing, the calls
// (--refrain:stats, :timeline, :graph, :graph-calculus, :explain, :autotrace-log, :record). Each is made here if the
// options ask for it, and listens to the events that it wants (launch/listener.hpp).
//
// Files are tried when the runtime starts, so that a path that cannot be written is an error at once. They are
// complete when the runtime ends, or when SIGTERM or SIGINT end the process (report/termination.hpp), and take the
// places of older ones then. The file of `record` has all calls so far at any time.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "launch/listener.hpp"
#include "report/termination.hpp"

namespace refrain::runtime {

class RuntimeImpl;
struct Totals;

class Reports {
 public:
  /// Throws Error when a file cannot be opened. The executor gets its listener.
  explicit Reports(RuntimeImpl& runtime);

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
  template <class Report, class... Arguments>
  Report& listen(std::initializer_list<Events> kinds, Arguments&&... arguments);
  void write_all(const Totals& totals, bool at_the_end);
  void write_statistics(const Totals& totals) const;

  RuntimeImpl& runtime_;
  const std::uint64_t start_ns_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  /// Each writes a report.
  std::vector<std::function<void(const Totals& totals, bool at_the_end)>> writers_;
  std::mutex writing_;
  bool written_ = false;  ///< under the mutex
  std::optional<BeforeTermination> before_termination_;
};

}  // namespace refrain::runtime
