#pragma once

#include <algorithm>
#include <cstdint>

namespace refrain::runtime {

/// What a context has done with traces.
struct TraceCounters {
  std::uint64_t recordings = 0;   ///< made
  std::uint64_t rounds = 0;       ///< of recordings, joined
  std::uint64_t replays = 0;      ///< of whole recordings
  std::uint64_t early_exits = 0;  ///< replays left before their end
  std::uint64_t replayed_tasks = 0;
  std::uint64_t preconditions_failed =
      0;                        ///< a recording had the right call, but not the right data
  std::uint64_t catch_ups = 0;  ///< the analysis' state brought forward
  std::uint64_t unexamined_edges =
      0;                         ///< of recordings: others may imply them (trace/optimiser.hpp)
  std::uint64_t most_bytes = 0;  ///< that recordings took; of several contexts, the most of one

  TraceCounters& operator+=(const TraceCounters& other) {
    recordings += other.recordings;
    rounds += other.rounds;
    replays += other.replays;
    early_exits += other.early_exits;
    replayed_tasks += other.replayed_tasks;
    preconditions_failed += other.preconditions_failed;
    catch_ups += other.catch_ups;
    unexamined_edges += other.unexamined_edges;
    most_bytes = std::max(most_bytes, other.most_bytes);
    return *this;
  }
};

}  // namespace refrain::runtime
