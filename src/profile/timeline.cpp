#include "profile/timeline.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <ostream>
#include <unordered_set>
#include <utility>

#include "base/new_file.hpp"
#include "profile/clock.hpp"

namespace refrain::profile {

namespace {

constexpr std::size_t names_limit = 65536;

using Json = nlohmann::ordered_json;

/// What an event of a category is shown with: its name, the keys of its subject and its place and, for a colour of its
/// own in chrome://tracing, one of the names that it knows.
struct Look {
  std::string_view name;
  const char *subject = "task", *where = "launched at", *colour = nullptr;
};
Look look_of(Category category) {
  switch (category) {
    case Category::task: return {"task"};
    case Category::copy: return {"copy"};
    case Category::fill: return {"fill"};
    case Category::fold: return {"fold"};
    case Category::access: return {"access"};
    case Category::analysing: return {"analysing", "call", "called at", "rail_response"};  // blue
    case Category::recording:
      return {"recording", "trace", "begun at", "thread_state_iowait"};           // orange
    case Category::replaying: return {"replaying", "trace", "begun at", "good"};  // green
    case Category::message: return {"message", "of", "for"};
    case Category::other: break;
  }
  return {"other"};
}

struct Row {
  int process, number;
};

Json name_of(Row row, const char* what, const char* key, const Json& value) {
  return {{"name", what},
          {"ph", "M"},
          {"pid", row.process},
          {"tid", row.number},
          {"args", {{key, value}}}};
}

/// From a time to another one.
double microseconds(std::uint64_t from_ns, std::uint64_t to_ns) {
  return static_cast<double>(to_ns - std::min(from_ns, to_ns)) / 1000;
}

Json json_of(const Event& e, Row row, std::uint64_t zero_ns) {
  const Look look = look_of(e.category);
  Json arguments = Json::object();
  if (!e.subject.empty()) arguments[look.subject] = e.subject;
  if (e.where.line() != 0) arguments[look.where] = refrain::to_string(e.where);
  if (e.number.key != nullptr) arguments[e.number.key] = e.number.value;
  Json event = {{"ph", "X"},
                {"pid", row.process},
                {"tid", row.number},
                {"ts", microseconds(zero_ns, e.begin_ns)},
                {"dur", microseconds(e.begin_ns, e.end_ns)},
                {"name", e.name},
                {"cat", look.name},
                {"args", std::move(arguments)}};
  if (look.colour != nullptr) event["cname"] = look.colour;
  return event;
}

/// The end of its arrow that is at this event: viewers look for the event around its time.
Json flow_of(const Event& e, Row row, std::uint64_t zero_ns) {
  Json flow = {{"ph", e.flow.ends ? "f" : "s"},
               {"id", e.flow.id},
               {"name", "message"},
               {"cat", "message"},
               {"pid", row.process},
               {"tid", row.number},
               {"ts", microseconds(zero_ns, e.flow.ends ? e.end_ns : e.begin_ns)}};
  if (e.flow.ends) flow["bp"] = "e";
  return flow;
}

}  // namespace

std::vector<int> assign_lanes(std::span<const Event> events) {
  std::vector<int> lanes;
  // Of each lane the ends of its events that are open, the innermost last. It takes an event that lies behind all of
  // them, or inside the last one.
  std::vector<std::vector<std::uint64_t>> open;
  for (const Event& event : events) {
    const auto lane = std::ranges::find_if(open, [&event](std::vector<std::uint64_t>& ends) {
      while (!ends.empty() && ends.back() <= event.begin_ns) ends.pop_back();
      return ends.empty() || event.end_ns <= ends.back();
    });
    lanes.push_back(static_cast<int>(lane - open.begin()));
    (lane != open.end() ? *lane : open.emplace_back()).push_back(event.end_ns);
  }
  return lanes;
}

// The last events of one thread: a ring that grows until it is full.
class Timeline::Track {
 public:
  Track(std::string name, std::size_t capacity) : name_(std::move(name)), capacity_(capacity) {}

  /// Where there is no memory for it, the event is one of those that were dropped.
  void record(Event event) noexcept {
    const std::lock_guard lock(mutex_);
    try {
      event.name = kept(event.name);
      if (!event.subject.empty()) event.subject = kept(event.subject);
      if (ring_.size() < capacity_) ring_.push_back(event);
      else ring_[recorded_ % capacity_] = event;
    } catch (const std::bad_alloc&) {}
    ++recorded_;
  }

