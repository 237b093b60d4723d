#include "profile/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <ostream>
#include <unordered_map>

#include "base/json.hpp"
#include "base/new_file.hpp"
#include "profile/clock.hpp"
#include "refrain/error.hpp"

namespace refrain::profile {

namespace {

constexpr std::size_t names_limit = 65536;
constexpr std::uint32_t no_name = ~std::uint32_t{0};

// The ends of the events of a lane that are open, the innermost last.
using Lane = std::vector<std::uint64_t>;

bool accepts(Lane& lane, const Interval& event) {
  while (!lane.empty() && lane.back() <= event.begin) lane.pop_back();
  return lane.empty() || event.end <= lane.back();
}

struct Stored {
  std::uint64_t begin_ns, end_ns;
  Where where;
  std::uint32_t name, subject;
  Category category;
  std::array<EventNumber, 2> numbers;
};

// A track as it is at one moment, in the order in which viewers want its events.
struct Snapshot {
  std::string name;
  std::vector<Stored> events;
  std::vector<std::string> names;
};

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

// Microseconds, three digits after the point.
std::string microseconds(std::uint64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

/// What an event of a category is shown with: the keys of its subject and its place and, for a colour of its own in
/// chrome://tracing, one of the names that it knows.
struct Look {
  const char *subject = "task", *where = "launched at", *colour = nullptr;
};
Look look_of(Category category) {
  switch (category) {
    case Category::analysing: return {"call", "called at", "rail_response"};        // blue
    case Category::recording: return {"trace", "begun at", "thread_state_iowait"};  // orange
    case Category::replaying: return {"trace", "begun at", "good"};                 // green
    default: return {};
  }
}

class Writer {
 public:
  Writer(std::ostream& out, std::uint64_t start_ns) : out_(out), start_ns_(start_ns) {}

  void begin() { out_ << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"; }

  void track(const Snapshot& snapshot) {
    std::vector<Interval> intervals;
    intervals.reserve(snapshot.events.size());
    for (const Stored& e : snapshot.events) intervals.push_back({e.begin_ns, e.end_ns});
    const std::vector<int> lanes = assign_lanes(intervals);
    const int count = lanes.empty() ? 1 : 1 + *std::max_element(lanes.begin(), lanes.end());
    for (int lane = 0; lane < count; ++lane)
      name_row(row_ + lane,
               lane == 0 ? snapshot.name : snapshot.name + " (" + std::to_string(lane + 1) + ")");
    for (std::size_t i = 0; i < snapshot.events.size(); ++i)
      event(snapshot.events[i], snapshot.names, row_ + lanes[i]);
    row_ += count;
  }

  void end(std::uint64_t dropped) {
    out_ << "\n],\"otherData\":{\"dropped events\":\"" << dropped << "\"}}\n";
  }

 private:
  void put(const std::string& line) {
    out_ << separator_ << line;
    separator_ = ",\n";
  }

  void name_row(int row, const std::string& name) {
    constexpr const char* kRow = R"({{"name":"{}","ph":"M","pid":1,"tid":{},"args":{{"{}":{}}}}})";
    put(fmt::format(kRow, "thread_name", row, "name", json_string(name)));
    put(fmt::format(kRow, "thread_sort_index", row, "sort_index", row));
  }

  void event(const Stored& e, const std::vector<std::string>& names, int row) {
    const Look look = look_of(e.category);
    std::string arguments;
    const auto add = [&arguments](std::string_view key, const std::string& value) {
      arguments += (arguments.empty() ? "" : ",") + json_string(key) + ":" + value;
    };
    if (e.subject != no_name) add(look.subject, json_string(names[e.subject]));
    if (e.where.line() != 0) add(look.where, json_string(refrain::to_string(e.where)));
    for (const EventNumber& number : e.numbers)
      if (number.key != nullptr) add(number.key, std::to_string(number.value));
    put(fmt::format(
        R"({{"ph":"X","pid":1,"tid":{},"ts":{},"dur":{},"name":{},"cat":"{}"{},"args":{{{}}}}})",
        row, microseconds(e.begin_ns - std::min(e.begin_ns, start_ns_)),
        microseconds(e.end_ns - std::min(e.begin_ns, e.end_ns)), json_string(names[e.name]),
        to_string(e.category), look.colour ? fmt::format(R"(,"cname":"{}")", look.colour) : "",
        arguments));
  }

  std::ostream& out_;
  const std::uint64_t start_ns_;
  const char* separator_ = "";
  int row_ = 0;
};

}  // namespace

std::vector<int> assign_lanes(std::span<const Interval> events) {
  std::vector<int> lanes;
  lanes.reserve(events.size());
  std::vector<Lane> open;
  for (const Interval& event : events) {
    std::size_t lane = 0;
    while (lane < open.size() && !accepts(open[lane], event)) ++lane;
    if (lane == open.size()) open.emplace_back();
    open[lane].push_back(event.end);
    lanes.push_back(static_cast<int>(lane));
  }
  return lanes;
}

// The last events of one thread: a ring that grows until it is full.
class Timeline::Track {
 public:
  Track(std::string name, std::size_t capacity) : name_(std::move(name)), capacity_(capacity) {}

  /// Where there is no memory for it, the event is one of those that were dropped.
  void record(const Event& event) noexcept {
    const std::lock_guard lock(mutex_);
    try {
      add(event);
    } catch (const std::bad_alloc&) {}
    ++recorded_;
  }

  [[nodiscard]] std::uint64_t recorded() const {
    const std::lock_guard lock(mutex_);
    return recorded_;
  }
  [[nodiscard]] std::uint64_t dropped() const {
    const std::lock_guard lock(mutex_);
    return recorded_ - ring_.size();
  }

  [[nodiscard]] Snapshot snapshot() const {
    Snapshot now;
    {
      const std::lock_guard lock(mutex_);
      now = {name_, ring_, names_};
    }
    std::stable_sort(now.events.begin(), now.events.end(), [](const Stored& a, const Stored& b) {
      return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
    });
    return now;
  }

 private:
  void add(const Event& event) {
    const std::uint32_t subject = event.subject.empty() ? no_name : name_of(event.subject);
    const Stored stored{event.begin_ns, event.end_ns,   event.where,  name_of(event.name),
                        subject,        event.category, event.numbers};
    if (ring_.size() < capacity_) ring_.push_back(stored);
    else ring_[recorded_ % capacity_] = stored;
  }

  // Neighbours mostly have one name. Past the limit, names are not told apart any more.
  std::uint32_t name_of(std::string_view name) {
    if (last_ < names_.size() && names_[last_] == name) return last_;
    auto found = numbers_.find(std::string(name));
    if (found == numbers_.end()) {
      std::string kept(names_.size() < names_limit ? name : "other");
      if (names_.size() == names_.capacity())
        names_.reserve(2 * names_.size() + 8);  // both have it, or none
      found = numbers_.emplace(kept, static_cast<std::uint32_t>(names_.size())).first;
      if (found->second == names_.size()) names_.push_back(std::move(kept));
    }
    return last_ = found->second;
  }

  mutable std::mutex mutex_;
  const std::string name_;
  const std::size_t capacity_;
  std::vector<Stored> ring_;
  std::uint64_t recorded_ = 0;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::uint32_t last_ = 0;
};

std::string_view to_string(Category category) {
  switch (category) {
    case Category::task: return "task";
    case Category::copy: return "copy";
    case Category::fill: return "fill";
    case Category::fold: return "fold";
    case Category::access: return "access";
    case Category::analysing: return "analysing";
    case Category::recording: return "recording";
    case Category::replaying: return "replaying";
    case Category::other: break;
  }
  return "other";
}

Timeline::Timeline(int tracks, std::size_t events_per_track) : start_ns_(now_ns()) {
  for (int i = 0; i < std::max(tracks, 1); ++i)
    tracks_.push_back(std::make_unique<Track>("thread " + std::to_string(i),
                                              std::max<std::size_t>(events_per_track, 1)));
}

Timeline::~Timeline() = default;

Timeline::Track& Timeline::track(int number) const {
  const int last = static_cast<int>(tracks_.size()) - 1;
  return *tracks_[static_cast<std::size_t>(number < 0 || number > last ? last : number)];
}

void Timeline::record(int number, const Event& event) { track(number).record(event); }

std::uint64_t Timeline::recorded() const {
  std::uint64_t sum = 0;
  for (const auto& t : tracks_) sum += t->recorded();
  return sum;
}

std::uint64_t Timeline::dropped() const {
  std::uint64_t sum = 0;
  for (const auto& t : tracks_) sum += t->dropped();
  return sum;
}

void Timeline::write(std::ostream& out) const {
  Writer writer(out, start_ns_);
  writer.begin();
  for (const auto& t : tracks_) writer.track(t->snapshot());
  writer.end(dropped());
}

void Timeline::write(const std::string& path) const {
  NewFile file(path);
  int error = file.error();
  if (error == 0) {
    write(file.out());
    error = file.keep();
  }
  if (error != 0)
    throw Error("the timeline cannot be written to '" + path + "': " + std::strerror(error));
}

}  // namespace refrain::profile
