#pragma once
// The tables of counters that are summed over contexts (the executor has a few of its own). A new counter is one line
// here, and the place that counts. An entry becomes a member of its struct, a term of the sums over contexts, a value of
// that name in the JSON of --refrain:stats and, if it has the name of a row, a row of the text.

#include <cstdint>
#include <optional>

namespace refrain {

// Each entry: counter(name, row, meaning). Without a row, another row tells it.

#define REFRAIN_LAUNCH_COUNTERS(counter)                               \
  counter(launches, "launches", "single launches and group launches"); \
  counter(tasks, "tasks", "points");

#define REFRAIN_OPERATION_COUNTERS(counter)                                        \
  counter(edges, "edges", "between operations not complete when they were found"); \
  counter(copies, "copies", "from instance to instance");                          \
  counter(copied_bytes, "", "by copies");                                          \
  counter(fills, "fills", "of instances");                                         \
  counter(folds, "folds", "of accumulators");                                      \
  counter(evictions, "evictions", "of instances");

#define REFRAIN_TRACE_COUNTERS(counter)                                                         \
  counter(recordings, "recordings made", "of traces");                                          \
  counter(rounds, "rounds joined", "recordings joined into one");                               \
  counter(replays, "recordings replayed", "to their ends");                                     \
  counter(early_exits, "", "replays left before their ends");                                   \
  counter(replayed_tasks, "tasks replayed", "points");                                          \
  counter(preconditions_failed, "preconditions failed", "no recording fits where the data is"); \
  counter(catch_ups, "state caught up", "the analysis takes over from replays");                \
  counter(unexamined_edges, "edges left unexamined", "others may imply them; harmless");

#define REFRAIN_AUTOTRACE_COUNTERS(counter)                                   \
  counter(analysed, "calls outside of marks", "calls outside of marks");      \
  counter(replayed, "", "calls outside of marks");                            \
  counter(candidates, "repeats found", "sequences of calls that repeat");     \
  counter(recordings, "repeats recorded", "of candidates, to their ends");    \
  counter(replays, "repeats replayed", "of these recordings, to their ends"); \
  counter(wrong, "", "replays begun and left before their ends");             \
  counter(mined, "", "histories mined for repeats");                          \
  counter(mined_calls, "", "calls in these");                                 \
  counter(late, "", "results that came late: then another run may differ");

#define REFRAIN_ALIVE_COUNTERS(counter)                                     \
  counter(regions_alive, "alive: regions", "of the program's context");     \
  counter(instances_alive, "alive: instances", "of the program's context"); \
  counter(nodes_alive, "alive: nodes", "of the program's context");         \
  counter(futures_alive, "alive: futures", "of the process");               \
  counter(accumulators_alive, "alive: accumulators", "of the process");     \
  counter(index_spaces_alive, "alive: index spaces", "of the process");

#define REFRAIN_SHARD_COUNTERS(counter)                                                      \
  counter(messages, "messages", "of values, contributions and futures, to other shards");    \
  counter(message_bytes, "", "of what these carry, but for parts of reductions of futures"); \
  counter(message_plans, "message plans made", "how often messages had to be worked out");   \
  counter(collectives, "", "agreements of all shards, as a fence needs one");

#define REFRAIN_COUNTER_MEMBER(name, row, meaning) std::uint64_t name = 0
#define REFRAIN_COUNTER_SUM(name, row, meaning) name += more.name
#define REFRAIN_COUNTER_VISIT(name, row, meaning) visit(#name, row, name)
/// A struct of such counters, their sums, and `each`: visit(name, row, value) in the order of the table.
#define REFRAIN_COUNTERS(Struct, entries)                                 \
  struct Struct {                                                         \
    entries(REFRAIN_COUNTER_MEMBER) void operator+=(const Struct& more) { \
      entries(REFRAIN_COUNTER_SUM)                                        \
    }                                                                     \
    template <class Visit>                                                \
    void each(Visit&& visit) const {                                      \
      entries(REFRAIN_COUNTER_VISIT)                                      \
    }                                                                     \
  }

REFRAIN_COUNTERS(LaunchCounters, REFRAIN_LAUNCH_COUNTERS);
REFRAIN_COUNTERS(OperationCounters, REFRAIN_OPERATION_COUNTERS);
REFRAIN_COUNTERS(TraceCounters, REFRAIN_TRACE_COUNTERS);
REFRAIN_COUNTERS(FoundTraceCounters, REFRAIN_AUTOTRACE_COUNTERS);
REFRAIN_COUNTERS(AliveCounters, REFRAIN_ALIVE_COUNTERS);
REFRAIN_COUNTERS(ShardCounters, REFRAIN_SHARD_COUNTERS);

/// Of traces that are found (docs/automatic-tracing.md). A call: a launch, or another call that can be traced.
struct AutotraceCounters : FoundTraceCounters {
  /// In the program's context: calls before the first after which of any 1,000 in a row 95% were replayed. None until
  /// 1,000 have come after it. Of several programs it is that of the last.
  std::optional<std::uint64_t> before_steady;
};

/// What a runtime has counted so far (--refrain:stats prints these and more).
struct Counters : LaunchCounters, OperationCounters, TraceCounters, AliveCounters, ShardCounters {
  AutotraceCounters autotrace;
};

}  // namespace refrain
