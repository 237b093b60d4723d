#include "trace/graph_calculus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <utility>

namespace refrain::trace {

namespace {

using Kind = Command::Kind;

std::string name(const Event& event) {
  return fmt::format("e{}{}", event.number, event.primed ? "'" : "");
}

std::string names(const std::vector<Event>& events) {
  std::string list;
  for (const Event& event : events) list += (list.empty() ? "" : ", ") + name(event);
  return list;
}

std::string value_of(const Command& command) {
  switch (command.kind) {
    case Kind::fence: return "fence";
    case Kind::op: return fmt::format("op({}, {})", command.text, names(command.sources));
    case Kind::merge: return fmt::format("merge({})", names(command.sources));
    default: return names(command.sources);
  }
}

constexpr Event fence{1};

}  // namespace

Commands propagate_copies(const Commands& commands) {
  std::map<Event, Event> meaning;
  Commands result;
  for (Command command : commands) {
    for (Event& source : command.sources)
      if (const auto found = meaning.find(source); found != meaning.end()) source = found->second;
    if (command.kind == Kind::merge && command.sources.size() == 1)
      meaning[command.target] = command.sources.front();
    else result.push_back(std::move(command));
  }
  return result;
}

void print(std::ostream& out, const Commands& commands) {
  for (const Command& command : commands) {
    if (command.kind == Kind::remark) out << command.text << '\n';
    else out << name(command.target) << " := " << value_of(command) << ";\n";
  }
}

/// The events that an operation waits for: the fence, operations of its own replay, and of the one before.
struct RecordingCommands::Waits {
  bool fence = false;
  std::set<std::uint32_t> inner, carried;
  [[nodiscard]] bool needs_merge() const { return fence + inner.size() + carried.size() > 1; }
};

RecordingCommands::RecordingCommands(const RecordingGraph& graph, const RecordedEdges& reduced,
                                     std::string summary)
    : graph_(graph), reduced_(reduced), summary_(std::move(summary)) {
  std::uint32_t next = fence.number + 1;
  for (const Waits& waits : recorded_waits()) {
    merges_.push_back(waits.needs_merge() ? next++ : 0);
    ends_.push_back(next++);
  }
  unrolled_merges_ = merges_;
  const std::vector<Waits> unrolled = waits_of(reduced_.inner, graph.edges.carried);
  for (std::size_t i = 0; i < unrolled.size(); ++i)
    if (unrolled_merges_[i] == 0 && unrolled[i].needs_merge()) unrolled_merges_[i] = next++;
}

// The summary is the last. The fence is before everything, so it is left to operations that wait for nothing else.
std::vector<RecordingCommands::Waits> RecordingCommands::waits_of(
    const std::vector<RecordedEdge>& inner, const std::vector<RecordedEdge>& carried) const {
  const auto count = static_cast<std::uint32_t>(graph_.operations.size());
  std::vector<Waits> waits(count + 1);
  for (std::uint32_t i = 0; i < count; ++i) waits[count].inner.insert(i);
  for (const RecordedEdge& edge : inner) {
    waits[edge.to].inner.insert(edge.from);
    waits[count].inner.erase(edge.from);
  }
  for (const RecordedEdge& edge : carried) waits[edge.to].carried.insert(edge.from);
  for (Waits& each : waits) each.fence = each.inner.empty() && each.carried.empty();
  return waits;
}

std::vector<RecordingCommands::Waits> RecordingCommands::recorded_waits() const {
  std::vector<Waits> waits = waits_of(graph_.edges.inner, {});
  for (std::uint32_t i = 0; i < graph_.operations.size(); ++i) {
    waits[i].fence |= graph_.operations[i].entered;
    waits.back().inner.insert(i);
  }
  return waits;
}

void RecordingCommands::append(Commands& commands, const std::vector<Waits>& waits,
                               const Numbers& merges, bool primed, std::size_t first,
                               std::size_t last) const {
  for (std::size_t i = first; i < last; ++i) {
    std::vector<Event> events;
    if (waits[i].fence) events.push_back(fence);
    for (const std::uint32_t from : waits[i].inner) events.push_back({ends_[from], primed});
    for (const std::uint32_t from : waits[i].carried) events.push_back({ends_[from], false});
    if (merges[i] != 0) {
      const Event merge{merges[i], primed};
      commands.push_back({Kind::merge, merge, std::move(events)});
      events = {merge};
    }
    const bool is_summary = i == graph_.operations.size();
    commands.push_back({Kind::op, Event{ends_[i], primed}, std::move(events),
                        is_summary ? summary_ : graph_.operations[i].text});
  }
}

Commands RecordingCommands::recorded() const {
  Commands commands{{Kind::fence, fence}};
  append(commands, recorded_waits(), merges_, false, 0, ends_.size());
  return commands;
}

Commands RecordingCommands::reduced() const {
  Commands commands{{Kind::fence, fence}};
  append(commands, waits_of(reduced_.inner, {}), merges_, false, 0, ends_.size());
  return commands;
}

Commands RecordingCommands::propagated() const { return propagate_copies(reduced()); }

Commands RecordingCommands::unrolled() const {
  Commands commands;
  append(commands, waits_of(reduced_.inner, graph_.edges.carried), unrolled_merges_, true, 0,
         ends_.size());
  return propagate_copies(commands);
}

Commands RecordingCommands::repeatable() const {
  const std::vector<Waits> waits = waits_of(reduced_.inner, reduced_.carried);
  const std::size_t summary = graph_.operations.size();
  // Carried on: in the first replay the fence, later the same events of the replay before.
  std::vector<Event> carried;
  if (std::any_of(waits.begin(), waits.end() - 1, [](const Waits& w) { return w.fence; }))
    carried.push_back(fence);
  std::set<std::uint32_t> sources;
  for (const RecordedEdge& edge : reduced_.carried) sources.insert(edge.from);
  for (const std::uint32_t from : sources) carried.push_back({ends_[from], false});

  Commands commands{{Kind::remark, {}, {}, "// only in the first replay:"}};
  for (const Event& event : carried) {
    if (event == carried.front()) commands.push_back({Kind::fence, event});
    else commands.push_back({Kind::copy, event, {carried.front()}});
  }
  commands.push_back({Kind::remark});
  append(commands, waits, unrolled_merges_, true, 0, summary);
  for (const std::uint32_t from : sources)
    commands.push_back({Kind::copy, Event{ends_[from], false}, {Event{ends_[from], true}}});
  commands.push_back({Kind::remark});
  commands.push_back({Kind::remark, {}, {}, "// only in the last replay:"});
  append(commands, waits, unrolled_merges_, true, summary, summary + 1);
  return propagate_copies(commands);
}

namespace {

void print_stage(std::ostream& out, const char* title, const Commands& commands) {
  out << "\n-- " << title << "\n\n";
  print(out, commands);
}

void print_condition(std::ostream& out, const char* title, const std::vector<std::string>& lines) {
  out << title << ":\n";
  for (const std::string& line : lines) out << "  " << line << '\n';
}

}  // namespace

void print(std::ostream& out, const RecordingText& text, const RecordingGraph& graph,
           const RecordedEdges& reduced) {
  const RecordingCommands commands(graph, reduced, text.summary);
  out << "trace " << text.trace << ", " << text.where << '\n';
  print_condition(out, "precondition", text.precondition);
  print_condition(out, "postcondition", text.postcondition);
  print_stage(out, "recorded", commands.recorded());
  print_stage(out, "after transitive reduction", commands.reduced());
  print_stage(out, "after copy propagation", commands.propagated());
  if (!graph.idempotent) return;
  print_stage(out, "unrolled once", commands.unrolled());
  print_stage(out, "final, for any number of replays", commands.repeatable());
}

}  // namespace refrain::trace
