#pragma once
// Reports that listen to the events of a run (launch/listener.hpp): the task graph, the recordings of traces, the log
// of automatic tracing, the timeline (listeners.cpp); the explanation (explanation.cpp); the record of calls
// (call_record.cpp).
//
// Threads: any, but where a class says otherwise. Each file is opened or tried when the runtime starts, so that a path
// that cannot be written is an error at once. When it has been closed it is complete, and takes the place of an older one
// (base/new_file.hpp).

#include <cstdint>
#include <deque>
#include <iosfwd>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/new_file.hpp"
#include "launch/listener.hpp"
#include "oracle/run_writer.hpp"
#include "profile/timeline.hpp"
#include "refrain/machine.hpp"

namespace refrain::runtime {

/// A report that is a text file, to which several threads append. Memory: none beyond the file's buffer.
class ReportFile : public Listener {
 public:
  /// `what` is what messages call the contents, `last` the end of the text. Throws Error, naming the file, when it
  /// cannot be opened.
  ReportFile(std::string path, std::string what, std::string last = {});

  /// The file is complete. A second call does nothing. Throws Error when not all could be written.
  void close();

 protected:
  /// The text is not mixed with that of other threads. After `close` nothing is done.
  void append(const std::string& text);

 private:
  const std::string path_, what_, last_;
  std::mutex mutex_;
  NewFile file_;
  int error_ = 0;  ///< errno of the first time that nothing could be written
};

/// --refrain:graph: the task graph as Graphviz. Tasks are boxes, copies ellipses, fills house shapes, folds triangles
/// pointing down, the program's own accesses rounded boxes. The tooltip is the line of the
/// launch.
class GraphFile final : public ReportFile {
 public:
  /// The machine gives the names of memories.
  GraphFile(const std::string& path, const Machine& machine);
  void operation(const analysis::LoggedOperation& operation) override;
  void edge(std::uint64_t scope, std::uint64_t from, std::uint64_t to) override;

 private:
  const Machine& machine_;
};

/// --refrain:graph-calculus: the recordings in the notation of the dynamic tracing paper (trace/graph_calculus.hpp).
///
/// A region is called by its field, with its number where the recording uses fields of that name in several regions,
/// and with the points where they are not all: "state", "state@2", "state[0..3]". Its instances have the name of their
/// memory, as those of the paper have that of their node: "state[0..3]^sys0"; where a field has several in one memory,
/// with their number: "state^sys0.1".
void print(std::ostream& out, const Listener::Recorded& recorded, const Machine& machine);

class RecordingsFile final : public ReportFile {
 public:
  RecordingsFile(const std::string& path, const Machine& machine)
      : ReportFile(path, "recordings of traces"), machine_(machine) {}
  void recorded(const Recorded& recorded) override;

 private:
  const Machine& machine_;
};

/// --refrain:autotrace-log, as JSON lines.
class AutotraceFile final : public ReportFile {
 public:
  AutotraceFile(const std::string& path, const Machine&)
      : ReportFile(path, "log of automatic tracing") {}
  void autotraced(const std::string& line) override { append(line); }
};

/// --refrain:timeline: what the executor runs, a track for each thread, and what contexts do to issue it: the calls
/// that they analyse, the traces that they record and replay. Of several ranks the messages, too, from one to the other.
class TimelineListener final : public Listener {
 public:
  /// `ranks`: of the run.
  TimelineListener(int threads, std::uint32_t ranks)
      : threads_(threads),
        ranks_(ranks),
        timeline_(threads, profile::Timeline::default_events,
                  ranks > 1 ? std::vector<std::string>{"sent", "received"}
                            : std::vector<std::string>()) {}
  void executed(const exec::Executed& ran) override;
  void passed(const net::Passed& message) override;
  void timed(int thread, const profile::Event& event) override { timeline_.record(thread, event); }
  [[nodiscard]] const profile::Timeline& timeline() const { return timeline_; }

