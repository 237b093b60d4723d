#pragma once
// The reports of a run: statistics, timeline, graph, recordings, explanation, the log of automatic tracing, the calls
// (--refrain:stats, :timeline, :graph, :graph-calculus, :explain, :autotrace-log, :record). Each is made here if the
// options ask for it, and listens to the events that it wants (launch/listener.hpp). A new one that listens to one kind
// of events and writes a file is an entry in the table of flags (options.cpp).
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
#include "refrain/machine.hpp"
#include "refrain/options.hpp"
#include "report/termination.hpp"

namespace refrain::runtime {

class RuntimeImpl;
struct Totals;

class Reports {
 public:
  using Writer = std::function<void(const Totals& totals, bool at_the_end)>;

  /// Throws Error when a file cannot be opened.
  explicit Reports(RuntimeImpl& runtime);
  /// The report is told of these events, and `write` completes it.
  void add(std::unique_ptr<Listener> report, std::initializer_list<Events> events, Writer write);

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
  /// Adds those of such reports that the options ask for: the table of flags has them (options.cpp).
  void add_files(const Options& options, const Machine& machine);
  void write_all(const Totals& totals, bool at_the_end);
  void write_statistics(const Totals& totals) const;

  RuntimeImpl& runtime_;
  const std::uint64_t start_ns_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<Writer> writers_;
  std::mutex writing_;
  bool written_ = false;  ///< under the mutex
  std::optional<BeforeTermination> before_termination_;
};

}  // namespace refrain::runtime
