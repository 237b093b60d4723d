#pragma once
// A timeline: which thread did what from when to when, written as Chrome trace events, which
// https://ui.perfetto.dev and chrome://tracing open. Those of several processes can be one file.
//
// Events belong to tracks, one per thread, numbered from 0. Each track keeps its last `events_per_track`
// events; older ones are dropped and counted, and the file says so. Where events of a track overlap
// without one lying inside the other (bodies that wait, under the seeded scheduler), the file shows the
// track as several lanes.
//
// Threads: record from any thread, one lock per track, so a thread that has a track to
// itself never waits. write may be called at any time and shows what has been recorded. Cost of record:
// some tens of nanoseconds and 112 bytes; a name is stored once per track.
//
// Colours: Perfetto colours an event by its name alone, chrome://tracing by its `cname`. So the events of one
// activity of the runtime have one name; the call that an event is about is shown when the event is selected.

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "refrain/where.hpp"

namespace refrain::profile {

/// What an event is; viewers colour and filter by it.
enum class Category : std::uint8_t {
  task,
  copy,
  fill,
  fold,
  access,
  message,  ///< between processes
  other,
  analysing,  ///< a call: what it depends on is found out
  recording,  ///< part of a trace
  replaying,  ///< a recording
};
std::string_view to_string(Category category);

/// Shown with an event when it is selected. The key is a literal.
struct EventNumber {
  const char* key = nullptr;  ///< null: there is none
  std::int64_t value = 0;
};

/// An arrow from the event that begins it to the one that ends it, perhaps in another process. `id`: of both; 0: none.
struct Flow {
  std::uint64_t id = 0;
  bool ends = false;
};

/// Something that took time, in nanoseconds of profile/clock.hpp.
struct Event {
  std::string_view name;
  Category category = Category::other;
  std::uint64_t begin_ns = 0, end_ns = 0;
  std::string_view subject = {};  ///< the task or trace that it is about, if that is not its name
  Where where = {};               ///< of the call that caused it; line 0: there is none
  EventNumber number = {};
  Flow flow = {};
};

class Timeline {
 public:
  static constexpr std::size_t default_events = std::size_t{1} << 19;  ///< 56 MiB per track in use

  /// Time 0 of the file is now. `more`: the names of tracks behind those of the threads.
  explicit Timeline(int threads, std::size_t events_per_track = default_events,
                    const std::vector<std::string>& more = {});
  ~Timeline();

  /// Events of a track that is not there are shown on the last one.
  void record(int track, const Event& event);

  /// Events that were recorded, and that the tracks have no more.
  [[nodiscard]] std::uint64_t dropped() const;

  void write(std::ostream& out) const;

  /// One of several processes whose timelines are one file.
  struct Process {
    int number = 1;
    std::string name = {};
    std::uint64_t zero_ns = 0;  ///< time 0 of the file, by this process's clock
  };
  /// What viewers read of its events, for write() below.
  [[nodiscard]] std::string events_of(const Process& process) const;
  /// A file of the events of several processes.
  static void write(std::ostream& out, std::span<const std::string> events, std::uint64_t dropped);
  [[nodiscard]] std::uint64_t start_ns() const { return start_ns_; }
  /// Throws Error, naming the file, when it cannot be written.
  void write(const std::string& path) const;

 private:
  class Track;
  const std::uint64_t start_ns_;
  std::vector<std::unique_ptr<Track>> tracks_;
};

/// Viewers draw the events of one track as a stack: each must lie inside the one that began before it, or after it.
/// Lanes split the events of a track into as few rows as that takes, first fit.
///
/// The lane of each event, from 0. `events` ascend by begin, and among equals descend by end.
/// O(events x lanes).
std::vector<int> assign_lanes(std::span<const Event> events);

}  // namespace refrain::profile