  [[nodiscard]] std::uint64_t dropped() const {
    const std::lock_guard lock(mutex_);
    return recorded_ - ring_.size();
  }

  /// Gives put() the lines that viewers read, in rows from `first` on. Returns the first row that is not used.
  template <class Put>
  int write(Row first, std::uint64_t zero_ns, Put put) const {
    std::unique_lock lock(mutex_);
    std::vector<Event> events = ring_;
    lock.unlock();
    std::ranges::stable_sort(events, {},
                             [](const Event& e) { return std::pair(e.begin_ns, ~e.end_ns); });
    const std::vector<int> lanes = assign_lanes(events);
    const int count = lanes.empty() ? 1 : 1 + std::ranges::max(lanes);
    for (int lane = 0; lane < count; ++lane) {
      const std::string number = lane == 0 ? "" : " (" + std::to_string(lane + 1) + ")";
      const Row row{first.process, first.number + lane};
      put(name_of(row, "thread_name", "name", name_ + number));
      put(name_of(row, "thread_sort_index", "sort_index", row.number));
    }
    for (std::size_t i = 0; i < events.size(); ++i) {
      const Row row{first.process, first.number + lanes[i]};
      put(json_of(events[i], row, zero_ns));
      if (events[i].flow.id != 0) put(flow_of(events[i], row, zero_ns));
    }
    return first.number + count;
  }

 private:
  // Neighbours mostly have one name. Past the limit, names are not told apart any more.
  std::string_view kept(std::string_view name) {
    if (name == last_) return last_;
    auto found = names_.find(std::string(name));
    if (found == names_.end())
      found = names_.emplace(names_.size() < names_limit ? name : "other").first;
    return last_ = *found;
  }

  mutable std::mutex mutex_;
  const std::string name_;
  const std::size_t capacity_;
  std::vector<Event> ring_;
  std::uint64_t recorded_ = 0;
  std::unordered_set<std::string> names_;  ///< those of the events, which point to them
  std::string_view last_;
};

std::string_view to_string(Category category) { return look_of(category).name; }

Timeline::Timeline(int threads, std::size_t events_per_track, const std::vector<std::string>& more)
    : start_ns_(now_ns()) {
  const auto add = [&](const std::string& name) {
    tracks_.push_back(std::make_unique<Track>(name, std::max<std::size_t>(events_per_track, 1)));
  };
  for (int i = 0; i < std::max(threads, 1); ++i) add("thread " + std::to_string(i));
  for (const std::string& name : more) add(name);
}

Timeline::~Timeline() = default;

// A negative number becomes a very large one, so it gets the last track.
void Timeline::record(int number, const Event& event) {
  tracks_[std::min(static_cast<std::size_t>(number), tracks_.size() - 1)]->record(event);
}

std::uint64_t Timeline::dropped() const {
  std::uint64_t sum = 0;
  for (const auto& t : tracks_) sum += t->dropped();
  return sum;
}

std::string Timeline::events_of(const Process& process) const {
  std::string text;
  const auto put = [&](const Json& line) {
    if (!text.empty()) text += ",\n";
    text += line.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  Row row{process.number, 0};
  if (!process.name.empty()) {
    put(name_of(row, "process_name", "name", process.name));
    put(name_of(row, "process_sort_index", "sort_index", process.number));
  }
  for (const auto& t : tracks_) row.number = t->write(row, process.zero_ns, put);
  return text;
}

void Timeline::write(std::ostream& out, std::span<const std::string> events,
                     std::uint64_t dropped) {
  out << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  const char* separator = "\n";
  for (const std::string& each : events) {
    out << separator << each;
    separator = ",\n";
  }
  out << "\n],\"otherData\":{\"dropped events\":\"" << dropped << "\"}}\n";
}

void Timeline::write(std::ostream& out) const {
  const std::string events = events_of({.zero_ns = start_ns_});
  write(out, {&events, 1}, dropped());
}

void Timeline::write(const std::string& path) const {
  write_file(path, "timeline", [this](std::ostream& out) { write(out); });
}

}  // namespace refrain::profile