 private:
  const int threads_;
  const std::uint32_t ranks_;
  profile::Timeline timeline_;
};

/// --refrain:explain: of each trace and each task, what was replayed, what was analysed and why, what tasks waited for,
/// and where they were mapped.
///
/// Waits. The graph says when an operation was issued and after which others it comes; the execution says when they
/// ran. An operation has waited for the predecessor that was done last, if that was after it was issued; from then on
/// for a thread.
///
/// Idle times. Nothing runs from when the last operation has ended until another begins. As far as a call was analysed
/// meanwhile, or a trace recorded or replayed, the program waits for the runtime.
///
/// Messages. Where something comes from another rank while nothing runs, this rank has waited for the last message of that
/// time, until it came, but for what calls took meanwhile.
///
/// Threads: one lock. Memory: operations that were issued and have not run; else it is bounded by the names of the
/// program, and by 64 reasons of one trace or task.
class Explanation final : public Listener {
 public:
  using ReasonCounts = std::map<std::string, std::uint64_t>;
  struct Trace {
    std::string name;
    Where where;                                           ///< of its first begin_trace
    std::uint64_t replayed = 0, partly = 0, analysed = 0;  ///< executions
    ReasonCounts reasons;                                  ///< executions with it
    ReasonCounts recordings;                               ///< by what ended them
  };
  /// Where an argument of a task was.
  struct Placement {
    std::size_t argument;
    std::string field;
    MemoryId memory;
    std::size_t choice;  ///< which of the mapper's memories that is
    auto operator<=>(const Placement&) const = default;
  };
  struct Wait {
    std::uint64_t ns = 0, times = 0;
    void add(std::uint64_t more) {
      ns += more;
      ++times;
    }
  };
  /// All launches of the tasks of one name, in points.
  struct Task {
    std::uint64_t replayed = 0, analysed = 0;
    ReasonCounts reasons;     ///< why they were analysed
    std::uint64_t asked = 0;  ///< the mapper was; for the others its answer was remembered
    std::map<ProcessorId, std::uint64_t> processors;
    std::map<Placement, std::uint64_t> placements;
    std::map<std::string, Wait> waited;  ///< after a task's name, or "copy of 'FIELD'" and the like
    Wait waited_for_thread;              ///< ready, and no thread free
  };

  /// `threads`: how many there are, that of the program included.
  explicit Explanation(int threads) : threads_(threads) {}

  void executed(const exec::Executed& ran) override;
  void timed(int thread, const profile::Event& event) override;
  void operation(const analysis::LoggedOperation& operation) override;
  void edge(std::uint64_t scope, std::uint64_t from, std::uint64_t to) override;
  void opened(std::uint64_t identity, std::uint64_t context) override;
  void closed(std::uint64_t identity) override;
  void asked(const LaunchPlan& plan) override;
  void launched(LaunchPlan& plan, const std::string& why) override;
  void trace_ended(std::uint64_t trace, const std::string& name, Where where,
                   const TraceExecution& execution) override;
  void recorded(const Recorded& recorded) override;
  void passed(const net::Passed& message) override;

  /// What a rank has waited for from others: for people, and for programs.
  struct RankWaits {
    std::string text, json;
  };
  [[nodiscard]] RankWaits rank_waits(std::uint32_t rank);
  /// Writes all so far to PREFIX.txt, for people, and PREFIX.json, for programs. `ranks`: of several, what each has waited
  /// for. Throws Error, naming the file that cannot be written.
  void write(const std::string& mapper, const Machine& machine, const std::string& prefix,
             const std::vector<RankWaits>& ranks = {});

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;  ///< an operation: context, number in it
  /// Issued, and not run yet.
  struct Issued {
    std::string name;
    bool task = false;
    std::uint64_t issued_ns = 0;
    std::uint64_t done_ns = 0;  ///< when its last predecessor so far was done ...
    std::string after;          ///< ... and what that was
    std::vector<Key> successors;
  };

  /// Calls that end by then are all known.
  void tell_idle_apart(std::uint64_t until_ns);

