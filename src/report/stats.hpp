#pragma once
// --refrain:stats: what a run did, in numbers, as aligned text or as JSON.
//
// A plain report: whoever owns the counters fills the struct in when the program has ended. Times are
// nanoseconds, sizes bytes. No threads of its own.

#include <cstdint>
#include <string>
#include <vector>

#include "refrain/runtime.hpp"

namespace refrain::runtime {

/// Copies over one link, counted by the memories at its ends.
struct LinkTraffic {
  std::string from, to;            ///< names of memories
  std::string from_kind, to_kind;  ///< "system", "framebuffer", ...
  std::uint64_t copies = 0, bytes = 0;
};

struct MemoryUse {
  std::string memory;
  std::uint64_t capacity = 0;
  std::uint64_t peak = 0;  ///< most bytes in instances at one time
};

struct Statistics {
  std::uint64_t wall_ns = 0;
  Counters counters;
  /// On the launching threads, all launches together, without waiting for room in the window or for memory.
  /// What a mapper takes is in it, and tasks that run at once (inline_if_ready). Launches replayed at a glance
  /// (Tracing::replay_next) are not: each takes less than a look at the clock.
  std::uint64_t analysis_ns = 0;
  int workers = 0;        ///< threads beside the launching one
  double idle_share = 0;  ///< of the workers' time, 0 to 1
  std::uint64_t stolen = 0, sleeps = 0;
  std::uint64_t peak_resident = 0;    ///< of the process
  std::uint64_t recording_bytes = 0;  ///< most that the recordings of one context took
  std::vector<LinkTraffic> links;     ///< those that were used
  std::vector<MemoryUse> memories;
};

/// Most memory the process has had resident so far.
std::uint64_t peak_resident_bytes();

/// For people: one quantity per line, numbers aligned, copies summed by the kinds of memory they join.
std::string to_text(const Statistics& statistics);
/// For programs: every field by its name, and links in full.
std::string to_json(const Statistics& statistics);

/// Writes the report where --refrain:stats asks: text to standard error when `file` is empty, JSON to
/// the file otherwise. Throws Error, naming the file, when it cannot be written.
void report(const Statistics& statistics, const std::string& file);

}  // namespace refrain::runtime
