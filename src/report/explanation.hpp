#pragma once
// --refrain:explain: of each trace and each task, what was replayed, what was analysed and why, what tasks waited for,
// and where they were mapped.
//
// Waits. The graph says when an operation was issued and after which others it comes; the execution says when they
// ran. An operation has waited for the predecessor that was done last, if that was after it was issued; from then on
// for a thread.
//
// Threads: any, one lock. Memory: operations that were issued and have not run; else it is bounded by the names of the
// program, and by kMostReasons reasons of one trace or task.

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "launch/listener.hpp"
#include "refrain/machine.hpp"

namespace refrain::runtime {

using ReasonCounts = std::map<std::string, std::uint64_t>;

struct ExplainedTrace {
  std::string name;
  Where where;                                           ///< of its first begin_trace
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

struct Wait {
  std::uint64_t ns = 0, times = 0;
  void add(std::uint64_t more) {
    ns += more;
    ++times;
  }
};

/// All launches of the tasks of one name, in points.
struct ExplainedTask {
  std::uint64_t replayed = 0, analysed = 0;
  ReasonCounts reasons;     ///< why they were analysed
  std::uint64_t asked = 0;  ///< the mapper was; for the others its answer was remembered
  std::map<ProcessorId, std::uint64_t> processors;
  std::map<Placement, std::uint64_t> placements;
  std::map<std::string, Wait> waited;  ///< after a task's name, or "copy of 'FIELD'" and the like
  Wait waited_for_thread;              ///< ready, and no thread free
};

class Explanation final : public Listener {
 public:
  void executed(const exec::Node& node, int thread, std::uint64_t begin_ns,
                std::uint64_t end_ns) override;
  void replayed(const exec::Scope& scope, const exec::NodeInfo* info, exec::NodeKind kind,
                std::uint64_t seq, int thread, std::uint64_t begin_ns,
                std::uint64_t end_ns) override;
  void operation(const analysis::LoggedOperation& operation) override;
  void edge(std::uint64_t scope, std::uint64_t from, std::uint64_t to,
            exec::EdgeKind kind) override;
  void opened(std::uint64_t identity, std::uint64_t context) override;
  void closed(std::uint64_t identity) override;
  void asked(const LaunchPlan& plan) override;
  void launched(LaunchPlan& plan, const std::string& why) override;
  void occurred(std::uint64_t trace, const std::string& name, Where where,
                const TraceExecution& occurrence) override;
  void recorded(const Recorded& recorded) override;

  /// Writes all so far to PREFIX.txt, for people, and PREFIX.json, for programs. Throws Error, naming the file that
  /// cannot be written.
  void write(const std::string& mapper, const Machine& machine, const std::string& prefix) const;

 private:
  static constexpr std::size_t kMostReasons = 64;
  /// An operation of a context.
  struct Key {
    std::uint64_t context, seq;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return (key.context * 0x9E3779B97F4A7C15ull) ^ key.seq;
    }
  };
  /// Issued, and not run yet.
  struct Issued {
    std::string name;
    bool task = false;
    std::uint64_t issued_ns = 0;
    std::uint64_t done_ns = 0;  ///< when its last predecessor so far was done ...
    std::string after;          ///< ... and what that was
    std::vector<Key> successors;
  };
  static void count(ReasonCounts& reasons, const std::string& reason, std::uint64_t times);
  void done(const Key& key, std::uint64_t begin_ns, std::uint64_t end_ns);

  mutable std::mutex mutex_;
  std::map<std::uint64_t, ExplainedTrace> traces_;  ///< by Trace::id
  std::map<std::string, ExplainedTask> tasks_;
  std::unordered_map<std::uint64_t, std::uint64_t> contexts_;  ///< nested ones, by identity
  std::unordered_map<Key, Issued, Hash> issued_;
};

}  // namespace refrain::runtime