  const int threads_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Trace> traces_;  ///< by Trace::id
  std::map<std::string, Task> tasks_;
  std::unordered_map<std::uint64_t, std::uint64_t> contexts_;  ///< nested ones, by identity
  std::map<Key, Issued> issued_;
  std::uint64_t first_run_ns_ = 0, last_run_ns_ = 0;  ///< begin and end of what has run
  struct Span {
    std::uint64_t begin_ns, end_ns;
  };
  /// A message has come.
  struct Arrival {
    std::uint64_t at_ns;
    std::uint32_t from, kind;
    Where where;
  };
  /// How much of a time was spent in calls.
  [[nodiscard]] std::uint64_t in_calls(const Span& span) const;
  void wait_for_messages(const Span& idle);
  std::deque<Span> calls_;  ///< that may be part of an idle time: as many as are in flight
  std::deque<Span> idle_;   ///< since the last call
  std::uint64_t idle_in_calls_ns_ = 0, idle_between_ns_ = 0;
  std::deque<Arrival> arrivals_;  ///< since something has run
  std::map<std::pair<std::uint32_t, std::string>, Wait>
      waited_for_ranks_;  ///< by rank and what came
};

/// A call in the record, named for people, and so that the token can be had back:
///
///   "calc_new_currents 0x5d1f0c9e7a34b682"            a launch of that task
///   "fill 0x0f33a1b2c3d4e5f6"                         another call
///   "calc_new_currents 0x5d1f0c9e7a34b682, marked"    one within a trace that the program marks
///   "access"                                          one that cannot be traced
[[nodiscard]] std::string call_name(const Listener::Call& call);

/// The call's token, and whether it is marked. None: it cannot be traced, or this is no such name.
[[nodiscard]] std::optional<Listener::Call> call_named(std::string_view name);

/// --refrain:record: the calls of a runtime's programs, as the oracle's grammar in the file of a run
/// (oracle/run_format.hpp). Each program that the runtime runs is a thread of the file, the first one number 0. An
/// event is a call, by its name (call_name).
///
/// Calls that tasks make are not recorded, since their order depends on time; nor is the making of regions and
/// partitions, which ends no trace and is in none.
///
/// What a killed run has recorded so far is in the file (oracle/recorder.hpp). Where an older file is there, the run is
/// recorded in one beside it, "FILE.new-PROCESS-NUMBER", which takes its place at the end; of a killed run it is left
/// there. Once a program's stream cannot be written, or is too large for the memory, nothing is recorded any more, and
/// the program goes on.
///
/// Owner: the program's thread. Memory: the grammar's, and some 200 bytes for each different call. Costs a look-up in a
/// table and a step of the reduction for each call.
class CallRecord final : public Listener {
 public:
  /// Throws Error if the file cannot be made, or would be what the process writes anyway ("/dev/stdout").
  explicit CallRecord(std::string path);
  ~CallRecord() override;

  void program_begins() override;
  void called(const Call& call) override;
  /// Writes the rest, and the file is complete. Throws Error if not all could be written: then the file has what could,
  /// or stays as it was, with that beside it.
  void close();
  /// Before the process is ended, while a program may run: what is in a file beside an older one takes its place,
  /// unless there is nothing yet, or not all could be recorded: then it stays beside.
  void keep_so_far() const;

 private:
  /// The name of a file that goes when its owner does; empty: there is none.
  struct Temporary {
    std::string name;
    ~Temporary();
  };
  struct Stream;

  void end_stream();
  void give_up(std::string why);

  const std::string path_;
  std::string target_;             ///< the same, links followed
  Temporary beside_;               ///< where it is recorded; empty: in its place
  std::uintmax_t empty_size_ = 0;  ///< of that file before anything is recorded
  std::unique_ptr<oracle::RunWriter> writer_;
  std::unique_ptr<Stream> stream_;  ///< of one program; none: nothing is recorded
  std::uint32_t programs_ = 0;
  std::string fault_;  ///< why nothing is recorded any more; empty: all could be
};

}  // namespace refrain::runtime
