#pragma once
// Reports that are written while a run goes on, each a listener (launch/listener.hpp): the task graph, the recordings
// of traces, the log of automatic tracing, the timeline.
//
// Threads: any. Each file is opened when the runtime starts, so that a path that cannot be written is an error at
// once. When it has been closed it is complete, and takes the place of an older one (base/new_file.hpp).

#include <iosfwd>
#include <mutex>
#include <string>

#include "base/new_file.hpp"
#include "launch/listener.hpp"
#include "profile/timeline.hpp"

namespace refrain {
class Machine;
}

namespace refrain::runtime {

/// A text file to which several threads append. Memory: none beyond the file's buffer.
class ReportFile {
 public:
  /// `what` is what messages call the contents. Throws Error, naming the file, when it cannot be opened.
  ReportFile(std::string path, std::string what);

  /// The text is not mixed with that of other threads. After `close` nothing is done.
  void append(const std::string& text);
  /// Appends `last`, and is complete. A second call does nothing. Throws Error when not all could be written.
  void close(const std::string& last = {});

 private:
  [[noreturn]] void fail(int error) const;

  const std::string path_, what_;
  std::mutex mutex_;
  NewFile file_;
  int error_ = 0;  ///< errno of the first time that nothing could be written
};

/// --refrain:graph: the task graph as Graphviz. Tasks are boxes, copies ellipses, fills house shapes, folds triangles
/// pointing down, the program's own accesses rounded boxes. Edges that carry data are solid, mere order is dashed. The
/// tooltip is the line of the launch.
class GraphFile final : public Listener {
 public:
  /// The machine gives the names of memories.
  GraphFile(const std::string& path, const Machine& machine);
  /// Closes the file, if close() has not; an error of writing is then not reported.
  ~GraphFile() override;

  void operation(const analysis::LoggedOperation& operation) override;
  void edge(std::uint64_t scope, std::uint64_t from, std::uint64_t to,
            exec::EdgeKind kind) override;
  /// Ends the graph. Throws Error when not all could be written.
  void close();

 private:
  [[nodiscard]] std::string label(const analysis::LoggedOperation& operation) const;

  const Machine& machine_;
  ReportFile file_;
};

/// --refrain:graph-calculus: a recording in the notation of the dynamic tracing paper (trace/graph_calculus.hpp).
///
/// A region is called by its field, with its number where the recording uses fields of that name in several regions,
/// and with the points where they are not all: "state", "state@2", "state[0..3]". Its instances have the name of their
/// memory, as those of the paper have that of their node: "state[0..3]^sys0"; where a field has several in one memory,
/// with their number: "state^sys0.1".
void print(std::ostream& out, const Listener::Recorded& recorded, const Machine& machine);

class RecordingsFile final : public Listener {
 public:
  RecordingsFile(const std::string& path, const Machine& machine)
      : machine_(machine), file_(path, "recordings of traces") {}
  void recorded(const Recorded& recorded) override;
  void close() { file_.close(); }

 private:
  const Machine& machine_;
  ReportFile file_;
};

/// --refrain:autotrace-log, as JSON lines.
class AutotraceFile final : public Listener {
 public:
  AutotraceFile(const std::string& to, const Machine&) : file_(to, "log of automatic tracing") {}
  void autotraced(const std::string& line) override { file_.append(line); }
  void close() { file_.close(); }

 private:
  ReportFile file_;
};

/// --refrain:timeline: what the executor runs, a track for each thread, and what contexts do to issue it: the calls
/// that they analyse, the traces that they record and replay.
class TimelineListener final : public Listener {
 public:
  explicit TimelineListener(int threads) : timeline_(threads) {}
  void executed(const exec::Node& node, int thread, std::uint64_t begin_ns,
                std::uint64_t end_ns) override;
  void replayed(const exec::Scope& scope, const exec::NodeInfo* info, exec::NodeKind kind,
                std::uint64_t seq, int thread, std::uint64_t begin_ns,
                std::uint64_t end_ns) override;
  void analysed(std::string_view call, const Where& where, int thread,
                std::uint64_t begin_ns) override;
  void traced(profile::Category what, std::string_view trace, const Where& begun_at,
              std::uint64_t calls, int thread, std::uint64_t begin_ns) override;
  [[nodiscard]] const profile::Timeline& timeline() const { return timeline_; }

 private:
  profile::Timeline timeline_;
};

}  // namespace refrain::runtime
