#include "profile/timeline.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <ostream>
#include <unordered_map>
#include <utility>

#include "base/new_file.hpp"
#include "profile/clock.hpp"
#include "refrain/error.hpp"

namespace refrain::profile {

namespace {

constexpr std::size_t names_limit = 65536;
constexpr std::uint32_t no_name = ~std::uint32_t{0};

struct Stored {
  std::uint64_t begin_ns, end_ns;
  Where where;
  std::uint32_t name, subject;
  Category category;
  std::array<EventNumber, 2> numbers;
};

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
    case Category::other: break;
  }
  return {"other"};
}

Json row_name(int row, const char* what, const char* key, const Json& value) {
  return {{"name", what}, {"ph", "M"}, {"pid", 1}, {"tid", row}, {"args", {{key, value}}}};
}

Json json_of(const Stored& e, const std::vector<std::string>& names, int row,
             std::uint64_t start_ns) {
  const auto microseconds = [](std::uint64_t ns) { return static_cast<double>(ns) / 1000; };
  const Look look = look_of(e.category);
  Json arguments = Json::object();
  if (e.subject != no_name) arguments[look.subject] = names[e.subject];
  if (e.where.line() != 0) arguments[look.where] = refrain::to_string(e.where);
  for (const EventNumber& number : e.numbers)
    if (number.key != nullptr) arguments[number.key] = number.value;
  Json event = {{"ph", "X"},
                {"pid", 1},
                {"tid", row},
                {"ts", microseconds(e.begin_ns - std::min(e.begin_ns, start_ns))},
                {"dur", microseconds(e.end_ns - std::min(e.begin_ns, e.end_ns))},
                {"name", names[e.name]},
                {"cat", look.name},
                {"args", std::move(arguments)}};
  if (look.colour != nullptr) event["cname"] = look.colour;
  return event;
}

/// Whether the event lies behind all of the lane, or inside what is open there. `lane`: the ends of its events that are
/// open, the innermost last.
bool accepts(std::vector<std::uint64_t>& lane, const Interval& event) {
  while (!lane.empty() && lane.back() <= event.begin) lane.pop_back();
  return lane.empty() || event.end <= lane.back();
}

}  // namespace

std::vector<int> assign_lanes(std::span<const Interval> events) {
  std::vector<int> lanes;
  std::vector<std::vector<std::uint64_t>> open;
  for (const Interval& event : events) {
    const auto lane = std::ranges::find_if(open, [&](auto& ends) { return accepts(ends, event); });
    lanes.push_back(static_cast<int>(lane - open.begin()));
    (lane != open.end() ? *lane : open.emplace_back()).push_back(event.end);
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

  /// Events so far, and how many of them are kept.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> counts() const {
    const std::lock_guard lock(mutex_);
    return {recorded_, ring_.size()};
  }

  /// Gives put() the lines that viewers read, in rows from `row` on. Returns the first row that is not used.
  template <class Put>
  int write(int row, std::uint64_t start_ns, Put put) const {
    std::unique_lock lock(mutex_);
    std::vector<Stored> events = ring_;
    const std::vector<std::string> names = names_;
    lock.unlock();
    std::ranges::stable_sort(events, [](const Stored& a, const Stored& b) {
      return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
    });
    std::vector<Interval> intervals;
    for (const Stored& e : events) intervals.push_back({e.begin_ns, e.end_ns});
    const std::vector<int> lanes = assign_lanes(intervals);
    const int count = lanes.empty() ? 1 : 1 + std::ranges::max(lanes);
    for (int lane = 0; lane < count; ++lane) {
      const std::string number = lane == 0 ? "" : " (" + std::to_string(lane + 1) + ")";
      put(row_name(row + lane, "thread_name", "name", name_ + number));
      put(row_name(row + lane, "thread_sort_index", "sort_index", row + lane));
    }
    for (std::size_t i = 0; i < events.size(); ++i)
      put(json_of(events[i], names, row + lanes[i], start_ns));
    return row + count;
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

std::string_view to_string(Category category) { return look_of(category).name; }

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
  for (const auto& t : tracks_) sum += t->counts().first;
  return sum;
}

std::uint64_t Timeline::dropped() const {
  std::uint64_t kept = 0;
  for (const auto& t : tracks_) kept += t->counts().second;
  return recorded() - kept;
}

void Timeline::write(std::ostream& out) const {
  const char* separator = "";
  const auto put = [&](const Json& line) {
    out << separator << line.dump(-1, ' ', false, Json::error_handler_t::replace);
    separator = ",\n";
  };
  out << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  int row = 0;
  for (const auto& t : tracks_) row = t->write(row, start_ns_, put);
  out << "\n],\"otherData\":{\"dropped events\":\"" << dropped() << "\"}}\n";
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
